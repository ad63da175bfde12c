"""Before a run: the quick checks of the data, so that a leak is known before anything is fitted.

Errors stop the run until somebody accepts them, here or in the experiment file; what was accepted
is kept with the run. Work is counted in values rather than in seconds, so that a slow machine looks
at as much as a quick one: tables beyond the budget are left to the audit, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from scipy import sparse

from paragone.checks.finding import Acknowledgement, Finding, Ledger, acknowledge
from paragone.checks.material import Material, materials
from paragone.checks.registry import checks_of, code_of
from paragone.checks.subject import acknowledged_in
from paragone.errors import InputError, argument
from paragone.hashing import digest
from paragone.lab.arguments import store_argument
from paragone.lab.experiment import Experiment
from paragone.lab.passed_checks import AcceptedLeak, PassedChecks, passed_checks
from paragone.lab.store import Store
from paragone.lab.store.schema import EmptyStoreError
from paragone.sources import own_version

EVERY_CODE = "all"
MOST_LOOKS = 120_000_000
"""Looks at a value, over all datasets together: about three seconds of one core."""
LOOKS_AT_A_VALUE = 20
"""How often all checks together look at a value, beside once for every label or target."""
MOST_PAIRS = 20_000_000
"""Pairs of rows that are compared, as `_pairs` counts them: about half a second of one core."""
ROW_IN_PAIRS = 5_000
"""A held-out row costs as much as so many pairs, however few rows it is compared with."""


def check_before_run(
    experiment: Experiment,
    store: str | Path,
    accept: str | Iterable[str] = (),
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> PassedChecks:
    """Look at an experiment's data before it is run, and refuse to go on where it leaks.

    Parameters
    ----------
    experiment : Experiment
        What is about to run.
    store : str or Path
        Where it will be kept; data and splits that were looked at before a run into it are not
        looked at again.
    accept : str or iterable of str
        Codes of errors that may stand, or ``"all"``.
    tell : callable, optional
        Called with a line for each warning, and with what was left out.

    Returns
    -------
    PassedChecks
        For `Experiment.run`, which keeps it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from paragone.data import Dataset
    >>> from paragone.protocols import Predict
    >>> y = np.arange(60) % 2
    >>> told = Dataset("told", np.column_stack([y, np.cos(np.arange(60))]), y, "classification")
    >>> lab = Experiment([told], {"floor": DummyClassifier()}, protocol=Predict(metrics="accuracy"))
    >>> check_before_run(lab, "none.sqlite")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: nothing was run, for the data leaks: PG105 on told: 1 of 2 features
    copies ...
    >>> check_before_run(lab, "none.sqlite", accept="PG105").accepted[0].reason
    "accepted with accept_leak='PG105'"
    """
    place, codes = store_argument(store), accepted_codes(accept)
    fingerprint = _fingerprint(experiment)
    known = _remembered(place, experiment.name, fingerprint)
    if known is not None:
        return known
    ledger = _looked_at(experiment, tell)
    declared = acknowledged_in(experiment.declared())
    here = [
        Acknowledgement(code, f"accepted with {_said(code, codes)}")
        for code in {finding.code for finding in ledger.findings}
        if code in codes or EVERY_CODE in codes
    ]
    findings = acknowledge(ledger.findings, (*declared, *here))
    errors = [finding for finding in findings if finding.severity == "error"]
    still_open = [finding for finding in errors if finding.is_open]
    if still_open:
        raise InputError(refusal(still_open))
    accepted = tuple(AcceptedLeak(one.code, one.where, one.message, one.reason) for one in errors)
    warnings = tuple(
        _words(finding) for finding in findings if finding.severity == "warning" and finding.is_open
    )
    for line in (*warnings, *(leak.sentence for leak in accepted)):
        tell(f"warning: {line}")
    return PassedChecks(fingerprint, accepted, warnings)


def accepted_codes(accept: str | Iterable[str]) -> tuple[str, ...]:
    """Return the codes that may stand, each one known.

    Examples
    --------
    >>> accepted_codes("PG101"), accepted_codes(["PG101", "all"])
    (('PG101',), ('PG101', 'all'))
    >>> accepted_codes("PG999")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown audit code 'PG999': did you mean 'PG...'?
    """
    given = (accept,) if isinstance(accept, str) else tuple(accept)
    for code in given:
        if code != EVERY_CODE:
            code_of(code)
    return given


def _said(code: str, accepted: Sequence[str]) -> str:
    return argument("accept_leak", code if code in accepted else EVERY_CODE)


def refusal(findings: Sequence[Finding]) -> str:
    """Say why a run does not begin: what leaks where, what to do, and how to run all the same."""
    found = "; ".join(
        f"{_words(finding)}{f', such as: {finding.examples[0]}' if finding.examples else ''} (to"
        f" do: {finding.advice})"
        for finding in findings
    )
    codes = " ".join(dict.fromkeys(argument("accept_leak", finding.code) for finding in findings))
    return (
        f"nothing was run, for the data leaks: {found}. To run all the same, say {codes}, or"
        " acknowledge it with a reason in [[audit.acknowledge]] of the experiment file: it is then"
        " kept, and said with every result"
    )


def _words(finding: Finding) -> str:
    return f"{finding.code}{f' on {finding.where}' if finding.where else ''}: {finding.message}"


def _fingerprint(experiment: Experiment) -> str:
    """Return a hash of all that the checks depend on: data, splits, and the checks themselves."""
    looked_at = sorted(
        {(cell.dataset, cell.parts.data, cell.parts.split) for cell in experiment.cells()}
    )
    data_codes = [code.code for one in checks_of("data", "columns", "lists") for code in one.codes]
    return digest([own_version(), data_codes, [list(one) for one in looked_at]])


def _remembered(store: Path, experiment: str, fingerprint: str) -> PassedChecks | None:
    if not store.exists():
        return None
    try:
        with Store(store) as opened:
            return passed_checks(opened, experiment, fingerprint)
    except EmptyStoreError:
        # Another run is just making it.
        return None


def _looked_at(experiment: Experiment, tell: Callable[[str], None]) -> Ledger:
    # Only where something is to be looked at: the checks take a while to import.
    from paragone.checks.near_rows import check_near_rows
    from paragone.checks.procedure import data_checks

    ledger = Ledger(experiment.name)
    looks, pairs = MOST_LOOKS, MOST_PAIRS
    left_out: dict[str, list[str]] = {}
    for material in materials(tuple(experiment.layout.arrangements.values())):
        looks -= _looks(material)
        for check in data_checks(material):
            of_pairs = check.name == check_near_rows.name
            pairs -= _pairs(material) if of_pairs else 0
            if looks < 0 or (of_pairs and pairs < 0):
                left_out.setdefault(check.name, []).append(material.name)
            else:
                check(material, ledger)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, datasets in left_out.items():
        alike.setdefault(tuple(datasets), []).append(name)
    for together, names in alike.items():
        of = together[0] if len(together) == 1 else f"{len(together)} datasets"
        tell(
            f"note: {of}: too large to look at before a run ({', '.join(names)}); `paragone audit`"
            " does"
        )
    return ledger


def _looks(material: Material) -> int:
    data = material.dataset
    if sparse.issparse(data.y):
        return int(data.X.nnz + sparse.csr_array(data.y).nnz) * LOOKS_AT_A_VALUE
    return (
        data.n_samples
        * data.n_features
        * (LOOKS_AT_A_VALUE + sum(one.n_targets for one in material.targets))
    )


def _pairs(material: Material) -> int:
    from paragone.checks.near_rows import MOST_HELD

    return sum(
        min(len(side.held), MOST_HELD) * (len(side.train) + ROW_IN_PAIRS) for side in material.sides
    )
