"""The pages of duels, maps, collections and methods in a real browser: readable, drawn, and true to their files."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from paragone import load

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import console, draw_everything, overflowing, requests, resize
from generated_pages import PAGES, make_pages

KINDS = pytest.mark.parametrize("kind", PAGES)
SMALLEST = """
return [...document.querySelectorAll("body *")]
  .filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .map((e) => [parseFloat(getComputedStyle(e).fontSize), e.tagName, e.textContent.slice(0, 40)])
  .sort((a, b) => a[0] - b[0])[0];
"""
PICTURES = """
return [...document.querySelectorAll("figure img")].filter((e) => e.checkVisibility())
  .map((e) => [e.src, e.complete, e.naturalWidth, e.getBoundingClientRect().width]);
"""
CHARTS = """
return [...document.querySelectorAll("figure[data-plot]")].filter((f) => f.checkVisibility())
  .map((f) => [f.querySelector("h3").textContent, f.querySelectorAll("svg path, svg circle, td").length]);
"""
FIRST = """
const shown = (q) => [...document.querySelectorAll(q)].filter((e) => e.checkVisibility());
const bottom = (e) => e.getBoundingClientRect().bottom;
const section = document.querySelector("main section");
const finding = shown(".finding h2").slice(0, 1).concat([...section.querySelectorAll(".lead p")]);
const words = finding.length ? finding : [...section.querySelectorAll("li")];
return [words.length, Math.max(...words.map(bottom)),
  Math.min(...shown("figure img, figure svg, figure table, .sheet table, .rank").map(bottom))];
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    return make_pages(tmp_path_factory.mktemp("generated"))


def opened(
    browser, page: Path, width: int, height: int = 900, *, dark: bool = False, parts: int = 20
) -> None:
    resize(browser, width, height, dark=dark)
    browser.get("about:blank")
    requests(browser)
    browser.get(page.as_uri())
    draw_everything(browser, parts=parts)


def violations(browser) -> list[tuple[str, str]]:
    from axe_core_python.selenium import Axe

    return [(v["id"], v["nodes"][0]["html"][:200]) for v in Axe().run(browser)["violations"]]


def check_drawings(browser) -> None:
    """Every picture is there in its own size with text of 12 px or more, and every chart has marks."""
    pictures = browser.execute_script(PICTURES)
    for source, is_complete, natural, shown in pictures:
        assert is_complete
        assert natural > 0
        drawing = base64.b64decode(source.partition(",")[2]).decode()
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', drawing)]
        assert sizes
        assert min(sizes) * shown / natural >= 12
    charts = browser.execute_script(CHARTS)
    assert [title for title, marks in charts if marks < 2] == []
    assert pictures or charts


@KINDS
def test_nothing_reaches_out_is_too_small_empty_or_complains(browser, pages, kind):
    for width in (1280, 390):
        opened(browser, pages[kind], width)
        assert overflowing(browser) == []
        assert browser.execute_script(SMALLEST)[0] >= 12
        check_drawings(browser)
        assert console(browser) == []
        assert [
            url
            for url in requests(browser)
            if not url.startswith(("file:", "data:", "blob:", "about:"))
        ] == []
        if width == 1280:
            assert violations(browser) == []


@KINDS
@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False), (390, True)])
def test_axe_finds_nothing_in_the_dark_or_on_a_phone(browser, pages, kind, width, dark):
    opened(browser, pages[kind], width, dark=dark)
    assert violations(browser) == []
    assert overflowing(browser) == []
    assert console(browser) == []


@KINDS
def test_the_first_screen_holds_the_finding_and_a_table_or_chart(browser, pages, kind):
    for width, height in ((1440, 900), (390, 844)):
        opened(browser, pages[kind], width, height, parts=0)
        n_words, words, shown = browser.execute_script(FIRST)
        assert n_words > 0
        assert words <= height
        assert shown <= height


def texts(browser, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
        ".map((e) => e.innerText.trim())",
        selector,
    )


def table_of(browser, title: str) -> pd.DataFrame:
    """Return the table under a heading as the page shows it, every cell as text."""
    head, rows = browser.execute_script(
        "const sheet = [...document.querySelectorAll('.sheet')].find((s) =>"
        " s.querySelector('h3')?.textContent.trim() === arguments[0]);const cells = (row) =>"
        " [...row.children].map((c) => c.textContent.replace('↕', '').trim());return"
        " [cells(sheet.querySelector('thead tr')), [...sheet.querySelectorAll('tbody"
        " tr')].map(cells)]",
        title,
    )
    return pd.DataFrame(rows, columns=head)


def as_shown(frame: pd.DataFrame) -> list[list[str]]:
    """Return what a page shows of a table that was read from a file."""

    def shown(value) -> str:
        return (
            ("-" if pd.isna(value) else f"{value:.3f}") if isinstance(value, float) else str(value)
        )

    return [[shown(value) for value in row] for row in frame.itertuples(index=False)]


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+\.\d+", text)]


