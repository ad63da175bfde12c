"""The audit: every check that one experiment allows, and what they need of each other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias, get_args

from scipy import sparse

from paragone.checks.bench import Bench
from paragone.checks.canary import CANARY, READING, Canary, check_methods, method_steps
from paragone.checks.completeness import DECLARED, check_declaration
from paragone.checks.elsewhere import audit_given
from paragone.checks.finding import Acknowledgement, Audit, Ledger
from paragone.checks.given_scores import is_given
from paragone.checks.material import Material, materials
from paragone.checks.published import Remade, check_published
from paragone.checks.registry import Check, checks, checks_of
from paragone.checks.repetition import DETERMINISM, check_determinism
from paragone.checks.subject import (
    Consent,
    Subject,
    declared_subject,
    is_experiment_file,
    stored_subjects,
)
from paragone.checks.tables import table_files
from paragone.checks.verify import Verification, check_truths, verify_scores
from paragone.errors import InputError, unknown_name
from paragone.lab.experiment import Experiment
from paragone.lab.planning import extended
from paragone.lab.protocol import Arrangement
from paragone.lab.results import Results
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.metrics import asked_name

NEED_DATA = "leaks, canary and determinism (they need the data)"
NEED_DATA_ALONE = "leaks and the truth in the store (they need the data)"
NEED_CODE = "this would run code that the store names, which --run-code (run_code=True) allows"

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is looked at next, how many steps are done, and how many there are."""
Step: TypeAlias = tuple[str, Callable[[], Any]]
"""A part of an audit: what it is called, and the work."""


