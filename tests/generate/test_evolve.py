"""Evolution at small sizes: repeatable, resumable, independent of workers; collections that prove themselves."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from known_leads import InProcess, limits_by_bisection
from paragone.errors import InputError
from paragone.generate.collection import Collection, GeneratedSet, OpenPair
from paragone.generate.concepts import ConceptBook, EliteArchive, ScreenedFormula
from paragone.generate.evolution import Evolution, Stopwatch
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.evolving import choose, evolve, greedy_cover
from paragone.generate.expressions import Expression
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import reference_method
from paragone.generate.proof import Evidence, mean_interval, row_seed
from paragone.generate.shipped import measure_digen, read_fits

METHODS = {
    "LR": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
    "KNN": {
        "use": "sklearn.neighbors:KNeighborsClassifier",
        "portfolio": [{"n_neighbors": 5}, {"n_neighbors": 20, "weights": "distance"}],
    },
    "Tree": {
        "use": "sklearn.tree:DecisionTreeClassifier",
        "portfolio": [{"max_depth": 4}, {"max_depth": 8}],
    },
}
SMALL = EvolveSpec(
    "small", generations=3, batch=10, chunk=4, n_train=300, n_test=400, n_features=4, looks=(3, 12), claims=5,
    race_seeds=2, evidence_rows=600, finalists=4, methods=METHODS,
)  # fmt: skip


def evolved_json(folder, workers=0, spec=SMALL):
    folder.mkdir(exist_ok=True)
    laboratory = Laboratory(folder / "s.sqlite", workers)
    return json.dumps([asdict(item) for item in evolve(spec, laboratory).measured])


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("paragone.generate.evolving.Laboratory", InProcess)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paragone.generate.evolving.Laboratory", InProcess)
        return evolve(SMALL, folder / "s.sqlite", tell=said.append), said, folder


def test_the_same_seed_gives_the_same_collection_with_any_workers(tmp_path):
    spec = replace(SMALL, generations=2, finalists=1, claims=1)
    alone = evolved_json(tmp_path / "alone", spec=spec)
    assert alone != "[]"
    assert evolved_json(tmp_path / "two", 2, spec=spec) == alone
    assert evolved_json(tmp_path / "alone", spec=spec) == alone
    assert evolved_json(tmp_path / "other", spec=replace(spec, seed=1)) != alone


def test_a_search_that_was_stopped_goes_on_to_the_same_end(tmp_path, once):
    evolve(replace(SMALL, generations=1), tmp_path / "s.sqlite")
    resumed = evolve(SMALL, tmp_path / "s.sqlite")
    assert resumed.collection == once[0].collection


SCRIPT = """
import sys
from test_spec import SMALL
from paragone.generate.evolving import evolve
evolve(SMALL, sys.argv[1], tell=lambda said: print(said, flush=True))
"""


@pytest.mark.slow
def test_killed_and_started_again_it_ends_the_same(tmp_path, once):
    fields = {name: getattr(SMALL, name) for name in SMALL.__dataclass_fields__}
    (tmp_path / "test_spec.py").write_text(
        f"from paragone.generate.evolve_spec import EvolveSpec\nSMALL = EvolveSpec(**{fields!r})\n"
    )
    (tmp_path / "go.py").write_text(SCRIPT)
    store = tmp_path / "s.sqlite"
    run = subprocess.Popen(
        [sys.executable, str(tmp_path / "go.py"), str(store)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert "generation 1" in run.stdout.readline()
    time.sleep(0.2)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)
    assert evolve(SMALL, store).collection == once[0].collection


def test_concluding_begins_nothing_new_and_gives_what_was_proven(tmp_path, in_process):
    store = tmp_path / "s.sqlite"
    spec = replace(SMALL, generations=1, finalists=1, claims=2)
    two = evolve(spec, store)
    assert two.collection.sets

    def cells():
        with sqlite3.connect(store) as database:
            return database.execute("SELECT COUNT(*) FROM cells").fetchone()

    before = cells()
    # Left to itself the search would go on: it is asked for more generations, races and claims than
    # were done.
    more = replace(spec, generations=5)
    assert evolve(more, store, conclude=True).collection == two.collection
    assert cells() == before
    unknown = evolve(replace(spec, seed=99), store, conclude=True)
    assert (unknown.collection.sets, unknown.races, cells()) == ((), (), before)


def test_proofs_go_on_in_a_folder_without_the_store(tmp_path, once, in_process):
    """A folder that was written after some of the proofs leads, in a new store, to the end of an undisturbed search."""
    whole, _, _ = once
    assert len(whole.verdicts) > 1
    begun = replace(
        whole, verdicts=whole.verdicts[:1], curve=[p for p in whole.curve if p.tried <= 1]
    )
    begun.write(tmp_path / "begun")
    ended = evolve(SMALL, tmp_path / "new.sqlite", taken_up=tmp_path / "begun")
    assert ended.collection == whole.collection
    assert (
        ended.curve_table()
        .drop(columns="seconds")
        .equals(whole.curve_table().drop(columns="seconds"))
    )
    assert ended.curve[-1].seconds >= begun.curve[-1].seconds
    for name in ("claims_table", "fits_table", "open_table", "screen_table"):
        pd.testing.assert_frame_equal(
            getattr(ended, name)(), getattr(whole, name)(), check_exact=True
        )
    known = {(fit.sample, fit.method) for fit in whole.verdicts[0].fits}
    first = whole.verdicts[0].entry.generator.identity
    with sqlite3.connect(tmp_path / "new.sqlite") as database:
        rows = database.execute(
            "SELECT DISTINCT name, dataset, method FROM experiments JOIN plan ON experiment_id = id"
        ).fetchall()
    assert rows
    assert not [row for row in rows if "generation" in row[0] or "race" in row[0]]
    assert not [
        row for row in rows if first in row[0] and (int(row[1].split()[-1]), row[2]) in known
    ]
    # A folder of all proofs leads to itself without any fit.
    whole.write(tmp_path / "whole")
    again = evolve(SMALL, tmp_path / "none.sqlite", taken_up=tmp_path / "whole", hours=0.0)
    assert again.collection == whole.collection
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize(
    ("name", "was", "now", "said"),
    [
        ("docket.json", '"format": 1', '"format": 9', "not a docket of this version"),
        ("docket.json", '"concept"', '"idea"', "is not a docket"),
        ("coverage_curve.csv", "generation", "age", "not the curve of a search"),
    ],
)
def test_a_folder_that_was_altered_is_not_taken_up(tmp_path, once, name, was, now, said):
    once[0].write(tmp_path / "out")
    path = tmp_path / "out" / name
    path.write_text(path.read_text(encoding="utf-8").replace(was, now, 1), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        evolve(SMALL, tmp_path / "s.sqlite", taken_up=tmp_path / "out")


def test_a_folder_of_another_search_or_of_none_is_not_taken_up(tmp_path, once):
    once[0].write(tmp_path / "out")
    with pytest.raises(InputError, match="of another search"):
        evolve(
            replace(SMALL, seed=SMALL.seed + 1), tmp_path / "s.sqlite", taken_up=tmp_path / "out"
        )
    with pytest.raises(InputError, match=r"holds no docket\.json"):
        evolve(SMALL, tmp_path / "s.sqlite", taken_up=tmp_path)


def test_fits_on_other_rows_are_not_taken_up(tmp_path, once):
    once[0].write(tmp_path / "out")
    path = tmp_path / "out" / "fits.csv.xz"
    fits = pd.read_csv(path)
    fits["row_seed"] += 1
    fits.to_csv(path, index=False)
    with pytest.raises(InputError, match="rows of another search"):
        evolve(SMALL, tmp_path / "s.sqlite", taken_up=tmp_path / "out")


def test_it_tells_how_far_it_is_and_counts_what_it_made(once):
    result, said, _ = once
    assert said[0].startswith("generation 1: ")
    assert all(
        f"{moment.raced} raced" in sentence
        for moment, sentence in zip(result.curve, said, strict=True)
    )
    last = result.curve[-1]
    assert last.seen == last.rejected + last.duplicates + last.scouted
    assert last.fitted == last.scouted == 30
    assert last.pairs == 6
    assert last.measured == len(result.measured)
    assert last.tried == len(result.verdicts)
    assert last.claims == len(result.claims_table()) <= SMALL.claims
    assert last.proven == len({pair for item in result.measured for pair in item.proven(0.05)})
    for name in ("proven", "proven_concepts", "raced", "promised", "seconds"):
        values = [getattr(moment, name) for moment in result.curve]
        assert values == sorted(values)


def test_a_written_collection_reads_back_and_its_sets_pass_their_hashes(once, tmp_path):
    result, _, _ = once
    result.write(tmp_path / "out")
    collection = Collection.read(tmp_path / "out" / "collection.json")
    assert collection == result.collection
    assert collection.sets
    for item in collection.sets:
        dataset = collection.load(item.name)
        assert dataset.fingerprint == item.generator().sample(item.n_rows, item.seed).fingerprint
        frame = np.loadtxt(
            tmp_path / "out" / "data" / f"{item.name}.csv", delimiter=",", skiprows=1
        )
        np.testing.assert_array_equal(frame[:, -1], dataset.y)
    assert set(collection.covered()) == {p for item in collection.sets for p in item.proven(0.05)}
    assert len(collection.inspect().sets) == len(collection.sets)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("formula", "add(X0, X1)", "the formula was altered"),
        ("seed", 77, "the features made here have the hash"),
        ("y_hash", "0" * 16, "the labels made here have the hash"),
    ],
)
def test_an_altered_collection_names_the_hash_that_fails(once, tmp_path, key, value, said):
    path = tmp_path / "c.json"
    once[0].collection.write(path)
    content = json.loads(path.read_text())
    content["sets"][0][key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=said):
        Collection.read(path).sets[0].load()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("{}", "not a collection file"),
        ('{"format": 9}', "has the format 9"),
    ],
)
def test_a_file_that_is_no_collection_is_refused(tmp_path, text, said):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError, match=said):
        Collection.read(tmp_path / "c.json")
    with pytest.raises(InputError, match="cannot be read"):
        Collection.read(tmp_path / "none.json")


def test_duplicates_up_to_the_flip_of_labels_are_screened_once(tmp_path):
    breeder = Evolution(SMALL, Laboratory(tmp_path / "s.sqlite")).breeder
    assert breeder.labelled(Expression.parse("mul(X0, X1)"))[1] == ""
    assert breeder.labelled(Expression.parse("sub(0.0, mul(X1, X0))"))[1] == "duplicates"
    assert breeder.labelled(Expression.parse("lt(X0, X0)"))[1] == "rejected"


def test_pairs_that_stay_open_come_with_how_often_they_were_raced_and_put_to_proof(once):
    result, _, folder = once
    proven = {pair for item in result.measured for pair in item.proven(0.05)}
    table, claims = result.open_table(), result.claims_table()
    assert len(table) == 6 - len(proven)
    assert [(row.up, row.down) for row in table.itertuples()] == [
        (p.up, p.down) for p in result.collection.open
    ]
    # Counted a second time, from what the store holds: the names of the methods that every race
    # fitted.
    with sqlite3.connect(folder / "s.sqlite") as database:
        found = database.execute(
            "SELECT DISTINCT name, method FROM plan JOIN experiments ON experiment_id = id WHERE"
            " name LIKE '%race %'"
        )
        fitted = [(name, method) for name, method in found]
    for row in table.itertuples():
        assert row.tried == ((claims["up"] == row.up) & (claims["down"] == row.down)).sum()
        for word, count in (("evidence race ", row.raced), ("race ", row.raced_tuned)):
            names = [{name for name, method in fitted if name.startswith(word) and method == one}
                     for one in (row.up, row.down)]  # fmt: skip
            # A race of other pairs may have fitted both methods too.
            assert count <= len(names[0] & names[1])
    assert len({name for name, _ in fitted if name.startswith("evidence race ")}) == len(
        result.races
    )
    assert sum(bool(race.tuned_pairs) for race in result.races) == len(
        {n for n, _ in fitted if n.startswith("race ")}
    )


def test_what_was_tried_for_open_pairs_is_part_of_the_file_and_older_files_lack_it(once, tmp_path):
    collection = once[0].collection
    pair = OpenPair("KNN", "LR", raced=4, raced_tuned=2, race_mean=0.01, race_won=0.5, tried=1, mean=0.04, low=-0.1,
                    high=0.2, share_won=0.75, samples=8, ending="hopeless", formula="X0")  # fmt: skip
    never = OpenPair("LR", "KNN")
    replace(collection, open=(pair, never)).write(tmp_path / "c.json")
    read = Collection.read(tmp_path / "c.json")
    assert read.open[0] == pair
    assert (read.open[1].raced, read.open[1].tried) == (0, 0)
    assert "NaN" not in (tmp_path / "c.json").read_text()
    content = json.loads((tmp_path / "c.json").read_text())
    content["open"][0]["of a later version"] = 1
    (tmp_path / "c.json").write_text(json.dumps(content))
    assert Collection.read(tmp_path / "c.json").open[0] == pair
    del content["open"]
    (tmp_path / "c.json").write_text(json.dumps(content))
    assert Collection.read(tmp_path / "c.json").open == ()


def test_every_fit_of_the_proof_is_kept_with_its_rows_and_configuration(once):
    result, _, _ = once
    fits = result.fits_table()
    assert set(fits["method"]) == set(METHODS)
    assert set(fits.loc[fits["method"] == "KNN", "parameters"]) <= {
        '{}', '{"n_neighbors": 5}', '{"n_neighbors": 20, "weights": "distance"}'
    }  # fmt: skip
    scores = fits.set_index(["formula", "method", "sample"])["score"]
    for item in result.measured:
        for claim in item.claims:
            leads = [
                scores[item.formula, claim.up, i] - scores[item.formula, claim.down, i]
                for i in range(3)
            ]
            np.testing.assert_allclose(claim.leads[:3], leads, atol=1e-6)
    screen = result.screen_table()
    assert list(screen["method"]) == list(METHODS)


def test_the_intervals_of_claims_follow_from_the_fits_in_the_folder_by_a_second_way(once, tmp_path):
    once[0].write(tmp_path / "out")
    fits, collection = read_fits(tmp_path / "out"), Collection.read(tmp_path / "out")
    plan = collection.plan
    assert all(isinstance(found, dict) for found in fits["parameters"])
    scores = {(row.dataset, row.method, row.sample): row.score for row in fits.itertuples()}
    n_seen = 0
    for item in collection.sets:
        for claim in item.claims:
            n = len(claim.leads)
            leads = [
                scores[item.name, claim.up, i] - scores[item.name, claim.down, i] for i in range(n)
            ]
            low, high = limits_by_bisection(leads, plan)
            assert claim.mean == pytest.approx(np.mean(leads), abs=1e-12)
            assert (claim.low, claim.high) == pytest.approx((low, high), abs=1e-6)
            assert claim.holds == (low >= plan.margin)
            n_seen += 1
    assert n_seen >= 3
    (tmp_path / "out" / "fits.csv.xz").write_bytes(b"no table")
    with pytest.raises(InputError, match="is not a table of fits"):
        read_fits(tmp_path / "out")
    with pytest.raises(InputError, match="unknown collection"):
        read_fits(tmp_path / "nowhere")


def test_search_race_proof_and_dataset_have_no_row_in_common(once):
    """Seeds differ by construction, and so do the rows: no first row of any two samples is the same."""
    result, _, _ = once
    shown = {item.seed for item in result.measured}
    assert len(shown) == len(result.measured) == len({item.x_hash for item in result.measured})
    proof = set(result.fits_table()["row_seed"])
    race = {
        row_seed("race", SMALL.seed, verdict.entry.generator.identity, i)
        for verdict in result.verdicts
        for i in range(SMALL.race_seeds)
    }
    assert len(shown | proof | race) == len(shown) + len(proof) + len(race)
    other = {
        row_seed("evidence", SMALL.seed + 1, v.entry.generator.identity, i)
        for v in result.verdicts
        for i in range(12)
    }
    assert not other & proof
    search = np.random.default_rng([SMALL.seed, 0]).normal(
        size=(SMALL.n_train + SMALL.n_test, SMALL.n_features)
    )
    rows = [search[:, 0]]
    for verdict in result.verdicts:
        generator = verdict.entry.generator
        used = {fit.row_seed for fit in verdict.fits}
        mine = [
            row_seed("race", SMALL.seed, generator.identity, i) for i in range(SMALL.race_seeds)
        ]
        shown_seed = row_seed("shown", SMALL.seed, generator.identity)
        rows += [
            np.asarray(generator.sample(300, seed).X)[:, 0] for seed in (*used, *mine, shown_seed)
        ]
    values = np.concatenate(rows)
    assert len(np.unique(values)) == len(values)


@pytest.mark.usefixtures("in_process")
def test_methods_are_tuned_on_every_sample_of_the_proof(tmp_path):
    tree = {
        **METHODS["Tree"],
        "space": {"max_depth": {"low": 1, "high": 10}},
        "portfolio": [{"max_depth": 5}],
    }
    spec = replace(
        SMALL, generations=1, methods={"LR": METHODS["LR"], "Tree": tree}, trials=5, claims=1
    )
    result = evolve(spec, tmp_path / "tuned.sqlite")
    assert result.n_failed == 0
    fits = result.fits_table()
    chosen = fits.loc[fits["method"] == "Tree", ["formula", "sample", "parameters"]]
    # Another sample may choose another depth.
    assert chosen.groupby("formula")["parameters"].nunique().max() > 1


@pytest.mark.usefixtures("in_process")
def test_all_eight_reference_methods_are_screened_and_measured(tmp_path):
    sizes = {
        "n_train": 200,
        "n_test": 200,
        "looks": (2, 10),
        "claims": 1,
        "evidence_rows": 200,
        "trials": 2,
    }
    spec = EvolveSpec(
        "eight",
        generations=1,
        batch=8,
        chunk=8,
        screened=3,
        races=1,
        n_features=4,
        finalists=0,
        **sizes,
    )
    result = evolve(spec, tmp_path / "s.sqlite")
    assert result.n_failed == 0
    assert result.curve[-1].scouted == 8
    assert 0 < result.curve[-1].fitted <= 3
    assert result.measured
    assert all(len(item.aurocs) == len(item.parameters) == 8 for item in result.measured)


def test_digen_is_measured_like_evolved_sets(tmp_path):
    methods = [reference_method("R"), reference_method("D")]
    with Laboratory(tmp_path / "d.sqlite") as laboratory:
        sizes = {"n_train": 400, "n_fresh": 2000, "n_seeds": 8}
        found = measure_digen(laboratory, sets=["digen1", "digen20"], methods=methods, **sizes)
    assert [item.name for item in found.sets] == ["digen1_6265", "digen20_5191"]
    assert set(found.covered()) == {
        ("LogisticRegression", "DecisionTreeClassifier"),
        ("DecisionTreeClassifier", "LogisticRegression"),
    }


# The archive


def candidate(text: str, *scores: float) -> ScreenedFormula:
    return ScreenedFormula(Expression.parse(text), np.array(scores), (0,) * len(scores), 1)


def test_the_archive_keeps_the_best_of_each_concept_for_every_pair():
    archive = EliteArchive(2, ConceptBook(3), depth=2)
    assert archive.offer(candidate("mul(X0, X1)", 0.8, 0.6)) == 1
    assert archive.offer(candidate("safeDiv(X1, X2)", 0.85, 0.6)) == 1
    assert archive.n_filled == 1
    assert str(archive.best((0, 1))[0][1].expression) == "safeDiv(X1, X2)"
    assert archive.offer(candidate("mul(X1, X2)", 0.7, 0.6)) == 0
    archive.offer(candidate("add(X0, X1)", 0.9, 0.6))
    archive.offer(candidate("max(X0, X1)", 0.99, 0.6))
    assert [round(c.lead((0, 1)), 2) for _, c in archive.best((0, 1))] == [0.39, 0.3]
    assert archive.covered(0.05) == ((0, 1),)
    assert archive.offer(candidate("X0", 0.6, 0.6)) == 0


# Evidence


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(-0.5, 0.5))
def test_the_interval_holds_what_the_t_test_does_not_reject(values, mean):
    sample = np.array(values)
    found = mean_interval(sample)
    if np.ptp(sample) > 1e-6:
        p = ttest_1samp(sample, mean).pvalue
        if abs(p - 0.05) > 1e-6:
            assert (found.low <= mean <= found.high) == (p > 0.05)


def test_a_pair_is_proven_by_its_lower_bound_not_its_mean():
    rng = np.random.default_rng(0)
    steady = np.column_stack([0.9 + 0.001 * rng.normal(size=10), 0.8 + 0.001 * rng.normal(size=10)])
    shaky = np.column_stack([0.9 + 0.2 * rng.normal(size=10), 0.8 + 0.2 * rng.normal(size=10)])
    assert Evidence(("A", "B"), steady).proven(0.05) == (("A", "B"),)
    assert Evidence(("A", "B"), shaky).proven(0.05) == ()
    assert Evidence(("A", "B"), steady).stability == pytest.approx(1.0)
    assert np.isnan(mean_interval(np.array([0.5])).low)


def made(name: str, concept: int, stability: float = 1.0, **means: float) -> GeneratedSet:
    # Differences that do not vary at all would prove nothing.
    aurocs = {
        m: tuple(v + place * d for d in (-1e-5, 0.0, 1e-5))
        for place, (m, v) in enumerate(means.items())
    }
    return GeneratedSet(
        name, "X0", "X0", concept, 0, 10, 1, (0,), 1.0, "", "", "", 0.0, True, aurocs, stability
    )


def test_the_cover_takes_what_proves_most_and_few_of_one_concept():
    sets = [
        made("a", 1, A=0.9, B=0.8, C=0.7),
        made("b", 1, A=0.7, B=0.8, C=0.9),
        made("c", 2, 0.5, A=0.7, B=0.8, C=0.9),
        made("d", 3, A=0.9, B=0.9, C=0.9),
    ]
    assert [item.name for item in greedy_cover(sets, 0.05, per_concept=2)] == ["a", "b"]
    assert [item.name for item in greedy_cover(sets, 0.05, per_concept=1)] == ["a", "c"]


def test_after_the_cover_every_concept_that_proves_something_is_taken_once():
    sets = [
        made("a", 1, A=0.9, B=0.8, C=0.7),
        made("b", 2, A=0.7, B=0.8, C=0.9),
        made("c", 3, 0.5, A=0.9, B=0.8, C=0.9),
        made("d", 3, 0.9, A=0.9, B=0.8, C=0.9),
        made("e", 4, A=0.9, B=0.9, C=0.9),
    ]
    assert [item.name for item in choose(sets, 0.05, per_concept=2)] == ["a", "b", "d"]


def test_the_time_of_a_search_goes_on_where_it_was_stopped(tmp_path):
    path = tmp_path / "times.jsonl"
    first = Stopwatch(path, "mine")
    early = first.at((1, 0, 0))
    first._before += 100
    late = first.at((2, 1, 0))
    assert late >= early + 100
    path.write_text(path.read_text() + '{"search": "mi')
    again = Stopwatch(path, "mine")
    assert again.at((1, 0)) == pytest.approx(early, abs=1e-3)
    assert again.at((2, 1)) == pytest.approx(late, abs=1e-3)
    assert again.at((2, 1)) <= again.at((3, 1)) < late + 50
    assert Stopwatch(path, "mine").at((3, 1)) == pytest.approx(again.at((3, 1)), abs=1e-3)
    assert Stopwatch(path, "other").at((2, 1)) < 50
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="not the time table of a search"):
        Stopwatch(path, "mine")


def test_a_goal_keeps_only_the_pairs_that_serve_it(tmp_path):
    laboratory = Laboratory(tmp_path / "s.sqlite")
    wanted = {
        goal: Evolution(SMALL, laboratory, focus="KNN", goal=goal).prover.wanted
        for goal in ("wins", "loses", "both")
    }
    assert wanted["wins"] == ((1, 0), (1, 2))
    assert wanted["loses"] == ((0, 1), (2, 1))
    assert set(wanted["both"]) == set(wanted["wins"]) | set(wanted["loses"])
    with pytest.raises(InputError, match="did you mean 'loses'"):
        evolve(SMALL, tmp_path / "s.sqlite", focus="KNN", goal="lose")


# The spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("generatons = 3", "did you mean 'generations'"),
        ("batch = 1", "batch must be at least 2"),
        ("batch = 'many'", "batch must be a number"),
        ("methods = { A = { use = 'sklearn.svm:LinearSVC' } }", "at least two methods"),
        ("[methods.A]\nuse = 'mlknn'\n[methods.A]\nuse = 'mlknn'", "is not valid TOML"),
        (
            "[methods.A]\nuse = 'sklearn.svm:LinearSVC'\nportfolio = [{ X = 1 }]",
            "unknown parameter of method 'A' 'X'",
        ),
    ],
)
def test_a_wrong_spec_is_refused_in_a_sentence(tmp_path, text, said):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        EvolveSpec.read(tmp_path / "s.toml")


def test_a_method_of_the_users_joins_the_others():
    spec = SMALL.against("sklearn.naive_bayes:GaussianNB")
    assert [m.name for m in spec.contenders()] == ["LR", "KNN", "Tree", "GaussianNB"]
    with pytest.raises(InputError, match="two methods are called 'GaussianNB'"):
        spec.against("sklearn.naive_bayes:GaussianNB")


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    "data",
    [
        {"noise": 0.1, "irrelevant": 3, "positive": 0.35},
        {"categorical": [0], "levels": 6, "redundant": 1},
    ],
)
def test_a_search_takes_the_kinds_of_data_that_sample_takes(tmp_path, data):
    methods = {"LR": METHODS["LR"], "Tree": METHODS["Tree"]}
    spec = replace(SMALL, generations=1, claims=1, finalists=2, data=data, methods=methods)
    result = evolve(spec, tmp_path / "s.sqlite")
    assert result.n_failed == 0
    assert result.measured
    item, *_ = result.measured
    assert item.bayes < 1
    assert item.generator().declaration() == {**item.generator().declaration(), **data}
    result.write(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    dataset = Collection.read(tmp_path / "out").load(item.name)
    assert dataset.fingerprint == spec.generator(item.formula).sample(300, item.seed).fingerprint
    assert dataset.n_features == 4 + data.get("irrelevant", 0) + data.get("redundant", 0)


def test_what_a_search_makes_itself_cannot_be_declared():
    with pytest.raises(InputError, match="a search makes its own formulas"):
        replace(SMALL, data={"cut": 0.5})
    with pytest.raises(InputError, match="did you mean 'noise'"):
        replace(SMALL, data={"nois": 0.1})
