"""How people read a metric: its name in a title and in a sentence, and scorers that are minus an error as the error.

Scikit-learn maximises, so its scorers of errors are negated: ``neg_root_mean_squared_error`` is
-3.2 where a person says "an RMSE of 3.2". A store and what programs read (JSON, tidy scores) keep
the scorer's own name with the scorer's own value. Whatever a person reads, and every comparison,
has the error under the error's name with its sign turned. A name and a value therefore always
belong together: no value of an error stands under a scorer's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paragone.metrics.names import base_name, named_metric

if TYPE_CHECKING:
    import pandas as pd

NEGATED = "neg_"

PROPER_NAMES = ("Brier", "Hamming", "Jaccard", "Matthews", "Poisson", "Rand")
"""First words of titles that keep their capital inside a sentence."""


def metric_title(name: str | None) -> str:
    """Return the name of a metric for headings and selectors, with the cut-off and the convention that it has.

    Examples
    --------
    >>> metric_title("balanced_accuracy"), metric_title("root_mean_squared_error"), metric_title("ndcg@10")
    ('Balanced accuracy', 'RMSE', 'NDCG@10')
    >>> metric_title("neg_root_mean_squared_error"), metric_title("my_score"), metric_title(None)
    ('Negative RMSE', 'my_score', 'score')
    """
    known = named_metric(name)
    if not name or known.title in (name, known.name):
        return name or known.title
    return f"{known.title}{_qualifier(name)}"


def metric_in_words(name: str | None) -> str:
    """Return the name of a metric inside a sentence: ordinary words have no capital.

    Examples
    --------
    >>> metric_in_words("balanced_accuracy"), metric_in_words("roc_auc"), metric_in_words("hamming_loss")
    ('balanced accuracy', 'AUROC', 'Hamming loss')
    >>> metric_in_words("MyScore")
    'MyScore'
    """
    title = metric_title(name)
    if title == name:
        return title
    first = title.split()[0]
    is_ordinary = first[1:].isalpha() and first[1:].islower() and first not in PROPER_NAMES
    return title[:1].lower() + title[1:] if is_ordinary else title


def in_target_unit(name: str | None) -> bool:
    """Whether values of a metric are in the unit of the target, as those of RMSE are.

    Examples
    --------
    >>> in_target_unit("rmse"), in_target_unit("mse"), in_target_unit("r2"), in_target_unit("my_score")
    (True, False, False, False)
    """
    return named_metric(name).unit == 1


def _qualifier(name: str) -> str:
    """Return what stands behind the name of a metric: ``@10``, ``[idcg=min]``."""
    return name.strip()[len(base_name(name)) :]


def error_name(metric: str | None) -> str | None:
    """Return the error that a scorer is minus of, such as that of ``neg_log_loss``; any other name as it is.

    Examples
    --------
    >>> error_name("neg_root_mean_squared_error"), error_name("neg_log_loss"), error_name("neg_gain"), error_name("r2")
    ('root_mean_squared_error', 'log_loss', 'neg_gain', 'r2')
    """
    if metric is None or not metric.startswith(NEGATED):
        return metric
    error = metric.removeprefix(NEGATED)
    return error if named_metric(error).higher_is_better is False else metric


def is_negated(metric: str | None, values: np.ndarray) -> bool:
    """Whether scores of a metric are minus an error: by its name, and because none is above zero.

    Errors that somebody wrote down under a scorer's name without the sign are left as they are.

    Examples
    --------
    >>> is_negated("neg_log_loss", np.array([-0.5, -0.2])), is_negated("neg_log_loss", np.array([0.5, 0.2]))
    (True, False)
    """
    return error_name(metric) != metric and not (np.asarray(values, dtype=np.float64) > 0).any()


def with_errors(scores: pd.DataFrame) -> pd.DataFrame:
    """Return tidy scores in which scorers that are minus an error have become the error.

    Parameters
    ----------
    scores : DataFrame
        With the columns ``metric`` and ``value``.

    Returns
    -------
    DataFrame
        The same rows. A scorer whose error is there as well stays as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"metric": ["neg_log_loss", "r2"], "value": [-0.5, -2.0]})
    >>> with_errors(scores).to_dict("list")
    {'metric': ['log_loss', 'r2'], 'value': [0.5, -2.0]}
    """
    names = [str(name) for name in scores["metric"].unique()]
    turned = {
        name: str(error_name(name)) for name in names if error_name(name) not in (name, *names)
    }
    turned = {
        name: error for name, error in turned.items() if is_negated(name, _values(scores, name))
    }
    if not turned:
        return scores
    rows = scores["metric"].isin(list(turned)).to_numpy()
    # 0 - x, because -x of a perfect score would be printed as -0.
    values = np.where(rows, 0.0 - scores["value"].to_numpy(dtype=np.float64), scores["value"])
    return scores.assign(metric=scores["metric"].replace(turned), value=values)


def _values(scores: pd.DataFrame, metric: str) -> np.ndarray:
    found: np.ndarray = scores.loc[(scores["metric"] == metric).to_numpy(), "value"].to_numpy(
        dtype=np.float64
    )
    return found
