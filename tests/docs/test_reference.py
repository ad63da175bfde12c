"""The reference says everything: each public name has an example that runs, each verb a help text with one."""

from __future__ import annotations

import doctest
import inspect
import shlex

import command_line
import paragone_site
import pytest
import python_reference
from public_names import PublicName, homes, names_of, public_modules

DOCUMENTED = [public for public in homes().values() if public.kind != "data"]
VERBS = [
    (words, command)
    for words, command in command_line.commands()
    if not hasattr(command, "commands")
]


def examples_of(public: PublicName) -> list[doctest.Example]:
    """Return the examples in a name's own docstring; one that a class inherits is not its own."""
    text = public.value.__doc__ if public.kind == "class" else inspect.getdoc(public.value)
    return doctest.DocTestParser().get_examples(text or "")


def test_every_public_class_and_function_has_an_example():
    assert sorted(public.path for public in DOCUMENTED if not examples_of(public)) == []


def test_every_documented_name_is_tested_where_it_is_defined():
    """Doctests are collected from the modules of the package, so a name from elsewhere would escape them."""
    assert [
        public.path for public in DOCUMENTED if not public.value.__module__.startswith("paragone.")
    ] == []


def test_every_public_method_says_what_it_does():
    silent = [
        f"{public.path}.{name}"
        for public in DOCUMENTED
        if public.kind == "class"
        for name, value in vars(public.value).items()
        if not name.startswith("_")
        and inspect.isroutine(value)
        and not inspect.getdoc(getattr(public.value, name))
    ]
    assert silent == []


def test_a_name_has_one_home_and_its_other_modules_link_there():
    pages = {module: python_reference.page(module) for module in public_modules()}
    assert "autofunction:: paragone.compare\n" in pages["paragone"]
    assert "autofunction:: paragone.intake.compare\n" not in pages["paragone.intake"]
    assert ":py:obj:`compare <paragone.compare>`" in pages["paragone.intake"]
    for public in homes().values():
        assert sum(f":: {public.path}\n" in page for page in pages.values()) == 1


def test_every_name_of_a_module_stands_on_its_page():
    for module in public_modules():
        page = python_reference.page(module)
        assert all(f":py:obj:`{public.name} <" in page for public in names_of(module))


@pytest.mark.parametrize(("words", "command"), VERBS, ids=[words for words, _ in VERBS])
def test_every_verb_has_an_example_whose_options_exist(words, command):
    said, example = command_line._help(command)
    assert said
    assert example.startswith(f"{words} ") or example == words
    arguments = shlex.split(example)[len(words.split()) :]
    command.make_context(words, arguments, resilient_parsing=True)


@pytest.mark.parametrize(("words", "command"), VERBS, ids=[words for words, _ in VERBS])
def test_every_option_of_a_verb_stands_on_the_page_with_what_it_does(words, command):
    section = command_line.section(words, command)
    for parameter in command.params:
        shown = parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[-1]
        assert parameter.hidden or (shown or parameter.name) in section
        assert parameter.hidden or parameter.help, f"{words} {parameter.name} has no help"


def test_the_overview_says_of_every_module_what_is_in_it():
    rows = python_reference.overview(public_modules()).splitlines()[2:]
    assert len(rows) == len(public_modules())
    assert [row for row in rows if len(row.split("|")[2].strip()) < 20] == []


def test_the_theme_gets_what_it_leaves_out():
    page = (
        '<aside class="sidebar-drawer"><p class="caption" role="heading">A</p><article role="main"'
        ' id="x"><pre></pre>'
    )
    mended = paragone_site.accessible(page)
    assert 'role="heading" aria-level="2"' in mended
    assert 'aria-label="All pages"' in mended
    assert "<h1>Search</h1>" in mended
    assert paragone_site.accessible(mended) == mended
