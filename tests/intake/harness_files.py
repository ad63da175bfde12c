"""Folders as lm-evaluation-harness writes them, from its documented field names, and things that happen to them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {"arc_challenge": 1172, "mmlu_anatomy": 135, "mmlu_virology": 166}
"""The numbers of items that these tasks really have."""
TIME = "2026-03-01T10-00-00.123456"


def hashed(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()


def right(seed: int, n: int, share: float) -> np.ndarray:
    """Return whether a model was right on each of n items, some of which are harder than others."""
    hard = np.random.default_rng(99).normal(size=n)
    ability = np.random.default_rng(seed).normal(size=n) * 0.5 + share
    return (ability > hard).astype(float)


@dataclass
class Run:
    """One run of one model, and how it is logged.

    `values` are by task, then by metric or by ``metric,filter``.
    """

    model: str
    values: dict[str, dict[str, Any]]
    time: str = TIME
    shots: int = 0
    version: float = 1.0
    gen_kwargs: str | None = None
    limit: float | None = None
    model_args: str = "pretrained=x"
    revision: str = ""
    template: str = ""
    higher: dict[str, bool] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    schema: str = "new"

    def lines(self, task: str) -> list[dict[str, Any]]:
        """Return the samples of a task: all of one filter, then all of the next."""
        keys = list(self.values[task])
        filters = list(dict.fromkeys(key.partition(",")[2] or "none" for key in keys))
        found = []
        for name in filters:
            mine = {
                key.partition(",")[0]: self.values[task][key]
                for key in keys
                if (key.partition(",")[2] or "none") == name
            }
            for place in range(len(next(iter(mine.values())))):
                doc = {"question": f"{task} {place} {self.revision}", "text": "x" * 40}
                line: dict[str, Any] = {
                    "doc_id": place,
                    "doc": doc,
                    "target": "A",
                    "arguments": [["p", " A"]],
                }
                line |= {"resps": [[["-1.2", "False"]]], "filtered_resps": [["-1.2", "False"]]}
                if self.schema == "new":
                    line |= {"filter": name, "metrics": list(mine)}
                if self.schema in ("new", "middle"):
                    line |= {
                        "doc_hash": hashed(doc),
                        "prompt_hash": hashed((doc, self.shots, self.template)),
                    }
                    line |= {"target_hash": hashed("A")}
                found.append(
                    {**line, **{metric: plain(values[place]) for metric, values in mine.items()}}
                )
        return found

    def results(self) -> dict[str, Any]:
        """Return what the results file says."""
        scores: dict[str, Any] = {}
        for task, values in self.values.items():
            scores[task] = {"alias": task}
            for key, of in values.items():
                metric, _, name = key.partition(",")
                numbers = [plain(one) for one in of]
                mean = float(np.mean(numbers)) if not isinstance(numbers[0], list) else 0.5
                scores[task] |= {
                    f"{metric},{name or 'none'}": mean,
                    f"{metric}_stderr,{name or 'none'}": "N/A",
                }
        metrics = {
            task: {key.partition(",")[0] for key in values} for task, values in self.values.items()
        }
        for name in self.groups:
            scores[name] = {"acc,none": 0.5, "alias": name}
        return {
            "results": scores,
            "group_subtasks": {**{task: [] for task in self.values}, **self.groups},
            "configs": {task: {"task": task, "num_fewshot": self.shots} for task in self.values},
            "versions": dict.fromkeys(self.values, self.version),
            "n-shot": dict.fromkeys(self.values, self.shots),
            "higher_is_better": {
                t: {m: self.higher.get(m, True) for m in of} for t, of in metrics.items()
            },
            "n-samples": {
                t: {"original": 9999, "effective": len(next(iter(v.values())))}
                for t, v in self.values.items()
            },
            "config": {
                "model": "hf",
                "model_args": self.model_args,
                "limit": self.limit,
                "gen_kwargs": self.gen_kwargs,
            },
            "model_name": self.model,
            "chat_template_sha": hashed(self.template) if self.template else None,
        }

    def write(self, out: Path) -> Path:
        """Write the folder of a model and return it."""
        folder = out / self.model.replace("/", "__")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"results_{self.time}.json").write_text(json.dumps(self.results(), indent=2))
        for task in self.values:
            lines = self.lines(task)
            path = folder / f"samples_{task}_{self.time}.jsonl"
            if self.schema == "list":
                path.write_text(json.dumps(lines, indent=2))
            else:
                path.write_text(
                    "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
                )
        return folder

    def samples(self, out: Path, task: str) -> Path:
        """Return the path of the samples of a task."""
        return out / self.model.replace("/", "__") / f"samples_{task}_{self.time}.jsonl"


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def two_runs(sizes: dict[str, int] | None = None, **settings: Any) -> tuple[Run, Run]:
    """Return runs of a better and a worse model on the same tasks."""
    of = sizes or SIZES
    better = {task: {"acc": right(seed, n, 0.9)} for seed, (task, n) in enumerate(of.items())}
    worse = {task: {"acc": right(seed + 50, n, 0.5)} for seed, (task, n) in enumerate(of.items())}
    return Run("lab/better", better, **settings), Run("lab/worse", worse, **settings)
