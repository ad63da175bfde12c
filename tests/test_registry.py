"""The registry: our own things, those of installed packages, `module:name`, and what is refused."""

from __future__ import annotations

import sys

import pytest

from paragone.errors import InputError
from paragone.registry import Registry, imported


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A package `shelf` of two modules that add themselves, and an installed distribution that brings a third thing."""
    package = tmp_path / "shelf"
    package.mkdir()
    (package / "__init__.py").write_text(
        'from paragone.registry import Registry\nbooks = Registry("book", "books", ("shelf",))\n'
    )
    (package / "novel.py").write_text(
        "from shelf import books\n\n@books.add\ndef novel():\n    return 1\n"
    )
    (package / "_unfinished.py").write_text(
        "raise RuntimeError('a module of private name is not imported')\n"
    )
    (tmp_path / "lent_books.py").write_text("def atlas():\n    return 2\n")
    info = tmp_path / "lent-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lent\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[paragone.books]\natlas = lent_books:atlas\nnovel = lent_books:atlas\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("shelf").books
    for name in [name for name in sys.modules if name.split(".")[0] in ("shelf", "lent_books")]:
        del sys.modules[name]


def test_a_module_of_the_package_adds_itself(shelf):
    assert shelf.get("novel")() == 1


def test_an_installed_package_brings_its_own_and_cannot_change_ours(shelf):
    assert shelf.names() == ["atlas", "novel"]
    assert shelf.get("atlas")() == 2
    assert shelf.get("novel")() == 1
    assert [book() for book in shelf] == [1, 2]


def test_anything_is_named_by_its_module(shelf):
    assert shelf.get("math:tau") == pytest.approx(6.283185307179586)


def test_membership_knows_installed_names(shelf):
    assert "atlas" in shelf
    assert "atlsa" not in shelf


def test_an_unknown_name_is_refused_with_the_nearest(shelf):
    with pytest.raises(InputError, match="unknown book 'nvoel': did you mean 'novel'"):
        shelf.get("nvoel")


def test_one_name_is_one_thing(shelf):
    shelf.add(len, "length")
    shelf.add(len, "length")
    with pytest.raises(InputError, match="book 'length' is there already"):
        shelf.add(print, "length")


def test_what_is_converted_may_be_refused():
    def positive(thing):
        if thing <= 0:
            raise InputError("a number above 0 is needed")
        return thing

    numbers = Registry("number", "numbers", convert=positive)
    assert numbers.get("math:pi") > 3
    with pytest.raises(InputError, match="above 0"):
        numbers.get("sys:flags.verbose")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("x = (", "line 1"),
    ],
)
def test_an_import_that_fails_is_one_sentence_that_says_where(tmp_path, monkeypatch, text, why):
    (tmp_path / "broken_things.py").write_text(text + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="cannot import 'broken_things'") as refused:
        imported("broken_things:thing", "book")
    assert why in str(refused.value)
    assert "broken_things.py, line 1" in str(refused.value)


def test_a_name_is_text():
    with pytest.raises(InputError, match="expected a name or 'module:name', got 3"):
        Registry("book", "books").get(3)
