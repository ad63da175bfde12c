"""SMGCN in PyTorch: the network, its losses and batches, and the loop that trains it."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import nn
from torch.nn import functional

from paragone.data.prescriptions import Prescriptions
from paragone.methods.recommenders.floors import Popularity
from paragone.methods.recommenders.smgcn.log import (
    Arrays,
    ClassicText,
    Observation,
    TrainingProgress,
    load_progress,
    save_progress,
)
from paragone.methods.recommenders.smgcn.settings import Graphs, SMGCNSettings
from paragone.metrics.topk import topk_scores
from paragone.ties import least_loss, slack_of
from paragone.validation import FloatArray


class Tower(nn.Module):
    """Bipartite graph convolutions that end in the embeddings of one side."""

    def __init__(self, widths: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        steps = list(itertools.pairwise(widths))
        self.messages = nn.ParameterList(
            [nn.Parameter(torch.empty(width, width)) for width, _ in steps]
        )
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.empty(2 * width, after)) for width, after in steps]
        )
        self.biases = nn.ParameterList([nn.Parameter(torch.empty(1, after)) for _, after in steps])
        self.dropout = dropout

    def forward(
        self, embedded: Any, first_sums: Any, propagation: Any, own: Any, own_rows: slice
    ) -> Any:
        """Return the last layer, rows of the own side, L2-normalised.

        ``first_sums`` is ``propagation @ embedded``, which the two towers share. The last layer is
        computed for the own rows only: nothing else of it is used.
        """
        hidden, sums = embedded, first_sums
        last = len(self.weights) - 1
        for layer in range(len(self.weights)):
            if layer == last:
                sums = sums[own_rows] if layer == 0 else torch.sparse.mm(own, hidden)
                hidden = hidden[own_rows]
            elif layer > 0:
                sums = torch.sparse.mm(propagation, hidden)
            neighbours = torch.tanh(sums @ self.messages[layer])
            joined = torch.cat([hidden, neighbours], dim=1)
            hidden = torch.tanh(joined @ self.weights[layer] + self.biases[layer])
            hidden = functional.dropout(hidden, self.dropout, self.training)
        return functional.normalize(hidden, dim=1)


class Network(nn.Module):
    """Embeddings, two towers, synergy graphs, and the syndrome layer.

    The graphs are held dense where ``dense`` is set: a GPU multiplies a thousand nodes faster than
    it finds its way through a sparse matrix, a CPU does not.
    """

    def __init__(
        self,
        graphs: Graphs,
        widths: tuple[int, ...],
        dropout: float,
        fusion: str,
        *,
        dense: bool = False,
    ) -> None:
        super().__init__()
        n_tokens = graphs.token_synergy.shape[0]
        n_items = graphs.item_synergy.shape[0]
        self.fusion = fusion
        self.token_rows = slice(0, n_tokens)
        self.item_rows = slice(n_tokens, n_tokens + n_items)
        self.token_embedding = nn.Parameter(torch.empty(n_tokens, widths[0]))
        self.item_embedding = nn.Parameter(torch.empty(n_items, widths[0]))
        self.token_tower = Tower(widths, dropout)
        self.item_tower = Tower(widths, dropout)
        self.token_synergy_weight = nn.Parameter(torch.empty(widths[0], widths[-1]))
        self.item_synergy_weight = nn.Parameter(torch.empty(widths[0], widths[-1]))
        size = widths[-1] * (2 if fusion == "concat" else 1)
        self.syndrome_weight = nn.Parameter(torch.empty(size, size))
        self.syndrome_bias = nn.Parameter(torch.empty(1, size))
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter)
        for name, matrix in (
            ("propagation", graphs.propagation),
            ("token_part", graphs.propagation[self.token_rows]),
            ("item_part", graphs.propagation[self.item_rows]),
            ("token_graph", graphs.token_synergy),
            ("item_graph", graphs.item_synergy),
        ):
            held = (
                torch.as_tensor(matrix.toarray(), dtype=torch.float32)
                if dense
                else csr_tensor(matrix)
            )
            self.register_buffer(name, held, persistent=False)

    def embeddings(self) -> tuple[Any, Any]:
        """Return the final embeddings of the tokens and of the items."""
        embedded = torch.cat([self.token_embedding, self.item_embedding])
        sums = torch.sparse.mm(self.propagation, embedded)
        tokens = self.token_tower(
            embedded, sums, self.propagation, self.token_part, self.token_rows
        )
        items = self.item_tower(embedded, sums, self.propagation, self.item_part, self.item_rows)
        token_pairs = torch.tanh(
            torch.sparse.mm(self.token_graph, self.token_embedding) @ self.token_synergy_weight
        )
        item_pairs = torch.tanh(
            torch.sparse.mm(self.item_graph, self.item_embedding) @ self.item_synergy_weight
        )
        if self.fusion == "concat":
            return torch.cat([tokens, token_pairs], dim=1), torch.cat([items, item_pairs], dim=1)
        return tokens + token_pairs, items + item_pairs

    def logits(self, mean_queries: Any, tokens: Any, items: Any) -> Any:
        """Score all items for queries given as rows of token weights that sum to one."""
        syndromes = functional.relu(
            (mean_queries @ tokens) @ self.syndrome_weight + self.syndrome_bias
        )
        return syndromes @ items.T


def csr_tensor(matrix: sparse.csr_array) -> Any:
    """Return a SciPy matrix as a float32 CSR tensor."""
    ordered = sparse.csr_array(matrix)
    ordered.sort_indices()
    with warnings.catch_warnings():
        # Said once a process by every use of the layout; nothing here depends on what may change.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.as_tensor(ordered.indptr, dtype=torch.int64),
            torch.as_tensor(ordered.indices, dtype=torch.int64),
            torch.as_tensor(ordered.data, dtype=torch.float32),
            size=ordered.shape,
            check_invariants=True,
        )


LOSSES = ("bce", "weighted_mse")


def sample_loss(kind: str, logits: Any, targets: Any, item_weights: Any) -> Any:
    """Return the loss summed over items and averaged over the samples of the batch.

    ``weighted_mse`` is the published one, ``sum_h w_h (y - sigmoid)^2`` with ``w_h = max_freq /
    freq_h``; ``bce`` is the binary cross-entropy of the logits.
    """
    if kind == "bce":
        return functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / len(
            logits
        )
    return ((targets - logits.sigmoid()).square() * item_weights).sum() / len(logits)


def embedding_penalty(
    tokens: Any, items: Any, present: Any, strength: float, batch_size: int
) -> Any:
    """Return ``strength / B * (|S rows of the batch|^2 + |H|^2) / 2``; ``present`` marks the batch's tokens."""
    own = (tokens.square().sum(dim=1) * present).sum()
    return strength / batch_size * 0.5 * (own + items.square().sum())


