"""Methods that know what they were not handed, remember other cells, or look at other rows of the test part."""

from __future__ import annotations

import json

import numpy as np
from made_labs import herb_garden
from method_lab import codes_of_method, found_codes, leaky, leaky_folder, noise
from planted_leaks import plant

import paragone
from paragone import Experiment
from paragone.data import Dataset
from paragone.protocols import Crossval, Curve, KGrid, TopK

ALL = "all labels of 80 rows of noise, 2 folds"

# Name, module and class of a classifier of noise, the codes of which one must be found, and how it
# does it.
CLASSIFIERS = (
    ("labels from a CSV", "lookups:ByOpen", ("PG141",), "It opens the data file in fit."),
    (
        "labels by os.open",
        "lookups:ByOsOpen",
        ("PG141",),
        "It reads the data file by the system's own calls.",
    ),
    ("labels by np.load", "lookups:ByNumpy", ("PG141",), "It loads an array that holds all rows."),
    ("labels by cat", "lookups:ByCat", ("PG141",), "It has another program print the data file."),
    ("labels by a shell", "lookups:ByShell", ("PG141",), "It has a shell read the data file."),
    (
        "labels read at import",
        "lookups:AtImport",
        ("PG141",),
        "Its module reads the data file when it is imported.",
    ),
    (
        "labels under another ending",
        "lookups:ByOtherEnding",
        ("PG141",),
        "The data file does not look like one.",
    ),
    ("labels from a store", "lookups:BySqlite", ("PG141",), "It asks an SQLite file."),
    (
        "labels from a pickle",
        "lookups:ByPickle",
        ("PG141",),
        "It loads a pickle beside its module.",
    ),
    (
        "labels by native code",
        "lookups:ByNativeCode",
        ("PG141",),
        "The C library opens the file, unheard by Python.",
    ),
    (
        "labels from a server",
        "lookups:ByServer",
        ("PG141",),
        "It asks a program on this machine over the network.",
    ),
    (
        "labels typed into the source",
        "lookups:InSource",
        ("PG141",),
        "The labels are a table in a module.",
    ),
    (
        "half of the labels in the source",
        "lookups:HalfKnown",
        ("PG141",),
        "Every other label is in a module.",
    ),
    (
        "test rows added to train",
        "lookups:AddsTestRows",
        ("PG141",),
        "A nearest neighbour that also has all test rows.",
    ),
    (
        "labels by frames",
        "reaching:ByFrames",
        ("PG110",),
        "It finds the test labels in the frame of its caller.",
    ),
    (
        "labels by the garbage collector",
        "reaching:ByGarbage",
        ("PG110",),
        "It finds the test labels among all objects.",
    ),
    (
        "labels of the spool",
        "reaching:BySpool",
        ("PG110",),
        "It reads the labels that the engine laid out for workers.",
    ),
    (
        "test rows in fit",
        "reaching:TestRowsInFit",
        ("PG142",),
        "It shifts by the mean of the test rows, found in a frame.",
    ),
    (
        "a cache on disk",
        "remembering:OnDisk",
        ("PG144",),
        "It keeps rows and labels in a file from cell to cell.",
    ),
    (
        "scaling by the test part",
        "batches:ScalesByTest",
        ("PG142",),
        "Predict scales by the rows that it is asked about.",
    ),
    (
        "ranks within the test part",
        "batches:RanksTheBatch",
        ("PG142",),
        "The upper half of the rows gets one class.",
    ),
    (
        "neighbours in the test part",
        "batches:AsksTheNeighbours",
        ("PG142",),
        "Test rows vote on each other's class.",
    ),
    (
        "answers by place",
        "batches:ByPlace",
        ("PG142",),
        "The answer depends on where a row stands.",
    ),
    (
        "the best of a hundred on a file of labels",
        "choosing:BestOnAFile",
        ("PG141", "PG142"),
        (
            "Of a hundred stumps it takes the one that agrees best with the test labels, which"
            " stand in a file."
        ),
    ),
    (
        "the best of a hundred on labels in memory",
        "choosing:BestInMemory",
        ("PG110",),
        (
            "Of a hundred stumps it takes the one that is best on the test part, found in the frame"
            " of its caller."
        ),
    ),
)


