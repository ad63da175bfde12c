"""The crossval protocol: every variant on every fold, then selection, then the refit of the chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, MinLen
from numpy.typing import NDArray
from typing_extensions import override

from paragone.data import Dataset, Split, SplitPlan
from paragone.errors import InputError, unknown_name
from paragone.hashing import digest
from paragone.lab.cells import CellScores, FitContext, Fitted, Place, SplitData
from paragone.lab.protocol import Arrangement, Facts, Protocol, RowAnswers, protocols, sections_of
from paragone.methods.method import Method
from paragone.metrics import described_functions, find_metric, named_metric, ranking_metric
from paragone.metrics.prediction import DEFAULT_METRIC
from paragone.page import Cover, Section
from paragone.protocols.crossval.fitting import fit_variant
from paragone.protocols.crossval.ledger import Weighting, fold_weights
from paragone.protocols.crossval.problem import FoldRows, Settings, Truth, choose, make_problem
from paragone.protocols.crossval.scores import Criterion, Naming, score_name
from paragone.protocols.crossval.splits import (
    FoldSplit,
    ProblemArrangement,
    StoredFolds,
    arrange_problem,
    check_task,
    mark_test_rows,
    problems_of,
)
from paragone.protocols.crossval.variants import STEPS, Variant, expand


@protocols.add
@dataclass(frozen=True)
class Crossval(Protocol):
    """Cross-validate every variant, select by the cross-validation alone, refit the chosen on all of train.

    Parameters
    ----------
    metric : str, callable or Metric, optional
        What scores are computed with: a name, a function ``f(y_true, y_pred) -> float`` with an
        attribute ``higher_is_better``, a scikit-learn scorer or its name, or where a function is:
        ``"module:function"``. RMSE for regression and balanced accuracy for classification where it
        is not given.
    select : sequence of Criterion or mapping, optional
        Which variants are refitted; the best by RMSECV where not given.
    test : float, str or array-like of int, optional
        The test rows: a share, drawn with the seed; ``"official"`` for the dataset's own test part;
        the name of a column that marks them; or row numbers. No test set where not given.
    repeats : int, default=1
        How often the folds are drawn.
    folds, stored : StoredFolds, optional
        Folds and test rows decided elsewhere, instead of the split plan; ``stored`` names their
        file in an experiment file.
    targets : {"separate", "joint"}, default="separate"
        Whether several targets are modelled one by one, each on the rows that have it, or together.
    aggregate : {"mean"}, optional
        How joint targets are brought to one score for selection.
    naming : {"nirs", "ml", "auto"}, default="nirs"
        What tables call the scores.
    weighting : {"compat", "equal", "softmax"}, default="compat"
        Of the fold models in the weighted ensemble.
    ddof : {0, 1}, default=0
        Of the standard deviations in SEP, RPD and consistency.
    task : {"regression", "classification"}, optional
        Where given, every dataset must be of it.
    share : bool, default=True
        Whether common preprocessing is fitted once a fold, and a PLS once for all its numbers of
        components, up to the numerical rank of the features; members beyond it are fitted alone,
        and a note says so. The predictions are the same within 1e-10 and are not told apart in the
        store.

    Examples
    --------
    >>> Crossval(metric="rmse", select=[{"ranking": "rmsecv", "top_k": 3}]).select[0].top_k
    3
    """

    kind: ClassVar[str] = "crossval"
    facts: ClassVar[Facts] = Facts(
        later_kind="refit",
        shares_work=True,
        default_scale="none",
        repeats_methods=False,
        predicts_target=True,
        compares_all=True,
        arrangement=ProblemArrangement,
        aliases={name: step.path for name, step in STEPS.items()},
        own_comparison="pipelines by their out-of-fold losses",
        files={"stored": ("folds", StoredFolds.read)},
        file_options={
            "metric": str | None,
            "select": Annotated[tuple[Criterion, ...], MinLen(1)],
            "test": float | str | None,
            "repeats": Annotated[int, Ge(1)],
            "stored": str | None,
            "folds": None,
            "ddof": Literal[0, 1],
            "task": Literal["regression", "classification"] | None,
        },
    )
    reader: ClassVar[str] = "paragone.protocols.crossval.reader:CrossvalReader"

    metric: str | None = None
    select: tuple[Criterion, ...] = (Criterion(),)
    test: Any = None
    repeats: int = 1
    folds: StoredFolds | None = None
    targets: Literal["separate", "joint"] = "separate"
    aggregate: Literal["mean"] | None = None
    naming: Naming = "nirs"
    weighting: Weighting = "compat"
    ddof: int = 0
    task: str | None = None
    share: bool = True

    def __post_init__(self) -> None:
        criteria = _criteria(self.select)
        if not criteria:
            raise InputError(
                "select: name at least one criterion, or leave it out for the best by RMSECV"
            )
        object.__setattr__(self, "select", criteria)
        score_name("cv_score", "rmse", self.naming)
        fold_weights([1.0], higher_is_better=True, weighting=self.weighting)
        self._settle_metrics()
        if isinstance(self.repeats, bool) or not isinstance(self.repeats, int) or self.repeats < 1:
            raise InputError(
                f"repeats must be a whole number of at least 1, it is {self.repeats!r}"
            )
        if self.ddof not in (0, 1):
            raise InputError(f"ddof must be 0 or 1, it is {self.ddof!r}")
        if isinstance(self.test, float) and not 0 < self.test < 1:
            raise InputError(f"test: a share must lie between 0 and 1, it is {self.test}")
        if self.folds is not None and (self.test is not None or self.repeats > 1):
            raise InputError(
                "stored folds say all about test rows and repeats: leave test and repeats out"
            )
        if self.targets not in ("separate", "joint"):
            raise unknown_name("targets", self.targets, ("separate", "joint"))
        if self.targets == "joint" and self.aggregate is None:
            raise InputError(
                'targets = "joint" needs one score to select by: say aggregate = "mean"'
            )

    def _settle_metrics(self) -> None:
        """Refuse metrics that no task knows, or that cannot rank; the task itself may only be known later."""
        object.__setattr__(self, "metric", self._ranking_name(self.metric))
        criteria = tuple(replace(one, metric=self._ranking_name(one.metric)) for one in self.select)
        object.__setattr__(self, "select", criteria)

    def _ranking_name(self, use: Any) -> str | None:
        return (
            None
            if use is None
            else ranking_metric(use, self.task or ("regression", "classification")).name
        )

    @property
    def _functions(self) -> dict[str, Any]:
        """What the store is told about metrics that are not ours."""
        names = {self.metric, *(criterion.metric for criterion in self.select)} - {None}
        return described_functions(named_metric(name) for name in sorted(map(str, names)))

    @override
    def sections(self, view: Any) -> Iterable[Section | Cover]:
        return sections_of("paragone.protocols.crossval.page:sections", view)

    # Identity: what is stored depends on nothing that only scores depend on.

    @override
    def identity(self) -> str:
        return digest([self.kind, 1])

    @override
    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "metric": self.metric,
            "select": [asdict(criterion) for criterion in self.select],
            "test": (
                self.test
                if isinstance(self.test, (float, str)) or self.test is None
                else "row numbers"
            ),
            "repeats": self.repeats,
            "targets": self.targets,
            "weighting": self.weighting,
            "ddof": self.ddof,
            "folds": "stored" if self.folds is not None else None,
            **self._functions,
        }

    @override
    def settings(
        self, methods: Mapping[str, Method], arrangements: Sequence[Arrangement]
    ) -> dict[str, Any]:
        variants = {n: m.described() if isinstance(m, Variant) else {} for n, m in methods.items()}
        return Settings(
            self.metric,
            self.select,
            self.naming,
            self.weighting,
            self.ddof,
            self.aggregate,
            holdout=all(len(arrangement.first) == 1 for arrangement in arrangements),
            variants=variants,
            problems={a.dataset.name: self._described(a) for a in arrangements},
        ).to_json()

    def _described(self, arrangement: Arrangement) -> dict[str, Any]:
        return {
            "dataset": arrangement.origin,
            "targets": list(arrangement.dataset.target_names),
            "notes": list(arrangement.notes),
        }

    @override
    def declare(self, methods: Mapping[str, Any]) -> dict[str, Method]:
        # Members of PLS paths stay together: one fit serves all numbers of components.
        return {
            name: replace(variant, shares=self.share) for name, variant in expand(methods).items()
        }

    # Datasets

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        self._check(dataset)
        dataset, test = mark_test_rows(
            dataset, self.test if self.folds is None else self.folds.test, seed
        )
        each = sum(criterion.top_k for criterion in self.select)
        return tuple(
            replace(
                arrange_problem(problem, test, plan, seed, repeats=self.repeats, stored=self.folds),
                origin=dataset.name,
                most_later=each * max(1, problem.n_targets),
            )
            for problem in problems_of(dataset, joint=self.targets == "joint")
        )

    def _check(self, dataset: Dataset) -> None:
        check_task(dataset)
        if self.task is not None and dataset.task != self.task:
            raise InputError(
                f"dataset {dataset.name!r} is for {dataset.task}, the protocol says {self.task}"
            )
        for name in (self.metric, *(criterion.metric for criterion in self.select)):
            find_metric(name or DEFAULT_METRIC[dataset.task], dataset.task)

    # Work

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        context = data.context or FitContext(Variant.declare(estimator))
        method = context.method
        variant = method if isinstance(method, Variant) else Variant(method.factory, method.params)
        task, split_seed = data.task or "regression", context.split_seed
        return fit_variant(
            variant, data, task=task, seed=context.seed, split_seed=split_seed, share=self.share
        )

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        """Store no score: every one is derived from the predictions. Say what work was shared."""
        shared = fitted.info.get("shared") or {}
        notes = []
        if shared.get("steps"):
            notes.append("shares its preprocessing")
        if shared.get("path"):
            notes.append(f"shares one PLS fit of up to {shared['path']} components")
        if fitted.info.get("rank"):
            wanted, rank = fitted.info["rank"]
            notes.append(
                f"has {wanted} components, but its features have numerical rank {rank}: what is"
                " beyond it is decided by rounding"
            )
        return CellScores(notes=tuple(notes))

    @override
    def row_answers(
        self, fitted: Fitted, predictions: bytes | None, n_test: int
    ) -> RowAnswers | None:
        # The predictions of the fit rows stand before those of the others.
        kept = fitted.arrays
        of_all = kept["y"] if "y" in kept else kept["classes"][kept["codes"]]
        end = len(of_all) - n_test
        scores = kept["proba"][end:] if "proba" in kept else None
        learnt = {"predictions of the fit rows": of_all[:end]}
        return RowAnswers(of_all[end:], scores, kept.get("classes"), learnt=learnt)

    @override
    def next(
        self,
        arrangements: Sequence[Arrangement],
        methods: Mapping[str, Method],
        fitted: Callable[[Place], Fitted | None],
    ) -> list[Place]:
        settings = Settings.from_json(self.settings(methods, arrangements))
        places: list[Place] = []
        for arrangement in arrangements:
            dataset = arrangement.dataset
            kept = arrangement.kept_data()
            folds = [_fold_rows(split) for split in arrangement.first]
            found: dict[tuple[str, int], Mapping[str, NDArray[Any]] | str | None] = {}
            for variant in methods:
                for number in range(len(folds)):
                    result = fitted((dataset.name, number, variant, 0))
                    found[variant, number] = "failed" if result is None else result.arrays
            columns = range(dataset.n_targets) if dataset.n_targets > 1 else [None]
            problems = [
                make_problem(
                    dataset.name,
                    dataset.target_names[column or 0],
                    Truth(
                        kept["y"] if column is None else kept["y"][:, column], kept.get("classes")
                    ),
                    folds,
                    None,
                    list(methods),
                    lambda variant, number, found=found: found.get((variant, number)),  # type: ignore[misc]
                    column=column,
                )
                for column in columns
            ]
            chosen = choose(problems, settings).variants
            places += [(dataset.name, len(folds), variant, 0) for variant in chosen]
        return places


def _fold_rows(split: Split) -> FoldRows:
    return FoldRows.of(split.train, split.test, split.n_val if isinstance(split, FoldSplit) else 0)


def _criteria(select: Any) -> tuple[Criterion, ...]:
    """Return the criteria that mappings stand for."""
    if isinstance(select, (Criterion, Mapping)):
        select = [select]
    if isinstance(select, str) or not isinstance(select, Sequence):
        raise InputError(
            "select: expected criteria such as [{'ranking': 'rmsecv', 'top_k': 3}], got"
            f" {select!r}"
        )
    known = [each.name for each in fields(Criterion)]
    criteria = []
    for given in select:
        if not isinstance(given, (Criterion, Mapping)):
            raise InputError(
                f"select: expected a criterion such as {{'ranking': 'rmsecv'}}, got {given!r}"
            )
        for key in given if isinstance(given, Mapping) else ():
            if key not in known:
                raise unknown_name("key of select", str(key), known)
        criteria.append(given if isinstance(given, Criterion) else Criterion(**given))
    return tuple(criteria)
