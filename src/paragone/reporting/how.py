"""How it was done and what went wrong: the methods paragraph, runs and versions, failures and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paragone.lab.contents import STATUSES
from paragone.lab.measures import Measure
from paragone.lab.method_warnings import Warned, verdict_sentences
from paragone.lab.store.queries import notes_of
from paragone.lab.view import View
from paragone.page import Block, Cover, Listing, Points, Prose, Sheet
from paragone.reporting.words import bibtex, listing
from paragone.stats import DatasetComparison
from paragone.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from paragone.stats import DatasetComparison

NO_CODE = "its code is not at hand, and a store never has code imported by its word alone"
MAIN = ("paragone", "python", "numpy", "scipy", "scikit-learn", "numba")


def run_blocks(view: View) -> list[Block]:
    """Return the tables of an experiment's runs, of what they ran with, and the versions of all packages."""
    experiment = view.experiment
    mine = [
        run
        for run in view.runs.itertuples()
        if run.environment.get("experiment", experiment) == experiment
    ]
    rows = [
        [
            str(run.run),
            run.begun_at,
            str(run.workers),
            run.environment.get("system", ""),
            _versions(run.environment),
        ]
        for run in mine
    ]
    blocks: list[Block] = [_sheet("runs", "Runs, machine and versions", ROW_NAMES, rows)]
    facts = [[str(run.run), *fact] for run in mine for fact in run_facts(run.environment)]
    if facts:
        blocks.append(
            _sheet("provenance", "What the runs ran with", ("run", "what", "which"), facts)
        )
    packages = [run.environment["packages"] for run in mine if run.environment.get("packages")]
    if packages:
        text = "\n".join(f"{name}=={version}" for name, version in packages[-1].items())
        blocks.append(Listing("The packages of the last run, pinned", text))
    return blocks


ISOLATION = {
    "cell": "each in a process of its own",
    "worker": "one process per worker: what a method left behind in it could reach the next cell",
    "none": "all in one process: what a method left behind in it could reach the next cell",
}
"""What is said of the kinds of isolation."""
ROW_NAMES = ("run", "begun at", "workers", "system", "versions")