def _classifier(use: str):
    module, _, name = use.partition(":")
    return lambda seed: codes_of_method(module, name, noise(seed=seed + 4), seed=seed)


for _name, _use, _codes, _how in CLASSIFIERS:
    _find = _classifier(_use)
    _find.__doc__ = _how
    plant("methods", _name, *_codes, size=ALL, slow=True)(_find)


def remembered(name: str, seed: int) -> set[str]:
    data = noise(seed=seed + 4)
    with leaky_folder(data) as folder:
        lab = leaky("remembering", name, data=data)
        lab.run(folder / "lab.sqlite", workers=1, isolation="worker").close()
        found = paragone.audit(
            folder / "lab.sqlite", declaration=lab, sample=2, canary="none", seed=seed
        )
    return found_codes(found).get(name, set())


@plant(
    "methods",
    "a dictionary of the module",
    "PG201",
    size="a store run with isolation = 'worker'",
    slow=True,
)
def _(seed):
    """It remembers the rows of other folds in its process; cells run alone give other bytes."""
    return remembered("Memo", seed)


@plant(
    "methods", "a cached function", "PG201", size="a store run with isolation = 'worker'", slow=True
)
def _(seed):
    """The same in a function with lru_cache."""
    return remembered("Cached", seed)


def numbers(seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    return Dataset(
        "numbers", random.normal(size=(60, 3)).round(4), random.gamma(2.0, size=60), "regression"
    )


@plant(
    "methods",
    "numbers typed into the source",
    "PG141",
    size="all numbers of 60 rows of noise",
    slow=True,
)
def _(seed):
    """A regressor with a table of the targets, cross-validated."""
    return codes_of_method("other_tasks", "Numbers", numbers(seed), Crossval(), seed)


@plant(
    "methods",
    "half-known numbers",
    "PG141",
    size="half of the way to the numbers of 60 rows",
    slow=True,
)
def _(seed):
    """A regressor that mixes the mean of train with a table of the targets."""
    return codes_of_method("other_tasks", "HalfNumbers", numbers(seed), Crossval(), seed)


def labelled(seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4)).round(4)
    return Dataset("labels", X, (random.random((60, 3)) < 0.4).astype(int), "multilabel")


@plant(
    "methods",
    "an evaluator that knows the labels",
    "PG141",
    size="3 labels of 60 rows of noise",
    slow=True,
)
def _(seed):
    """The classifier behind a curve has a table of the labels."""
    data = labelled(seed)
    with leaky_folder(data):
        # All features in their order, as the table has them.
        curve = Curve(k=KGrid(4, 4, 1), evaluator="other_tasks:Labels")
        lab = Experiment(
            [data], {"First": "other_tasks:FirstComes"}, {"folds": 2, "scale": "none"}, curve
        )
        return found_codes(paragone.audit(lab, seed=seed)).get("First", set())


@plant("methods", "a ranking by test rows", "PG143", size="60 rows, 4 features", slow=True)
def _(seed):
    """A ranker finds the test rows in a frame and ranks by their spread."""
    return codes_of_method(
        "other_tasks", "RanksByTestRows", labelled(seed), Curve(k=KGrid(2, 4, 2)), seed
    )


@plant("methods", "lists from a file", "PG141", size="lists of 30 test rows", slow=True)
def _(seed):
    """A recommender looks the items of a set of tokens up in a file."""
    data = herb_garden(seed=seed)
    rows = zip(*(np.split(m.indices, m.indptr[1:-1]) for m in (data.X, data.y)), strict=True)
    lists = {" ".join(map(str, sorted(tokens.tolist()))): items.tolist() for tokens, items in rows}
    with leaky_folder(noise()) as folder:
        (folder / "lists.json").write_text(json.dumps(lists))
        lab = leaky("other_tasks", "Recommends", data=data, protocol=TopK(k=(3,), floors=False))
        return found_codes(paragone.audit(lab, seed=seed)).get("Recommends", set())
