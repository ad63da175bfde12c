"""A first experiment file: written from a table, with comments, ready to run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paragone.data import Dataset
from paragone.data.frames import column_kinds
from paragone.data.offered import offered_datasets
from paragone.data.roles import Roles
from paragone.everyday.evaluation import usual_metrics
from paragone.everyday.usual import usual_methods
from paragone.methods.method import Method

WIDEST = 118


def experiment_file(path: Path, roles: Roles, folder: Path) -> tuple[str, Dataset]:
    """Return the text of an experiment file for a table, and the dataset that it stands for.

    Parameters
    ----------
    path : Path
        The table.
    roles : Roles
        What its columns are for, as far as the user says it.
    folder : Path
        Where the file will be: the path in it is relative to that.
    """
    (dataset,) = offered_datasets(path, roles)
    target = dataset.target_names[0]
    relative = os.path.relpath(path.resolve(), folder.resolve())
    named = {"target": target, "groups": roles.groups, "time": roles.time, "weight": roles.weight}
    lines = [
        f"# {path.name}: {dataset.n_samples} rows. What was seen in it:",
        *(f"#   {note}" for note in dataset.notes),
        (
            "# Run it with `paragone run`; run it again after any change: only what is missing is"
            " worked on."
        ),
        f"name = {_text(dataset.name)}",
        "seed = 0  # every random thing follows from it",
        "",
        "[data]",
        f"sets = [{_text(relative)}]  # more tables with the same target may stand here",
        *(f"{role} = {_text(column)}" for role, column in named.items() if column is not None),
        f'task = "{dataset.task}"',
        *([f"drop = {json.dumps(list(roles.drop), ensure_ascii=False)}"] if roles.drop else []),
        *_offers(dataset, roles),
        "",
        "[split]",
        *_split(dataset),
        "",
        "[protocol]",
        'kind = "predict"',
        (
            f"metrics = {json.dumps(list(usual_metrics([dataset])))}  # methods are ranked by the"
            " first"
        ),
        "",
        (
            "# A method is a class, `module:Class`, with its parameters; a pipeline has steps"
            " before it."
        ),
        "[methods]",
        *(
            f"{name} = {_method(Method.declare(given))}"
            for name, given in usual_methods(dataset.task).items()
        ),
    ]
    return "\n".join(lines) + "\n", dataset


def _offers(dataset: Dataset, roles: Roles) -> list[str]:
    """Name what could be said of columns and was not, commented out."""
    dates = (
        [name for name, kind in column_kinds(dataset.X).items() if kind == "date"]
        if dataset.is_table
        else []
    )
    offers = {
        "groups": (roles.groups, "subject", "rows of one group move together"),
        "time": (
            roles.time,
            dates[0] if dates else "date",
            "train on earlier rows, test on later ones",
        ),
        "weight": (roles.weight, "weight", "how much a row counts in fits"),
    }
    found = [
        f"# {role} = {_text(column)}  # {why}"
        for role, (said, column, why) in offers.items()
        if said is None
    ]
    return found if roles.drop else [*found, '# drop = ["id"]  # columns to leave out']


def _split(dataset: Dataset) -> list[str]:
    if dataset.time is not None:
        return ['kind = "time"', "folds = 5"]
    return ["folds = 5  # stratified by class; groups are kept together where there are any"]


def _method(method: Method) -> str:
    steps = method.params.get("steps")
    if isinstance(steps, list):
        *before, (_, model) = steps
        listed = ", ".join(_method(step) for _, step in before)
        return _inline({**_parts(model), "steps": f"[{listed}]"})
    parts = _parts(method)
    return parts["use"] if list(parts) == ["use"] else _inline(parts)


def _parts(method: Method) -> dict[str, str]:
    found = {"use": _text(_public(method))}
    if method.params:
        found["params"] = _inline(
            {name: json.dumps(value) for name, value in method.params.items()}
        )
    return found


def _public(method: Method) -> str:
    """Return where a class is imported from by people: scikit-learn's modules with an underscore are not it."""
    module, _, name = method.label.partition(":")
    return f"{module.partition('._')[0]}:{name}"


def _inline(parts: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {value}" for key, value in parts.items()) + " }"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