@dataclass(frozen=True)
class AuditOptions:
    """What an audit is asked beside its subject.

    Attributes
    ----------
    experiment : str, optional
        One experiment of a store that holds several.
    declaration : str, Path or Experiment, optional
        The experiment of a store, where it is neither beside the store nor in it.
    sample : int, default=5
        How many done cells are run again and compared byte by byte.
    canary : {"small", "all", "none"}, default="small"
        Which cells are run with scrambled held-out labels: every method on the smallest dataset, on
        all, or none.
    seconds : float, default=60
        Cells that take longer are not run again; how many is said.
    seed : int, default=0
        Of the sample and the scrambling.
    against : iterable of paths
        Published tables, LaTeX or CSV, to compare number by number.
    reference : str, optional
        The reference of the published statistics; the first method where it is not given, as in a
        report.
    metric : str, callable or Metric, optional
        The metric of the published tables, where they were made by one alone, as a report is with
        ``metric``; of a table of scores, what its values are.
    display_map : mapping of str to str, optional
        Names that the published tables show instead of identifiers.
    known : iterable of Acknowledgement or mapping, optional
        Acknowledged findings beside those of the experiment file.
    in_process : bool, default=False
        Whether cells are run in the calling process, without a limit of seconds.
    progress : callable, optional
        Called before every step with its name, its number and the number of steps.
    run_code : bool, default=False
        Whether code that a store names may be imported and run: only for stores of people whose
        programs you would run.
    tell : callable, optional
        Called, before anything is imported, with lines that say what will be and from where.
    items : int or str, optional
        For results from elsewhere: how many right or wrong answers are behind each mean, or the
        column that says it.
    checks : iterable of str
        Checks of others, as ``module:name``, beside our own and those of installed packages.

    Examples
    --------
    >>> AuditOptions(sample=2, canary="none").seconds
    60.0
    """

    experiment: str | None = None
    declaration: str | Path | Experiment | None = None
    sample: int = 5
    canary: Canary = "small"
    seconds: float = 60.0
    seed: int = 0
    against: Iterable[str | Path] = ()
    reference: str | None = None
    metric: Any = None
    display_map: Mapping[str, str] | None = None
    known: Iterable[Acknowledgement | Mapping[str, Any]] = ()
    in_process: bool = False
    progress: Progress | None = None
    run_code: bool = False
    tell: Callable[[str], None] | None = None
    items: int | str | None = None
    checks: Iterable[str] = ()

    def __post_init__(self) -> None:
        if self.sample < 0:
            raise InputError(f"sample must be 0 or more, it is {self.sample}")
        if self.canary not in get_args(Canary):
            raise unknown_name("canary", self.canary, get_args(Canary))
        # A metric of the user's own is known by its name from here on.
        object.__setattr__(self, "metric", asked_name(self.metric))

    @cached_property
    def more(self) -> tuple[Check, ...]:
        """The checks of others."""
        return tuple(checks.get(name) for name in self.checks)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files of published tables."""
        return tuple(table_files(self.against))

    @cached_property
    def acknowledged(self) -> tuple[Acknowledgement, ...]:
        """What is known beside the acknowledgements of the experiment file."""
        return tuple(Acknowledgement.of(one) for one in self.known)


class ExperimentAudit:
    """The steps of the audit of one experiment, and the ledger that they write to."""

    def __init__(self, subject: Subject, options: AuditOptions, *, alone: bool) -> None:
        self.subject = subject
        self.ledger = Ledger(subject.name)
        self._options = options
        self._alone = alone
        self._open_bench: Bench | None = None
        self._verified = Verification()
        needed = NEED_DATA if subject.at_hand is None else NEED_DATA_ALONE
        for name, why in subject.left_out:
            self.ledger.miss(needed, 1, f"of the datasets ({name})", why)

    def steps(self) -> Iterator[Step]:
        """Name the steps, those that need no running first."""
        experiment, view, at_hand = self.subject.experiment, self.subject.view, self.subject.at_hand
        if experiment is not None:
            yield from self._data_steps(experiment.layout.arrangements)
        if at_hand is not None:
            yield from self._data_steps(at_hand.arrangements)
        if view is not None:
            yield "scores", partial(self._scores, view)
            for one in checks_of("store", more=self._options.more):
                yield one.name, partial(one, view, self.ledger)
            if experiment is not None:
                yield "declaration", partial(self._declaration, experiment, view)
            if at_hand is not None:
                truths = partial(check_truths, view.cells, self.ledger, at_hand.arrangements)
                yield "truths", truths
                yield "what needs code", partial(self._without_code, view)
            if self._options.files:
                yield "published tables", partial(self._published, view)
        if experiment is not None:
            yield "canary", partial(self._canary, experiment)
            if view is not None and self._options.sample:
                yield "determinism", partial(self._determinism, experiment, view)

    def close(self) -> None:
        """End the worker, where one was started."""
        if self._open_bench is not None:
            self._open_bench.close()

    def _data_steps(self, arrangements: Mapping[str, Arrangement]) -> Iterator[Step]:
        for material in materials(tuple(arrangements.values())):
            for one in data_checks(material, self._options.more):
                yield f"{material.name}: {one.name}", partial(one, material, self.ledger)

    def _scores(self, view: View) -> None:
        self._verified = verify_scores(view, self.ledger)

    def _declaration(self, experiment: Experiment, view: View) -> None:
        check_declaration(experiment, view.results.store, self.ledger)
        check_truths(view.cells, self.ledger, experiment.layout.arrangements)

    def _without_code(self, view: View) -> None:
        """Count what is left out for want of consent to run code."""
        cells = view.cells.cells
        n_methods = len({cell.method for cell in cells})
        self.ledger.miss(DECLARED, len(cells), "cells", NEED_CODE)
        if self._options.canary == "none":
            self.ledger.miss(CANARY, n_methods, "methods", "left out as asked")
        else:
            for name in method_steps(self._options.more):
                if name != READING:
                    self.ledger.miss(name, n_methods, "methods", NEED_CODE)
        self.ledger.miss(DETERMINISM, min(self._options.sample, len(cells)), "cells", NEED_CODE)

    def _published(self, view: View) -> None:
        if not self._alone:
            raise InputError("published tables need one experiment: say which with experiment=")
        if not self._verified.right:
            self._compare_published(view)
            return
        # Scores that do not follow from the predictions prove nothing: what follows from them is
        # put in their place.
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "right.sqlite"
            view.cells.copy_with(path, self._verified.right)
            with Results.open(path) as right:
                self._compare_published(View(right, view.experiment))

    def _compare_published(self, view: View) -> None:
        asked = self._options
        remade = Remade(view, asked.reference, asked.display_map, asked.metric)
        check_published(remade, self.ledger, asked.files)

    def _canary(self, experiment: Experiment) -> None:
        check_methods(
            experiment,
            self.ledger,
            self._options.canary,
            bench=self._bench(experiment),
            too_slow=self._too_slow(),
            seed=self._options.seed,
            more=self._options.more,
        )

    def _determinism(self, experiment: Experiment, view: View) -> None:
        planned = extended(experiment.layout, experiment.methods, view.results.store).cells
        check_determinism(
            view.cells,
            self.ledger,
            {cell.key: cell for cell in planned},
            bench=self._bench(experiment),
            sample=self._options.sample,
            too_slow=self._too_slow(),
            seed=self._options.seed,
        )

    def _too_slow(self) -> dict[str, float]:
        if self.subject.view is None or self._options.in_process:
            return {}
        done = self.subject.view.cells.cells
        return {cell.key: cell.seconds for cell in done if cell.seconds > self._options.seconds}

    def _bench(self, experiment: Experiment) -> Bench:
        """Return the one place where cells are run again: its worker takes a while to start."""
        if self._open_bench is None:
            in_process = self._options.in_process
            self._open_bench = Bench(experiment, self._options.seconds, in_process=in_process)
        return self._open_bench


def data_checks(material: Material, more: Iterable[Check] = ()) -> list[Check]:
    """Return the checks that make sense for a dataset."""
    if sparse.issparse(material.dataset.y):
        # Sets of tokens and items have neither columns nor labels to look at.
        return checks_of("lists", more=more)
    return checks_of("data", "columns", more=more)


def audit(subject: str | Path | Results | Experiment, **asked: Any) -> Audit:
    """Look for leaks, run a sample of cells again, recompute every score, and count what is missing.

    An experiment without a store gets the checks of its data and the canary; a store gets
    everything, as far as the data its experiments name can be found.

    A store is data: nothing that it names is imported, and no method of it runs, unless
    ``run_code`` says so. Without it every score is recomputed from the stored predictions, data in
    the store's folder is looked at on the splits that the store keeps, and what was left out is
    said. An experiment that is handed over, as an object or as a ``.toml`` file, is a program, and
    is run.

    Results that other programs wrote, files or folders, are looked at for what their numbers give
    away: impossible means and deviations, methods that are the same, items that are not.

    Parameters
    ----------
    subject : str, Path, Results or Experiment
        A store, an experiment file (``.toml``), or either of them opened; or what `paragone
        compare` reads else.
    **asked : AuditOptions
        The fields of `AuditOptions`: ``experiment``, ``declaration``, ``sample``, ``canary``,
        ``seconds``, ``seed``, ``against``, ``reference``, ``metric``, ``display_map``, ``known``,
        ``in_process``, ``progress``, ``run_code``, ``tell``, ``items`` and ``checks``.

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
    options = AuditOptions(**asked)
    known = options.acknowledged
    if isinstance(subject, str | Path) and is_given(Path(subject)):
        if options.files:
            raise InputError(
                f"published tables are compared with a store, and {Path(subject).name}"
                " is not one: paragone import makes one of it"
            )
        items = None if options.items is None else str(options.items)
        return audit_given(Path(subject), options.metric, items, options.more).knowing(known)
    if options.items is not None:
        raise InputError("items is for results from elsewhere: a store knows them")
    consent = Consent(options.run_code, options.tell)
    if isinstance(subject, Experiment) or is_experiment_file(subject):
        if options.files:
            raise InputError(
                "published tables are compared with a store: give the store that holds the results"
            )
        label = subject.name if isinstance(subject, Experiment) else Path(subject).name
        return _audited([declared_subject(subject, consent)], label, options)
    with Store(subject.path if isinstance(subject, Results) else Path(str(subject))) as store:
        subjects = stored_subjects(store, options.experiment, options.declaration, consent)
        return _audited(subjects, store.path.name, options)


def _audited(subjects: Sequence[Subject], label: str, options: AuditOptions) -> Audit:
    audits = [ExperimentAudit(subject, options, alone=len(subjects) == 1) for subject in subjects]
    steps = [step for one in audits for step in one.steps()]
    tell = options.progress or (lambda name, number, total: None)
    try:
        for number, (name, work) in enumerate(steps):
            tell(name, number, len(steps))
            work()
    finally:
        for one in audits:
            one.close()
    tell("done", len(steps), len(steps))
    found = [
        one.ledger.audit(label).knowing((*one.subject.known, *options.acknowledged))
        for one in audits
    ]
    return Audit(
        label,
        tuple(finding for one in found for finding in one.findings),
        tuple(looked for one in found for looked in one.checked),
        tuple(missed for one in found for missed in one.unchecked),
    )
