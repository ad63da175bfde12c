"""Stores, folders and tables of MLflow with the tables, files and columns that MLflow 3 writes."""

import sqlite3

import pandas as pd

SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), lifecycle_stage VARCHAR(32));
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9), start_time BIGINT,
                   lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE latest_metrics ("key" VARCHAR(250), value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,
                             run_uuid VARCHAR(32), PRIMARY KEY ("key", run_uuid));
CREATE TABLE params ("key" VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY ("key", run_uuid));
CREATE TABLE tags ("key" VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY ("key", run_uuid));
CREATE TABLE secrets (secret_id TEXT);
CREATE TRIGGER prevent_secrets_mutation BEFORE UPDATE ON secrets BEGIN SELECT RAISE(ABORT, 'immutable'); END;
"""
NUMBERS = {"RUNNING": 1, "SCHEDULED": 2, "FINISHED": 3, "FAILED": 4, "KILLED": 5}


def nested_runs():
    """Return runs of two models on five folds, with parents, a failed and a deleted run, and a metric per step."""
    runs = []
    for model, base in (("rf", 0.9), ("lr", 0.8)):
        parent = f"{model}-parent"
        runs.append(run(parent, {"model": model}, {"accuracy": [base]}))
        for fold in range(5):
            history = [base - 0.2, base - 0.1, base + 0.01 * fold + 0.002 * (model == "rf") * fold]
            params = {"model": model, "fold": str(fold), "lr": "0.1"}
            runs.append(run(f"{model}-{fold}", params, {"accuracy": history}, parent=parent))
    runs.append(run("broken", {"model": "rf", "fold": "1"}, {"accuracy": [0.1]}, status="FAILED"))
    runs.append(run("gone", {"model": "rf", "fold": "2"}, {"accuracy": [0.2]}, stage="deleted"))
    return runs


def run(
    name,
    params,
    metrics,
    *,
    parent=None,
    status="FINISHED",
    stage="active",
    experiment="bench",
    tags=None,
):
    """Return one run."""
    return {"run": name, "params": params, "metrics": metrics, "parent": parent, "status": status, "stage": stage,
            "experiment": experiment, "tags": tags or {}}  # fmt: skip


def tags_of(one):
    """Return the tags that MLflow itself sets, and the run's own."""
    found = {"mlflow.runName": f"wise-{one['run']}", **one["tags"]}
    return found | ({"mlflow.parentRunId": one["parent"]} if one["parent"] else {})


def write_store(path, runs):
    """Write mlflow.db."""
    store = sqlite3.connect(path)
    store.executescript(SCHEMA)
    names = list(dict.fromkeys(one["experiment"] for one in runs))
    store.executemany("INSERT INTO experiments VALUES (?, ?, 'active')", enumerate(names))
    for time, one in enumerate(runs):
        values = (
            one["run"],
            one["run"],
            one["status"],
            time,
            one["stage"],
            names.index(one["experiment"]),
        )
        store.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", values)
        for table, items in (("params", one["params"]), ("tags", tags_of(one))):
            rows = [(key, value, one["run"]) for key, value in items.items()]
            store.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
        for key, history in one["metrics"].items():
            last = (key, history[-1], time, len(history) - 1, 0, one["run"])
            store.execute("INSERT INTO latest_metrics VALUES (?, ?, ?, ?, ?, ?)", last)
    store.commit()
    store.close()
    return path


def write_folder(root, runs):
    """Write mlruns."""
    for number, name in enumerate(dict.fromkeys(one["experiment"] for one in runs)):
        place = root / str(number)
        place.mkdir(parents=True)
        (place / "meta.yaml").write_text(
            f"artifact_location: file:///x/{number}\ncreation_time: 1\nexperiment_id: '{number}'\n"
            f"lifecycle_stage: active\nname: {name}\n"
        )
        for one in (one for one in runs if one["experiment"] == name):
            home = place / one["run"]
            for kind in ("params", "tags", "metrics"):
                (home / kind).mkdir(parents=True)
            (home / "meta.yaml").write_text(
                f"lifecycle_stage: {one['stage']}\nrun_id: {one['run']}\nstatus:"
                f" {NUMBERS[one['status']]}\n"
            )
            for kind, items in (("params", one["params"]), ("tags", tags_of(one))):
                for key, value in items.items():
                    (home / kind / key).write_text(value)
            for key, history in one["metrics"].items():
                lines = [f"{1000 + step} {value} {step}\n" for step, value in enumerate(history)]
                (home / "metrics" / key).write_text("".join(lines))
    return root


def write_table(path, runs):
    """Write what search_runs returns, which leaves deleted runs out."""
    rows = []
    for one in runs:
        if one["stage"] == "deleted":
            continue
        row = {
            "run_id": one["run"],
            "experiment_id": 1,
            "status": one["status"],
            "artifact_uri": "x",
        }
        row |= {f"metrics.{key}": history[-1] for key, history in one["metrics"].items()}
        row |= {f"params.{key}": value for key, value in one["params"].items()}
        rows.append(row | {f"tags.{key}": value for key, value in tags_of(one).items()})
    pd.DataFrame(rows).to_csv(path, index=False)
    return path
