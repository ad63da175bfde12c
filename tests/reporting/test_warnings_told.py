"""What methods warned of and what cells cost is told wherever a person reads: status, run, compare, page, live view."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from paragone import Dataset, Experiment, compare
from paragone.lab.cells import WarningCount
from paragone.lab.method_warnings import verdict_sentences, warned_groups
from paragone.lab.results import Results
from paragone.lab.view import CellAddress
from paragone.protocols import Crossval
from paragone.reporting import report
from paragone.reporting.live.details import cell_details, progress_of

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import topk_lab
from synthetic_stores import SyntheticStore

OLD = [Path(__file__).parents[1] / "lab" / "store" / f"version{number}.sqlite" for number in (1, 2)]
FEW_STEPS = 5
NONE = "There are no failures and no warnings."
CONVERGENCE = WarningCount("ConvergenceWarning", "gave up")
HOSTILE = WarningCount(
    "Odd<b>", "<script>alert(1)</script> | $x_1$ & 50 % \\input{a}\n\x1b[31mred =cmd()", 2
)


class ScaledRegression(LogisticRegression):
    """Scales its rows first, and so converges."""

    def fit(self, X, y):
        self.scaler_ = StandardScaler().fit(X)
        return super().fit(self.scaler_.transform(X), y)

    def predict(self, X):
        return super().predict(self.scaler_.transform(X))

    def predict_proba(self, X):
        return super().predict_proba(self.scaler_.transform(X))


def fits_that_do_not_converge(dataset: Dataset, path: Path) -> int:
    """Count them by fitting the same rows again outside of the laboratory."""
    count = 0
    with closing(sqlite3.connect(path)) as database:
        splits = database.execute(
            "SELECT DISTINCT p.fold, s.train FROM plan p JOIN splits s USING (split_part) "
            "WHERE p.method = 'LR' AND p.protocol <> 'refit'"
        ).fetchall()
    for _, train in splits:
        rows = np.frombuffer(train, dtype=np.int64)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            LogisticRegression(max_iter=FEW_STEPS).fit(dataset.X[rows], dataset.y[rows])
        count += any(issubclass(one.category, ConvergenceWarning) for one in caught)
    return count


@pytest.fixture(scope="module")
def data() -> Dataset:
    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(
        "tumours", X, np.array(["benign", "malignant"], dtype=object)[y], "classification"
    )


@pytest.fixture(scope="module")
def lab(tmp_path_factory, data) -> Path:
    """LogisticRegression with few steps on unscaled rows, beside the same model in a pipeline that scales."""
    path = tmp_path_factory.mktemp("lab") / "lab.sqlite"
    methods = {
        "LR": LogisticRegression(max_iter=FEW_STEPS),
        "Scaled": ScaledRegression(max_iter=1000),
    }
    experiment = Experiment([data], methods, {"folds": 3}, Crossval(test=0.2), name="lab", seed=1)
    experiment.run(path, workers=0).close()
    return path


@pytest.fixture(scope="module")
def page(lab, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    report(lab, folder / "report", charts=False)
    return folder / "report"


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def section(html: str, name: str) -> str:
    found = re.search(rf'<section[^>]*id="{name}".*?</section>', html, re.DOTALL)
    assert found is not None
    return found.group()


def test_the_oracle_and_the_store_count_the_same_fits(lab, data):
    expected = fits_that_do_not_converge(data, lab)
    assert expected == 3, "five steps are too few for unscaled rows"
    with Results.open(lab) as results:
        told = results.warnings()
        (group,) = warned_groups(results, "lab")
    folds = told[(told["method"] == "LR") & (told["protocol"] != "refit")]
    assert folds["fold"].nunique() == expected
    assert set(told["method"]) == {"LR"}, "the pipeline that scales converges"
    assert (group.fits, group.of_fits, group.category) == (3, 3, "ConvergenceWarning")


def test_status_groups_the_warnings_and_tells_both_times(lab, paragone):
    ended = paragone("status", lab)
    assert ended.code == 0
    assert re.search(
        r"^LR: ConvergenceWarning in \d+ of \d+ cells: lbfgs failed to converge",
        ended.out,
        re.MULTILINE,
    )
    assert "Scaled: ConvergenceWarning" not in ended.out
    assert "wall s per cell" in ended.out
    assert "CPU s per cell" in ended.out


def test_status_as_json_has_costs_and_warnings_of_every_cell(lab, paragone):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    cells = json.loads(paragone("status", lab, "--json").out, parse_constant=refuse)
    lr = [cell for cell in cells if cell["method"] == "LR" and cell["protocol"] != "refit"]
    assert [cell["warnings"][0]["category"] for cell in lr] == ["ConvergenceWarning"] * 3
    assert all(cell["warnings"] == [] for cell in cells if cell["method"] == "Scaled")
    assert all(
        cell["cpu_seconds"] >= 0 and cell["seconds"] > 0 and cell["costs_kept"] for cell in cells
    )


def test_the_page_says_it_in_the_verdict_and_under_failures_and_warnings(page):
    html = (page / "report.html").read_text(encoding="utf-8")
    sentence = "LR did not converge in 3 of 3 fits"
    assert sentence in words(section(html, "verdict"))
    failures = words(section(html, "failures"))
    assert sentence in failures
    assert "ConvergenceWarning" in failures
    assert NONE not in failures
    assert sentence in (page / "tables.md").read_text(encoding="utf-8")
    assert (
        (page / "tables" / "warnings.csv")
        .read_text(encoding="utf-8")
        .startswith("method,warning,cells,times,message\n")
    )


def test_the_page_calls_processor_time_and_wall_time_by_their_names(page, lab):
    html = words((page / "report.html").read_text(encoding="utf-8"))
    assert "of one core" not in html
    assert re.search(
        r"Computing took [\d.]+ \w+ of processor time \([\d.]+ \w+ of wall time\) in \d+ cells",
        html,
    )
    for column in ("wall s per fit", "wall s per cell", "CPU s per cell", "peak MiB"):
        assert column in html


def test_the_verdict_of_a_comparison_says_it(lab, paragone):
    text = paragone("compare", lab, "--set", "bayes=no").out
    assert text.count("! LR did not converge in 3 of 3 fits") == 1
    told = json.loads(paragone("compare", lab, "--set", "bayes=no", "--json").out)
    assert told["method_warnings"] == list(Results.open(lab).warned())
    with Results.open(lab) as results:
        comparison = compare(results, bayes=False)
        assert comparison.method_warnings == results.warned()
        assert "LR did not converge" in comparison._repr_html_()
        # A frame does not know what its methods warned of.
        assert compare(results.scores(), bayes=False).method_warnings == ()


def test_a_comparison_of_two_says_it_of_those_two_only(lab, paragone):
    told = json.loads(
        paragone("pairwise", f"{lab}::LR", f"{lab}::Scaled", "--unit", "fold", "--json").out
    )
    assert "LR did not converge in 3 of 3 fits." in told["warnings"]


def test_the_live_view_says_it(lab):
    with Results.open(lab) as results:
        progress = progress_of(results, "lab")
        cell = cell_details(results, CellAddress("lab", "tumours", "LR", 0))
    assert progress["warned"][0].startswith("LR: ConvergenceWarning in ")
    assert all(entry["cpu_seconds"] is not None for entry in progress["slowest"])
    parts = {part["title"]: part["lines"] for part in cell["parts"]}
    assert parts["What the method warned of"][0].startswith("ConvergenceWarning, 1 times: lbfgs")
    assert [line.partition(":")[0] for line in parts["What the cell cost"]][:2] == [
        "wall time",
        "processor time",
    ]


def curve_store(
    path: Path, told: dict[str, list[WarningCount]], datasets: int = 4, folds: int = 3
) -> Path:
    """Write a store whose methods warned in the first fold of every dataset, whatever is given for them."""
    store = SyntheticStore(path, list(told), [f"set {n}" for n in range(datasets)], n_folds=folds)
    for cell in store.cells:
        store.commit(cell, warnings=tuple(told[cell.method]) if cell.fold == 0 else ())
    store.store.release(store.run)
    store.store.close()
    return path


def test_a_page_of_curves_says_it_and_one_without_warnings_says_so(tmp_path):
    path = curve_store(
        tmp_path / "a.sqlite", {"A": [WarningCount("GuardWarning", "the guard acted", 3)], "B": []}
    )
    report(path, tmp_path / "warned", charts=False)
    html = (tmp_path / "warned" / "report.html").read_text(encoding="utf-8")
    assert "A warned in 4 of 12 fits: the guard acted" in words(section(html, "verdict"))
    assert "A warned in 4 of 12 fits: the guard acted" in words(section(html, "failures"))
    assert NONE not in html
    report(
        curve_store(tmp_path / "b.sqlite", {"A": [], "B": []}), tmp_path / "silent", charts=False
    )
    assert NONE in words((tmp_path / "silent" / "report.html").read_text(encoding="utf-8"))


def test_a_page_of_lists_says_it(tmp_path):
    path = topk_lab(tmp_path / "lab.sqlite")
    with closing(sqlite3.connect(path)) as database:
        (cell,) = database.execute(
            "SELECT c.id FROM cells c JOIN plan USING (key) WHERE method = 'EASE'"
        ).fetchone()
        database.execute(
            "INSERT INTO warnings VALUES (?, 0, 'LinAlgWarning', 'ill-conditioned', 1)", (cell,)
        )
        database.commit()
    report(path, tmp_path / "report", charts=False)
    html = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    for part in ("verdict", "failures"):
        assert "EASE warned in 1 of 1 fits: ill-conditioned" in words(section(html, part))


def test_a_strangers_message_is_text_everywhere(tmp_path, paragone):
    path = curve_store(tmp_path / "a.sqlite", {"A": [HOSTILE], "B": []})
    report(path, tmp_path / "report", charts=False)
    html = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
    latex = (tmp_path / "report" / "tables.tex").read_text(encoding="utf-8")
    assert "\\input{a}" not in latex
    assert r"\$x\_1\$ \& 50 \%" in latex
    markdown = (tmp_path / "report" / "tables.md").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in markdown
    for text in (
        html,
        latex,
        markdown,
        paragone("status", path).out,
        paragone("compare", path, "--set", "bayes=no").out,
    ):
        assert "\x1b" not in text
    line = next(
        line for line in paragone("status", path).out.splitlines() if line.startswith("A: ")
    )
    assert line.endswith("[31mred =cmd()"), "it stands on one line"


def test_messages_that_differ_in_numbers_only_count_together(tmp_path):
    gaps = [
        WarningCount("RuntimeWarning", f"gap {n / 7:.4f} at 0x{n:x}, tolerance 1e-{n}")
        for n in range(1, 4)
    ]
    path = curve_store(tmp_path / "a.sqlite", {"A": gaps, "B": []})
    with Results.open(path) as results:
        (group,) = warned_groups(results, "lab")
    assert (group.fits, group.of_fits, group.times) == (4, 12, 12)
    assert group.message == gaps[0].message


def test_warnings_for_developers_are_listed_and_leave_the_verdict_alone(tmp_path):
    path = curve_store(
        tmp_path / "a.sqlite", {"A": [WarningCount("VisibleDeprecationWarning", "old")], "B": []}
    )
    with Results.open(path) as results:
        groups = warned_groups(results, "lab")
        assert results.warned() == ()
    assert [group.line for group in groups] == [
        "A: VisibleDeprecationWarning in 4 of 12 cells: old"
    ]


def test_a_verdict_names_a_few_kinds_and_counts_the_rest(tmp_path):
    many = [WarningCount("UserWarning", f"kind {letter}") for letter in "abcdefgh"]
    path = curve_store(tmp_path / "a.sqlite", {"A": many, "B": []})
    with Results.open(path) as results:
        sentences = verdict_sentences(warned_groups(results, "lab"), most=3)
    assert len(sentences) == 4
    assert sentences[-1].startswith("5 more kinds of warnings")


def test_display_names_stand_in_the_sentences(tmp_path):
    path = curve_store(tmp_path / "a.sqlite", {"A": [CONVERGENCE], "B": []})
    report(path, tmp_path / "report", charts=False, display_map={"A": "Ours"})
    html = words((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    assert "Ours did not converge in 4 of 12 fits" in html


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_an_older_store_says_that_nothing_was_kept_and_speaks_of_wall_time(old, tmp_path, paragone):
    path = Path(shutil.copy(old, tmp_path / "old.sqlite"))
    with Results.open(path) as results:
        assert results.warnings().empty
        assert results.warned() == ()
        places = results.places()
        assert places["cpu_seconds"].isna().all()
        assert not places["costs_kept"].any()
        assert results.output("wine-traits", 0, "V") == ""
        assert results.folds_of("lab", "wine-traits", "V")["cpu_seconds"].isna().all()
        assert all(entry["cpu_seconds"] is None for entry in progress_of(results, "lab")["slowest"])
    status = paragone("status", path)
    assert status.code == 0
    assert "wall s per cell" in status.out
    assert "CPU s" not in status.out
    report(path, tmp_path / "report", charts=False)
    html = words((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    assert "There are no failures. What the methods warned of is not known of 4 cells" in html
    assert NONE not in html
    assert re.search(
        r"Computing took [\d.]+ seconds of wall time \(processor time is not known of 4 cells\)",
        html,
    )
