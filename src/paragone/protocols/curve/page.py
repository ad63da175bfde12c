"""What the page of a curve experiment has of its own: its words, and how far seeds agree on the top features."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from paragone.lab.view import View
from paragone.page import Attachment, Cover
from paragone.protocols.curve.reader import CurveReader
from paragone.reporting.how import methods_paragraph
from paragone.reporting.pages import counts_of, section
from paragone.reporting.words import listing, title_of
from paragone.tables import frame_as_csv
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

TOP_SHARE = 0.2


def sections(view: View) -> Iterable[Cover]:
    """Say what the page is about; its sections are those of every page."""
    subtitle = counts_of(view, "feature-ranking curves")
    return (Cover(subtitle=subtitle, paragraph=methods_paragraph(view, curve_sentence(view))),)


def curve_sentence(view: View) -> str:
    """Say in a sentence how features were ranked and their sets scored."""
    protocol = view.described["protocol"]
    evaluator = protocol["evaluator"]
    params = ", ".join(f"{name} = {value}" for name, value in evaluator["params"].items())
    model = evaluator["use"] + (f" ({params})" if params else "")
    grids = []
    if protocol["k"] is not None:
        k = protocol["k"]
        grids.append(f"k = {k['min']}, {k['min'] + k['step']}, ..., {k['max']} features")
    if protocol["p"] is not None:
        p = protocol["p"]
        grids.append(
            f"{100 * p['min']:g} % to {100 * p['max']:g} % of the features in steps of"
            f" {100 * p['step']:g} %"
        )
    metrics = listing([title_of(metric) for metric in protocol["metrics"]])
    reductions = listing(list(dict.fromkeys(scores.reduction for scores in view.grids)))
    return (
        "Every method ranked the features on the training part; the best-ranked features were"
        f" scored on the test part with {model} at {listing(grids)}, by {metrics}. A curve counts"
        f" as {reductions}."
    )


@section("methods", kinds=["curve"])
def stability_file(view: View) -> Attachment | None:
    """Write how far the seeds of repeated methods agree, where any is repeated."""
    found = seed_stability(view)
    return None if found.empty else Attachment("seed_stability.csv", frame_as_csv(found))


def jaccard(a: IntArray, b: IntArray) -> float:
    """Return the size of the intersection over the size of the union of two sets of features.

    Examples
    --------
    >>> import numpy as np
    >>> jaccard(np.array([0, 1, 2]), np.array([1, 2, 3]))
    0.5
    """
    return float(len(np.intersect1d(a, b)) / len(np.union1d(a, b)))


def kuncheva(a: IntArray, b: IntArray, n_features: int) -> float:
    """Return Kuncheva's consistency of two sets of equal size: 0 by chance, 1 where equal; 1 for all features.

    References
    ----------
    L. I. Kuncheva, "A stability index for feature selection", Artificial Intelligence and Applications, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> kuncheva(np.array([0, 1]), np.array([1, 2]), 4)
    0.0
    """
    k, shared = len(a), len(np.intersect1d(a, b))
    if k == n_features:
        return 1.0
    return float((shared * n_features - k * k) / (k * (n_features - k)))


def seed_stability(view: View, share: float = TOP_SHARE) -> pd.DataFrame:
    """Return the mean pairwise agreement over seeds of the top features, one row per dataset and repeated method.

    Parameters
    ----------
    view : View
        The experiment.
    share : float, default=0.2
        Share of the features that count as top.

    Returns
    -------
    DataFrame
        Columns ``dataset, method, seeds, top, jaccard, kuncheva, spread``; the first two agreements
        are means over folds and pairs of seeds, ``spread`` is the mean over folds of the deviation
        (ddof = 1) over seeds of the experiment's first metric, averaged over its grid.
    """
    import pandas as pd

    places, scores = view.places[view.places["status"] == "done"], view.repeats
    reader, experiment = CurveReader(view.results), view.experiment
    rows = []
    for (dataset, method), cells in places.groupby(["dataset", "method"], sort=False):
        seeds = cells["repeat"].nunique()
        if seeds < 2:
            continue
        pairs = [
            _agreement(
                reader, dataset, fold, method, experiment, sorted(fold_cells["repeat"]), share
            )
            for fold, fold_cells in cells.groupby("fold")
        ]
        agreement = np.mean([pair for fold_pairs in pairs for pair in fold_pairs], axis=0)
        top = max(
            1,
            round(
                share * len(reader.ranking(dataset, int(cells["fold"].iloc[0]), method, experiment))
            ),
        )
        rows.append((dataset, method, seeds, top, *agreement, _spread(scores, dataset, method)))
    return pd.DataFrame(
        rows, columns=["dataset", "method", "seeds", "top", "jaccard", "kuncheva", "spread"]
    )


def _agreement(
    reader: CurveReader,
    dataset: str,
    fold: int,
    method: str,
    experiment: str,
    repeats: list[int],
    share: float,
) -> list[tuple[float, float]]:
    rankings = [reader.ranking(dataset, fold, method, experiment, repeat) for repeat in repeats]
    d = len(rankings[0])
    k = max(1, round(share * d))
    return [
        (jaccard(a[:k], b[:k]), kuncheva(a[:k], b[:k], d)) for a, b in combinations(rankings, 2)
    ]


def _spread(scores: pd.DataFrame, dataset: str, method: str) -> float:
    mine = scores[(scores["dataset"] == dataset) & (scores["method"] == method)]
    first = mine[
        (mine["metric"] == mine["metric"].iloc[0]) & (mine["grid"] == mine["grid"].iloc[0])
    ]
    per_seed = first.groupby(["fold", "repeat"])["value"].mean()
    return float(per_seed.groupby("fold").std(ddof=1).mean())
