"""The audit: every check that the subject allows, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from paragone.auditing.acknowledgement import Acknowledgement, acknowledge
from paragone.auditing.canary import Canary, check_canary
from paragone.auditing.columns import check_columns
from paragone.auditing.completeness import check_completeness, check_declaration
from paragone.auditing.determinism import check_determinism
from paragone.auditing.exact_rows import check_exact_rows
from paragone.auditing.finding import Checked, Finding, Ledger, Unchecked
from paragone.auditing.groups import check_groups, check_replicates
from paragone.auditing.label_features import check_label_features
from paragone.auditing.material import Material, materials
from paragone.auditing.near_rows import check_near_rows
from paragone.auditing.published import Expectations, check_published
from paragone.auditing.reading import table_files
from paragone.auditing.rerunning import Bench
from paragone.auditing.result import Audit
from paragone.auditing.subject import Subject, declared_subject, is_experiment_file, stored_subjects
from paragone.auditing.topk_rows import check_topk_rows
from paragone.auditing.truths import check_truths
from paragone.auditing.tuning import check_selection, check_tuning
from paragone.auditing.verify_crossval import verify_crossval
from paragone.auditing.verify_curve import verify_curve
from paragone.auditing.verify_topk import verify_topk
from paragone.errors import InputError, unknown_name
from paragone.experiment import Experiment
from paragone.experiment.stages import extended
from paragone.results import Results
from paragone.store import Store
from paragone.store.cell_records import CellRecords

if TYPE_CHECKING:
    import pandas as pd

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is looked at next, how many steps are done, and how many there are."""

NEED_DATA = "leaks, canary and determinism (they need the data)"


@dataclass(frozen=True)
class Options:
    """What an audit is asked to do beside its subject."""

    sample: int = 5
    canary: Canary = "small"
    seconds: float = 60.0
    seed: int = 0
    in_process: bool = False
    against: tuple[Path, ...] = ()
    reference: str | None = None
    names: Mapping[str, str] | None = None


