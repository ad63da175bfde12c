"""Learning curves of methods on a generator: over rows, noise or irrelevant columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from paragone.errors import InputError
from paragone.generate.evidence import measure
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender
from paragone.generate.sampling import GeneratorSpec

if TYPE_CHECKING:
    import pandas as pd

Axis: TypeAlias = Literal["n", "noise", "irrelevant"]


def learning_curve(
    generator: GeneratorSpec,
    methods: Sequence[tuple[Contender, Mapping[str, Any]]],
    laboratory: Laboratory,
    over: Axis,
    values: Sequence[float],
    *,
    n_train: int = 1000,
    n_fresh: int = 20_000,
    n_seeds: int = 10,
) -> pd.DataFrame:
    """Measure methods on fresh rows while one thing about the data changes.

    Parameters
    ----------
    generator : GeneratorSpec
        The source of rows.
    methods : sequence of (Contender, parameters)
        What is measured.
    laboratory : Laboratory
        Where the fits run.
    over : {"n", "noise", "irrelevant"}
        What changes: training rows, label noise, or irrelevant columns.
    values : sequence of float
        Its values.
    n_train, n_fresh, n_seeds : int
        Rows to train on (where they do not change), fresh rows, and samples.

    Returns
    -------
    DataFrame
        Columns ``over, at, method, mean, low, high, bayes``; a point where a fit failed is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> tree = Contender("Tree", "sklearn.tree:DecisionTreeClassifier")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     generator = GeneratorSpec("add(X0, X1)", n_features=3)
    ...     curve = learning_curve(generator, [(tree, {})], laboratory, "n", [50, 800], n_fresh=500, n_seeds=3)
    >>> bool(curve["mean"].is_monotonic_increasing)
    True
    """
    import pandas as pd

    if over not in ("n", "noise", "irrelevant"):
        raise InputError(f"a learning curve is over 'n', 'noise' or 'irrelevant', not {over!r}")
    rows = []
    for value in values:
        changed = generator
        if over == "noise":
            changed = replace(generator, noise=float(value))
        elif over == "irrelevant":
            changed = replace(generator, irrelevant=int(value))
        evidence = measure(
            f"{generator.formula} at {over} {value:g}",
            changed,
            methods,
            laboratory,
            n_train=int(value) if over == "n" else n_train,
            n_fresh=n_fresh,
            n_seeds=n_seeds,
        )
        if evidence is not None:
            rows += [
                {"over": over, "at": value, "method": m, **asdict(evidence.of(m)), "bayes": changed.bayes_auroc}
                for m in evidence.methods
            ]
    return pd.DataFrame(rows, columns=["over", "at", "method", "mean", "low", "high", "bayes"])
