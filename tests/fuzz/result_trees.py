"""Small trees of files as other programs leave results, one per format, for the readers of results to be spoiled."""

# ruff: noqa: E501  rows of files stand on one line each

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from paragone.intake import Asked, read_results

Tree = dict[str, bytes]
"""Contents by path; what stands in one folder at the top is a source of its own, and so is a file there."""


def _lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _csv(rows: list[dict[str, Any]]) -> bytes:
    return pd.DataFrame(rows).to_csv(index=False).encode()


def lm_eval() -> Tree:
    tree = {}
    for model in "ab":
        samples = [
            {
                "doc_id": i, "doc": {"q": "x"}, "target": "1", "arguments": [], "resps": [["1"]], "filtered_resps": ["1"],
                "doc_hash": f"d{i}", "prompt_hash": f"p{i}", "target_hash": "t", "filter": "none",
                "metrics": ["acc", "f1"], "acc": float((i + ord(model)) % 3 > 0), "f1": [1, 0],
            }
            for i in range(6)
        ]  # fmt: skip
        results = {
            "results": {"arc": {"alias": "arc", "acc,none": 4 / 6, "acc_stderr,none": 0.1}},
            "configs": {"arc": {}}, "versions": {"arc": 1.0}, "n-shot": {"arc": 0},
            "higher_is_better": {"arc": {"acc": True}}, "n-samples": {"arc": {"original": 6, "effective": 6}},
            "config": {"model_args": "x", "limit": None}, "model_name": model,
        }  # fmt: skip
        tree[f"{model}/samples_arc_2026-01-01T00-00-00.000000.jsonl"] = _lines(*samples)
        tree[f"{model}/results_2026-01-01T00-00-00.000000.json"] = _json(results)
    return tree


def _inspect(model: str) -> dict[str, Any]:
    scores = [
        {
            "id": i,
            "epoch": 1,
            "input": "x",
            "target": "D",
            "scores": {"choice": {"value": "CI"[(i + len(model)) % 2]}},
        }
        for i in range(5)
    ]
    made = {"model": model, "task": "arc", "dataset": {"samples": 5}, "config": {}}
    return {
        "version": 2,
        "status": "success",
        "eval": made,
        "plan": {},
        "results": {},
        "samples": scores,
    }


def inspect_json() -> Tree:
    return {f"{model}.json": _json(_inspect(model)) for model in ("m", "mm")}


def inspect_eval() -> Tree:
    tree = {}
    for model in ("m", "mm"):
        log, buffer = _inspect(model), io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", _json({k: v for k, v in log.items() if k != "samples"}))
            archive.writestr("summaries.json", _json(log["samples"]))
            for one in log["samples"]:
                archive.writestr(f"samples/{one['id']}_epoch_1.json", _json(one))
        tree[f"{model}.eval"] = buffer.getvalue()
    return tree


def helm() -> Tree:
    tree = {}
    for model in ("m1", "m2"):
        stats = [
            {
                "instance_id": f"id{i}", "train_trial_index": 0,
                "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": i % 2, "mean": float(i % 2)}],
            }
            for i in range(5)
        ]  # fmt: skip
        spec = {
            "name": f"mmlu:subject=x,model={model}",
            "adapter_spec": {"model": model, "max_train_instances": 5},
        }
        tree[f"{model}/run_spec.json"] = _json(spec)
        tree[f"{model}/per_instance_stats.json"] = _json(stats)
    return tree


def lighteval() -> Tree:
    tree = {}
    for model in ("m1", "m2"):
        rows = [
            {
                "doc": {"id": str(i), "query": "q"},
                "metric": {"acc": float(i % 2)},
                "model_response": {"text": ["x"]},
            }
            for i in range(5)
        ]
        buffer = io.BytesIO()
        pd.DataFrame(rows).to_parquet(buffer)
        tree[f"{model}/details_arc|0_2026-01-01T00-00-00.000000.parquet"] = buffer.getvalue()
    return tree


def mteb() -> Tree:
    return {
        f"org__{model}/rev/{task}.json": _json(
            {
                "task_name": task, "mteb_version": "2", "dataset_revision": "r",
                "scores": {"test": [{"hf_subset": "default", "languages": ["eng"], "main_score": 0.5 + len(model) / 10}]},
            }
        )
        for model in ("m", "mm")
        for task in ("A", "B", "C")
    }  # fmt: skip


