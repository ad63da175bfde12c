"""A table is the same data in any encoding, with any separator, and however its numbers are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone.data.offered import offered_datasets
from paragone.data.readers.table import read_frame
from paragone.data.roles import Roles
from paragone.data.written_tables import READING_NOTES, encoding_of, separator_of, with_numbers_read
from paragone.errors import InputError

TABLE = pd.DataFrame(
    {
        "Größe": [1.5, 1000.25, np.nan, 0.125],
        "Jahre": [20, 31, 42, 57],
        "Ort": ["Köln", "Ulm; Nord", "Bari, alt", "Asti"],
        "Befund": ["krank", "gesund", "krank", "gesund"],
    }
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(
    ("separator", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")]
)
def test_a_table_is_the_same_whatever_its_encoding_and_separator(
    tmp_path: Path, encoding: str, separator: str, decimal: str
) -> None:
    path = tmp_path / "klinik.csv"
    TABLE.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    read = read_frame(path)
    pd.testing.assert_frame_equal(read, TABLE, check_dtype=False)
    told = " ".join(read.attrs[READING_NOTES])
    assert ("Windows-1252" in told) == (encoding == "cp1252")
    assert ("separated by" in told) == (separator != ",")
    assert ("'1,5' is 1.5" in told) == (decimal == ",")


def test_what_was_read_into_a_file_is_said_before_a_run(tmp_path: Path) -> None:
    path = tmp_path / "klinik.csv"
    TABLE.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    (dataset,) = offered_datasets(path, Roles("Befund"))
    assert dataset.notes[:3] == (
        "separated by semicolons",
        "read as Windows-1252: it is not UTF-8",
        "decimal commas read: 'Größe' ('1,5' is 1.5)",
    )


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "?", "3"], [1, np.nan, 3]),
        (["0.5", "-", "n.a."], [0.5, np.nan, np.nan]),
        (["$1,200", "$15"], [1200, 15]),
        (["1,234.50", "2"], [1234.5, 2]),
        (["1,234,567", "8"], [1234567, 8]),
        (["1.234,50", "12"], [1234.5, 12]),
        (["0,123", "4,567"], [0.123, 4.567]),
        (["−3,5", "1,25"], [-3.5, 1.25]),
        (["12 %", "7 %"], [12, 7]),
        (["3,50 €", "1.000,00 €"], [3.5, 1000]),
    ],
)
def test_texts_that_can_mean_one_number_only_are_numbers(
    texts: list[str], numbers: list[float]
) -> None:
    read, notes = with_numbers_read(pd.DataFrame({"a": texts}), separator=";")
    np.testing.assert_array_equal(read["a"], numbers)
    assert len(notes) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["1,234", "5,678"],
        ["1.5", "2,5"],
        ["$5", "5 €"],
        ["12.3.2024", "4.5.2024"],
        ["a", "1"],
        ["?", "-"],
        ["10-20", "5"],
    ],
)
def test_texts_that_may_mean_two_things_or_none_stay_texts(texts: list[str]) -> None:
    read, _ = with_numbers_read(pd.DataFrame({"a": texts}), separator=";")
    assert read["a"].tolist() == texts


def test_the_other_columns_say_what_a_comma_means(tmp_path: Path) -> None:
    for name, other, meant in (("points", "0.25", 1234.0), ("commas", "0,25", 1.234)):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"a;b\n1,234;{other}\n2,345;{other}\n")
        assert read_frame(path)["a"].iloc[0] == meant


def test_points_are_thousands_where_commas_are_decimals(tmp_path: Path) -> None:
    path = tmp_path / "preise.csv"
    path.write_text("preis;gewicht;jahr;dichte\n1.234;0,5;2020;1.5\n5.678;1,5;2021;2.25\n")
    read = read_frame(path)
    assert read["preis"].tolist() == [1234.0, 5678.0]
    assert read["jahr"].tolist() == [2020, 2021]
    assert read["dichte"].tolist() == [1.5, 2.25]
    assert any("'1.234' is 1234" in note for note in read.attrs[READING_NOTES])


def test_a_thousand_columns_are_said_in_one_line() -> None:
    wide = pd.DataFrame({f"{number} nm": ["0,5", "1,5"] for number in range(1000)})
    read, notes = with_numbers_read(wide, separator=";")
    assert (read.iloc[0] == 0.5).all()
    assert len(notes) == 1
    assert notes[0].endswith("and 997 more columns")


def test_a_line_with_too_many_fields_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(InputError, match="line 3 has 3 fields where those above have 2"):
        read_frame(path)


def test_every_byte_has_a_letter_in_some_encoding() -> None:
    everything = bytes(range(256))
    assert everything.decode(encoding_of([everything]))
    assert encoding_of(["ä".encode()[:1], "ä".encode()[1:]]) == "utf-8-sig"


def test_a_separator_that_cuts_no_line_evenly_gives_way_to_the_usual_one() -> None:
    assert separator_of('note,a\n"two\nlines; yes",1\n', usual=",") == ","
    assert separator_of("a;b\n1;2;3\n", usual=",") == ";"