Float32Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class FinalEmbeddings:
    """What scoring needs: embeddings of tokens and items, and the syndrome layer."""

    tokens: Float32Array
    items: Float32Array
    weight: Float32Array
    bias: Float32Array

    def score(self, queries: Any) -> FloatArray:
        """Return the logits of all items; a query without tokens has the syndrome of the zero vector."""
        syndromes = mean_rows(queries) @ self.tokens
        hidden = np.maximum(syndromes @ self.weight + self.bias, np.float32(0.0))
        return np.asarray(hidden @ self.items.T, dtype=np.float64)


def mean_rows(queries: sparse.csr_array) -> sparse.csr_array:
    """Divide every row by its sum; a row of zeros stays."""
    rows = sparse.csr_array(queries, dtype=np.float32)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return sparse.csr_array(sparse.diags_array(scale.astype(np.float32)) @ rows)


# Training rows up to this size are kept on a GPU as they are; larger ones are sent batch by batch.
_RESIDENT_BYTES = 4 << 30


class Batches:
    """The training rows, handed out by row numbers."""

    def __init__(self, train: Prescriptions, device: Any) -> None:
        self.device = device
        self.n_rows = train.n_rows
        self.queries = mean_rows(train.queries)
        self.answers = train.multi_hot().astype(np.float32)
        size = 4 * train.n_rows * (train.n_tokens + train.n_items)
        self.resident: tuple[Any, Any] | None = None
        if device.type != "cpu" and size <= _RESIDENT_BYTES:
            dense = [
                torch.as_tensor(part.toarray(), device=device)
                for part in (self.queries, self.answers)
            ]
            self.resident = (dense[0], dense[1])

    def take(self, rows: Any) -> tuple[Any, Any, Any]:
        """Return mean queries, the tokens that are present (0 or 1), and targets of some rows."""
        if self.resident is not None:
            chosen = torch.as_tensor(rows, device=self.device)
            queries = self.resident[0][chosen]
            return queries, (queries > 0).any(dim=0).to(queries.dtype), self.resident[1][chosen]
        part = self.queries[rows]
        present = torch.as_tensor((part.sum(axis=0) > 0).astype(np.float32), device=self.device)
        targets = torch.as_tensor(self.answers[rows].toarray(), device=self.device)
        return csr_tensor(part).to(self.device), present, targets


# A network that is still below popularity after so many epochs deserves a word.
PATIENCE_WITH_POPULARITY = 50
METRICS = ("precision", "recall", "f1", "rmrr", "ndcg")


class TrainingDivergedError(ArithmeticError):
    """The loss is not a number any more."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: final embeddings, the chosen epoch, all evaluations."""

    embeddings: FinalEmbeddings
    parameters: Arrays
    epoch: int
    history: list[dict[str, Any]]


