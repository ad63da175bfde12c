"""The paper's tables and charts: every number by other means, every name safe."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pylatexenc.latexwalker import LatexWalker
from scipy import stats

import paragone
from paragone import Experiment, Results
from paragone.errors import InputError
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.protocols.curve.page import jaccard, kuncheva, seed_stability
from paragone.reporting import read_display_map
from paragone.reporting.charts import mean_plot
from paragone.reporting.drawing import file_stem
from paragone.reporting.pages import page_of
from real_latex import compile_latex

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab

SETS = (
    'sets = ["wine-traits", "breast-cancer-traits", { path = "wine-traits", name = "wine_2 & co'
    ' %" }]'
)
PROTOCOL = (
    "k = { min = 2, max = 8, step = 2 }\np = { min = 0.2, max = 0.6, step = 0.2, target = 0.2 }\n"
    'metrics = ["micro_f1", "macro_f1", "hamming_loss"]'
)
METHODS = {
    "DAGFS": 'use = "dagfs"\nparams = { max_iter = 5 }',
    "Random": 'use = "random"\nseeds = 3',
    '"A_1 & 50% {x} #"': 'use = "variance"',
    "Chi2": 'use = "chi2"',
}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    file = write_lab(folder, METHODS, data=SETS, protocol=PROTOCOL)
    Experiment.from_toml(file).run(folder / "a.sqlite", workers=0).close()
    return folder / "a.sqlite"


@pytest.fixture(scope="module")
def written(store, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "paper"
    paragone.report(store, out, reference="DAGFS")
    return out


def test_every_table_of_the_protocol_is_written(written):
    for folder, means in (
        ("kgrid", "benchmark_means_kgrid.csv"),
        ("p20", "benchmark_means_p20.csv"),
    ):
        names = {path.name for path in (written / folder).iterdir()}
        assert names == {
            "table_microf1.tex",
            "table_macrof1.tex",
            "table_hamming.tex",
            "table_stats.tex",
            "table_ranks.tex",
            means,
        }
    beside = {
        "report.html",
        "tables.md",
        "tables.tex",
        "tables",
        "references.bib",
        "figures",
        "kgrid",
        "p20",
    }
    assert {path.name for path in written.iterdir()} >= beside


def test_means_are_those_of_the_scores(store, written):
    with Results.open(store) as results:
        scores = results.scores("micro_f1")
    k = (
        scores[scores["protocol"] == "curve-k"]
        .groupby(["dataset", "method", "fold"])["value"]
        .mean()
    )
    p = scores[(scores["protocol"] == "curve-p") & np.isclose(scores["at"], 0.2)]
    p = p.set_index(["dataset", "method", "fold"])["value"].sort_index()
    for folder, name, folds in (("kgrid", "kgrid", k), ("p20", "p20", p)):
        means = pd.read_csv(written / folder / f"benchmark_means_{name}.csv")
        for row in means[means["metric"] == "micro_f1"].itertuples():
            mine = folds.loc[(row.dataset, row.method)]
            assert row.mean == pytest.approx(mine.mean(), abs=1e-15)
            assert row.std == pytest.approx(np.std(mine, ddof=1), abs=1e-15)


def test_a_score_table_prints_mean_and_deviation_with_the_best_in_bold(store, written):
    text = (written / "kgrid" / "table_hamming.tex").read_text()
    means = pd.read_csv(written / "kgrid" / "benchmark_means_kgrid.csv").query(
        "metric == 'hamming_loss' and dataset == 'wine-traits'"
    )
    best = means.loc[means["mean"].idxmin()]
    line = next(line for line in text.splitlines() if line.startswith("wine-traits"))
    assert rf"\textbf{{{best['mean']:.4f} \(\pm\) {best['std']:.4f}}}" in line


def test_statistics_are_scipys(store, written):
    with Results.open(store) as results:
        scores = View(results, "lab").grids[0]
    means = (
        scores.folds.query("metric == 'macro_f1'")
        .groupby(["dataset", "method"])["value"]
        .mean()
        .unstack()
    )
    text = (written / "kgrid" / "table_stats.tex").read_text()
    line = next(row for row in text.splitlines() if row.startswith("Macro-F1 & Random"))
    gain = (means["DAGFS"] - means["Random"]).mean()
    assert f"{gain:+.4f}".replace("-", r"\(-\)") in line
    p = stats.wilcoxon(means["DAGFS"], means["Random"], method="exact").pvalue
    assert f"& {p:.3g}" in line or f"& {p:.3f}" in line
    wins = int((means["DAGFS"] > means["Random"]).sum())
    assert f"& {wins}/0/{len(means) - wins} &" in line
    friedman = stats.friedmanchisquare(*(means[name] for name in means))
    ranks = (written / "kgrid" / "table_ranks.tex").read_text()
    assert f"Macro-F1: Friedman chi2(3) = {friedman.statistic:.3f} with tie correction" in ranks


def test_captions_say_what_the_test_was(written):
    caption = (written / "p20" / "table_stats.tex").read_text()
    for words in (
        "two-sided Wilcoxon signed-rank",
        "Holm adjustment over the 3 rivals",
        r"20 \% of the features",
    ):
        assert words in caption


def test_special_characters_are_escaped_and_everything_parses(written):
    files = sorted(written.rglob("*.tex"))
    assert len(files) == 11
    for file in files:
        text = file.read_text()
        nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
        assert any(getattr(node, "environmentname", "") == "table" for node in nodes)
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
    assert r"A\_1 \& 50\% \{x\} \#" in (written / "kgrid" / "table_microf1.tex").read_text()
    assert r"wine\_2 \& co \%" in (written / "kgrid" / "table_microf1.tex").read_text()


@pytest.mark.slow
def test_tables_compile_in_a_real_latex(written, tmp_path):
    compile_latex(
        "\n".join(rf"\input{{{file}}}" for file in sorted(written.rglob("*.tex"))), tmp_path
    )
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_a_wide_table_is_stacked_and_names_are_replaced(store, tmp_path):
    names = {"DAGFS": "DAG-FS", "wine-traits": "Wine"}
    paragone.report(
        store,
        tmp_path / "paper",
        display_map=names,
        split_columns=2,
        caption_note="Our note.",
        label_suffix="-x",
        charts=False,
    )
    text = (tmp_path / "paper" / "kgrid" / "table_microf1.tex").read_text()
    assert text.count(r"\begin{tabular}{lrr}") == 2
    assert "Dataset & DAG-FS & Random" in text
    assert re.search(r"^Wine &", text, re.MULTILINE)
    assert "Our note.}" in text
    assert r"\label{tab:micro-f1-kgrid-x}" in text


def test_every_chart_of_the_page_lies_beside_it_as_svg_and_pdf(store, written):
    names = {path.name for path in (written / "figures").iterdir()}
    with Results.open(store) as results:
        figures = page_of(View(results, "lab")).figures()
    stems = [file_stem(figure.name) for figure in figures]
    assert len(stems) == len(set(stems)) > 20
    assert names == {f"{stem}.{ending}" for stem in stems for ending in ("svg", "pdf")}
    assert {"wine-traits_micro_f1-kgrid.svg", "mean_curve_micro_f1-p20.svg"} <= names
    for name in names:
        start = (written / "figures" / name).read_bytes()[:5]
        assert start == (b"%PDF-" if name.endswith("pdf") else b"<svg "), name
    svg = (written / "figures" / "wine-traits_micro_f1-kgrid.svg").read_text()
    for method in ("DAGFS", "Random", "Chi2"):
        assert method in svg
    page = (written / "report.html").read_text()
    assert page.count("<figure") == sum(not figure.only_file for figure in figures)


def test_the_page_draws_the_rows_of_its_charts(store):
    with Results.open(store) as results:
        figures = page_of(View(results, "lab")).figures()
    drawn = [figure for figure in figures if not figure.only_file]
    assert len(drawn) > 10
    for figure in drawn:
        assert figure.specification["data"]["values"] == figure.plot.rows
        assert figure.specification["title"]["text"] == [figure.title]


def test_every_table_of_the_page_lies_beside_it_as_csv_and_latex(written):
    page = (written / "report.html").read_text()
    sheets = re.findall(r'<div class="sheet" id="([^"]+)"', page)
    sheets += [
        name.replace("board-", "ranked_")
        for name in re.findall(r' data-board="([^"]+)" data-tag-', page)
    ]
    sheets = list(dict.fromkeys(sheets))
    assert {path.stem for path in (written / "tables").iterdir()} == set(sheets)
    latex = (written / "tables.tex").read_text()
    assert latex.count(r"\begin{table}") == len(sheets)
    labels = re.findall(r"\\label\{([^}]+)\}", latex)
    assert len(labels) == len(set(labels)) == len(sheets)


def test_the_mean_chart_is_the_mean_over_datasets(store):
    with Results.open(store) as results:
        scores = View(results, "lab").grids[0]
    drawn = mean_plot(scores, "micro_f1", Wording()).rows
    by_hand = (
        scores.curves.query("metric == 'micro_f1'")
        .groupby(["dataset", "method", "at"])["value"]
        .mean()
    )
    by_hand = by_hand.groupby(["method", "at"]).mean()
    assert len(drawn) == len(by_hand)
    for row in drawn:
        assert row["y"] == pytest.approx(by_hand[row["series"], row["x"]], abs=1e-15)


def test_repeated_methods_get_a_stability_table(store, written):
    table = pd.read_csv(written / "seed_stability.csv")
    assert set(table["method"]) == {"Random"}
    assert set(table["seeds"]) == {3}
    with Results.open(store) as results:
        again = seed_stability(View(results, "lab"))
        tops = [
            [
                set(results.reader().ranking("wine-traits", f, "Random", repeat=r)[:2])
                for r in range(3)
            ]
            for f in range(3)
        ]
    pairs = [(a, b) for fold in tops for i, a in enumerate(fold) for b in fold[i + 1 :]]
    wanted = np.mean([len(a & b) / len(a | b) for a, b in pairs])
    assert again.query("dataset == 'wine-traits'")["jaccard"].item() == pytest.approx(wanted)


def test_agreement_has_its_limits():
    a = np.array([0, 1, 2])
    assert (jaccard(a, a), kuncheva(a, a, 10)) == (1.0, 1.0)
    assert jaccard(a, a + 3) == 0.0
    assert kuncheva(a, a, 3) == 1.0
    rng = np.random.default_rng(0)
    chance = [kuncheva(rng.permutation(20)[:5], rng.permutation(20)[:5], 20) for _ in range(4000)]
    assert abs(np.mean(chance)) < 4 * np.std(chance) / np.sqrt(len(chance))


def test_one_method_alone_gets_scores_without_statistics(tmp_path):
    file = write_lab(tmp_path, {"Variance": 'use = "variance"'})
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0).close()
    files = {
        path.name
        for path in paragone.report(tmp_path / "a.sqlite", tmp_path / "paper", charts=False)
    }
    assert files == {
        "table_microf1.tex",
        "table_hamming.tex",
        "benchmark_means_kgrid.csv",
        "report.html",
        "tables.md",
        "tables.tex",
        "references.bib",
    } | {path.name for path in (tmp_path / "paper" / "tables").iterdir()}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[1, 2]", "must be an object of names"),
        ('{"a": 1}', "must be an object"),
        ("{", "cannot be read as JSON"),
    ],
)
def test_a_wrong_display_map_is_refused(tmp_path, content, sentence):
    (tmp_path / "names.json").write_text(content)
    with pytest.raises(InputError, match=sentence):
        read_display_map(tmp_path / "names.json")


def test_wrong_requests_are_refused_and_nothing_is_written(store, tmp_path):
    with pytest.raises(InputError, match="unknown reference 'DAGF': did you mean 'DAGFS'"):
        paragone.report(store, tmp_path / "paper", reference="DAGF")
    with pytest.raises(InputError, match="unknown experiment 'labs'"):
        paragone.report(store, tmp_path / "paper", experiment="labs")
    assert not (tmp_path / "paper").exists()
    (tmp_path / "file").write_text(json.dumps({}))
    with pytest.raises(InputError, match="is a file: give a folder"):
        paragone.report(store, tmp_path / "file", charts=False)