def automlbenchmark() -> Tree:
    rows = [
        {
            "id": f"t/{task}", "task": f"t{task}", "framework": name, "constraint": "1h", "fold": fold, "type": "binary",
            "result": 0.5 + task / 10 + fold / 100, "metric": "auc", "mode": "local", "version": "1", "params": "",
            "utc": "", "duration": 1.0, "seed": 1, "info": "", "auc": 0.5 + task / 10 + fold / 100,
        }
        for name in ("x", "y")
        for task in range(3)
        for fold in range(2)
    ]  # fmt: skip
    return {"results.csv": _csv(rows)}


def tabarena() -> Tree:
    rows = [
        {"dataset": f"d{d}", "fold": f, "framework": m, "metric": "rmse", "metric_error": d + f / 9, "problem_type": "regression"}
        for d in range(3) for f in range(2) for m in "xy"
    ]  # fmt: skip
    return {"results.csv": _csv(rows)}


def tabzilla() -> Tree:
    rows = [
        {
            "dataset_fold_id": f"d{d}__fold_{f}", "alg_name": m, "trial_number": t,
            "Accuracy__test": 0.5 + t / 10, "Accuracy__val": 0.5 + d / 10, "Log Loss__test": 0.4, "Log Loss__val": 0.5,
        }
        for d in range(3) for f in range(2) for m in "xy" for t in range(2)
    ]  # fmt: skip
    return {"metadataset.csv": _csv(rows)}


def runs() -> Tree:
    return {
        f"{name}/fold_{fold}/results.json": _json({"test_acc": 0.5 + fold / 10, "epochs": 3})
        for name in ("ours", "theirs")
        for fold in range(4)
    }


def epochs() -> Tree:
    text = b"epoch,step,val_loss,test_acc\n0,1,0.5,0.6\n1,2,0.4,0.7\n"
    return {
        f"{name}/subject{number}/metrics.csv": text
        for name in ("ours", "theirs")
        for number in range(4)
    }


def cross_validate() -> Tree:
    return {
        f"{name}.json": _json(
            {
                "fit_time": [0.1] * 5,
                "score_time": [0.1] * 5,
                "test_accuracy": [0.5, 0.6, 0.7, 0.8, 0.9],
            }
        )
        for name in ("lr", "rf")
    }


def search() -> Tree:
    rows = [
        {
            "": place, "mean_fit_time": 0.1, "std_fit_time": 0.0, "mean_score_time": 0.1, "std_score_time": 0.0, "params": f"{{'C': {place}}}", "param_C": place, "split0_test_score": 0.5, "split1_test_score": 0.6,
            "split2_test_score": 0.6 + place / 10, "mean_test_score": 0.55, "std_test_score": 0.05, "rank_test_score": 1,
        }
        for place in range(3)
    ]  # fmt: skip
    return {"cv_results.csv": _csv(rows)}


def openml() -> Tree:
    rows = [
        {
            "run_id": r, "task_id": r % 3, "setup_id": r // 3, "flow_id": 1, "flow_name": "f", "data_id": r % 3,
            "data_name": f"d{r % 3}", "function": "predictive_accuracy", "value": 0.5 + r / 100,
            "values": "[0.5, 0.6]", "upload_time": "", "uploader": 1,
        }
        for r in range(6)
    ]  # fmt: skip
    return {"evaluations.csv": _csv(rows)}


def openml_predictions() -> Tree:
    head = (
        "@relation p\n@attribute repeat numeric\n@attribute fold numeric\n@attribute sample"
        " numeric\n@attribute row_id numeric\n@attribute prediction {a,b}\n@attribute correct"
        " {a,b}\n@attribute confidence.a numeric\n@attribute confidence.b numeric\n@data\n"
    )
    rows = "".join(f"0,{i % 2},0,{i},{'ab'[i % 2]},{'ab'[i % 3 > 0]},0.5,0.5\n" for i in range(6))
    return {f"{name}/predictions.arff": (head + rows).encode() for name in ("x", "y")}


def _mlflow_rows() -> list[dict[str, Any]]:
    return [
        {
            "run_id": f"r{d}{m}", "experiment_id": "1", "status": "FINISHED", "artifact_uri": "", "start_time": "",
            "end_time": "", "metrics.accuracy": 0.5 + d / 10, "params.model": m, "params.dataset": f"d{d}",
            "tags.mlflow.runName": f"{m}{d}",
        }
        for d in range(3) for m in "xy"
    ]  # fmt: skip


