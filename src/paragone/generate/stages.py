"""Stages 2 and 3 of the published procedure: tune the best formulas at length, then try them on new seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paragone.data.digen import Expression
from paragone.errors import InputError
from paragone.generate.duel import seeded_dataset
from paragone.generate.duel_settings import DuelSettings
from paragone.generate.holdout import METRICS, Holdout
from paragone.generate.laboratory import Laboratory

if TYPE_CHECKING:
    import pandas as pd

STAGE2_TRIALS = 200
STAGE3_TRIALS = 100
STAGE3_SEEDS = 100


def stage2(
    formulas: Sequence[tuple[str, int]],
    laboratory: Laboratory,
    settings: DuelSettings | None = None,
    *,
    trials: int = STAGE2_TRIALS,
) -> pd.DataFrame:
    """Tune every method on every formula's dataset and score it on the test split.

    Parameters
    ----------
    formulas : sequence of (formula, seed)
        The best of stage 1.
    laboratory : Laboratory
        Where the fits run.
    settings : DuelSettings, optional
        The methods and how they are tuned.
    trials : int, default=200
        Trials a method gets.

    Returns
    -------
    DataFrame
        Columns ``formula, seed, method, auroc, auprc, f1, cv``; a fit that failed has no row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = DuelSettings(folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "tuned.sqlite") as laboratory:
    ...     table = stage2([("mul(X0, X1)", 7)], laboratory, small, trials=1)
    >>> table["method"].tolist(), bool(table["auroc"][0] > table["auroc"][1])
    (['KNeighborsClassifier', 'LogisticRegression'], True)
    """
    import pandas as pd

    settings = settings or DuelSettings()
    rows = []
    for seed in dict.fromkeys(seed for _, seed in formulas):
        texts = [formula for formula, own in formulas if own == seed]
        datasets = {text: seeded_dataset(Expression.parse(text), seed) for text in texts}
        tuned = {m.name: settings.tuner(m, seed, trials) for m in settings.contenders()}
        name = f"tuned with {trials} trials on seed {seed}"
        found = laboratory.run(name, list(datasets.values()), tuned, Holdout(), seed=seed)
        for text, dataset in datasets.items():
            for method in tuned:
                if (dataset.name, method) in found:
                    arrays = found[dataset.name, method].arrays
                    scores = dict(zip(METRICS, map(float, arrays["scores"]), strict=True))
                    rows.append({"formula": text, "seed": seed, "method": method, **scores, "cv": float(arrays["cv"])})
    return pd.DataFrame(rows, columns=["formula", "seed", "method", *METRICS, "cv"])


def stage3(
    formulas: Sequence[str],
    laboratory: Laboratory,
    settings: DuelSettings | None = None,
    *,
    first_seed: int = 1,
    n_seeds: int = STAGE3_SEEDS,
    trials: int = STAGE3_TRIALS,
) -> pd.DataFrame:
    """Score formulas on datasets of new seeds: the table of `stage2` over ``n_seeds`` seeds from ``first_seed`` on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = DuelSettings(folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "seeds.sqlite") as laboratory:
    ...     table = stage3(["mul(X0, X1)"], laboratory, small, n_seeds=2, trials=1)
    >>> table.groupby("seed").size().to_dict()
    {1: 2, 2: 2}
    """
    if n_seeds < 1:
        raise InputError(f"n_seeds must be at least 1, it is {n_seeds}")
    pairs = [(formula, seed) for seed in range(first_seed, first_seed + n_seeds) for formula in formulas]
    return stage2(pairs, laboratory, settings, trials=trials)


def still_separate(table: pd.DataFrame, up: str, down: str, margin: float = 0.05) -> tuple[str, ...]:
    """Return the formulas on which the median lead of one method over another over seeds reaches the margin."""
    wide = table.pivot_table(index=["formula", "seed"], columns="method", values="auroc")
    lead = (wide[up] - wide[down]).groupby("formula", sort=False).median()
    return tuple(lead.index[lead >= margin])
