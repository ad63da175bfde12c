"""A topk experiment in words: the verdict, and the paragraph for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paragone.comparison import SampleComparison
from paragone.reporting.provenance import software_sentence
from paragone.reporting.topk_tables import TopKFigures
from paragone.reporting.verdict_words import listing
from paragone.reporting.wording import Wording

USED = {"SMGCN": "jin2020", "EASE": "steck2019"}


def headline(comparison: SampleComparison, wording: Wording) -> str:
    """Say in one sentence how the reference does against its rivals on the samples."""
    kinds: dict[str, list[str]] = {}
    for rival in dict.fromkeys(row.rival for row in comparison.rows):
        mine = [row for row in comparison.rows if row.rival == rival]
        shown = [row for row in mine if row.p_holm <= comparison.alpha]
        signs = {row.difference > 0 for row in shown}
        kinds.setdefault(_kind(signs), []).append(wording.name(rival))
    claims = [f"{kind} {listing(rivals)}" for kind, rivals in kinds.items()]
    n = len([row for row in comparison.rows if row.rival == comparison.rows[0].rival])
    return f"{wording.name(comparison.reference)} is {listing(claims)} (on {n} values a rival, after Holm)."


def _kind(signs: set[bool]) -> str:
    if not signs:
        return "not told apart from"
    if len(signs) == 2:
        return "better by some values and worse by others than"
    return "better than" if True in signs else "worse than"


def topk_paragraph(figures: TopKFigures, described: Mapping[str, Any], wording: Wording) -> str:
    """Write the paragraph that can go into a paper."""
    run = figures.run
    methods = [wording.name(method) for method in run.methods]
    datasets = figures.results.datasets(run.experiment)
    sets = listing([f"{wording.name(name)} ({_sizes(datasets[name])})" for name in run.datasets])
    whom = f"the method {methods[0]}" if len(methods) == 1 else f"{len(methods)} methods ({', '.join(methods)})"
    notes = [note for notes in run.settings["notes"].values() for note in notes]
    cuts = listing([str(cut) for cut in run.ks])
    metrics = listing([str(metric) for metric in run.settings["metrics"]])
    sentences = [
        f"We compared {whom} on {sets}.",
        *(f"{note[:1].upper()}{note[1:]}." for note in notes),
        _repeats({wording.name(name): count for name, count in described["repeats"].items()}),
        "Every method was trained on the training rows and ordered all items for every test row; the lists were "
        f"scored at K = {cuts} by {metrics}, as means over test rows.",
        f"Equal scores: {run.settings['ties']}; test rows without items: {run.settings['empty']}.",
        "Intervals are 95 % percentile bootstrap intervals of 1000 draws that resample equal queries together.",
        f"Methods were compared on the same samples: {figures.comparison.method}." if figures.comparison else "",
        software_sentence(figures.results.runs()),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _sizes(facts: Mapping[str, Any]) -> str:
    return f"{facts['n_samples']} rows, {facts['n_features']} tokens, {len(facts['target_names'])} items"


def _repeats(repeats: Mapping[str, int]) -> str:
    if not repeats:
        return ""
    return f"Scores are means over repetitions of {listing([f'{n} over {c} seeds' for n, c in repeats.items()])}."


def topk_references(figures: TopKFigures, described: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of what was used: metrics, statistics, recommenders."""
    keys = ["jarvelin2002"] if any(str(m).startswith("ndcg") for m in figures.run.settings["metrics"]) else []
    if figures.comparison is not None:
        keys += [*(["liang1986"] if figures.comparison.clustered else []), "holm1979"]
    for declared in described["methods"].values():
        name = str(declared.get("use", "")).replace(":", ".").rpartition(".")[2]
        keys += [USED[name]] if name in USED else []
    return tuple(dict.fromkeys(keys))


def topk_choices(figures: TopKFigures) -> dict[str, str]:
    """Return the choices behind the numbers, by name."""
    run = figures.run
    found = {"ties": str(run.settings["ties"]), "test rows without items": str(run.settings["empty"])}
    if figures.comparison is not None:
        found |= {"reference": figures.comparison.reference, "comparison": figures.comparison.method}
        found["level"] = f"{figures.comparison.alpha:g}"
    return found
