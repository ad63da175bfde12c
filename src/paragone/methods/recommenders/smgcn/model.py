"""SMGCN as a recommender: syndrome-aware herb recommendation with multi-graph convolutions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scipy import sparse

from paragone.data.prescriptions import Prescriptions, read_pairs
from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.recommenders.base import Recommender
from paragone.methods.recommenders.smgcn.log import Observation
from paragone.methods.recommenders.smgcn.settings import (
    LEARNING_RATES,
    SMGCNSettings,
    build_graphs,
    pairs_from,
    require_torch,
)
from paragone.metrics.topk.metrics import parse_metric
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from paragone.methods.recommenders.smgcn.training import FinalEmbeddings


@dataclass(eq=False, repr=False)
class SMGCN(Recommender):
    """Multi-graph convolutions over symptoms and herbs, and a syndrome layer (Jin et al., ICDE 2020).

    Two towers convolve over the bipartite graph of tokens and items, two synergy graphs add what
    goes together; the mean of a query's token embeddings passes through the syndrome layer and is
    compared with every item. Items are ranked by the logit. The epoch is the best of the validation
    set; without one, the last.

    Parameters
    ----------
    loss : {"bce", "weighted_mse"}, default="bce"
        Cross-entropy, or the published weighted squared error, which learns very slowly.
    fusion : {"add", "concat"}, default="add"
        How the synergy embedding joins the tower's.
    widths : tuple of int, default=(64, 128, 256)
        Sizes of the embedding and of each layer.
    dropout : float, default=0.0
        Of each layer's output, while training only.
    learning_rate : float, optional
        Of Adam; 1e-3 for ``bce`` and the published 2e-4 for ``weighted_mse`` where not given.
    penalty : float, default=7e-3
        Weight of the squared final embeddings.
    batch_size : int, default=1024
        Rows a draw; an epoch is n // B + 1 draws without replacement.
    max_epochs : int, default=150
        Where to end at the latest.
    evaluate_every : int, default=10
        Epochs between evaluations on validation.
    patience : int, optional
        End after so many evaluations without improvement (default 3); ``None`` to go on to the end.
    choose_by : str, default="recall@20"
        Which value on validation chooses the epoch.
    ks : tuple of int, default=(5, 10, 15, 20)
        Cut-offs of the log.
    token_pairs, item_pairs : path or array of pairs, optional
        The synergy graphs; made from the training rows where not given.
    token_pairs_from, item_pairs_from : int, default=5 and 40
        How often a pair must occur in train to be made an edge.
    n_threads : int, default=1
        Threads of PyTorch during the fit.
    device : str, default="cpu"
        Where to train: ``cpu``, ``cuda`` ...
    seed : int, default=0
        Of initial values, draws and dropout.

    References
    ----------
    .. code-block:: bibtex

        @inproceedings{jin2020,
          author    = {Jin, Yuanyuan and Zhang, Wei and He, Xiangnan and Wang, Xinyu and Wang, Xiaoling},
          title     = {Syndrome-aware Herb Recommendation with Multi-Graph Convolution Network},
          booktitle = {IEEE 36th International Conference on Data Engineering (ICDE)},
          pages     = {145--156},
          year      = {2020}
        }

    Examples
    --------
    >>> from paragone.testing.recommenders import example_prescriptions
    >>> rows = example_prescriptions(60, 8, 10)
    >>> model = SMGCN(widths=(4, 6), max_epochs=2, token_pairs_from=2, item_pairs_from=5).fit(rows)
    >>> model.score(rows.queries).shape
    (60, 10)
    """

    packages: ClassVar[tuple[str, ...]] = ("torch",)
    file_parameters: ClassVar[dict[str, Any]] = {
        "token_pairs": read_pairs,
        "item_pairs": read_pairs,
    }
    loss: str = "bce"
    fusion: str = "add"
    widths: tuple[int, ...] = (64, 128, 256)
    dropout: float = 0.0
    learning_rate: float | None = None
    penalty: float = 7e-3
    batch_size: int = 1024
    max_epochs: int = 150
    evaluate_every: int = 10
    patience: int | None = 3
    choose_by: str = "recall@20"
    ks: tuple[int, ...] = (5, 10, 15, 20)
    token_pairs: str | Path | IntArray | None = None
    item_pairs: str | Path | IntArray | None = None
    token_pairs_from: int = 5
    item_pairs_from: int = 40
    n_threads: int = 1
    device: str = "cpu"
    seed: int = 0
    embeddings_: FinalEmbeddings = field(init=False)
    epoch_: int = field(init=False)
    history_: list[dict[str, Any]] = field(init=False)

    def observe(
        self,
        *,
        log: str | Path | None = None,
        classic: Callable[[str], Any] | str | Path | None = None,
        result_file: str | Path | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[int, int, float], Any] | None = None,
    ) -> Self:
        """Say where the next fit reports to; nothing of it changes what is learned.

        Parameters
        ----------
        log : path, optional
            JSON lines, one an evaluation.
        classic : callable or path, optional
            Gets the lines that the authors' program prints: a function, such as ``print``, or a
            file.
        result_file : path, optional
            A line of hyper-parameters and the classic line of the best epoch are appended to it.
        checkpoint : path, optional
            An npz file written at every evaluation, from which an interrupted fit goes on.
        progress : callable, optional
            Called as ``progress(epoch, max_epochs, loss)``.

        Returns
        -------
        self
            To be fitted.
        """
        paths = [None if path is None else Path(path) for path in (log, result_file, checkpoint)]
        text = Path(classic) if isinstance(classic, (str, Path)) else classic
        self._observation = Observation(paths[0], text, paths[1], paths[2], progress)
        return self

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        settings = self._settings()
        token_pairs = pairs_from(self.token_pairs, train.queries, self.token_pairs_from)
        item_pairs = pairs_from(self.item_pairs, train.multi_hot(), self.item_pairs_from)
        graphs = build_graphs(train, token_pairs, item_pairs)
        require_torch()
        from paragone.methods.recommenders.smgcn.training import Trainer

        identity = _identity(settings, train, validation, token_pairs, item_pairs)
        observation = getattr(self, "_observation", Observation())
        trained = Trainer(settings, graphs, train, validation, observation, identity).run()
        self.embeddings_ = trained.embeddings
        self.epoch_ = trained.epoch
        self.history_ = trained.history
        self.parameters_ = trained.parameters

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """The chosen epoch, what chose it, and every evaluation; without times, so that equal fits tell the same."""
        chosen_on = self.history_[-1].get("set") if self.history_ else None
        history = [
            {key: value for key, value in entry.items() if key != "seconds"}
            for entry in self.history_
        ]
        rule = f"{self.choose_by} on {chosen_on}" if chosen_on else "the last epoch"
        return {"epoch": self.epoch_, "chosen_by": rule, "history": history}

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return self.embeddings_.score(queries)

    def _settings(self) -> SMGCNSettings:
        name, _, k = self.choose_by.partition("@")
        metric = parse_metric(name)
        if (
            not k.isdigit()
            or int(k) not in self.ks
            or metric.name not in ("precision", "recall", "f1", "rmrr", "ndcg")
        ):
            raise InputError(
                f"smgcn: choose_by must be a logged metric at one of {tuple(self.ks)}, such as"
                f" 'recall@20'; it is {self.choose_by!r}"
            )
        rate = (
            self.learning_rate
            if self.learning_rate is not None
            else LEARNING_RATES.get(self.loss, 1e-3)
        )
        checked = {"learning_rate": rate, "choose_by": (metric.name, int(k))}
        checked |= {"widths": tuple(self.widths), "ks": tuple(self.ks)}
        given = {one.name: getattr(self, one.name) for one in fields(SMGCNSettings)}
        return SMGCNSettings(**given | checked)


def _identity(settings: SMGCNSettings, train: Any, validation: Any, *pairs: IntArray) -> str:
    digest = hashlib.sha256(json.dumps(settings.as_json(), sort_keys=True).encode())
    digest.update(train.fingerprint.encode())
    digest.update(b"" if validation is None else validation.fingerprint.encode())
    for array in pairs:
        digest.update(array.tobytes())
    return digest.hexdigest()


methods.add(SMGCN, "smgcn")
