"""The topk protocol: train a recommender, keep its lists for the test queries, score them at every K."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray
from typing_extensions import override

from paragone.cores import cpu_clock
from paragone.data import (
    Dataset,
    Split,
    SplitPlan,
    describe_splits,
    make_splits,
    prescriptions_of,
)
from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError, unknown_name
from paragone.hashing import digest
from paragone.lab.cells import CellScores, Fitted, Score, SplitData
from paragone.lab.protocol import (
    KEPT,
    Arrangement,
    Facts,
    Protocol,
    RowAnswers,
    protocols,
    sections_of,
)
from paragone.methods.method import Method
from paragone.methods.recommenders import FLOORS
from paragone.methods.recommenders.base import BLOCK_ROWS
from paragone.metrics import adopt, described_functions, find_metric
from paragone.metrics.topk import PRESETS, TopKResult
from paragone.metrics.topk.evaluate import DEFAULT_K, DEFAULT_METRICS, EMPTY, TIES
from paragone.metrics.topk.inputs import (
    UserMetric,
    check_choice,
    check_cutoffs,
    rank,
    split_metrics,
)
from paragone.metrics.topk.segments import check_rows
from paragone.page import Cover, Section
from paragone.protocols.topk.lists import LISTED, evaluate_lists, pack_samples, popularity_note

# Which arguments of a recommender's ``observe`` a log needs.
LOGS = {"classic": {"classic", "result_file"}, "json": {"log"}}


class ListRule(NamedTuple):
    """How lists are made of scores: how many places, which of equal scores first, how finely they are compared."""

    places: int
    reverse: bool
    single: bool


@dataclass(frozen=True)
class Recommending(Method):
    """A configured recommender, and what is kept of its lists.

    Parameters
    ----------
    factory, params
        The class with ``fit(train, validation)`` and ``score(block)``, and its parameters.
    places : int
        How many places of every list are kept.
    reverse : bool
        Whether equal scores go to the higher item id.
    single : bool
        Whether scores are compared as float32.
    log : {"classic", "json"}, optional
        Which log of a fit is kept beside the store; it changes no result, so it is not part of the
        identity.
    """

    places: int = 0
    reverse: bool = False
    single: bool = False
    log: str | None = None

    @property
    def listing(self) -> ListRule:
        """How its lists are made of its scores."""
        return ListRule(self.places, self.reverse, self.single)

    @override
    def identity(self) -> str:
        # Whatever the fit depends on: scores at other cut-offs reuse it as long as its lists are
        # long enough.
        return digest(
            [super().identity(), self.places, self.reverse, *(["float32"] if self.single else [])]
        )

    @override
    def versions(self) -> dict[str, str]:
        others = {package: version(package) for package in _packages(self.factory)}
        return {**super().versions(), **others}

    @property
    @override
    def logs(self) -> tuple[str, ...]:
        """The logs whose places the recommender takes in its ``observe``."""
        observe = getattr(self.factory, "observe", None)
        if not callable(observe):
            return ()
        known = inspect.signature(observe).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
        return tuple(log for log, places in LOGS.items() if takes_all or places <= set(known))

    @override
    def with_log(self, log: str, name: str) -> Self:
        check_choice(f"log of method {name!r}", log, LOGS)
        return replace(self, log=log) if log in self.logs else super().with_log(log, name)

    def check(self, name: str) -> None:
        """Refuse what is no recommender, or needs a package that is not installed."""
        known = all(callable(getattr(self.factory, verb, None)) for verb in ("fit", "score"))
        if not known or hasattr(self.factory, "predict"):
            raise InputError(
                f"method {name!r} ({self.label}) is no recommender: it needs fit(train, validation)"
                " and score(block)"
            )
        for package in _packages(self.factory):
            if find_spec(package) is None:
                raise InputError(
                    f"method {name!r} needs {package}, which is not installed: pip install"
                    f" 'paragone[recsys]' (or pip install {package})"
                )


def _packages(factory: Any) -> tuple[str, ...]:
    """Name the packages that a recommender needs and whose version its scores depend on."""
    return tuple(getattr(factory, "packages", ()))


def declare(
    methods: Mapping[str, Any], *, floors: bool, places: int, reverse: bool, single: bool = False
) -> dict[str, Method]:
    """Make recommenders of what the user declared, and add the floors that were not.

    Examples
    --------
    >>> list(declare({"mine": {"use": "ridge", "params": {"penalty": 5.0}}}, floors=True, places=20, reverse=False))
    ['mine', 'popularity', 'conditional', 'set-knn', 'ridge']
    """
    wanted = dict(methods)
    if floors:
        wanted |= {name: name for name in FLOORS if name not in methods}
    found: dict[str, Method] = {}
    for name, given in wanted.items():
        log = given.get("log") if isinstance(given, Mapping) else None
        plain = (
            {key: value for key, value in given.items() if key != "log"}
            if isinstance(given, Mapping)
            else given
        )
        method = Method.declare(plain, kind=f"method {name!r}")
        recommending = Recommending(method.factory, method.params, places, reverse, single)
        recommending.check(name)
        found[name] = recommending if log is None else recommending.with_log(log, name)
    return found


Validation: TypeAlias = Literal["file", "none"] | float

# Lists are kept at least this long, so that other cut-offs can be asked for without training anew.
PLACES_KEPT = 50


class RowsArrangement(Arrangement):
    """Rows of tokens and items with their splits. The store keeps all of them: lists are scored again at other K."""

    @override
    def kept_data(self) -> dict[str, NDArray[Any]]:
        rows = prescriptions_of(self.dataset.X, self.dataset.y)
        return {
            "token_indptr": np.asarray(rows.queries.indptr, dtype=np.int32),
            "tokens": np.asarray(rows.queries.indices, dtype=np.int32),
            "indptr": rows.indptr.astype(np.int32),
            "items": rows.items,
            "sizes": np.asarray([rows.n_tokens, rows.n_items]),
        }

    @override
    def kept_split(self, split: Split) -> dict[str, NDArray[Any]]:
        return {} if split.validation is None else {"validation": split.validation}


@protocols.add
@dataclass(frozen=True)
class TopK(Protocol):
    """Train recommenders once a seed and score their lists for the test queries at every cut-off.

    Parameters
    ----------
    k : tuple of int, default=(5, 10, 15, 20)
        The cut-offs, rising.
    metrics : tuple, optional
        Names as in `topk_scores`, conventions included (``"ndcg[idcg=k]"``), functions
        ``f(recommended, relevant, k) -> float``, or where functions are: ``"module:function"``.
        Precision, recall, F1 and RMRR where it is not given.
    ties : {"id", "expected", "optimistic", "pessimistic", "reverse_id"}, optional
        What equal scores are worth; ``id`` where neither this nor a preset says it.
    preset : str, optional
        The conventions of another program: ``smgcn``, ``trec_eval``, ``recbole`` or ``rectools``.
    idcg : {"min", "k", "hits"}, default="min"
        What a bare ``ndcg`` divides by.
    empty : {"error", "skip", "zero"}, optional
        What to do with test rows without items.
    validation : {"file", "none"} or float, default="file"
        The rows to choose epochs on: those the dataset sets aside, which are taken out of train; a
        share of train, drawn with the seed; or none, when all rows of train are trained on and
        nothing is chosen.
    floors : bool, default=True
        Whether the trivial methods (``popularity``, ``conditional``, ``set-knn``, ``ridge``) run
        too.

    Examples
    --------
    >>> TopK(k=(5, 10), metrics=("precision", "ndcg")).metric_names
    ('precision', 'ndcg[idcg=min]')
    """

    kind: ClassVar[str] = "topk"
    facts: ClassVar[Facts] = Facts(
        arrangement=RowsArrangement,
        default_scale="none",
        keeps_progress=True,
        own_comparison="methods on the samples of a test set",
        # The values per sample are scores, which follow the labels; the lists are in the fit.
        of_truth=frozenset({"tied_truth", "predictions"}),
        file_options={
            "k": Annotated[tuple[int, ...], MinLen(1)],
            "metrics": Annotated[tuple[str, ...], MinLen(1)] | None,
            "validation": str | float,
        },
    )
    reader: ClassVar[str] = "paragone.protocols.topk.reader:TopKReader"

    k: tuple[int, ...] = DEFAULT_K
    metrics: tuple[str | UserMetric, ...] | None = None
    ties: str | None = None
    preset: str | None = None
    idcg: str = "min"
    empty: str | None = None
    validation: Validation = "file"
    floors: bool = True

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "k", tuple(int(cut) for cut in check_cutoffs(self.k)))
        chosen = (
            None if self.preset is None else PRESETS[check_choice("preset", self.preset, PRESETS)]
        )
        defaults = (
            (chosen.ties, chosen.empty, chosen.metrics)
            if chosen
            else ("id", "error", DEFAULT_METRICS)
        )
        set_field(
            self,
            "ties",
            check_choice("ties", defaults[0] if self.ties is None else self.ties, TIES),
        )
        set_field(
            self,
            "empty",
            check_choice("empty", defaults[1] if self.empty is None else self.empty, EMPTY),
        )
        given = defaults[2] if self.metrics is None else self.metrics
        set_field(self, "metrics", tuple(_function(metric) for metric in given))
        split_metrics(self.metrics or (), self.idcg)
        self._check_validation()

    def _check_validation(self) -> None:
        if isinstance(self.validation, str):
            if self.validation not in ("file", "none"):
                raise unknown_name(
                    "validation", self.validation, ("file", "none", "a share such as 0.05")
                )
        elif not 0 < self.validation < 1:
            raise InputError(
                f"validation: a share must lie between 0 and 1, it is {self.validation}"
            )

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics' full names, conventions included; a user's functions last."""
        own, functions = split_metrics(self.metrics or (), self.idcg)
        return (*(metric.key for metric in own), *functions)

    @property
    def _places(self) -> int:
        return max(PLACES_KEPT, self.k[-1])

    @property
    def _single(self) -> bool:
        return self.preset is not None and PRESETS[self.preset].single

    @override
    def sections(self, view: Any) -> Iterable[Section | Cover]:
        return sections_of("paragone.protocols.topk.page:sections", view)

    @override
    def identity(self) -> str:
        own, functions = split_metrics(self.metrics or (), self.idcg)
        names = [metric.key for metric in own]
        return digest([self.kind, 1, list(self.k), names, functions, self.ties, self.empty])

    @override
    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "k": list(self.k),
            "metrics": list(self.metric_names),
            "ties": self.ties,
            "preset": self.preset,
            "empty": self.empty,
            "validation": self.validation,
            "floors": self.floors,
            **described_functions(
                find_metric(one, "topk") for one in split_metrics(self.metrics or ())[1].values()
            ),
        }

    @override
    def settings(
        self, methods: Mapping[str, Method], arrangements: Sequence[Arrangement]
    ) -> dict[str, Any]:
        own, functions = split_metrics(self.metrics or (), self.idcg)
        return {
            "k": list(self.k),
            "metrics": [metric.key for metric in own],
            "functions": list(functions),
            "ties": self.ties,
            "empty": self.empty,
            "notes": {a.dataset.name: list(a.notes) for a in arrangements},
        }

    @override
    def declare(self, methods: Mapping[str, Any]) -> dict[str, Method]:
        return declare(
            methods,
            floors=self.floors,
            places=self._places,
            reverse=self.ties == "reverse_id",
            single=self._single,
        )

    # Datasets

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task != "topk":
            raise InputError(
                f"dataset {dataset.name!r} is for {dataset.task}; the topk protocol needs rows of"
                " tokens and items: a folder with train.txt and test.txt, or"
                " prescription_dataset(...)"
            )
        if plan.scale not in (None, "none"):
            raise InputError(
                f"split: scale = {plan.scale!r} makes no sense for sets of tokens; leave it out"
            )
        if plan.leaves_splits_open and dataset.train_part is not None:
            plan = SplitPlan(kind="official", scale=plan.scale)
        splits = tuple(
            self._set_aside(dataset, split, seed) for split in make_splits(dataset, plan, seed)
        )
        notes = [
            f"{dataset.name}: {describe_splits(dataset, plan)}; {self._described_rows(splits)}"
        ]
        for split in splits:
            where = dataset.name if len(splits) == 1 else f"{dataset.name}, fold {split.fold}"
            notes += [
                f"{where}: {finding.message}" for finding in check_rows(*_roles(dataset, split))
            ]
        return (RowsArrangement(dataset, splits, notes=tuple(notes)),)

    def _set_aside(self, dataset: Dataset, split: Split, seed: int) -> Split:
        """Take the validation rows out of train."""
        if self.validation == "none":
            return split
        if self.validation == "file":
            if dataset.validation_part is None:
                raise InputError(
                    f"dataset {dataset.name!r} sets no validation rows aside: say validation = 0.05"
                    ' for a share of train drawn with the seed, or "none" to choose nothing'
                )
            chosen = dataset.validation_part[split.train]
        else:
            count = round(float(self.validation) * len(split.train))
            drawn = np.random.default_rng([seed, split.fold]).permutation(len(split.train))[:count]
            chosen = np.isin(np.arange(len(split.train)), drawn)
        if chosen.all() or not chosen.any():
            what = "no train rows are left beside" if chosen.all() else "train holds none of"
            raise InputError(
                f"dataset {dataset.name!r}, fold {split.fold}: {what} the validation rows"
            )
        return replace(split, train=split.train[~chosen], validation=split.train[chosen])

    def _described_rows(self, splits: Sequence[Split]) -> str:
        first = splits[0]
        rows = f"{len(first.train)} train rows, {len(first.test)} test rows"
        if first.validation is None:
            return f"{rows}, none for validation: nothing is chosen, methods train to their end"
        return f"{rows}, {len(first.validation)} validation rows taken out of train to choose on"

    # Work

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        """Train a recommender and keep its lists for the test queries."""
        context = data.context
        method = None if context is None else context.method
        if context is None or not isinstance(method, Recommending):
            return self._fit(estimator, data, self._listing)
        if context.scratch is not None and callable(getattr(method.factory, "observe", None)):
            estimator = _observed(estimator, method.log, context.scratch)
        return self._fit(estimator, data, method.listing)

    @property
    def _listing(self) -> ListRule:
        return ListRule(self._places, self.ties == "reverse_id", self._single)

    def _fit(self, estimator: Any, data: SplitData, listing: ListRule) -> Fitted:
        train, validation, test = roles_of(data)
        begun, cpu_begun = time.perf_counter(), cpu_clock()
        estimator.fit(train, validation)
        seconds, cpu_seconds = time.perf_counter() - begun, cpu_clock() - cpu_begun
        ranking, _, _ = rank(
            lambda part: estimator.score(test.queries[part]),
            test.truth,
            listing.places,
            kind="scores",
            n_items=test.n_items,
            reverse=listing.reverse,
            single=listing.single,
            block_rows=BLOCK_ROWS,
        )
        arrays = {name: np.asarray(getattr(ranking, name)) for name in LISTED}
        return Fitted(arrays, {**getattr(estimator, "diagnostics_", {})}, seconds, cpu_seconds)

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        train, _, test = roles_of(data)
        result = self.evaluate(fitted.arrays, test)
        scores = tuple(
            Score(name, float(result.means[name][place]), "K", cut)
            for name in result.names
            for place, cut in enumerate(result.ks)
        )
        # A fit of an older release keeps what it warned of here; today a cell keeps its warnings
        # itself.
        notes = [*result.notes, *fitted.info.get("warnings", ())]
        notes += [f"metric {name} failed: {error}" for name, error in result.errors.items()]
        below = popularity_note(result, train)
        return CellScores(scores, pack_samples(result), (*notes, *([below] if below else ())))

    @override
    def row_answers(
        self, fitted: Fitted, predictions: bytes | None, n_test: int
    ) -> RowAnswers | None:
        return RowAnswers(lists=fitted.arrays["items"])

    def evaluate(self, arrays: Mapping[str, NDArray[Any]], test: Prescriptions) -> TopKResult:
        """Score kept lists against the test rows."""
        own, functions = split_metrics(self.metrics or (), self.idcg)
        return evaluate_lists(
            arrays, test, self.k, own, functions, ties=str(self.ties), empty=str(self.empty)
        )


