"""The audit: every check that the subject allows, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, get_args

from paragone.auditing.acknowledgement import Acknowledgement, acknowledge
from paragone.auditing.canary import Canary
from paragone.auditing.finding import Checked, Finding, Unchecked
from paragone.auditing.reading import table_files
from paragone.auditing.result import Audit
from paragone.auditing.steps import ExperimentAudit, Options
from paragone.auditing.subject import Consent, Subject, declared_subject, is_experiment_file, stored_subjects
from paragone.errors import InputError, unknown_name
from paragone.experiment import Experiment
from paragone.results import Results
from paragone.store import Store

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is looked at next, how many steps are done, and how many there are."""


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
    run_code: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Audit:
    """Look for leaks, run a sample of cells again, recompute every score, and count what is missing.

    An experiment without a store gets the checks of its data and the canary; a store gets everything, as far as the
    data its experiments name can be found.

    A store is data: nothing that it names is imported, and no method of it runs, unless ``run_code`` says so. Without
    it every score is recomputed from the stored predictions, data in the store's folder is looked at on the splits that
    the store keeps, and what was left out is said. An experiment that is handed over, as an object or as a ``.toml``
    file, is a program, and is run.

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
    run_code : bool, default=False
        Whether code that a store names may be imported and run: only for stores of people whose programs you would run.
    tell : callable, optional
        Called, before anything is imported, with lines that say what will be and from where.

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
    consent = Consent(run_code, tell)
    if isinstance(subject, Experiment) or is_experiment_file(subject):
        if files:
            raise InputError("published tables are compared with a store: give the store that holds the results")
        return _audited([declared_subject(subject, consent)], _label(subject), options, given, progress)
    store = Store(subject.path if isinstance(subject, Results) else Path(str(subject)))
    try:
        subjects = stored_subjects(store, experiment, declaration, consent)
        return _audited(subjects, store.path.name, options, given, progress)
    finally:
        store.close()


def _label(subject: str | Path | Experiment) -> str:
    return subject.name if isinstance(subject, Experiment) else Path(subject).name


def _audited(
    subjects: Sequence[Subject],
    label: str,
    options: Options,
    known: tuple[Acknowledgement, ...],
    progress: Progress | None,
) -> Audit:
    audits = [ExperimentAudit(subject, options, alone=len(subjects) == 1) for subject in subjects]
    steps = [step for one in audits for step in one.steps()]
    try:
        for number, step in enumerate(steps):
            if progress is not None:
                progress(step.name, number, len(steps))
            step.work()
    finally:
        for one in audits:
            one.close()
    findings: list[Finding] = []
    checked: list[Checked] = []
    unchecked: list[Unchecked] = []
    for one in audits:
        findings += acknowledge(one.ledger.findings, (*one.subject.known, *known))
        checked += one.ledger.checked
        unchecked += one.ledger.unchecked
    if progress is not None:
        progress("done", len(steps), len(steps))
    return Audit(label, tuple(findings), tuple(checked), tuple(unchecked))
