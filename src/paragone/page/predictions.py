"""What methods predicted, as a part of the page: a case is one method on one dataset."""

from __future__ import annotations

from dataclasses import dataclass, field

from paragone.page.leaderboards import Tags


@dataclass(frozen=True)
class PredictedCase:
    """What is shown of the predictions of a method on a dataset.

    Attributes
    ----------
    dataset, method : str
        Names to display.
    told : str
        How many predictions of how many rows these are.
    finding, drawn : str
        What they show, and what is drawn of it: the table of confusions, or predicted against
        measured.
    labels : tuple of str
        The classes; empty for values.
    counts : tuple of tuple of int
        Rows of each class (down) by the class predicted (across).
    points : tuple of (float, float)
        Measured and predicted values, for values.
    calibration, calibration_drawn : str
        What the probabilities show, and what is drawn of it; empty where there are none.
    bins : tuple of (said, happened, low, high, n, is_off)
        Probabilities against what came true, with the limits of that share; ``is_off`` is 1 where
        they leave out what was said.
    table_head, table : tuple
        Headings and rows of what is told of labels or of lists, where rows have no single class or
        value.
    wrong_title : str
        What the list of wrong ones is called.
    wrong_told : str
        What the list of wrong ones is, and of how many it is.
    wrong_head : tuple of str
        Its headings.
    wrong : tuple of tuple
        The worst first.
    """

    dataset: str
    method: str
    told: str
    finding: str
    drawn: str
    labels: tuple[str, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    calibration: str = ""
    calibration_drawn: str = ""
    bins: tuple[tuple[float, float, float, float, int, int], ...] = ()
    wrong_told: str = ""
    wrong_head: tuple[str, ...] = ()
    wrong: tuple[tuple[int | float | str, ...], ...] = ()
    wrong_title: str = ""
    table_head: tuple[str, ...] = ()
    table: tuple[tuple[int | float | str, ...], ...] = ()


@dataclass(frozen=True)
class PredictionPanel:
    """Cases to choose from; ``left_out`` says which of an experiment's are not among them, empty where all are."""

    cases: tuple[PredictedCase, ...]
    left_out: str = ""
    tags: Tags = field(default_factory=dict)
