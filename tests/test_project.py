"""The files of the project itself: one version, a workflow that covers what is promised, templates that parse."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

import paragone

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SYSTEMS = ["ubuntu-latest", "macos-latest", "windows-latest"]


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return read_yaml(".github/workflows/tests.yml")


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!; ]", text, maxsplit=1)[0].lower() for text in requirements}


def test_the_version_stands_in_one_place(project):
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    home = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.+)"$', home.read_text(encoding="utf-8"), re.M) == [
        paragone.__version__
    ]


def test_the_citation_is_of_this_version_and_licence(project):
    citation = read_yaml("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)  # what the format requires
    assert citation["version"] == paragone.__version__
    assert citation["license"] == project["project"]["license"]
    assert citation["keywords"] == project["project"]["keywords"]


def test_the_changelog_begins_with_this_version():
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert versions[0] == paragone.__version__
    assert len(versions) == len(set(versions))


def test_the_workflow_covers_every_python_system_and_both_ends_of_the_libraries(workflow, project):
    matrix = workflow["jobs"]["fast"]["strategy"]["matrix"]
    assert sorted(product(matrix["os"], matrix["python"])) == sorted(product(SYSTEMS, PYTHONS))
    assert matrix["libraries"] == ["newest"]
    oldest = [
        (one["os"], one["python"]) for one in matrix["include"] if one["libraries"] == "oldest"
    ]
    assert sorted(oldest) == sorted((system, PYTHONS[0]) for system in SYSTEMS)
    assert project["project"]["requires-python"] == f">={PYTHONS[0]}"
    named = [c.rpartition(" ")[2] for c in project["project"]["classifiers"] if "Python :: 3." in c]
    assert named == PYTHONS


def test_the_workflow_installs_every_extra(workflow, project):
    extras = workflow["env"]["EXTRAS"].split(",")
    assert sorted(extras) == sorted(project["project"]["optional-dependencies"])


def test_the_workflow_runs_on_every_push_and_pull_request_and_may_only_read(workflow):
    # YAML 1.1 reads the key `on` as true.
    assert {"push", "pull_request"} <= set(workflow[True])
    assert workflow["permissions"] == {"contents": "read"}


def test_every_make_target_and_script_that_a_workflow_calls_exists(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    pages = [
        (ROOT / page).read_text(encoding="utf-8") for page in ("CONTRIBUTING.md", "RELEASING.md")
    ]
    targets = re.findall(r"^make ([\w-]+)", "\n".join(called), re.M) + re.findall(
        r"`make ([\w-]+)`", "\n".join(pages)
    )
    assert "coverage" in targets
    assert set(targets) - set(re.findall(r"^([\w-]+):", makefile, re.M)) == set()
    assert (ROOT / ".ci" / "run").is_file()


def test_hooks_run_what_the_development_environment_has(project):
    hooks = [
        hook for repo in read_yaml(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]
    ]
    programs = {hook["entry"].split()[0] for hook in hooks}
    assert programs == {"ruff", "lint-imports", "mypy"}
    assert {hook["language"] for hook in hooks} == {"system"}
    installed = requirement_names(project["project"]["optional-dependencies"]["dev"])
    assert {"ruff", "import-linter", "mypy", "pre-commit", "coverage", "pyyaml"} <= installed


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda f: f.stem
)
def test_an_issue_form_asks_named_questions(form):
    content = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert content["name"]
    assert content["description"]
    names = [question["id"] for question in content["body"]]
    assert len(names) == len(set(names)) > 0
    assert all(question["attributes"]["label"] for question in content["body"])
    assert any(question.get("validations", {}).get("required") for question in content["body"])


@pytest.mark.parametrize(
    "page",
    [
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "RELEASING.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
    ],
)
def test_a_page_of_the_project_links_to_files_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.strip()
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / page).parent.joinpath(link).is_file(), link
    for named in re.findall(r"`((?:docs|src|tests|\.ci)/[\w./-]+|[A-Z]+\.(?:md|cff))`", text):
        assert (ROOT / named).exists(), named


def test_the_conda_recipe_asks_for_what_the_project_asks_for(project):
    recipe = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    asked = {line.strip("- ").replace(" ", "") for line in run.strip().splitlines()}
    assert asked == {
        *project["project"]["dependencies"],
        f"python{project['project']['requires-python']}",
    }
    assert f'"{paragone.__version__}"' in recipe
