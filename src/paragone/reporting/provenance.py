"""How it was done: a methods paragraph for a paper, the choices, the versions, the time, the references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paragone.reporting.page_model import Block, Listing, Prose, Sheet
from paragone.reporting.run_parts import main_versions, run_blocks
from paragone.reporting.verdict_words import listing
from paragone.reporting.views import View
from paragone.reporting.wording import Wording, title_of
from paragone.results import Results
from paragone.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from paragone.comparison import Comparison

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


def how_it_was_done(
    results: Results,
    described: Mapping[str, Any],
    paragraph: str,
    references: str,
    wording: Wording,
    choices: Mapping[str, str] | None = None,
) -> tuple[Block, ...]:
    """Return the methods paragraph and what is behind it: choices, runs, references, the declaration.

    Parameters
    ----------
    results : Results
        An open store.
    described : mapping
        What the store knows of the experiment's declaration.
    paragraph : str
        The methods paragraph.
    references : str
        The literature, as BibTeX.
    wording : Wording
        Names to display.
    choices : mapping, optional
        The choices of the comparison, by name.

    Returns
    -------
    tuple of Block
        For the last section of any page.
    """
    places = results.places()
    places = places[places["experiment"] == described["name"]]
    blocks: list[Block] = [Prose((paragraph, cost_sentence(places, wording)))]
    if choices:
        columns: list[str | Column] = [Column("choice", "left"), Column("what was chosen", "left")]
        blocks.append(
            Sheet("choices", "Choices of the comparison", Table.of(columns, [list(c) for c in choices.items()]))
        )
    blocks += run_blocks(results, described["name"])
    if references:
        blocks.append(Listing("References as BibTeX", references))
    blocks.append(Listing("The methods paragraph as plain text", paragraph))
    blocks.append(Listing("The experiment as declared", results.declared(described["name"])))
    return tuple(blocks)


def methods_paragraph(results: Results, described: Mapping[str, Any], views: Sequence[View], wording: Wording) -> str:
    """Write the paragraph that can go into a paper."""
    sentences = [
        _what([wording.name(name) for name in described["methods"]], results.datasets(described["name"])),
        _split(described["split"], described["seed"]),
        _protocol(described["protocol"], views),
        _repeats({wording.name(name): count for name, count in described["repeats"].items()}),
        _statistics(views),
        software_sentence(results.runs()),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def cost_sentence(places: pd.DataFrame, wording: Wording) -> str:
    """Say what the experiment cost: processor time where it is known, wall time, memory."""
    done = places[places["seconds"].notna()]
    text = f"Computing took {time_words(done)} in {len(done)} cell{'s' * (len(done) != 1)}"
    if done.empty:
        return text + "."
    slowest = done.loc[done["seconds"].idxmax()]
    text += f"; the slowest cell took {float(slowest['seconds']):.3g} s of wall time ({_where(slowest, wording)})"
    if done["peak_memory"].notna().any():
        largest = done.loc[done["peak_memory"].idxmax()]
        text += f", the largest held {float(largest['peak_memory']) / 2**20:,.0f} MiB ({_where(largest, wording)})"
    return text + "."


def _where(cell: pd.Series, wording: Wording) -> str:
    return f"{wording.name(cell['method'])} on {wording.name(cell['dataset'])}"


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
        return wall + (f" (processor time is not known of {unknown} cell{'s' * (unknown != 1)})")
    return f"{_duration(float(cells['cpu_seconds'].sum()) / 3600)} of processor time ({wall})"


def _duration(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.3g} hours"
    return f"{hours * 60:.3g} minutes" if hours * 60 >= 1 else f"{hours * 3600:.3g} seconds"


def _what(methods: Sequence[str], datasets: Mapping[str, Mapping[str, Any]]) -> str:
    samples = [facts["n_samples"] for facts in datasets.values()]
    features = [facts["n_features"] for facts in datasets.values()]
    whom = f"the method {methods[0]}" if len(methods) == 1 else f"{len(methods)} methods ({', '.join(methods)})"
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
    tail = f", stratified over the labels ({order}-order iterative stratification)" if stratified else ""
    scaled = SCALES[split["scale"] or "minmax"]
    fitted = "" if split["scale"] == "none" else ", fitted on the training part of each split"
    return f"Performance was estimated by {how}{tail} with seed {seed}; features were {scaled}{fitted}."


def _protocol(protocol: Mapping[str, Any], views: Sequence[View]) -> str:
    if protocol["kind"] != "curve":
        return ""
    evaluator = protocol["evaluator"]
    params = ", ".join(f"{name} = {value}" for name, value in evaluator["params"].items())
    model = evaluator["use"] + (f" ({params})" if params else "")
    grids = []
    if protocol["k"] is not None:
        k = protocol["k"]
        grids.append(f"k = {k['min']}, {k['min'] + k['step']}, ..., {k['max']} features")
    if protocol["p"] is not None:
        p = protocol["p"]
        grids.append(f"{100 * p['min']:g} % to {100 * p['max']:g} % of the features in steps of {100 * p['step']:g} %")
    metrics = listing([title_of(metric) for metric in protocol["metrics"]])
    reductions = listing(list(dict.fromkeys(view.scores.reduction for view in views)))
    return (
        "Every method ranked the features on the training part; the best-ranked features were scored on the test part "
        f"with {model} at {listing(grids)}, by {metrics}. A curve counts as {reductions}."
    )


def _repeats(repeats: Mapping[str, int]) -> str:
    if not repeats:
        return ""
    told = listing([f"{name} over {count} seeds" for name, count in repeats.items()])
    return f"Scores are means over repetitions of {told}."


def _statistics(views: Sequence[View]) -> str:
    compared = next((view.comparison for view in views if view.comparison is not None), None)
    if compared is None:
        return ""
    choices = page_choices(compared)
    return (
        f"Methods were compared over {choices['blocks']}: Friedman's test with tie correction and Iman-Davenport's F "
        f"on the ranks, then {compared.leader} against each other method by {choices['test']}, with "
        f"{choices['correction']}, {choices['level']}. Intervals: {choices['intervals']}. "
        f"Within a dataset: {choices['per dataset']}."
    )


def page_choices(comparison: Comparison) -> dict[str, str]:
    """Return the choices behind the page: those of the comparison, and Holm's within a dataset, which the page adds."""
    choices = dict(comparison.choices)
    within = choices["per dataset"]
    choices["per dataset"] = within.replace(
        "p not adjusted", "p adjusted by Holm over the rivals on a dataset"
    ).replace("corrected resampled t and Bayesian correlated t", "corrected resampled t")
    return choices


def software_sentence(runs: pd.DataFrame) -> str:
    """Name the versions and machines behind the numbers."""
    if runs.empty:
        return ""
    told = []
    for environment in runs["environment"]:
        versions = [f"{name} {version}" for name, version in main_versions(environment).items() if name != "paragone"]
        head = (
            f"Paragone {environment.get('paragone', '?')} ({', '.join(versions)}) on {environment.get('system', '?')}"
        )
        if head not in told:
            told.append(head)
    return f"We used {listing(told)}."
