"""Every link on the pages leads somewhere: files and headings where they are written, everything on the built site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from markdown_it import MarkdownIt

from browser import chromium, resize
from documentation_pages import ROOT, pages

GENERATED = {ROOT / "docs/reference" / name for name in ("command-line.md", "experiment-file.md")}
"""Pages that a build of the site writes; its own test follows the links to them."""
OUTSIDE = ("http:", "https:", "mailto:", "data:", "javascript:")


def links_of(text: str) -> Iterator[str]:
    """Yield the targets of links and images of a Markdown text."""
    for token in MarkdownIt().parse(text):
        for inner in token.children or []:
            if target := inner.attrGet("href") or inner.attrGet("src"):
                yield str(target)


def headings_of(text: str) -> set[str]:
    """Return the anchors of a Markdown text's headings, as the code hosts and the site make them."""
    tokens = MarkdownIt().parse(text)
    titles = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead to no file or heading; addresses elsewhere are not followed."""
    found = []
    for link in links_of(page.read_text(encoding="utf-8")):
        if link.startswith(OUTSIDE):
            continue
        path, anchor = urldefrag(unquote(link))
        target = (page.parent / path).resolve() if path else page
        if target in GENERATED:
            continue
        if not target.is_file() or (
            anchor and anchor not in headings_of(target.read_text(encoding="utf-8"))
        ):
            found.append(link)
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page):
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "there.md").write_text("# A heading, it is\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#a-heading-it-is) [b](there.md#none) [c](gone.md) ![d](e.png)"
        " [f](https://x.y)\n"
    )
    assert broken(page) == ["there.md#none", "gone.md", "e.png"]


def test_every_page_is_reached_from_the_index():
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / urldefrag(link)[0]).resolve()
        for link in links_of(index.read_text(encoding="utf-8"))
    }
    written = [page for page in pages() if page.parent == index.parent and page != index]
    assert [page.name for page in written if page not in linked] == []


@dataclass
class Html(HTMLParser):
    """The links and the anchors of a built page."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def read_site(folder: Path) -> dict[Path, Html]:
    """Read every page of a built site."""
    site = {}
    for file in folder.rglob("*.html"):
        site[file.resolve()] = Html()
        site[file.resolve()].feed(file.read_text(encoding="utf-8"))
    return site


def broken_on_site(site: dict[Path, Html]) -> list[str]:
    """Return every link of a site that leads to no file of it, or to no anchor of the page."""
    found = []
    for page, html in site.items():
        for link in html.links:
            if link.startswith(OUTSIDE):
                continue
            path, anchor = urldefrag(unquote(link))
            path = path.partition("?")[0]
            target = (page.parent / path).resolve() if path else page
            if not target.is_file() or (
                anchor and target in site and anchor not in site[target].anchors
            ):
                found.append(f"{page.name}: {link}")
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    from sphinx.cmd.build import main as build

    folder = tmp_path_factory.mktemp("built")
    arguments = [
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--doctree-dir",
        str(folder / "trees"),
    ]
    assert build([*arguments, str(ROOT / "docs"), str(folder / "site")]) == 0
    return folder / "site"


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_every_link_on_it_resolves(built):
    site = read_site(built)
    assert len(site) > 30
    assert broken_on_site(site) == []
    loaded = [
        link for html in site.values() for link in html.links if re.match(r"(https?:)?//", link)
    ]
    assert [link for link in loaded if link.endswith((".js", ".css"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_on_the_site(built, tmp_path, width):
    from axe_core_python.selenium import Axe

    kinds = [
        "index",
        "gallery-cost",
        "tutorial-everyday",
        "install",
        "search",
        "reference/index",
        "reference/command-line",
    ]
    with chromium(tmp_path) as browser:
        resize(browser, width)
        for kind in [*kinds, "reference/command-line"]:
            browser.get((built / f"{kind}.html").as_uri())
            found = Axe().run(browser)["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], kind


def test_a_broken_link_on_the_site_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">x</a><a href="#here">y</a><img src="c.png">'
    )
    (tmp_path / "b.html").write_text("<p>")
    assert broken_on_site(read_site(tmp_path)) == ["a.html: b.html#there", "a.html: c.png"]
