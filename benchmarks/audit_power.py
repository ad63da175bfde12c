"""Simulate what the audit finds: false alarms on the clean zoo and on honest methods, plants found, and power.

``python benchmarks/audit_power.py`` goes on where it was and writes ``docs/evidence/audit.md`` from what
there is: ``--minutes 8`` stops it after a while, names of parts run those alone, and ``--fresh``
forgets what was made. Results are kept under ``build/audit``, one line each, with the sources that
made them: lines of other sources are made again. Seeds are fixed. Plants and zoo are those of
``tests/checks``: a plant registered there stands in the tables.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "checks"))

from clean_zoo import CLEAN, FAMILIES, clean_material, family
from planted_leaks import DataPlant, all_plants, codes_found, findings_of

from audit_methods import ROWS, SHARES, honest_trial, knowing_found
from audit_page import CODES_MARK, Made, codes_table, page
from paragone.checks.procedure import data_checks

ROOT = Path(__file__).resolve().parents[1]
CHECKS, TESTS = ROOT / "src" / "paragone" / "checks", ROOT / "tests" / "checks"
KEPT, PAGE = ROOT / "build" / "audit", ROOT / "docs" / "evidence" / "audit.md"
FOUND_SEEDS, POWER_SEEDS, HONEST, KNOWING = 20, 10, 1000, 40
CLEAN_SEEDS = 300
"""Datasets of every clean kind: without an error among 300 the upper limit of its share is 1 %."""
WORDS = ("finding", "words", "procedure")
"""Modules of the checks that hold words or call others: what is found does not depend on them."""

Work = tuple[tuple[Any, ...], Callable[[], Any]]


def of_clean() -> Iterator[Work]:
    for seed in range(CLEAN_SEEDS):
        for name in CLEAN:
            yield (
                (name, seed),
                lambda name=name, seed=seed: sorted(
                    {one.code for one in findings_of(clean_material(name, seed))}
                ),
            )


def of_data(kind: str) -> Iterator[Work]:
    plants = [
        one for one in all_plants().values() if one.kind == kind and isinstance(one, DataPlant)
    ]

    def found(one: DataPlant, seed: int, n: int, amount: float) -> bool:
        return bool(codes_found(one.material(seed, n=n, amount=amount)) & set(one.codes))

    for seed in range(FOUND_SEEDS):
        for one in plants:
            cells = {(one.n, one.amount)}
            if seed < POWER_SEEDS and kind != "missed":
                cells |= {
                    (n, amount)
                    for n in one.rows or (one.n,)
                    for amount in one.sizes or (one.amount,)
                }
            for n, amount in sorted(cells):
                yield (
                    (one.name, seed, n, amount),
                    lambda one=one, seed=seed, n=n, amount=amount: found(one, seed, n, amount),
                )


def of_methods() -> Iterator[Work]:
    for one in all_plants().values():
        if not isinstance(one, DataPlant):
            yield (one.name, 0), lambda one=one: sorted(one.find(0))


def of_honest() -> Iterator[Work]:
    for seed in range(HONEST):
        yield (seed,), lambda seed=seed: honest_trial(seed)


def of_knowing() -> Iterator[Work]:
    for seed in range(KNOWING):
        for share in SHARES:
            for n in ROWS:
                yield (
                    (share, n, seed),
                    lambda share=share, n=n, seed=seed: knowing_found(share, n, seed),
                )


PARTS: dict[str, Callable[[], Iterator[Work]]] = {
    "clean": of_clean,
    "rows": lambda: of_data("rows"),
    "columns": lambda: of_data("columns"),
    "missed": lambda: of_data("missed"),
    "methods": of_methods,
    "honest": of_honest,
    "knowing": of_knowing,
}
MAKERS = {
    "clean": ("clean_zoo", "clean_zoo_odd"),
    "rows": ("plants",),
    "columns": ("plants",),
    "missed": ("plants",),
    "methods": ("plants", "method_lab"),
    "honest": (),
    "knowing": (),
}
"""The modules that make the data of a part, or its methods."""


def sources(part: str) -> str:
    """Hash the modules of the checks that a part goes through, and those that make its data."""
    if part in ("methods", "honest", "knowing"):
        begin = {"canary"}
    else:
        checks = data_checks(clean_material(next(iter(CLEAN)), 0))
        begin = {one.function.__module__.rpartition(".")[2] for one in checks}
    known, new = set[str](), begin
    while new:
        known |= new
        texts = [(CHECKS / f"{name}.py").read_text() for name in new]
        new = {
            name for text in texts for name in re.findall(r"paragone\.checks\.(\w+) import", text)
        } - known
    files = [CHECKS / f"{name}.py" for name in known - set(WORDS)] + [
        TESTS / f"{name}.py" for name in MAKERS[part]
    ]
    files += [Path(__file__).with_name("audit_methods.py")] if part in ("honest", "knowing") else []
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:16]


def made(part: str) -> dict[tuple[Any, ...], Any]:
    """Read what is kept of a part, made by the sources as they stand now."""
    path, mark = KEPT / f"{part}.jsonl", sources(part)
    if not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {tuple(line["key"]): line["value"] for line in lines if line["sources"] == mark}


def run(part: str, end: float) -> int:
    """Work on a part until it is done or it is late, and return how many results were added."""
    done, mark, added = made(part), sources(part), 0
    with (KEPT / f"{part}.jsonl").open("a", encoding="utf-8") as kept:
        for key, work in PARTS[part]():
            if time.monotonic() > end:
                break
            if key not in done:
                kept.write(json.dumps({"sources": mark, "key": list(key), "value": work()}) + "\n")
                added += 1
    return added


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    for part in options.parts or PARTS:
        if options.fresh:
            (KEPT / f"{part}.jsonl").unlink(missing_ok=True)
        print(part, run(part, end), "added", flush=True)
    plants = all_plants()
    families = {name: family(name) for name in FAMILIES}
    PAGE.write_text(
        page(Made({part: made(part) for part in PARTS}, CLEAN, families, plants)), encoding="utf-8"
    )
    howto = ROOT / "docs" / "howto-audit.md"
    before, mark, _ = howto.read_text(encoding="utf-8").partition(CODES_MARK)
    howto.write_text(before + mark + codes_table(), encoding="utf-8")


if __name__ == "__main__":
    main()
