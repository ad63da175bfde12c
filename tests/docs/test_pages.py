"""What the pages show is what happens: every block of code on them is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from documentation_pages import (
    LANGUAGES,
    ROOT,
    Block,
    PageError,
    Session,
    blocks_of,
    code_of,
    commands_of,
    pages,
    pictures_of,
)

PAGES = pages()


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _runs(block: Block, condition: str | None) -> bool:
    return block.not_run is None and block.condition in (None, condition)


def _cases() -> list[pytest.ParameterSet]:
    """One case a page, and one more for every condition that some of its blocks depend on."""
    cases = []
    for page in PAGES:
        blocks = code_of(page)
        if any(_runs(block, None) for block in blocks):
            cases.append(pytest.param(page, None, id=_name(page)))
        for condition in sorted({block.condition for block in blocks if block.condition}):
            mark = pytest.mark.slow if condition == "slow" else pytest.mark.known_answer
            cases.append(
                pytest.param(page, condition, id=f"{_name(page)}, {condition}", marks=mark)
            )
    return cases


@pytest.mark.parametrize(("page", "condition"), _cases())
def test_every_block_does_what_the_page_says(page, condition, tmp_path, request):
    if condition and condition.startswith("with "):
        folder = condition.removeprefix("with ")
        (tmp_path / folder).symlink_to(request.getfixturevalue("data_folder") / folder)
    session = Session(_name(page), tmp_path)
    for block in code_of(page):
        if _runs(block, condition):
            session.run(block)
    for picture in pictures_of(page):
        if condition is None:
            picture.check(tmp_path, renew=os.environ.get("PARAGONE_RENEW_PICTURES") == "1")


def test_a_gallery_shows_what_its_page_makes():
    gallery = [page for page in PAGES if page.name.startswith("gallery-")]
    assert len(gallery) >= 12
    assert [page.name for page in gallery if not pictures_of(page)] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_is_named_and_left_out_only_with_a_reason(page):
    for block in blocks_of(page.read_text(encoding="utf-8")):
        where = f"{_name(page)}, line {block.line}"
        assert block.language.startswith("{") or block.language in LANGUAGES, (
            f"{where}: fence the block and name it"
        )
        assert block.not_run is None or len(block.not_run.split()) > 1, (
            f"{where}: say why the block is not run"
        )
        assert (
            block.condition is None
            or block.condition == "slow"
            or block.condition.startswith("with ")
        ), where


def _page(text: str) -> list[Block]:
    return blocks_of(text)


def test_a_block_takes_the_remark_right_before_it_and_no_other():
    text = "<!-- not run: needs a network -->\n```console\n$ pip\n```\n\n```python\n1\n```\n\n"
    text += "<!-- run: slow -->\nx\n\n    y\n"
    first, second, third = _page(text)
    assert (first.not_run, second.not_run, third.condition) == ("needs a network", None, None)
    assert (first.line, second.language, third.language) == (3, "python", "")


def test_a_command_may_go_over_lines_and_show_its_output():
    text = "$ paragone a \\\n    b\nout\n$ paragone c\n"
    assert list(commands_of(text)) == [("paragone a b", "out\n"), ("paragone c", "")]


@pytest.mark.parametrize(
    "text",
    [
        "```python\n>>> 1 + 1\n3\n```",
        "```python\nraise PageNotRight\n```",
        "```console\n$ paragone --version\nparagone 99\n```",
        "```console\n$ paragone status nowhere.sqlite\n```",
        "```console\n$ rm nothing\n```",
        "```toml\na = \n```",
    ],
)
def test_a_page_that_is_wrong_is_found(text, tmp_path):
    session = Session("page.md", tmp_path)
    with pytest.raises((PageError, NameError, ValueError)):
        session.run(_page(text)[0])


def test_later_blocks_see_what_earlier_ones_made(tmp_path):
    text = "```toml\n# a.toml\nb = 1\n```\n\n```python\n# made_up.py\nb = 2\n```\n\n"
    text += "```python\n>>> import tomllib\n>>> a = tomllib.loads(open('a.toml').read())\n```\n\n"
    text += (
        "```python\n>>> a, open('made_up.py').read()\n({'b': 1}, '# made_up.py\\nb = 2\\n')\n```\n"
    )
    session = Session("page.md", tmp_path)
    for block in _page(text):
        session.run(block)
    assert session.names["a"] == {"b": 1}