class Trainer:
    """One training run; `run` does it."""

    def __init__(
        self,
        settings: SMGCNSettings,
        graphs: Graphs,
        train: Prescriptions,
        validation: Prescriptions | None,
        observation: Observation,
        identity: str,
    ) -> None:
        self.settings = settings
        self.validation = validation
        self.observation = observation
        self.identity = identity
        self.device = torch.device(settings.device)
        self.batches = Batches(train, self.device)
        torch.manual_seed(settings.seed)
        dense = self.device.type != "cpu"
        network = Network(graphs, settings.widths, settings.dropout, settings.fusion, dense=dense)
        self.network = network.to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        frequency = np.maximum(graphs.item_frequency, 1.0)
        weights = (frequency.max() / frequency).astype(np.float32)
        self.item_weights = torch.as_tensor(weights, device=self.device)
        self.popularity = self._popularity_floor(train)
        self.classic = ClassicText(observation, settings, self.n_steps)

    def run(self) -> Trained:
        """Train from the checkpoint, or from the start, to the last epoch or until nothing improves."""
        with _threads(self.settings.n_threads):
            progress = self._resume()
            self.observation.resume(progress)
            self.classic.begin(progress)
            while progress.epoch < self.settings.max_epochs and not self._out_of_patience(progress):
                began = time.perf_counter()
                losses = self._trained(progress.epoch)
                progress.epoch += 1
                seconds = time.perf_counter() - began
                progress.seconds += seconds
                progress.epochs.append([seconds, 0.0, *losses])
                if self.observation.progress is not None:
                    self.observation.progress(progress.epoch, self.settings.max_epochs, losses[0])
                if self._evaluation_due(progress.epoch):
                    self._evaluate(progress, losses)
                else:
                    self.classic.epoch(progress)
            return self._finish(progress)

    @property
    def n_steps(self) -> int:
        """Steps of an epoch."""
        n_rows, size = self.batches.n_rows, self._batch_size
        return n_rows // size + 1 if n_rows > size else 1

    @property
    def _batch_size(self) -> int:
        return min(self.settings.batch_size, self.batches.n_rows)

    def _trained(self, epoch: int) -> tuple[float, float, float]:
        try:
            return self.train_epoch(epoch)
        except TrainingDivergedError:
            self.classic.diverged()
            raise

    def train_epoch(self, epoch: int) -> tuple[float, float, float]:
        """Make ``n // B + 1`` steps on independent draws; return the mean total, loss and penalty."""
        n_rows, size = self.batches.n_rows, self._batch_size
        # Seeded an epoch, so that a resumed run draws what an uninterrupted one would have drawn.
        draws = np.random.default_rng([self.settings.seed, epoch])
        torch.manual_seed(int(draws.integers(2**31)))
        self.network.train()
        steps = []
        for _ in range(self.n_steps):
            loss, penalty = self.losses(draws.choice(n_rows, size, replace=False))
            self.optimizer.zero_grad(set_to_none=True)
            (loss + penalty).backward()
            self.optimizer.step()
            # Read once an epoch: reading a number makes a GPU wait for it.
            steps.append(torch.stack([loss.detach(), penalty.detach()]))
        return self._mean_losses(torch.stack(steps).cpu().numpy().astype(np.float64), epoch)

    def _mean_losses(self, steps: FloatArray, epoch: int) -> tuple[float, float, float]:
        bad = np.flatnonzero(~np.isfinite(steps).all(axis=1))
        if len(bad):
            raise TrainingDivergedError(
                f"smgcn: the loss is {steps[bad[0]].sum()} at epoch {epoch + 1}, step {bad[0] + 1}:"
                f" lower learning_rate (it is {self.settings.learning_rate:g}) or check the data"
            )
        loss, penalty = steps.mean(axis=0)
        return float(loss + penalty), float(loss), float(penalty)

    def losses(self, rows: Any) -> tuple[Any, Any]:
        """Return the loss and the embedding penalty of a batch of training rows."""
        queries, present, targets = self.batches.take(rows)
        tokens, items = self.network.embeddings()
        logits = self.network.logits(queries, tokens, items)
        loss = sample_loss(self.settings.loss, logits, targets, self.item_weights)
        return loss, embedding_penalty(tokens, items, present, self.settings.penalty, len(rows))

    def final_embeddings(self) -> FinalEmbeddings:
        """Return the embeddings of the network as it is, dropout off."""
        self.network.eval()
        with torch.no_grad():
            tokens, items = self.network.embeddings()
            arrays = (tokens, items, self.network.syndrome_weight, self.network.syndrome_bias)
            return FinalEmbeddings(*(array.detach().cpu().numpy().copy() for array in arrays))

    def _evaluation_due(self, epoch: int) -> bool:
        return epoch % self.settings.evaluate_every == 0 or epoch == self.settings.max_epochs

    def _evaluate(self, progress: TrainingProgress, losses: tuple[float, float, float]) -> None:
        progress.parameters = self._parameters()
        record: dict[str, Any] = {"event": "evaluation", "epoch": progress.epoch}
        record |= dict(zip(("total", "loss", "penalty"), losses, strict=True))
        if self.validation is not None:
            began = time.perf_counter()
            metrics = self._validation_metrics(self.final_embeddings())
            progress.epochs[-1][1] = time.perf_counter() - began
            record |= {
                "set": self.validation.name,
                "ks": list(self.settings.ks),
                "metrics": metrics,
            }
            so_far = [-self._value(one) for one in (*progress.history, record)]
            if least_loss(so_far, size=1.0) == len(progress.history):
                progress.best, progress.best_epoch = progress.parameters, progress.epoch
        record["seconds"] = round(progress.seconds, 3)
        progress.history.append(record)
        self.observation.write(record)
        self.classic.epoch(progress)
        self._warn_below_popularity(record)
        if self.observation.checkpoint is not None:
            progress.moments = self._moments()
            save_progress(self.observation.checkpoint, progress, self.identity)

    def _validation_metrics(self, embeddings: FinalEmbeddings) -> dict[str, list[float]]:
        assert self.validation is not None
        scores = embeddings.score(self.validation.queries)
        result = topk_scores(
            scores, self.validation.truth, k=self.settings.ks, metrics=METRICS, empty="skip"
        )
        return {name: values.tolist() for name, values in result.as_dict().items()}

    def _value(self, record: dict[str, Any]) -> float:
        name, k = self.settings.choose_by
        return float(record["metrics"][name][self.settings.ks.index(k)])

    def _popularity_floor(self, train: Prescriptions) -> float | None:
        if self.validation is None:
            return None
        scores = Popularity().fit(train).score(self.validation.queries)
        name, k = self.settings.choose_by
        result = topk_scores(scores, self.validation.truth, k=k, metrics=(name,), empty="skip")
        return float(result.as_dict()[name][0])

    def _warn_below_popularity(self, record: dict[str, Any]) -> None:
        if self.popularity is None or record["epoch"] < PATIENCE_WITH_POPULARITY:
            return
        value = self._value(record)
        if value < self.popularity - slack_of(self.popularity, 1.0):
            name, k = self.settings.choose_by
            text = (
                f"smgcn is below popularity after {record['epoch']} epochs: {name}@{k} {value:.4f}"
                f" against {self.popularity:.4f} on {record['set']}"
            )
            warnings.warn(text, UserWarning, stacklevel=2)
            self.observation.write({"event": "warning", "epoch": record["epoch"], "text": text})

    def _out_of_patience(self, progress: TrainingProgress) -> bool:
        if self.validation is None or self.settings.patience is None or not progress.history:
            return False
        last = progress.history[-1]["epoch"]
        return bool(
            last - progress.best_epoch >= self.settings.patience * self.settings.evaluate_every
        )

    def _finish(self, progress: TrainingProgress) -> Trained:
        if progress.best:
            self._load(progress.best)
        epoch = progress.best_epoch or progress.epoch
        name, k = self.settings.choose_by
        chosen_on = self.validation.name if self.validation is not None else None
        rule = f"{name}@{k}" if self.validation is not None else "last epoch"
        self.observation.write({"event": "chosen", "epoch": epoch, "set": chosen_on, "by": rule})
        self.classic.end(progress, epoch)
        return Trained(self.final_embeddings(), self._parameters(), epoch, progress.history)

    def _resume(self) -> TrainingProgress:
        path = self.observation.checkpoint
        progress = load_progress(path, self.identity) if path is not None else None
        if progress is None:
            return TrainingProgress()
        self._load(progress.parameters)
        self._load_moments(progress.moments)
        return progress

    def _parameters(self) -> Arrays:
        return {
            name: value.detach().cpu().numpy().copy()
            for name, value in self.network.named_parameters()
        }

    def _load(self, parameters: Arrays) -> None:
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                value.copy_(torch.as_tensor(parameters[name]))

    def _moments(self) -> Arrays:
        names = [name for name, _ in self.network.named_parameters()]
        state = self.optimizer.state_dict()["state"]
        return {
            f"{names[index]}/{key}": value.detach().cpu().numpy().copy()
            for index, entry in state.items()
            for key, value in entry.items()
        }

    def _load_moments(self, moments: Arrays) -> None:
        state = self.optimizer.state_dict()
        for index, (name, _) in enumerate(self.network.named_parameters()):
            keys = ("step", "exp_avg", "exp_avg_sq")
            state["state"][index] = {key: torch.as_tensor(moments[f"{name}/{key}"]) for key in keys}
        self.optimizer.load_state_dict(state)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