def main_versions(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that a methods paragraph names.

    Examples
    --------
    >>> main_versions({"python": "3.12.1", "system": "Linux", "seed": 1, "paragone": "0.1.0"})
    {'paragone': '0.1.0', 'python': '3.12.1'}
    """
    return {name: str(environment[name]) for name in MAIN if name in environment}


def run_facts(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a run recorded of its seed, machine, threads and code, in words; nothing for an old one.

    Examples
    --------
    >>> list(run_facts({"seed": 3, "code": [{"what": "experiment file", "file": "a.toml", "sha256": "ab" * 32}]}))
    [('seed', '3'), ('experiment file', 'a.toml, SHA-256 abababababab, in no git repository')]
    """
    if "seed" in environment:
        yield "seed", str(environment["seed"])
    machine = environment.get("machine") or {}
    if machine:
        memory = machine.get("memory_bytes")
        size = f", {memory / 2**30:.0f} GiB of memory" if memory else ""
        yield "machine", f"{machine.get('processor')}, {machine.get('cores')} cores{size}"
    if "isolation" in environment:
        yield "cells", ISOLATION.get(environment["isolation"], str(environment["isolation"]))
    threads = environment.get("threads") or {}
    if threads:
        told = [f"{threads.get('a cell')} a cell"]
        told += [f"{name}={value}" for name, value in threads.get("variables", {}).items()]
        yield "threads", ", ".join(told)
        pools = [
            " ".join(str(part) for part in pool.values()) for pool in threads.get("libraries", ())
        ]
        if pools:
            yield "libraries with threads", ", ".join(pools)
    for code in environment.get("code") or ():
        yield (
            str(code.get("what")),
            f"{code.get('file')}, SHA-256 {str(code.get('sha256'))[:12]}, {_commit(code)}",
        )
    if environment.get("checkout"):
        yield "Paragone's sources", _commit(environment["checkout"])


def _commit(code: Mapping[str, Any]) -> str:
    if not code.get("commit"):
        return "in no git repository"
    state = "with changes that are not committed" if code.get("dirty") else "clean"
    return f"commit {code['commit'][:12]} of {code.get('repository')}, {state}"


def _versions(environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in main_versions(environment).items())


def _sheet(name: str, title: str, columns: tuple[str, ...], rows: list[list[str]]) -> Sheet:
    return Sheet(name, title, Table.of([Column(column, "left") for column in columns], rows))


SPLITS = {
    "kfold": "{folds}-fold cross-validation",
    "holdout": "{folds} repeated hold-outs of {test:.0%} of the samples",
    "groups": "cross-validation with groups kept together",
    "official": "the official train and test parts",
}
SCALES = {
    "minmax": "scaled to [0, 1]",
    "zscore": "standardised",
    "none": "not scaled",
}


def how_blocks(view: View, cover: Cover) -> tuple[Block, ...]:
    """Return the methods paragraph and what is behind it: choices, runs, references, the declaration.

    Parameters
    ----------
    view : View
        The experiment.
    cover : Cover
        The paragraph, the literature and the choices of the comparison.

    Returns
    -------
    tuple of Block
        For the last section of any page.
    """
    blocks: list[Block] = [Prose((cover.paragraph, cost_sentence(view)))]
    if view.protocol is None:
        blocks.append(
            Prose(
                (f"What the protocol {view.kind!r} adds to a page is left out: {NO_CODE}.",), "note"
            )
        )
    if cover.decisions:
        columns: list[str | Column] = [Column("choice", "left"), Column("what was chosen", "left")]
        blocks.append(
            Sheet(
                "choices",
                "Choices of the comparison",
                Table.of(columns, [list(c) for c in cover.decisions.items()]),
            )
        )
    blocks += run_blocks(view)
    if cover.references:
        blocks.append(Listing("References as BibTeX", bibtex(cover.references)))
    blocks.append(Listing("The methods paragraph as plain text", cover.paragraph))
    blocks.append(Listing("The experiment as declared", view.results.declared(view.experiment)))
    return tuple(blocks)


def methods_paragraph(view: View, protocol: str = "") -> str:
    """Write the paragraph that can go into a paper, with what the protocol says of itself."""
    described = view.described
    sentences = [
        _what([view.name(name) for name in view.method_facts], view.dataset_facts),
        _split(described["split"], described["seed"]),
        protocol,
        repeats_sentence(view),
        _statistics(view.comparison),
        software_sentence(view.runs),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def cost_sentence(view: View) -> str:
    """Say what the experiment cost: processor time where it is known, wall time, memory."""
    done = view.places[view.places["seconds"].notna()]
    text = f"Computing took {time_words(done)} in {len(done)} cell{'s' * (len(done) != 1)}"
    if done.empty:
        return text + "."
    slowest = done.loc[done["seconds"].idxmax()]
    text += (
        f"; the slowest cell took {float(slowest['seconds']):.3g} s of wall time"
        f" ({_where(slowest, view)})"
    )
    if done["peak_memory"].notna().any():
        largest = done.loc[done["peak_memory"].idxmax()]
        text += (
            f", the largest held {float(largest['peak_memory']) / 2**20:,.0f} MiB"
            f" ({_where(largest, view)})"
        )
    return text + "."


def _where(cell: pd.Series, view: View) -> str:
    return f"{view.name(cell['method'])} on {view.name(cell['dataset'])}"


def time_words(cells: pd.DataFrame) -> str:
    """Say how long cells took: their processor time where it is known of all, and their wall time, each by its name.

    Examples
    --------
    >>> import pandas as pd
    >>> time_words(pd.DataFrame({"seconds": [90.0, 30.0], "cpu_seconds": [10.0, 5.0]}))
    '15 seconds of processor time (2 minutes of wall time)'
    >>> time_words(pd.DataFrame({"seconds": [90.0, 30.0], "cpu_seconds": [10.0, float("nan")]}))
    '2 minutes of wall time (processor time is not known of 1 cell)'
    """
    wall = f"{_duration(float(cells['seconds'].sum()) / 3600)} of wall time"
    unknown = int(cells["cpu_seconds"].isna().sum())
    if unknown:
        return wall + f" (processor time is not known of {unknown} cell{'s' * (unknown != 1)})"
    return f"{_duration(float(cells['cpu_seconds'].sum()) / 3600)} of processor time ({wall})"


def _duration(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.3g} hours"
    return f"{hours * 60:.3g} minutes" if hours * 60 >= 1 else f"{hours * 3600:.3g} seconds"


def _what(methods: Sequence[str], datasets: Mapping[str, Mapping[str, Any]]) -> str:
    samples = [facts["n_samples"] for facts in datasets.values()]
    features = [facts["n_features"] for facts in datasets.values()]
    whom = (
        f"the method {methods[0]}"
        if len(methods) == 1
        else f"{len(methods)} methods ({', '.join(methods)})"
    )
    sets = "one dataset" if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"We compared {whom} on {sets} ({span(samples)} samples, {span(features)} features)."


def span(values: Sequence[int]) -> str:
    """Say from where to where numbers go.

    Examples
    --------
    >>> span([3, 3]), span([3, 9, 4])
    ('3', '3 to 9')
    """
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def _split(split: Mapping[str, Any], seed: int) -> str:
    kind = split["kind"]
    folds = split["folds"] if split["folds"] is not None else 5
    how = SPLITS.get(kind, f"the splitter {kind}").format(folds=folds, test=split["test_size"])
    if kind == "groups" and split["folds"] not in (None, "all"):
        how += f" in {split['folds']} folds"
    stratified = kind in ("kfold", "holdout") and split["stratify"]
    order = "first" if split["order"] == 1 else "second"
    tail = (
        f", stratified over the labels ({order}-order iterative stratification)"
        if stratified
        else ""
    )
    scaled = SCALES[split["scale"] or "minmax"]
    fitted = "" if split["scale"] == "none" else ", fitted on the training part of each split"
    return (
        f"Performance was estimated by {how}{tail} with seed {seed}; features were"
        f" {scaled}{fitted}."
    )


def repeats_sentence(view: View) -> str:
    """Say which methods were repeated over seeds; nothing where none was."""
    repeats = view.described["repeats"]
    if not repeats:
        return ""
    told = listing([f"{view.name(name)} over {count} seeds" for name, count in repeats.items()])
    return f"Scores are means over repetitions of {told}."


def _statistics(compared: DatasetComparison | None) -> str:
    if compared is None:
        return ""
    choices = page_choices(compared)
    return (
        f"Methods were compared over {choices['blocks']}: Friedman's test with tie correction and"
        f" Iman-Davenport's F on the ranks, then {compared.leader} against each other method by"
        f" {choices['test']}, with {choices['correction']}, {choices['level']}. Intervals:"
        f" {choices['intervals']}. Within a dataset: {choices['per dataset']}."
    )


def page_choices(comparison: DatasetComparison) -> dict[str, str]:
    """Return the choices behind the page: those of the comparison, and the page's within a dataset."""
    choices = dict(comparison.choices)
    within = choices["per dataset"]
    choices["per dataset"] = within.replace(
        "p not adjusted",
        f"p adjusted by {comparison.correction_within.title} over the rivals on a dataset",
    ).replace("corrected resampled t and Bayesian correlated t", "corrected resampled t")
    return choices


def software_sentence(runs: pd.DataFrame) -> str:
    """Name the versions and machines behind the numbers."""
    if runs.empty:
        return ""
    told = []
    for environment in runs["environment"]:
        versions = [
            f"{name} {version}"
            for name, version in main_versions(environment).items()
            if name != "paragone"
        ]
        head = (
            f"Paragone {environment.get('paragone', '?')} ({', '.join(versions)}) on"
            f" {environment.get('system', '?')}"
        )
        if head not in told:
            told.append(head)
    return f"We used {listing(told)}."


LISTED = 200
TRACEBACKS = 20


def failure_blocks(view: View, measures: Sequence[Measure]) -> tuple[Block, ...]:
    """Return everything that did not go as planned, or say that all went well.

    Parameters
    ----------
    view : View
        The experiment.
    measures : sequence of Measure
        Those whose comparisons may have warned of something.
    """
    warned, places, failures = view.warned, view.places, view.failures
    blocks: list[Block] = [Prose((_counts(places),))]
    if len(failures):
        blocks += [_failures(failures, view), *_tracebacks(failures, view)]
    if warned:
        blocks += [Points(verdict_sentences(warned, LISTED)), _warned(warned)]
    lines = [*_leaks(view), *_notes(places, view), *view.seed_notes, *_warnings(measures)]
    if lines:
        blocks.append(Points(tuple(lines)))
    unknown = int((places["seconds"].notna() & ~places["costs_kept"]).sum())
    if unknown:
        blocks.append(Prose((_not_kept(unknown, len(failures)),)))
    elif failures.empty and not lines and not warned:
        blocks.append(Prose(("There are no failures and no warnings.",)))
    return tuple(blocks)


def _not_kept(cells: int, failed: int) -> str:
    none = "" if failed else "There are no failures. "
    whose = f"{cells} cell{'s' * (cells != 1)}"
    return (
        f"{none}What the methods warned of is not known of {whose}: an older version, which did not"
        " keep it, ran them."
    )


def _warned(groups: Sequence[Warned]) -> Sheet:
    rows = [
        [
            group.method,
            group.category,
            f"{group.cells} of {group.of_cells}",
            str(group.times),
            group.message,
        ]
        for group in groups[:LISTED]
    ]
    numbers = tuple((None, None, float(g.cells), float(g.times), None) for g in groups[:LISTED])
    left_out = len(groups) - len(rows)
    caption = (
        "What the methods warned of: in how many of their cells that have a result, refits"
        " included, and how often in all. Messages that differ in their numbers only count"
        " together; the first one is shown."
    )
    caption += f" {left_out} more kinds are not listed." if left_out else ""
    columns: list[str | Column] = [
        Column("method", "left"),
        Column("warning", "left"),
        "cells",
        "times",
    ]
    return Sheet(
        "warnings",
        "Warnings",
        Table.of([*columns, Column("message", "left")], rows, caption=caption),
        numbers,
    )


def _counts(places: pd.DataFrame) -> str:
    counts = places["status"].value_counts()
    shown = ", ".join(f"{counts[status]} {status}" for status in STATUSES if status in counts)
    return f"{len(places)} cells: {shown}."


def _failures(failures: pd.DataFrame, view: View) -> Sheet:
    rows = [
        [
            view.name(row.method),
            view.name(row.dataset),
            f"{row.fold}" + (f", seed {row.repeat}" if row.repeat else ""),
            row.status,
            row.error,
            f"{row.seconds:.2f}",
        ]
        for row in failures.head(LISTED).itertuples()
    ]
    columns: list[str | Column] = [
        Column(n, "left") for n in ("method", "dataset", "fold", "status", "error")
    ]
    left_out = len(failures) - len(rows)
    caption = "Cells that failed or ran out of time." + (
        f" {left_out} more are not listed." if left_out else ""
    )
    numbers = tuple(
        (*(None,) * 5, float(row.seconds)) for row in failures.head(LISTED).itertuples()
    )
    return Sheet(
        "failures", "Failed cells", Table.of([*columns, "wall s"], rows, caption=caption), numbers
    )


def _tracebacks(failures: pd.DataFrame, view: View) -> list[Block]:
    """Return each distinct traceback once, with the number of cells that ended so."""
    distinct = failures[failures["traceback"] != ""].groupby("traceback", sort=False)
    blocks: list[Block] = []
    for traceback, rows in list(distinct)[:TRACEBACKS]:
        first = rows.iloc[0]
        where = (
            f"{view.name(first['method'])} on {view.name(first['dataset'])}, fold {first['fold']}"
        )
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        blocks.append(Listing(f"Traceback of {where}{more}", str(traceback)))
    if len(distinct) > TRACEBACKS:
        blocks.append(
            Prose(
                (
                    (
                        f"{len(distinct) - TRACEBACKS} more kinds of traceback: paragone status"
                        " --tracebacks"
                    ),
                )
            )
        )
    return blocks


def _leaks(view: View) -> list[str]:
    """Say what was found in the data before the run."""
    passed = view.passed_checks
    return [] if passed is None else [*view.accepted_leaks, *passed.warnings]


def _notes(places: pd.DataFrame, view: View) -> list[str]:
    notes: Counter[str] = Counter()
    # Few notes differ among very many cells: each is read once.
    for (dataset, text), count in places.groupby(["dataset", "notes"], sort=False).size().items():
        for note in notes_of(text):
            notes[f"{view.name(dataset)}: {note}"] += count
    lines = [f"{text} ({count} cells)" for text, count in notes.items()]
    stale = places.loc[places["status"] == "stale", "why"].value_counts()
    return [*lines, *(f"{count} results are stale: {why}" for why, count in stale.items())]


def _warnings(measures: Sequence[Measure]) -> list[str]:
    found = [
        text for measure in measures if measure.comparison for text in measure.comparison.warnings
    ]
    return list(
        dict.fromkeys([*found, *(measure.refusal for measure in measures if measure.refusal)])
    )


def warned_words(view: View) -> tuple[Block, ...]:
    """Return what a verdict must say of accepted leaks and of the methods' warnings, a paragraph each."""
    told = (*view.accepted_leaks, *verdict_sentences(view.warned))
    return tuple(Prose((sentence,), "warning") for sentence in told)