def _observed(estimator: Any, log: str | None, scratch: Path) -> Any:
    """Have a recommender write its progress into a folder, and its log where logs are kept."""
    kept = scratch / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    places: dict[str, Path] = {"log": (kept if log == "json" else scratch) / "log.jsonl"}
    if log == "classic":
        places |= {"classic": kept / "training.log", "result_file": kept / "best.result"}
        # It is appended to, and may be there from a fit that was killed after its end.
        places["result_file"].unlink(missing_ok=True)
    return estimator.observe(**places, checkpoint=scratch / "checkpoint.npz")


def roles_of(data: SplitData) -> tuple[Prescriptions, Prescriptions | None, Prescriptions]:
    """Return train, validation and test rows of a split."""
    validation = None
    if data.X_validation is not None:
        validation = prescriptions_of(data.X_validation, data.y_validation, "validation")
    test = prescriptions_of(data.X_test, data.y_test, "test")
    return prescriptions_of(data.X_train, data.y_train, "train"), validation, test


def _roles(
    dataset: Dataset, split: Split
) -> tuple[Prescriptions, Prescriptions, Prescriptions | None]:
    """Return train, test and validation rows, as the guards take them."""
    rows = prescriptions_of(dataset.X, dataset.y, dataset.name)
    validation = None if split.validation is None else rows.take(split.validation)
    return rows.take(split.train), rows.take(split.test), validation


def _function(metric: str | UserMetric) -> Any:
    """Return what a ``module:function`` names: it travels to the workers, and its content counts."""
    return adopt(metric, "topk") if callable(metric) or ":" in metric else metric