def audit(
    subject: str | Path | Results | Experiment,
    *,
    experiment: str | None = None,
    declaration: str | Path | Experiment | None = None,
    sample: int = 5,
    canary: Canary = "small",
    seconds: float = 60.0,
    seed: int = 0,
    against: Iterable[str | Path] = (),
    reference: str | None = None,
    display_map: Mapping[str, str] | None = None,
    known: Iterable[Acknowledgement | Mapping[str, Any]] = (),
    in_process: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Look for leaks, run a sample of cells again, recompute every score, and count what is missing.

    An experiment without a store gets the checks of its data and the canary; a store gets everything, as far as the
    data its experiments name can be found.

    Parameters
    ----------
    subject : str, Path, Results or Experiment
        A store, an experiment file (``.toml``), or either of them opened.
    experiment : str, optional
        One experiment of a store that holds several.
    declaration : str, Path or Experiment, optional
        The experiment of a store, where it is neither beside the store nor in it.
    sample : int, default=5
        How many done cells are run again and compared byte by byte.
    canary : {"small", "all", "none"}, default="small"
        Which cells are run with scrambled held-out labels: every method on the smallest dataset, on all, or none.
    seconds : float, default=60
        Cells that take longer are not run again; how many is said.
    seed : int, default=0
        Of the sample and the scrambling.
    against : iterable of paths
        Published tables, LaTeX or CSV, to compare number by number.
    reference : str, optional
        The reference of the published statistics; the first method where it is not given, as in a report.
    display_map : mapping of str to str, optional
        Names that the published tables show instead of identifiers.
    known : iterable of Acknowledgement or mapping, optional
        Acknowledged findings beside those of the experiment file.
    in_process : bool, default=False
        Whether cells are run in the calling process, without a limit of seconds.
    progress : callable, optional
        Called before every step with its name, its number and the number of steps.

    Returns
    -------
    Audit
        Findings, what was checked, and what could not be.

    Examples
    --------
    >>> found = audit(Experiment(["wine-traits"], {"Variance": "variance"}, name="lab"), in_process=True)
    >>> found.of("PG101"), len(found.unchecked)
    ((), 0)
    """
    if sample < 0:
        raise InputError(f"sample must be 0 or more, it is {sample}")
    if canary not in get_args(Canary):
        raise unknown_name("canary", canary, get_args(Canary))
    given = tuple(Acknowledgement.of(one) for one in known)
    files = tuple(table_files(against))
    options = Options(sample, canary, seconds, seed, in_process, files, reference, display_map)
    if isinstance(subject, Experiment) or is_experiment_file(subject):
        if files:
            raise InputError("published tables are compared with a store: give the store that holds the results")
        return _audited([declared_subject(subject)], str(_label(subject)), options, given, progress)  # type: ignore[arg-type]
    store = Store(subject.path if isinstance(subject, Results) else Path(str(subject)))
    try:
        subjects = stored_subjects(store, experiment, declaration)
        return _audited(subjects, store.path.name, options, given, progress)
    finally:
        store.close()


def _label(subject: object) -> str:
    return Path(subject).name if isinstance(subject, (str, Path)) else str(getattr(subject, "name", subject))


@dataclass(frozen=True, eq=False)
class _Step:
    name: str
    work: Callable[[], None]


def _audited(
    subjects: Sequence[Subject],
    label: str,
    options: Options,
    known: tuple[Acknowledgement, ...],
    progress: Progress | None,
) -> Audit:
    findings: list[Finding] = []
    checked: list[Checked] = []
    unchecked: list[Unchecked] = []
    plans = [_Plan(subject, options, len(subjects) == 1) for subject in subjects]
    steps = [step for plan in plans for step in plan.steps()]
    try:
        for number, step in enumerate(steps):
            if progress is not None:
                progress(step.name, number, len(steps))
            step.work()
    finally:
        for plan in plans:
            plan.close()
    for plan in plans:
        findings += acknowledge(plan.ledger.findings, (*plan.subject.known, *known))
        checked += plan.ledger.checked
        unchecked += plan.ledger.unchecked
    if progress is not None:
        progress("done", len(steps), len(steps))
    return Audit(label, tuple(findings), tuple(checked), tuple(unchecked))


class _Plan:
    """The steps of the audit of one experiment."""

    def __init__(self, subject: Subject, options: Options, alone: bool) -> None:
        self.subject = subject
        self.options = options
        self.ledger = Ledger(subject.name)
        self._alone = alone
        self._recomputed: pd.DataFrame | None = None
        self._open_bench: Bench | None = None
        for name, why in subject.left_out:
            self.ledger.miss(NEED_DATA, 1, f"of the datasets ({name})", why)

    @cached_property
    def _records(self) -> CellRecords:
        assert self.subject.store is not None
        return CellRecords(self.subject.store, self.subject.name)

    def steps(self) -> Iterator[_Step]:
        """Name the steps, those that need no running first."""
        if self.subject.experiment is not None:
            yield from self._data_steps(self.subject.experiment)
        if self.subject.results is not None:
            yield from self._store_steps(self.subject.results)
        if self.subject.experiment is not None:
            yield _Step("canary", self._canary)
            if self.subject.results is not None and self.options.sample:
                yield _Step("determinism", self._determinism)

    def _data_steps(self, experiment: Experiment) -> Iterator[_Step]:
        for material in materials(tuple(experiment.layout.arrangements.values())):
            for check in data_checks(material):
                yield _Step(
                    f"{material.name}: {check.__name__.removeprefix('check_')}", _bound(check, material, self.ledger)
                )

    def _store_steps(self, results: Results) -> Iterator[_Step]:
        name, ledger = self.subject.name, self.ledger
        yield _Step("completeness", lambda: check_completeness(results, name, ledger))
        yield _Step("scores", self._scores)
        yield _Step("choices", self._choices)
        if self.subject.experiment is not None:
            yield _Step("declaration", self._declaration)
        if self.options.against:
            yield _Step("published tables", self._published)

    def _scores(self) -> None:
        results, name = self.subject.results, self.subject.name
        assert results is not None
        if name in results.crossval_experiments():
            verify_crossval(results.crossval(name), self.ledger)
        elif name in results.topk_experiments():
            verify_topk(results.topk(name), self._records, self.ledger)
        else:
            self._recomputed = verify_curve(self._records, results, name, self.ledger)

    def _choices(self) -> None:
        results, name = self.subject.results, self.subject.name
        assert results is not None
        check_tuning(self._records, results, name, self.ledger)
        if name in results.crossval_experiments():
            refitted: dict[str, list[str]] = {}
            for record in self._records.cells:
                if record.protocol == "refit":
                    refitted.setdefault(record.dataset, []).append(record.method)
            check_selection(results.crossval(name), refitted, self.ledger)

    def _declaration(self) -> None:
        experiment, store = self.subject.experiment, self.subject.store
        assert experiment is not None
        assert store is not None
        check_declaration(experiment, store, self.ledger)
        check_truths(self._records, experiment, self.ledger)

    def _published(self) -> None:
        results = self.subject.results
        assert results is not None
        if not self._alone:
            raise InputError("published tables need one experiment: say which with experiment=")
        options = self.options
        expected = Expectations(results, self.subject.name, self._recomputed, options.reference, options.names)
        check_published(options.against, expected, self.ledger)

    def _too_slow(self) -> dict[str, float]:
        if self.subject.store is None or self.options.in_process:
            return {}
        return {record.key: record.seconds for record in self._records.cells if record.seconds > self.options.seconds}

    def _bench(self, experiment: Experiment) -> Bench:
        """Return the one place where cells are run again: its worker takes a while to start."""
        if self._open_bench is None:
            self._open_bench = Bench(experiment, self.options.seconds, in_process=self.options.in_process)
        return self._open_bench

    def close(self) -> None:
        """End the worker, where one was started."""
        if self._open_bench is not None:
            self._open_bench.close()

    def _canary(self) -> None:
        experiment, options = self.subject.experiment, self.options
        assert experiment is not None
        bench = self._bench(experiment)
        check_canary(experiment, self.ledger, options.canary, bench=bench, too_slow=self._too_slow(), seed=options.seed)

    def _determinism(self) -> None:
        experiment, store, options = self.subject.experiment, self.subject.store, self.options
        assert experiment is not None
        assert store is not None
        cells = {cell.key: cell for cell in extended(experiment.layout, experiment.methods, store).cells}
        check_determinism(
            self._records,
            store,
            cells,
            self.ledger,
            bench=self._bench(experiment),
            sample=options.sample,
            too_slow=self._too_slow(),
            seed=options.seed,
        )


def data_checks(material: Material) -> tuple[Callable[[Material, Ledger], None], ...]:
    """Return the checks that make sense for a dataset."""
    if material.dataset.task == "topk":
        return (check_topk_rows,)
    return (check_exact_rows, check_near_rows, check_groups, check_replicates, check_label_features, check_columns)


def _bound(check: Callable[[Material, Ledger], None], material: Material, ledger: Ledger) -> Callable[[], None]:
    return lambda: check(material, ledger)
