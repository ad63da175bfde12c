"""Top-K runs and lists of any program against one truth: measured by one convention, compared user by user.

TREC runs with qrels, Elliot's ``user item score`` files and RecBole's interaction files are joined
by names; matrices of scores and lists of ids stand in the order of the truth's lines, as `paragone
topk evaluate` takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.data.toplists import (
    join_run,
    looks_like_run,
    looks_like_triples,
    read_relevant,
    read_run,
    read_scores,
    read_triples,
    read_truth,
)
from paragone.errors import InputError, unknown_name
from paragone.intake.collect import named_path
from paragone.intake.source import Source
from paragone.metrics.topk.evaluate import topk_scores
from paragone.metrics.topk.result import TopKResult
from paragone.stats.samples import SampleComparison, compare_samples

DEFAULT_METRIC = "ndcg"
DEFAULT_CUT = 10
SAID_TIES = 0.001
"""A share of samples with equal scores across the cut-off above which the bounds are said."""


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """What one file is worth: its name, its values per sample, and how its samples are called."""

    name: str
    path: Path
    result: TopKResult
    samples: tuple[str, ...]
    queries: tuple[int, ...] | None
    kind: str
    notes: tuple[str, ...]


def compare_top_lists(
    sources: Sequence[str],
    truth: str | Path,
    *,
    metric: str | None = None,
    at: float | None = None,
    reference: str | None = None,
    test: str | None = None,
    correction: str | None = None,
    alpha: float = 0.05,
) -> SampleComparison:
    r"""Compare runs or lists on the users or queries that all of them have.

    Parameters
    ----------
    sources : sequence of str
        Files; ``NAME=PATH`` names the method, which is called by its file otherwise.
    truth : str or Path
        What is relevant to whom.
    metric : str, optional
        Metrics separated by commas, such as ``ndcg,recall``, each with its cut-off where wanted
        (``recall@20``); ``ndcg`` by default.
    at : float, optional
        The cut-off of those that name none; 10 by default.
    reference : str, optional
        The method that is compared with each other one; all pairs where it is not given.
    test, correction : str, optional
        As in `compare_samples`; Holm over all differences by default.
    alpha : float, default=0.05
        Level of the whole family.

    Returns
    -------
    SampleComparison
        With a user or query as the unit; the notes say what was left out, and how far ties could
        move the means.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     _ = (place / "t").write_text("".join(f"q{i} 0 d1 1\n" for i in range(6)))
    ...     for name, best in (("a", "d1"), ("b", "d2")):
    ...         lines = [f"q{i} Q0 {best if i else 'd2'} 1 2.0 t\nq{i} Q0 d3 2 1.0 t\n" for i in range(6)]
    ...         _ = (place / f"{name}.run").write_text("".join(lines))
    ...     found = compare_top_lists([f"{place}/a.run", f"{place}/b.run"], place / "t", metric="recall", at=1)
    >>> found.pairs[0].mean_method.__round__(4), found.pairs[0].mean_rival, found.units
    (0.8333, 0.0, 'queries')
    """
    if len(sources) < 2:
        raise InputError("a comparison needs two files of lists or more")
    wanted = _wanted(metric, at)
    cuts = sorted({cut for _, cut in wanted})
    named = _named(sources)
    names = list(dict.fromkeys(name for name, _ in wanted))
    runs = [_measured(name, path, Path(truth), cuts, names) for name, path in named]
    kinds = {run.kind for run in runs}
    if len(kinds) > 1:
        raise InputError(
            f"the files name their users in different ways ({', '.join(sorted(kinds))}): give one"
            " kind"
        )
    chosen = [(_key(runs[0].result, names, name), cut) for name, cut in wanted]
    frame = pd.concat([_values(run, chosen) for run in runs], ignore_index=True)
    if reference is not None and reference not in [run.name for run in runs]:
        raise unknown_name("reference", reference, [run.name for run in runs])
    found = compare_samples(
        frame,
        reference=reference,
        test=test,
        correction=correction or "holm",
        alpha=alpha,
    )
    unit = UNITS[runs[0].kind][1]
    notes = [
        (
            f"One value per {unit}, from lists as they are: another training of a method may give"
            " others."
        ),
        f"Equal scores stand in the order of {'ids' if runs[0].kind == 'rows' else 'names'}.",
        *(CONVENTIONS[name] for name in names if name in CONVENTIONS),
        *_left_out(runs, frame),
        *_tied(runs, chosen),
    ]
    told = [note for note in found.warnings if "lack a value of some method" not in note]
    return replace(found, units=UNITS[runs[0].kind][0], warnings=(*notes, *told))


CONVENTIONS = {
    "precision": "Precision divides by K, however long a list is.",
    "recall": "Recall divides by everything that is relevant, more than K or not.",
    "f1": "F1 is that of each user, not of the means.",
}
"""What a name alone does not say; the others have their convention in their name."""
UNITS = {
    "queries": ("queries", "query"),
    "users": ("users", "user"),
    "rows": ("samples", "row of the truth"),
}


def _wanted(metric: str | None, at: float | None) -> list[tuple[str, int]]:
    """Return metrics with their cut-offs."""
    if at is not None and (at < 1 or not float(at).is_integer()):
        raise InputError(f"a cut-off is a whole number of at least 1, not {at:g}")
    default = DEFAULT_CUT if at is None else int(at)
    found = []
    for text in (metric or DEFAULT_METRIC).split(","):
        name, mark, cut = text.strip().partition("@")
        cut, bracket, rest = cut.partition("[")
        if mark and not cut.isdecimal():
            raise InputError(
                f"metric {text.strip()!r}: a cut-off is a whole number, as in recall@20"
            )
        found.append((f"{name}{bracket}{rest}", int(cut) if mark else default))
    return list(dict.fromkeys(found))


def _named(sources: Sequence[str]) -> list[tuple[str, Path]]:
    """Name every file: as the user says, by its stem, or with its folder where two have one."""
    pairs = [named_path(source) for source in sources]
    for _, path in pairs:
        if not path.is_file():
            raise InputError(f"there is no file {path}")
    names = [name or path.stem for name, path in pairs]
    for place, (_, path) in enumerate(pairs):
        if names.count(path.stem) > 1 and names[place] == path.stem:
            names[place] = f"{path.resolve().parent.name}/{path.stem}"
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two files are called {twice!r}: name them, as in A=PATH")
    return [(name, path) for name, (_, path) in zip(names, pairs, strict=True)]


def _nested(path: Path) -> dict[str, dict[str, Any]] | None:
    """Return values by query and document of a JSON file, as ranx writes runs and judgements."""
    if path.suffix.lower() != ".json":
        return None
    found = Source(path).json()
    if isinstance(found, dict) and all(isinstance(one, dict) for one in found.values()):
        return found
    raise InputError(f"{path}: an object of queries, each an object of documents, is needed")


def _measured(
    name: str, path: Path, truth: Path, cuts: Sequence[int], metrics: Sequence[str]
) -> MeasuredRun:
    listed, judged = _nested(path), _nested(truth)
    is_run = listed is not None or looks_like_run(path)
    if is_run or looks_like_triples(path):
        relevant, notes = read_relevant(truth) if judged is None else (judged, ())
        if listed is None:
            listed = read_run(path) if is_run else read_triples(path)
        joined = join_run(listed, relevant)
        result = topk_scores(
            joined.scores,
            joined.truth,
            k=cuts,
            metrics=list(metrics),
            exclude=~joined.retrieved,
            kind="scores",
            empty="skip",
        )
        kind = "queries" if is_run else "users"
        return MeasuredRun(name, path, result, joined.queries, None, kind, (*notes, *joined.notes))
    lists, rows = read_truth(truth)
    result = topk_scores(read_scores(path), lists, k=cuts, metrics=list(metrics), empty="skip")
    queries = None if rows is None else tuple(int(code) for code in rows.query_codes)
    samples = tuple(str(number) for number in range(len(lists)))
    return MeasuredRun(
        name, path, result, samples, queries, "rows", () if rows is None else tuple(rows.notes)
    )


def _key(result: TopKResult, names: Sequence[str], name: str) -> str:
    """Return what the result calls a metric, with its convention."""
    key: str = result.metrics[names.index(name)].key
    if key not in result.per_sample:
        raise InputError(f"{name} has no value per user, so it cannot be compared user by user")
    return key


def _values(run: MeasuredRun, chosen: Sequence[tuple[str, int]]) -> pd.DataFrame:
    kept = np.flatnonzero(run.result.evaluated)
    frame = pd.DataFrame({"method": run.name, "dataset": "truth", "sample": run.samples}).iloc[kept]
    if run.queries is not None:
        frame = frame.assign(query=np.array(run.queries)[kept])
    parts = []
    for key, cut in chosen:
        values = run.result.per_sample[key][kept, run.result.ks.index(cut)]
        parts.append(frame.assign(metric=key, at=float(cut), value=values))
    return pd.concat(parts, ignore_index=True)


def _left_out(runs: Sequence[MeasuredRun], frame: pd.DataFrame) -> list[str]:
    """Count who is in some of the files only, and who has nothing relevant."""
    there = {run.name: set(frame["sample"][frame["method"] == run.name]) for run in runs}
    common = set.intersection(*there.values())
    every = set.union(*there.values())
    units = UNITS[runs[0].kind][0]
    notes = [f"{run.name}: {text}" for run in runs for text in run.notes]
    lacking = [f"{name} lacks {len(every - mine)}" for name, mine in there.items() if every - mine]
    if lacking:
        notes.append(
            f"{len(common)} of {len(every)} {units} are in all files and were compared"
            f" ({', '.join(lacking)})."
        )
    empty = int((~runs[0].result.evaluated).sum())
    if empty:
        notes.append(f"{empty} {units} have nothing relevant in the truth and were left out.")
    for a, b in combinations(runs, 2):
        if a.path.read_bytes() == b.path.read_bytes():
            notes.append(f"{a.name} and {b.name} are the same file, byte for byte.")
    return notes


def _tied(runs: Sequence[MeasuredRun], chosen: Sequence[tuple[str, int]]) -> list[str]:
    """Say how far ties could move the means, and which differences they could turn."""
    notes = []
    if any(np.isnan(run.result.tie_share).all() for run in runs):
        notes.append("Lists carry no scores, so it is not known whether scores were equal.")
    for key, cut in chosen:
        place = runs[0].result.ks.index(cut)
        bounds = {}
        for run in runs:
            both = run.result.tie_bounds.get(key, (run.result.means[key],) * 2)
            low, high = bounds[run.name] = float(both[0][place]), float(both[1][place])
            share = run.result.tie_share[place]
            if share > SAID_TIES:
                notes.append(
                    f"{run.name}: {100 * share:.1f} % have equal scores across place {cut}; by the"
                    f" order of these {key} at {cut} is {low:.4f} to {high:.4f}."
                )
        for a, b in combinations(runs, 2):
            low = bounds[a.name][0] - bounds[b.name][1]
            high = bounds[a.name][1] - bounds[b.name][0]
            if a.samples == b.samples and low < 0 < high:
                notes.append(
                    f"By the order of equal scores alone {a.name} less {b.name} is {low:+.4f} to"
                    f" {high:+.4f} by {key} at {cut}: its sign is not settled."
                )
    return notes
