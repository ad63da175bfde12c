"""Safe file names: one file name each, different for different names, and reversible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.data.output import name_of_file, safe_file_name
from paragone.errors import InputError

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@given(NAMES)
def test_a_name_comes_back(name):
    assert name_of_file(safe_file_name(name)) == name


@given(NAMES)
def test_a_safe_name_is_one_plain_file_name(name):
    safe = safe_file_name(name)
    assert safe.isascii()
    assert safe.isprintable()
    assert not set(safe) & set('/\\:*?"<>|\0')
    assert safe[0] not in ". "
    assert safe[-1] not in ". "


@pytest.mark.parametrize("name", ["DAGFS", "LRMFS-2.1", "ML kNN (k=10)", "a_b+c"])
def test_ordinary_names_stay_as_they_are(name):
    assert safe_file_name(name) == name


def test_a_foreign_name_that_is_no_code_stays():
    assert name_of_file("50%") == "50%"
    assert name_of_file("%FF") == "%FF"


def test_an_empty_name_is_refused():
    with pytest.raises(InputError, match="empty name"):
        safe_file_name("")
