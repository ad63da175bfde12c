"""What published tables hide of a store: every store and every table is made by hand, so what must be said is known."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import paragone
from paragone.cli import app

EXACT = {"d1": (0.8949, 0.8851), "d2": (0.7012, 0.7344), "d3": (0.651, 0.6502), "d4": (0.8, 0.8)}


def kept_in(folder, rows: dict[str, dict[str, list[float]]]):
    """Keep scores in a store: by method, by metric, one for every dataset."""
    paths = []
    for method, metrics in rows.items():
        path = folder / f"{method}.csv"
        heads = list(metrics)
        lines = [
            f"d{i},{','.join(str(metrics[name][i - 1]) for name in heads)}"
            for i in range(1, len(metrics[heads[0]]) + 1)
        ]
        path.write_text("\n".join([f"dataset,{','.join(heads)}", *lines]) + "\n")
        paths.append(str(path))
    ended = CliRunner().invoke(
        app, ["import", *paths, "--store", str(folder / "s.sqlite"), "--name", "paper"]
    )
    assert ended.exit_code == 0, ended.output
    return folder / "s.sqlite"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    columns = {"A": 0, "B": 1}
    rows = {
        name: {"accuracy": [both[place] for both in EXACT.values()]}
        for name, place in columns.items()
    }
    return kept_in(tmp_path_factory.mktemp("shown"), rows)


def printed(folder, rows, head: str = "dataset & A & B"):
    path = folder / "hand.tex"
    body = " ".join(f"{row} \\\\" for row in rows)
    path.write_text(
        f"\\begin{{tabular}}{{lcc}}\\hline {head} \\\\ \\hline {body} \\hline\\end{{tabular}}"
    )
    return path


def found(store, path) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.code, one.examples) for one in paragone.audit(store, against=[path]).findings]


FOUR = [
    "d1 & 0.8949 & 0.8851",
    "d2 & 0.7012 & 0.7344",
    "d3 & 0.6510 & 0.6502",
    "d4 & 0.8000 & 0.8000",
]


def test_four_digits_hide_nothing(store, tmp_path):
    assert found(store, printed(tmp_path, FOUR)) == []


def test_two_digits_hide_a_difference_of_nearly_one_of_them(store, tmp_path):
    rows = ["d1 & 0.89 & 0.89", "d2 & 0.70 & 0.73", "d3 & 0.65 & 0.65", "d4 & 0.80 & 0.80"]
    # On d3 the difference is less than half of the last digit, on d4 there is none.
    assert found(store, printed(tmp_path, rows)) == [
        ("PG309", ("d1: A and B are both printed as 0.89, the store has 0.8949 and 0.8851",))
    ]


def test_methods_down_are_seen_as_well(store, tmp_path):
    rows = ["A & 0.89 & 0.70", "B & 0.89 & 0.73"]
    codes = [code for code, _ in found(store, printed(tmp_path, rows, "method & d1 & d2"))]
    assert codes == ["PG309", "PG310"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            r"d1 & 0.89 & \textbf{0.89}",
            "d1: B is marked as best with 0.89, the store has 0.8851, and 0.8949 for A",
        ),
        (
            r"d1 & 0.895 & \textbf{0.885}",
            "d1: B is marked as best with 0.885, the store has 0.8851, and 0.8949 for A",
        ),
        (r"d1 & \textbf{0.89} & 0.89", None),
        (r"d1 & \textbf{0.8949} & 0.8851", None),
        (
            r"d1 & \textbf{0.89} & \textbf{0.89}",
            "d1: A and B are both printed as 0.89, the store has 0.8949 and 0.8851",
        ),
    ],
)
def test_marks_of_the_best(store, tmp_path, row, says):
    # Against the marks of a report, with the second underlined, they are held by PG304.
    hidden = [
        one for one in found(store, printed(tmp_path, [row, "d4 & 0.8 & 0.8"])) if one[0] == "PG309"
    ]
    assert hidden == ([] if says is None else [("PG309", (says,))])


@pytest.fixture(scope="module")
def two_metrics(tmp_path_factory):
    # By accuracy A is above B everywhere; by micro-F1 it is below it everywhere.
    base = [0.6 + 0.02 * i for i in range(10)]
    step = [0.05 + 0.001 * (i % 3) for i in range(10)]
    high = [round(b + s, 4) for b, s in zip(base, step, strict=True)]
    low = [round(b, 4) for b in base]
    rows = {"A": {"accuracy": high, "micro_f1": low}, "B": {"accuracy": low, "micro_f1": high}}
    return kept_in(tmp_path_factory.mktemp("two"), rows), low, high


def test_a_metric_that_says_the_opposite_and_is_not_shown(two_metrics, tmp_path):
    store, low, high = two_metrics
    rows = [
        f"d{i} & {a:.4f} & {b:.4f}" for i, (a, b) in enumerate(zip(high, low, strict=True), start=1)
    ]
    (finding,) = paragone.audit(store, against=[printed(tmp_path, rows)]).findings
    assert (finding.code, finding.count, finding.total) == ("PG310", 1, 2)
    assert finding.message == "the store holds 2 metrics, the tables show 1: without micro_f1"
    (sentence,) = finding.examples
    assert sentence.startswith("A is worse than B by micro_f1")
    assert "; by a metric that is shown, A is better than B by accuracy" in sentence


def test_datasets_that_are_not_shown_are_named(two_metrics, tmp_path):
    store, low, high = two_metrics
    rows = [f"d{i} & {high[i - 1]:.4f} & {low[i - 1]:.4f}" for i in range(2, 11)]
    messages = [
        one.message for one in paragone.audit(store, against=[printed(tmp_path, rows)]).findings
    ]
    # d1 is also the beginning of d10, which is there.
    assert "the store holds 10 datasets, the tables show 9: without d1" in messages


def test_all_metrics_in_two_tables_leave_nothing_out(two_metrics, tmp_path):
    store, low, high = two_metrics
    for name, pair in (("accuracy", (high, low)), ("micro_f1", (low, high))):
        rows = [
            f"d{i},{a:.4f},{b:.4f}" for i, (a, b) in enumerate(zip(*pair, strict=True), start=1)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["dataset,A,B", *rows]) + "\n")
    assert paragone.audit(store, against=[tmp_path]).clean
