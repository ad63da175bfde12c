"""ROC and precision-recall curves of one method, a line a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paragone.charts import BLUE, GREY, from_rows, styled
from paragone.generate.scoring import auroc

SIDE = 360


def roc_curves(predictions: Mapping[str, tuple[Any, Any]], method: str) -> Any:
    """Draw the ROC curve of every dataset.

    Parameters
    ----------
    predictions : mapping of str to (labels, values)
        Labels 0/1 and the method's values on the test rows, by dataset.
    method : str
        The method.

    Examples
    --------
    >>> roc_curves({"one": ([0, 1, 1], [0.2, 0.6, 0.9])}, "A").to_dict()["title"]["text"]
    ['ROC curves of A']
    """
    from sklearn.metrics import roc_curve

    rows = []
    for dataset, (labels, values) in predictions.items():
        false, true, _ = roc_curve(labels, values)
        rows += _line(dataset, false, true, f"AUROC {auroc(np.asarray(labels), np.asarray(values)):.3f}")
    diagonal = [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]
    return _drawn(rows, diagonal, "false positive rate", "true positive rate", f"ROC curves of {method}")


def pr_curves(predictions: Mapping[str, tuple[Any, Any]], method: str) -> Any:
    """Draw the precision-recall curve of every dataset.

    Examples
    --------
    >>> pr_curves({"one": ([0, 1, 1], [0.2, 0.6, 0.9])}, "A").to_dict()["title"]["text"]
    ['Precision-recall curves of A']
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    rows, shares = [], []
    for dataset, (labels, values) in predictions.items():
        precision, recall, _ = precision_recall_curve(labels, values)
        area = float(average_precision_score(labels, values))
        rows += _line(dataset, recall[::-1], precision[::-1], f"AUPRC {area:.3f}")
        shares.append(float(np.mean(labels)))
    chance = [{"x": at, "y": float(np.mean(shares))} for at in (0.0, 1.0)]
    return _drawn(rows, chance, "recall", "precision", f"Precision-recall curves of {method}")


def _line(dataset: str, x: Any, y: Any, area: str) -> list[dict[str, Any]]:
    points = zip(x.tolist(), y.tolist(), strict=True)
    return [{"dataset": dataset, "x": a, "y": b, "order": i, "area": area} for i, (a, b) in enumerate(points)]


def _drawn(rows: list[dict[str, Any]], chance: list[dict[str, float]], x: str, y: str, title: str) -> Any:
    import altair as alt

    lines = (
        from_rows(rows)
        .mark_line(color=BLUE, opacity=0.55, strokeWidth=1.2)
        .encode(
            x=alt.X("x:Q", title=x, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1])),
            detail="dataset:N",
            order="order:Q",
            tooltip=["dataset:N", "area:N"],
        )
    )
    guess = from_rows(chance).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="x:Q", y="y:Q")
    chart = alt.layer(guess, lines).properties(width=SIDE, height=SIDE)
    return styled(chart, title, "One line a dataset, on its test rows; dashed: guessing")
