"""The live view: right numbers, read-only, for this machine only, and quick to answer."""

from __future__ import annotations

import hashlib
import sys
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from paragone import Results
from paragone.errors import InputError
from paragone.reporting.live import create_app
from paragone.reporting.live.app import listen
from paragone.reporting.live.details import progress_of, rate_of
from paragone.reporting.live.pages import Built, Keeper, Selection, build

sys.path.insert(0, str(Path(__file__).parents[1]))
from synthetic_stores import NASTY_NAMES, SyntheticStore, write_store

METHODS = ["A", "B", "C"]
DATASETS = ["x", "y", "z"]
NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Inline(Executor):
    """Builds at once, here."""

    def submit(self, function, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except ZeroDivisionError as error:
            future.set_exception(error)
        return future


class Patient(Executor):
    """Builds when told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Future, tuple]] = []

    def submit(self, function, /, *args, **kwargs):
        future: Future = Future()
        self.asked.append((future, args))
        return future


@pytest.fixture
def store(tmp_path) -> Path:
    return write_store(tmp_path / "lab.sqlite", METHODS, DATASETS)


def client_of(store: Path) -> TestClient:
    import threading

    keeper = Keeper(store, Inline())
    keeper._lock = threading.RLock()
    return TestClient(create_app(store, keeper), base_url="http://127.0.0.1:8765")


def test_counts_and_lists_are_those_of_the_store(tmp_path):
    lab = SyntheticStore(tmp_path / "a.sqlite", METHODS, DATASETS)
    for place, cell in enumerate(lab.cells[:20]):
        (lab.fail if place % 6 == 5 else lab.commit)(cell)
    lab.store.claim(lab.cells[20].key, lab.run)
    with Results.open(tmp_path / "a.sqlite") as results:
        progress = progress_of(results, "lab")
        places = results.places()
    lab.store.close()
    assert progress["counts"] == places["status"].value_counts().to_dict()
    assert progress["counts"] == {"done": 17, "failed": 3, "running": 1, "missing": 24}
    assert (progress["ended"], progress["total"], progress["alive"]) == (20, 45, True)
    slowest = (
        places.dropna(subset="seconds").sort_values("seconds", ascending=False)["seconds"].head(10)
    )
    assert [cell["seconds"] for cell in progress["slowest"]] == slowest.tolist()
    causes = progress["causes"]
    assert (causes["cells"], causes["causes"]) == (3, 1)
    assert causes["shown"][0]["count"] == sum(causes["shown"][0]["methods"].values()) == 3
    assert "the matrix is singular" in causes["shown"][0]["traceback"]
    squares = [square for row in progress["matrix"]["rows"] for square in row]
    assert sum(square[1] for square in squares) == 3
    assert sum(square[3] for square in squares) == progress["total"]


def test_the_rate_counts_the_last_ten_minutes_and_the_wait_since():
    ended = [NOW - timedelta(seconds=seconds) for seconds in (30, 60, 90, 120, 5000)]
    assert rate_of(ended, NOW) == pytest.approx(3 / 120)
    assert rate_of(ended, NOW + timedelta(hours=1)) is None


def test_a_foreign_host_is_refused_and_nothing_can_be_written(store):
    client = client_of(store)
    assert client.get("/").status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "192.168.0.1:8765"):
        assert client.get("/", headers={"host": host}).status_code == 400
        assert client.get("/progress", headers={"host": host}).status_code == 400
    for path in ("/", "/report", "/progress", "/cell", "/folds", "/static/page.js"):
        for method in ("post", "put", "delete", "patch"):
            assert getattr(client, method)(path).status_code == 405


def test_every_answer_has_the_strict_policy(store):
    client = client_of(store)
    for path in (
        "/",
        "/report",
        "/progress",
        "/static/page.css",
        "/static/nothing",
        "/cell?dataset=no",
    ):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy


def test_the_shell_loads_its_own_files_only(store):
    client = client_of(store)
    html = client.get("/").text
    names = ["page.js", "view.js", "page.css", "view.css"]
    for name in names:
        assert f"/static/{name}" in html
        assert client.get(f"/static/{name}").status_code == 200
    assert "//" not in html.replace("<!doctype html>", "")
    assert client.get("/static/..%2fapp.py").status_code == 404


def test_looking_leaves_the_store_as_it_was(store):
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    client = client_of(store)
    for path in (
        "/",
        "/report",
        "/progress",
        "/folds?dataset=x&method=A",
        "/cell?dataset=x&method=A&fold=0",
    ):
        assert client.get(path).status_code == 200
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


def test_the_report_follows_the_selection(store):
    client = client_of(store)
    whole = client.get("/report").json()
    assert whole["options"]["metric"] == ["micro_f1", "hamming_loss"]
    assert whole["options"]["at"] == [f"k={k}" for k in range(2, 21, 2)]
    query = "metric=hamming_loss&at=k=4&reference=B&method=A&method=B&dataset=x&dataset=z"
    chosen = client.get(f"/report?{query}").json()
    assert chosen["refusal"] == ""
    html = chosen["html"]
    assert "the value at k = 4, mean over 2 datasets" in html
    assert ">C<" not in html
    assert ">y<" not in html
    with Results.open(store) as results:
        scores = results.scores("hamming_loss")
    mine = scores.query("dataset == 'z' and method == 'A' and at == 4")["value"]
    assert f"{mine.mean():.4f}" in html
    assert f" ± {np.std(mine, ddof=1):.4f}" in html


def test_a_reader_who_has_the_newest_report_is_not_sent_it_again(store):
    client = client_of(store)
    first = client.get("/report?metric=micro_f1").json()
    again = client.get(f"/report?metric=micro_f1&has={first['version']}").json()
    assert first["html"]
    assert (again["html"], again["version"]) == ("", first["version"])


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("metric=mirco_f1", "unknown metric 'mirco_f1': did you mean 'micro_f1'?"),
        ("method=Z", "unknown method 'Z'"),
        ("dataset=w", "unknown dataset 'w'"),
        ("at=k=3", "there is no point k = 3"),
        ("at=q=3", "unknown grid 'q'"),
        ("at=k=many", "is not a point of a grid"),
        ("reference=Z", "unknown reference 'Z'"),
    ],
)
def test_a_wrong_selection_is_told_what_is_wrong(store, query, sentence):
    assert sentence in client_of(store).get(f"/report?{query}").json()["refusal"]


def test_wrong_requests_are_answered_with_a_sentence(store):
    client = client_of(store)
    for path, words in (
        ("/report?colour=red", "unknown choice"),
        ("/progress?experiment=none", "unknown experiment"),
        ("/folds?dataset=none&method=A", "there is no cell"),
        ("/cell?dataset=x&method=A&fold=first", "is not the number of a fold"),
        ("/cell?dataset=x&method=A&fold=77", "no cell of method"),
    ):
        answer = client.get(path)
        assert answer.status_code == 400
        assert words in answer.json()["error"]


def test_a_cell_shows_its_ranking_by_name(store):
    found = client_of(store).get("/cell?dataset=x&method=A&fold=1").json()
    with Results.open(store) as results:
        ranking = results.reader().ranking("x", 1, "A")
    parts = {part["title"]: part["lines"] for part in found["parts"]}
    assert parts["Ranking: the first 40 of 40 features"] == [
        f"{i}. f{f}" for i, f in enumerate(ranking, 1)
    ]
    assert "iterations: 3" in parts["What the method told about its fit"]


def test_predictions_of_a_real_cell_are_told_by_label(tmp_path):
    from paragone import Experiment
    from paragone.protocols import Curve, KGrid

    experiment = Experiment(
        ["wine-traits"], {"V": "variance", "R": "random"}, {"folds": 2}, Curve(k=KGrid(2, 4, 2))
    )
    with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
        frame = results.reader().predictions("wine-traits", 0, "V", k=4)
    found = client_of(tmp_path / "a.sqlite").get("/cell?dataset=wine-traits&method=V&fold=0").json()
    title, lines = next(
        (p["title"], p["lines"]) for p in found["parts"] if p["title"].startswith("Predictions")
    )
    n = frame["sample"].nunique()
    assert title == f"Predictions: {min(40, n)} of {n} samples, predicted from 4 features"
    for line, (sample, rows) in zip(lines, frame.groupby("sample", sort=False), strict=False):
        true, predicted = (
            ", ".join(rows.loc[rows[c] == 1, "label"]) or "-" for c in ("y_true", "y_pred")
        )
        assert line == f"sample {sample}: true {true}; predicted {predicted}"


def test_no_name_becomes_markup(tmp_path):
    store = write_store(tmp_path / "<b>lab.sqlite", NASTY_NAMES, NASTY_NAMES)
    client = client_of(store)
    assert "<b>" not in client.get("/").text
    html = client.get("/report").json()["html"]
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_a_store_without_scores_says_so(tmp_path):
    lab = SyntheticStore(tmp_path / "a.sqlite", METHODS, DATASETS)
    client = client_of(tmp_path / "a.sqlite")
    assert "has no scores yet" in client.get("/report").json()["refusal"]
    assert client.get("/progress").json()["ended"] == 0
    lab.store.close()


def test_a_report_is_answered_at_once_and_built_aside(store):
    patient, time = Patient(), [0.0]
    keeper = Keeper(store, patient, clock=lambda: time[0])
    assert keeper.report(Selection(), "1") is None
    assert keeper.report(Selection(), "2") is None
    assert len(patient.asked) == 1
    patient.asked[0][0].set_result(Built("first", {}, 2.0))
    assert keeper.report(Selection(), "1")[1].html == "first"
    assert len(patient.asked) == 1
    time[0] = 39.0
    assert keeper.report(Selection(), "2")[0] == "1"
    assert len(patient.asked) == 1
    time[0] = 41.0
    assert keeper.report(Selection(), "2")[0] == "1"
    assert len(patient.asked) == 2
    assert keeper.report(Selection(), "3", running=False)[0] == "1"
    patient.asked[1][0].set_exception(ZeroDivisionError("oh"))
    assert "oh" in keeper.report(Selection(), "2")[1].refusal


def test_when_the_run_has_ended_the_last_report_is_built_at_once(store):
    patient, time = Patient(), [0.0]
    keeper = Keeper(store, patient, clock=lambda: time[0])
    keeper.report(Selection(), "1")
    patient.asked[0][0].set_result(Built("first", {}, 100.0))
    keeper.report(Selection(), "2", running=True)
    assert len(patient.asked) == 1
    keeper.report(Selection(), "2", running=False)
    assert len(patient.asked) == 2


def test_the_building_process_gives_what_building_here_gives(store):
    keeper = Keeper(store)
    keeper.report(Selection(metric="micro_f1"), "1")
    keeper._building[Selection(metric="micro_f1")].result(timeout=120)
    while (found := keeper.report(Selection(metric="micro_f1"), "1")) is None:
        pass
    keeper.close()
    assert found[1].html == build(store, Selection(metric="micro_f1")).html


def test_a_taken_port_is_said_so():
    with listen(0) as taken, pytest.raises(InputError, match="give another with --port"):
        listen(taken.getsockname()[1])
    with listen(0) as free:
        assert free.getsockname()[0] == "127.0.0.1"


def test_a_missing_store_is_refused_before_anything_is_served(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        create_app(tmp_path / "none.sqlite")


def test_several_stores_are_shown_by_choice(tmp_path):
    one, two = (
        SyntheticStore(tmp_path / f"{name}.sqlite", ["A", "B"], ["x"], n_folds=2)
        for name in ("one", "two")
    )
    two.commit(two.cells[0])
    with TestClient(
        create_app([one.store.path, two.store.path]), base_url="http://127.0.0.1:8765"
    ) as client:
        assert "two.sqlite" in client.get("/").text
        assert [client.get("/progress", params={"store": n}).json()["ended"] for n in (0, 1)] == [
            0,
            1,
        ]
        assert "there is no store 7" in client.get("/progress", params={"store": 7}).json()["error"]
        assert client.post("/stop").status_code == 404
    for made in (one, two):
        made.store.close()
