"""Random tables of results of every unit, for laws: the same table in another order is the same table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

NAMES = ("Ridge", "Forest", "boost 2", "k-nn", "MLP", "zero-shot")
OTHERS = ("zeta", "Echo", "delta net", "Charlie-3", "bravo", "Alpha")
"""The same methods under names that sort the other way round."""
KINDS = (
    "datasets",
    "folds of datasets",
    "folds of one dataset",
    "answers",
    "answers of tasks",
    "graded",
    "subjects",
)


@dataclass(frozen=True)
class RandomTable:
    """A long table, the columns that are its keys, and the name of its metric.

    Parameters
    ----------
    kind : str
        What its rows are.
    frame : DataFrame
        One row per value, with the column ``method`` first and the metric last.
    keys : tuple of str
        The columns that say what is paired.
    metric : str
        The name of the metric, which tells its direction.
    """

    kind: str
    frame: pd.DataFrame
    keys: tuple[str, ...]
    metric: str

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(self.frame["method"]))

    def wide(self) -> pd.DataFrame:
        """Return a column per method."""
        wide = self.frame.pivot(index=list(self.keys), columns="method", values=self.metric)
        wide.columns.name = None
        return wide[self.methods].reset_index()


def random_table(seed: int, kind: str | None = None) -> RandomTable:
    """Return a table of a random kind and size, with ties and small effects."""
    generator = np.random.default_rng(seed)
    kind = kind or KINDS[seed % len(KINDS)]
    methods = list(NAMES[: int(generator.integers(2, 7))])
    keys = _units(generator, kind)
    effects = np.linspace(0, generator.choice([0.0, 0.05, 0.3]), len(methods))
    generator.shuffle(effects)
    base = generator.uniform(0.3, 0.7, len(keys))
    noise = generator.normal(0, 0.06, (len(keys), len(methods)))
    scores = np.clip(base[:, None] + effects + noise, 0.01, 0.99)
    if kind.startswith("answers"):
        values = (generator.random(scores.shape) < scores).astype(int)
    else:
        values = scores.round(int(generator.integers(2, 5)))
    metric = (
        "correct" if kind.startswith("answers") else str(generator.choice(["accuracy", "rmse"]))
    )
    parts = [
        keys.assign(method=name, **{metric: values[:, place]}) for place, name in enumerate(methods)
    ]
    frame = pd.concat(parts, ignore_index=True)
    names = tuple(keys.columns)
    return RandomTable(kind, frame[["method", *names, metric]], names, metric)


def _units(generator: np.random.Generator, kind: str) -> pd.DataFrame:
    """Return the keys of a table, a row per unit."""
    sizes = {
        "datasets": {"dataset": (3, 15)},
        "folds of datasets": {"dataset": (2, 8), "fold": (3, 6)},
        "folds of one dataset": {"fold": (4, 11)},
        "answers": {"question": (20, 61)},
        "answers of tasks": {"task": (2, 5), "question": (10, 25)},
        "graded": {"question": (10, 41)},
        "subjects": {"subject": (8, 25)},
    }[kind]
    counts = {name: int(generator.integers(*limits)) for name, limits in sizes.items()}
    spelled = {
        name: [n if name == "fold" else f"{name}{n:02d}" for n in range(count)]
        for name, count in counts.items()
    }
    units = pd.MultiIndex.from_product(spelled.values(), names=list(spelled)).to_frame(index=False)
    if kind == "answers of tasks":
        units["question"] = units["task"] + "-" + units["question"]
    return units


@dataclass(frozen=True)
class Writing:
    """One way to write a table down: files, and what each method is called in them."""

    change: str
    files: Mapping[str, pd.DataFrame]
    names: Mapping[str, str]

    def write(self, folder: Path) -> list[Path]:
        """Write the files and return them in the order in which they are given."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in self.files.items():
            frame.to_csv(folder / name, index=False)
        return [folder / name for name in self.files]


def as_written(table: RandomTable) -> Writing:
    same = {name: name for name in table.methods}
    return Writing("long", {"table.csv": table.frame}, same)


def writings(table: RandomTable, seed: int) -> Iterator[Writing]:
    """Go through other ways to write the same table."""
    generator = np.random.default_rng(seed)
    frame, methods = table.frame, table.methods
    same = {name: name for name in methods}
    shuffled = frame.sample(frac=1, random_state=seed, ignore_index=True)
    yield Writing("shuffled rows", {"table.csv": shuffled}, same)
    columns = generator.permutation(list(frame.columns))
    yield Writing("shuffled columns", {"table.csv": frame[list(columns)]}, same)
    other = dict(zip(methods, OTHERS, strict=False))
    yield Writing("renamed", {"table.csv": frame.assign(method=frame["method"].map(other))}, other)
    parts = [frame[frame["method"] == name] for name in generator.permutation(methods)]
    files = {f"part_{place}.csv": part for place, part in enumerate(parts)}
    yield Writing("a file a method", files, same)
    wide = table.wide()
    order = [*table.keys, *generator.permutation(methods)]
    yield Writing("wide", {"table.csv": wide[order]}, same)
