"""Logs as inspect_ai writes them, from its documented field names: one file, archives of both packings, a journal."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard


@dataclass
class Log:
    """A log of one model on one task; `grades` are by id, one per epoch."""

    model: str
    grades: dict[Any, list[Any]]
    task: str = "inspect_evals/gpqa_diamond"
    scorer: str = "choice"
    status: str = "success"
    errors: tuple[Any, ...] = ()
    target: str = "A"
    accuracy: bool = True
    about: dict[str, Any] = field(default_factory=dict)

    def header(self) -> dict[str, Any]:
        epochs = max(map(len, self.grades.values()))
        return {
            "version": 2,
            "status": self.status,
            "eval": {
                "run_id": "r",
                "created": "2026-03-01T10:00:00+00:00",
                "task": self.task,
                "task_version": 0,
                "task_args": {},
                "solver": "multiple_choice",
                "dataset": {
                    "name": "gpqa",
                    "samples": 198,
                    "sample_ids": list(self.grades),
                    "shuffled": False,
                },
                "model": self.model,
                "config": {"epochs": epochs, "epochs_reducer": ["mean"], "limit": None},
                **self.about,
            },
            "plan": {"steps": []},
            "results": {
                "scores": [
                    {
                        "name": self.scorer,
                        "metrics": {"accuracy" if self.accuracy else "mean": {"value": 0.5}},
                    }
                ]
            },
        }

    def samples(self) -> list[dict[str, Any]]:
        found = []
        for name, grades in self.grades.items():
            for epoch, grade in enumerate(grades, start=1):
                sample: dict[str, Any] = {
                    "id": name,
                    "epoch": epoch,
                    "input": f"Question  {name}?\n",
                    "target": self.target,
                }
                if (name, epoch) in self.errors:
                    sample |= {"scores": None, "error": {"message": "timeout", "traceback": "..."}}
                else:
                    sample |= {
                        "scores": {
                            self.scorer: {"value": grade, "answer": "A", "explanation": "long"}
                        }
                    }
                found.append(sample)
        return found

    def write_json(self, path: Path) -> Path:
        whole = [
            {**one, "messages": [{"role": "user", "content": "x" * 50}], "events": []}
            for one in self.samples()
        ]
        path.write_text(json.dumps({**self.header(), "samples": whole, "reductions": []}))
        return path

    def members(self, *, finished: bool = True, summaries: bool = True) -> dict[str, bytes]:
        """Return the members of an archive."""
        head, samples = self.header(), self.samples()
        # A summary keeps no answers, writes an error as a text, and has single blanks.
        short = [{**one, "input": " ".join(one["input"].split())} for one in samples]
        short = [
            {**one, "error": one["error"]["message"]} if one.get("error") else one for one in short
        ]
        if not finished:
            start = {"version": 2, "eval": head["eval"], "plan": head["plan"]}
            half = len(short) // 2
            parts = {"_journal/start.json": start, "_journal/summaries/2.json": short[half:]}
            return {
                k: json.dumps(v).encode()
                for k, v in {**parts, "_journal/summaries/1.json": short[:half]}.items()
            }
        parts = {
            f"samples/{one['id']}_epoch_{one['epoch']}.json": {**one, "messages": []}
            for one in samples
        }
        parts |= {"header.json": head, "reductions.json": []}
        if summaries:
            parts["summaries.json"] = short
        return {name: json.dumps(value).encode() for name, value in parts.items()}

    def write_eval(self, path: Path, *, packing: str = "deflate", **how: bool) -> Path:
        members = self.members(**how)
        if packing == "zstandard":
            path.write_bytes(zstandard_archive(members))
            return path
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path


def zstandard_archive(members: dict[str, bytes]) -> bytes:
    """Return a zip archive whose members are packed by method 93, which `zipfile` writes from Python 3.14 on only."""
    body, directory = b"", b""
    for name, content in members.items():
        packed, called = zstandard.ZstdCompressor().compress(content), name.encode()
        sizes = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
        begin = struct.pack("<HHHHH", 63, 0, 93, 0, 33)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + begin + sizes
        directory += struct.pack("<HHHHHII", len(called), 0, 0, 0, 0, 0, len(body)) + called
        body += b"PK\x03\x04" + begin + sizes + struct.pack("<HH", len(called), 0) + called + packed
    n = len(members)
    return (
        body
        + directory
        + b"PK\x05\x06"
        + struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(body), 0)
    )