def test_the_page_of_a_duel_tells_the_numbers_of_its_files(browser, pages):
    folder = pages["duel"].parent
    claims, fits = pd.read_csv(folder / "claims.csv"), pd.read_csv(folder / "fits.csv")
    proven = claims[claims["ended"] == "proven"]
    assert len(proven) == 1
    opened(browser, pages["duel"], 1280)
    assert table_of(browser, "Every claim that was put to proof").to_numpy().tolist() == as_shown(
        claims
    )
    row = proven.iloc[0]
    # The proven direction is told first, then the open one.
    said = texts(browser, "#finding .lead p")
    assert said[0].startswith("Tree beats Linear by 0.05 AUROC or more on 1 proven dataset")
    assert said[1].startswith("No dataset was found on which Linear beats Tree")
    wanted = [round(row[name], 3) for name in ("lead", "low", "high")]
    assert numbers_in(said[0])[1:] == wanted
    card = next(line for line in texts(browser, "#wins2 li") if "both tuned on each" in line)
    assert numbers_in(card) == wanted
    # Every number of a claim follows from its fits by plain arithmetic.
    own = fits[fits["claim"] == row["claim"]]
    scores = own.pivot(index="sample", columns="method", values="AUROC")
    leads = scores["Tree"] - scores["Linear"]
    assert row["lead"] == pytest.approx(leads.mean(), abs=1e-9)
    assert row["samples won"] == pytest.approx((leads > 0).mean())
    means = table_of(browser, "Scores of the proof").set_index("method")["mean AUROC"]
    assert means.to_dict() == {name: f"{scores[name].mean():.3f}" for name in ("Linear", "Tree")}


def test_the_page_of_a_duel_without_a_proof_says_so_and_shows_the_search(browser, pages):
    folder = pages["open duel"].parent
    assert len(pd.read_csv(folder / "claims.csv")) == 0
    open_pairs = pd.read_csv(folder / "open_pairs.csv")
    opened(browser, pages["open duel"], 1280)
    said = texts(browser, "#finding .lead p")
    wanted = [
        f"No dataset was found on which {row.up} beats {row.down} by 0.05 AUROC: {row.tried}."
        for row in open_pairs.itertuples()
    ]
    assert said == wanted
    assert texts(browser, "#finding figure h3") == ["How the search went"]


def test_the_page_of_a_map_tells_the_numbers_of_its_files(browser, pages):
    points = pd.read_csv(pages["map"].parent / "map.csv")
    opened(browser, pages["map"], 1280)
    shown = table_of(browser, "Every point, with its interval")
    assert shown.to_numpy().tolist() == as_shown(
        points.drop(columns="formula").astype({"value": float})
    )
    assert points["low"].min() >= -1
    assert points["high"].max() <= 1
    drawn = "".join(
        base64.b64decode(source.partition(",")[2]).decode()
        for source, *_ in browser.execute_script(PICTURES)
    )
    for lead in points["lead"]:
        assert f">{round(lead, 2) + 0.0:+.2f}<".replace("-", "−") in drawn
    borders = pd.read_csv(pages["map"].parent / "borders.csv")
    said = texts(browser, "#formula1 li")
    assert [line.partition(": ")[2].rstrip(".") for line in said] == borders["what"].str.rstrip(
        "."
    ).to_list()
    for row in points.itertuples():
        # Where nothing is sure, the page says that only means speak.
        line = next(
            one for one in borders.itertuples() if (one.axis, one.value) == (row.axis, row.value)
        )
        same = points[(points["axis"] == row.axis) & (points["value"] == row.value)]
        if (same["ahead"] == "open").all():
            assert line.what.endswith("by the means alone: no interval excludes 0")


def test_the_page_of_a_collection_tells_the_numbers_of_its_files(browser, pages):
    folder = pages["collection"].parent
    claims = pd.read_csv(folder / "claims.csv")
    opened(browser, pages["collection"], 1280)
    matrix = table_of(browser, "The best lead of every ordered pair in AUROC, with its interval")
    matrix = matrix.set_index(matrix.columns[0])
    held = claims[claims["holds"]]
    assert len(held) > 0
    cards = "\n".join(texts(browser, "#datasets li"))
    for row in held.itertuples():
        up, down = (name.removesuffix("Classifier") for name in (row.up, row.down))
        best = held[(held["up"] == row.up) & (held["down"] == row.down)]["low"].max()
        if row.low == best:
            assert matrix.loc[up, down] == f"{row.mean:.2f} [{row.low:.2f}, {row.high:.2f}]"
        assert (
            f"{row.up} over {row.down} by {row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]" in cards
        )
    # The line that loads a dataset does so, wherever the folder is.
    line = next(text for text in texts(browser, "#datasets pre") if "paragone.load" in text)
    assert load(re.search(r'load\("(.+)"\)', line)[1]).n_samples == 200
    # A dataset has one number of its concept, in every file.
    numbers = [
        pd.read_csv(folder / name)
        .drop_duplicates("dataset")
        .set_index("dataset")["concept"]
        .to_dict()
        for name in ("evidence.csv", "sets.csv")
    ]
    assert numbers[0] == numbers[1]
    # A formula is drawn as its tree.
    drawn = [
        base64.b64decode(source.partition(",")[2]).decode()
        for source, *_ in browser.execute_script(PICTURES)
    ]
    assert any(
        ">max<" in one or ">mul<" in one or ">add<" in one or ">sub<" in one for one in drawn
    )


def test_the_page_of_a_method_tells_the_numbers_of_its_files(browser, pages):
    scores = pd.read_csv(pages["method"].parent / "scores.csv")
    means = scores.groupby(["dataset", "method"])["value"].mean().unstack()
    opened(browser, pages["method"], 1280)
    shown = browser.execute_script(
        "return [...document.querySelectorAll('.sheet')].filter((s) =>"
        " s.querySelector('h3')?.textContent.trim().startsWith('AUROC by dataset on ')).map((s) =>"
        " [...s.querySelectorAll('tr')].map((row) => [...row.children].map((c) =>"
        " c.textContent.replace('↕', '').trim())))"
    )
    assert len(shown) == 2
    for head, *rows in shown:
        for dataset, *values in rows:
            assert values == [f"{means.loc[dataset, method]:.4f}" for method in head[1:]]
    # Each board says of which collection it speaks.
    boards = texts(browser, ".finding .over")
    assert [said.rpartition(" of ")[2] for said in boards if " of " in said] == [
        "own",
        "paragone-v1",
    ]
