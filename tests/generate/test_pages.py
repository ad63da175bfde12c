"""Pages of generated data: written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.generate import (
    Collection,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    MethodBenchmark,
    write_benchmark,
    write_collection_page,
)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def benchmark() -> MethodBenchmark:
    rows = [("one", "A", 1, 0.9), ("one", "B", 1, 0.7), ("two", "A", 1, 0.6), ("two", "B", 1, 0.8)]
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    predictions = {
        name: (np.array([0, 1, 1, 0]), np.array([0.1, 0.8, 0.4, 0.5])) for name in ("one", "two")
    }
    return MethodBenchmark(
        "A", "mine", scores, {"one": {}, "two": {}}, predictions, ("a note",), "by hand"
    )


@pytest.fixture(scope="module")
def collection() -> Collection:
    evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71]]))
    generators = {"product": GeneratorSpec("mul(X0, X1)"), "sum": GeneratorSpec("add(X0, X1)")}
    sets = [
        GeneratedSet.of(name, generator, 1, seed=7, n_rows=50, evidence=evidence)
        for name, generator in generators.items()
    ]
    return Collection("two", margin=0.05, evidence_rows=100, sets=tuple(sets))


def test_a_benchmark_that_fails_on_the_way_leaves_the_earlier_one_as_it_was(benchmark, tmp_path):
    write_benchmark(benchmark, tmp_path / "page")
    before = files_of(tmp_path / "page")
    # The scores and the charts are written before this format is asked for.
    with pytest.raises(InputError, match="chart format 'bmp'"):
        write_benchmark(benchmark, tmp_path / "page", ("bmp",))
    assert files_of(tmp_path / "page") == before
    assert {path.name for path in tmp_path.iterdir()} == {"page"}


def test_a_smaller_collection_leaves_no_chart_of_the_larger_one(collection, tmp_path):
    out = tmp_path / "page"
    write_collection_page(collection.inspect(), out, collection)
    (out / "mine.txt").write_text("my own")
    smaller = Collection("one", 0.05, 100, collection.sets[:1])
    write_collection_page(smaller.inspect(), out, smaller)
    assert {path.name for path in (out / "formulas").iterdir()} == {"product.svg"}
    assert (out / "mine.txt").read_text() == "my own"
    assert "Collection one" in (out / "report.html").read_text()


def test_a_file_of_somebody_else_is_never_written_over(benchmark, tmp_path):
    (tmp_path / "scores.csv").write_text("mine\n")
    with pytest.raises(InputError, match=r"scores\.csv is not of an earlier benchmark"):
        write_benchmark(benchmark, tmp_path)
    assert files_of(tmp_path) == {"scores.csv": b"mine\n"}


def test_the_scores_of_a_collection_are_its_evidence(collection):
    scores = collection.scores()
    assert scores.query("dataset == 'sum' and method == 'B'")["value"].tolist() == [0.7, 0.71]
    assert collection.table().loc["sum", "A"] == pytest.approx(0.91, abs=1e-15)


def test_an_empty_collection_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="collection 'none' holds no datasets"):
        Collection("none", 0.05, 100, ()).inspect()