def mlflow_csv() -> Tree:
    return {"runs.csv": _csv(_mlflow_rows())}


def mlruns() -> Tree:
    tree = {
        "mlruns/1/meta.yaml": (
            b"artifact_location: x\nexperiment_id: '1'\nname: e\nlifecycle_stage: active\n"
        )
    }
    for row in _mlflow_rows():
        base = f"mlruns/1/{row['run_id']}"
        tree[f"{base}/meta.yaml"] = (
            f"run_id: {row['run_id']}\nstatus: 3\nlifecycle_stage: active\n".encode()
        )
        tree[f"{base}/params/model"] = row["params.model"].encode()
        tree[f"{base}/params/dataset"] = row["params.dataset"].encode()
        tree[f"{base}/metrics/accuracy"] = f"1 {row['metrics.accuracy']} 0\n".encode()
    return tree


def mlflow_db() -> Tree:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mlflow.db"
        database = sqlite3.connect(path)
        database.executescript(
            "create table runs (run_uuid text, name text, status text, lifecycle_stage text,"
            " experiment_id int,start_time int, end_time int, artifact_uri text);create table"
            " latest_metrics (key text, value real, timestamp int, step int, is_nan int, run_uuid"
            " text);create table params (key text, value text, run_uuid text);create table tags"
            " (key text, value text, run_uuid text);create table experiments (experiment_id int,"
            " name text, lifecycle_stage text);"
        )
        database.execute("insert into experiments values (1, 'e', 'active')")
        for row in _mlflow_rows():
            key = row["run_id"]
            database.execute(
                "insert into runs values (?, ?, 'FINISHED', 'active', 1, 0, 1, '')", (key, key)
            )
            database.execute(
                "insert into latest_metrics values ('accuracy', ?, 0, 0, 0, ?)",
                (row["metrics.accuracy"], key),
            )
            for name in ("model", "dataset"):
                database.execute(
                    "insert into params values (?, ?, ?)", (name, row[f"params.{name}"], key)
                )
        database.commit()
        database.close()
        return {"mlflow.db": path.read_bytes()}


def wandb() -> Tree:
    rows = [
        {"Name": f"{m}{d}", "State": "finished", "Group": "", "Sweep": "", "model": m, "dataset": f"d{d}", "accuracy": 0.5 + d / 9}
        for d in range(3) for m in "xy"
    ]  # fmt: skip
    return {"export.csv": _csv(rows)}


def tables() -> Tree:
    frame = pd.DataFrame(
        {"question": range(6), "accuracy": [1, 0, 1, 1, 0, 1], "topic": list("aabbcc")}
    )
    return {
        "a.csv": frame.to_csv(index=False).encode(),
        "b.csv": frame.to_csv(index=False, sep=";").encode(),
    }


TREES: dict[str, Callable[[], Tree]] = {
    make.__name__: make
    for make in (
        lm_eval, inspect_json, inspect_eval, helm, lighteval, mteb, automlbenchmark, tabarena, tabzilla, runs, epochs,
        cross_validate, search, openml, openml_predictions, mlflow_csv, mlruns, mlflow_db, wandb, tables,
    )
}  # fmt: skip


@cache
def tree_of(name: str) -> Tree:
    """Return the tree of a format, made once."""
    return TREES[name]()


def write_tree(tree: Tree, folder: Path) -> list[Path]:
    """Write a tree into a folder and return its sources."""
    for place, content in tree.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [folder / name for name in dict.fromkeys(place.split("/")[0] for place in tree)]


METRICS = {"tabzilla": "Accuracy"}
"""What is asked for where a format must know it before it reads."""


def read_tree(name: str, sources: list[Path]) -> None:
    """Read the sources of a tree and compare by whatever metric they have, as `paragone compare` would."""
    found = read_results(*sources, asked=Asked(metric=METRICS.get(name), row="last"))
    found.table()
    chosen = found.choose_metric(METRICS.get(name) or next(iter(found.metrics), None))
    higher = found.metrics[chosen]
    found.compare(chosen, higher_is_better=True if higher is None else higher, **_quick(found.unit))


def _quick(unit: str) -> dict[str, Any]:
    return {} if unit == "item" else {"bayes": False}
