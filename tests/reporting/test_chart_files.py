"""Charts into files: one file a chart whatever it is called, drawn alike wherever it is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.charts.save import one_font_is_enough, save_for_print
from paragone.errors import InputError
from paragone.reporting import drawing as chart_files
from paragone.reporting.drawing import drawn_charts, file_stem

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.1.0.json"


def chart(title: str) -> dict:
    return {
        "$schema": SCHEMA,
        "title": title,
        "data": {"values": [{"x": 1, "y": title}, {"x": 2, "y": "b"}]},
        "mark": "point",
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "nominal"},
        },
    }


@given(st.lists(st.text(max_size=120), unique=True, max_size=6))
def test_no_two_names_share_a_file_and_all_are_safe(names):
    stems = [file_stem(name) for name in names]
    assert len(set(stems)) == len(names)
    for stem in stems:
        assert 0 < len(stem) <= 80
        assert stem.isascii()
        assert not set(stem) & set('/\\:*?"<>| \0')
        assert not stem.startswith(".")


def test_processes_draw_what_this_process_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(chart_files, "available_cores", lambda: 2)
    names = [f"chart {letter}" for letter in "abcdefghijkl"] + ["Größe ≤ 3", "方法"]
    with drawn_charts() as drawing:
        for name in names:
            drawing.add(tmp_path / "there" / file_stem(name), chart(name))
    (tmp_path / "here").mkdir()
    for name in names:
        stem = file_stem(name)
        save_for_print(chart(name), tmp_path / "here" / stem)
        there, here = (
            (tmp_path / folder / f"{stem}.svg").read_text() for folder in ("there", "here")
        )
        assert name in there
        # The system's version of the font may set rarer letters wider.
        assert there == here or not name.isascii()
        assert (tmp_path / "there" / f"{stem}.pdf").read_bytes().startswith(b"%PDF")


def test_processes_that_were_expected_start_early(tmp_path, monkeypatch):
    monkeypatch.setattr(chart_files, "available_cores", lambda: 2)
    with drawn_charts() as drawing:
        drawing.expect(chart_files.WORTH_PROCESSES - 1)
        assert not drawing._processes
        drawing.expect(chart_files.WORTH_PROCESSES)
        drawing.add(tmp_path / "one", chart("one"))
        assert not drawing._waiting
    assert "one" in (tmp_path / "one.svg").read_text()
    with drawn_charts(wanted=False) as drawing:
        drawing.expect(chart_files.WORTH_PROCESSES)
        assert not drawing._processes


def test_few_charts_are_drawn_here_once_each_or_not_at_all(tmp_path):
    with drawn_charts() as drawing:
        drawing.add(tmp_path / "a", chart("first"))
        drawing.add(tmp_path / "a", chart("second"))
    assert "first" in (tmp_path / "a.svg").read_text()
    with drawn_charts(wanted=False) as drawing:
        drawing.add(tmp_path / "b", chart("none"))
    assert not (tmp_path / "b.svg").exists()


def test_a_chart_that_cannot_be_drawn_is_told(tmp_path):
    with pytest.raises(InputError, match="Vega-Lite 3 cannot be drawn"), drawn_charts() as drawing:
        drawing.add(
            tmp_path / "a",
            {"$schema": "https://vega.github.io/schema/vega-lite/v3.json", "mark": "point"},
        )


def test_a_chart_by_hand_needs_no_version(tmp_path):
    with drawn_charts() as drawing:
        drawing.add(
            tmp_path / "a",
            {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}},
        )
    assert "<svg" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("text", ["plain", "Łódź ± 3", "a ≤ b – c"])
def test_latin_letters_need_one_font(text):
    assert one_font_is_enough(chart(text))


@pytest.mark.parametrize("text", ["方法", "\N{TEST TUBE}", "שלום"])
def test_other_letters_need_the_fonts_of_the_system(text):
    assert not one_font_is_enough(chart(text))
