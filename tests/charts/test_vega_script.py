"""The script of the charts: kept once made, made again where what was kept is not what it was."""

from __future__ import annotations

from paragone.charts.save import cache_folder, keep, read_kept, vega_bundle


def test_what_is_kept_comes_back_and_what_was_changed_does_not(tmp_path):
    file = tmp_path / "deep" / "a.js"
    assert read_kept(file) is None
    keep(file, "let x = 'é';\n")
    assert read_kept(file) == "let x = 'é';\n"
    assert [path.name for path in file.parent.iterdir()] == ["a.js"]
    file.write_bytes(file.read_bytes()[:-1])
    assert read_kept(file) is None


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    keep(tmp_path / "file" / "a.js", "text")
    assert read_kept(tmp_path / "file" / "a.js") is None


def test_the_script_is_the_same_made_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = vega_bundle.__wrapped__()
    (kept,) = cache_folder().iterdir()
    changed = kept.stat().st_mtime_ns
    assert vega_bundle.__wrapped__() == made
    assert kept.stat().st_mtime_ns == changed
    assert "vegaEmbed" in made
