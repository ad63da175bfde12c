from __future__ import annotations

import pytest

from paragone.charts import from_rows, save_chart, styled
from paragone.charts.save import save_for_print
from paragone.errors import InputError


def chart(n=3):
    rows = [{"x": i, "y": i % 7} for i in range(n)]
    return styled(
        from_rows(rows).mark_rect().encode(x="x:Q", color="y:Q"), "A title", "and what it shows"
    )


def test_every_format_is_written_with_its_own_signature(tmp_path):
    files = save_chart(chart(), tmp_path / "c", ["svg", "pdf", "png", "html"])
    heads = [file.read_bytes()[:300] for file in files]
    assert heads[0].startswith(b"<svg")
    assert heads[1].startswith(b"%PDF")
    assert heads[2].startswith(b"\x89PNG")
    assert b"<html" in heads[3].lower()


def test_html_needs_no_network(tmp_path):
    (file,) = save_chart(chart(), tmp_path / "c", ["html"])
    text = file.read_text(encoding="utf-8")
    assert "<script src=" not in text
    assert 'import("http' not in text


def test_same_chart_gives_the_same_bytes(tmp_path):
    first = save_chart(chart(), tmp_path / "a", ["svg", "png", "html"])
    second = save_chart(chart(), tmp_path / "b", ["svg", "png", "html"])
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_more_rows_than_altair_allows_by_default_are_drawn(tmp_path):
    (file,) = save_chart(chart(6_000), tmp_path / "many", ["svg"])
    assert file.stat().st_size > 100_000


def test_unknown_formats_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean 'svg'"):
        save_chart(chart(), tmp_path / "c", ["svgg"])
    with pytest.raises(InputError, match="no folder"):
        save_chart(chart(), tmp_path / "missing" / "c", ["svg"])
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_for_print_looks_the_same_without_tooltips(tmp_path):
    import altair as alt

    rows = from_rows([{"x": i, "y": i * i} for i in range(5)])
    marks = rows.mark_point().encode(x="x:Q", y="y:Q")
    with_tooltip = marks.encode(tooltip=[alt.Tooltip("y:Q", format=".3f")])
    for name, chart_of in {
        "layer": alt.layer,
        "hconcat": alt.hconcat,
        "vconcat": alt.vconcat,
    }.items():
        for told, unit in {"plain": marks, "told": with_tooltip}.items():
            specification = {**chart_of(unit, unit).to_dict(), "config": {"aria": False}}
            save_for_print(specification, tmp_path / f"{name}-{told}")
            assert ("tooltip" in str(specification)) == (told == "told")
        plain, told = ((tmp_path / f"{name}-{told}.svg").read_bytes() for told in ("plain", "told"))
        assert plain == told
    save_chart({**with_tooltip.to_dict(), "config": {"aria": False}}, tmp_path / "whole", ["svg"])
    save_for_print(with_tooltip.to_dict(), tmp_path / "print")
    assert (tmp_path / "whole.svg").read_bytes() == (tmp_path / "print.svg").read_bytes()
