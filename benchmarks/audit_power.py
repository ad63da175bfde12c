"""Simulate what the audit finds: false alarms on the clean zoo, plants found at their size, and power around it.

``python benchmarks/audit_power.py`` runs everything and writes ``docs/audit.md``; names of parts (clean, rows, columns,
methods, reports) run those only and keep the rest from ``build/audit``. Seeds are fixed. Plants and zoo are those of
``tests/checks``: a plant registered there stands in the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "checks"))

from clean_zoo import CLEAN, clean_material
from planted_leaks import DataPlant, Plant, all_plants, codes_found, findings_of

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "build" / "audit", ROOT / "docs" / "audit.md"
PARTS = ("clean", "rows", "columns", "methods", "reports")
SLOWEST_SEEDS = 1


def of_clean(seeds: int) -> list[dict]:
    rows = []
    for name, kind in CLEAN.items():
        seen = {"error": Counter(), "warning": Counter()}
        for seed in range(seeds):
            for code, severity in {(one.code, one.severity) for one in findings_of(clean_material(name, seed))}:
                if severity in seen:
                    seen[severity][code] += 1
        rows.append({"name": name, "discrete": kind.discrete, "seeds": seeds, **{k: dict(v) for k, v in seen.items()}})
    return rows


def of_plants(kind: str, seeds: int) -> list[dict]:
    return [of_plant(one, seeds) for one in all_plants().values() if one.kind == kind]


def of_plant(one: Plant, seeds: int) -> dict:
    is_data = isinstance(one, DataPlant)
    runs = seeds if is_data else SLOWEST_SEEDS
    found = sum(one.found(seed) for seed in range(runs))
    how = " ".join(one.how.split())
    row = {"name": one.name, "how": how, "size": one.size, "codes": list(one.codes), "found": found, "runs": runs}
    if is_data:
        sizes = [one.n // 2, one.n, 2 * one.n]
        row["rows"] = sizes
        row["power"] = [
            sum(bool(codes_found(one.material(seed, n=n)) & set(one.codes)) for seed in range(seeds)) / seeds
            for n in sizes
        ]
    return row


def interval(found: int, runs: int) -> str:
    low, high = binomtest(found, runs).proportion_ci(method="exact") if runs else (0.0, 1.0)
    return f"{low:.2%} to {high:.2%}"


def page(kept: dict[str, list[dict]]) -> str:
    lines = [
        "# What the audit finds, and how often it is wrong",
        "",
        "Made by `python benchmarks/audit_power.py`, with fixed seeds, from the clean zoo and the register of plants "
        "that the tests use too (`tests/checks`). [How the checks work](howto-audit.md) says what each goes by.",
        "",
        "The law: a false alarm at level *error* at most once in a hundred clean datasets of any kind, and every "
        "plant found at its stated size.",
    ]
    clean = kept.get("clean", [])
    if clean:
        lines += _clean_lines(clean)
    for kind in PARTS[1:]:
        if kept.get(kind):
            lines += _plant_lines(kind, kept[kind])
    return "\n".join(lines) + "\n"


def _clean_lines(clean: list[dict]) -> list[str]:
    lines = ["", "## The clean zoo", ""]
    for title, rows in (("all kinds", clean), ("discrete kinds", [row for row in clean if row["discrete"]])):
        runs, wrong = sum(row["seeds"] for row in rows), sum(max(row["error"].values(), default=0) for row in rows)
        warned = sum(max(row["warning"].values(), default=0) for row in rows)
        lines.append(
            f"- {title}: {len(rows)} kinds, {runs} datasets, {wrong} with a false error (95 % interval "
            f"{interval(wrong, runs)}), {warned} with the most frequent warning of their kind"
        )
    lines += ["", "| kind | discrete | datasets | errors | warnings |", "|:--|:--|--:|:--|:--|"]
    for row in clean:
        told = (", ".join(f"{code}: {count}" for code, count in sorted(row[k].items())) for k in ("error", "warning"))
        lines.append(f"| {row['name']} | {'yes' if row['discrete'] else ''} | {row['seeds']} | {' | '.join(told)} |")
    lines += [
        "",
        "Warnings on clean data may say what is so: a class that one column sets apart (PG106), a file sorted by a "
        "feature (PG109).",
    ]
    return lines


def _plant_lines(kind: str, plants: list[dict]) -> list[str]:
    title = {"rows": "rows", "columns": "columns", "methods": "methods", "reports": "reports"}[kind]
    lines = ["", f"## Plants in {title}", "", "| plant | how | size | code | found |", "|:--|:--|:--|:--|--:|"]
    for row in plants:
        codes = " or ".join(row["codes"])
        lines.append(f"| {row['name']} | {row['how']} | {row['size']} | {codes} | {row['found']} of {row['runs']} |")
    powered = [row for row in plants if "power" in row]
    if powered:
        lines += ["", "Power: the share found with half as many rows, as many, and twice as many, the size kept.", ""]
        lines += ["| plant | size | half | stated n | double |", "|:--|:--|--:|--:|--:|"]
        for row in powered:
            cells = (f"{share:.2f} (n = {n})" for share, n in zip(row["power"], row["rows"], strict=True))
            lines.append(f"| {row['name']} | {row['size']} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for part in options.parts or PARTS:
        found = of_clean(options.seeds) if part == "clean" else of_plants(part, options.seeds)
        (KEPT / f"{part}.json").write_text(json.dumps(found), encoding="utf-8")
        print(part, len(found))
    kept = {part: json.loads(path.read_text()) for part in PARTS if (path := KEPT / f"{part}.json").exists()}
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
