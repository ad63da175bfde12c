"""The schema of experiment files against the files that are run, and against files that are refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from paragone.cli import app
from paragone.lab.file_schema import experiment_schema

ROOT = Path(__file__).parents[2]
SCHEMA = experiment_schema()
RUN = [*sorted((ROOT / "examples").glob("*.toml")), *sorted((ROOT / "src").rglob("demo.toml"))]
EXPERIMENTS = [path for path in RUN if "methods" in tomllib.loads(path.read_text(encoding="utf-8"))]
LEAST = 'name = "x"\ndata.sets = ["iris"]\nmethods.A = "sklearn.svm:SVC"\n'


def plain(text: str) -> object:
    """Return a file as the schema sees it: as JSON would hold it."""
    return json.loads(json.dumps(tomllib.loads(text), default=str))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.name)
def test_files_that_run_are_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "generations" in text or "[search]" in text:
        pytest.fail(f"{path} is no experiment")
    jsonschema.validate(plain(text), SCHEMA)


def test_there_are_files_that_run() -> None:
    assert len(EXPERIMENTS) >= 5


@pytest.mark.parametrize(
    "line",
    [
        'methods.B = { use = "variance", seeds = 0 }',
        "split.foldz = 3",
        'limits.seconds = "long"',
        "seed = -1",
        'protocol.kind = "crossvalidate"',
        'protocol = { kind = "crossval", k = 3 }',
        'data.task = "ranking"',
        'audit.acknowledge = [{ code = "101", reason = "x" }]',
    ],
)
def test_files_that_are_refused_are_not(line: str) -> None:
    jsonschema.validate(plain(LEAST), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain(LEAST + line + "\n"), SCHEMA)


def test_every_key_says_what_it_is() -> None:
    tables = [SCHEMA, *SCHEMA["$defs"].values(), *SCHEMA["properties"]["protocol"]["anyOf"]]
    silent = [
        key
        for table in tables
        for key, entry in table.get("properties", {}).items()
        if not entry.get("description")
    ]
    assert silent == []


def test_the_command_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    assert CliRunner().invoke(app, ["schema", "--out", str(file)]).exit_code == 0
    assert json.loads(file.read_text(encoding="utf-8")) == SCHEMA
    printed = CliRunner().invoke(app, ["schema"])
    assert json.loads(printed.stdout) == SCHEMA
