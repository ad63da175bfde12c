"""Classes without a file of their own, as in a notebook, are known by all that they do."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from paragone.methods.method import Method

CELLS = """
    import numpy as np

    ALPHA = 1
    TABLE = {"a": [1, 2]}

    def strength(x):
        return deeper(x) * ALPHA

    def deeper(x):
        return np.abs(x) + 1

    class Base:
        def fit(self, X, Y):
            self.ranking_ = np.argsort(strength(X).sum(axis=0)) + TABLE["a"][0]
            return self

    class Mine(Base):
        power = 2

    def unused():
        return 1
    """


def notebook(old: str = "", new: str = "") -> dict[str, str]:
    """Define the class as cells of a notebook do: in __main__, with no file behind it."""
    text = textwrap.dedent(CELLS)
    assert old in text
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(text.replace(old, new, 1) if old else text, "<cell>", "exec"), names)  # noqa: S102  cells are run so
    return Method.declare(names["Mine"]).versions()


def test_the_same_cells_give_the_same_words():
    assert notebook() == notebook()
    assert set(notebook()) == {"__main__:Mine", "numpy"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ALPHA = 1", "ALPHA = 2"),
        ('{"a": [1, 2]}', '{"a": [1, 3]}'),
        ("deeper(x) * ALPHA", "deeper(x) / ALPHA"),
        ("np.abs(x) + 1", "np.abs(x) + 2"),
        ("np.abs(x)", "np.exp(x)"),
        ('TABLE["a"][0]', 'TABLE["a"][1]'),
        ("power = 2", "power = 3"),
    ],
)
def test_an_edit_of_anything_that_the_class_uses_is_seen(old, new):
    assert notebook(old, new) != notebook()


@pytest.mark.parametrize(
    ("old", "new"), [("    return 1\n", "    return 2\n"), ("\nALPHA", "\n# A remark.\n\nALPHA")]
)
def test_an_edit_of_anything_else_changes_nothing(old, new):
    assert notebook(old, new) == notebook()


def made(power):
    class Mine:
        def fit(self, X, Y):
            self.ranking_ = np.argsort((X**power).sum(axis=0))
            return self

    return Mine


def test_two_classes_that_one_function_made_are_two():
    assert Method.declare(made(2)).versions() == Method.declare(made(2)).versions()
    assert Method.declare(made(2)).versions() != Method.declare(made(3)).versions()


def test_two_functions_without_a_name_are_two():
    doubled, halved = FunctionTransformer(lambda X: X * 2), FunctionTransformer(lambda X: X / 2)
    assert Method.declare(doubled).identity() != Method.declare(halved).identity()
    assert (
        Method.declare(doubled).identity()
        == Method.declare(FunctionTransformer(doubled.func)).identity()
    )


def test_functions_of_installed_packages_are_known_by_name_and_version():
    assert (
        Method.declare(FunctionTransformer(np.log1p)).identity()
        != Method.declare(FunctionTransformer(np.exp)).identity()
    )
