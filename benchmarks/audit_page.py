"""The page ``docs/evidence/audit.md``: tables of what `audit_power` simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.stats import beta

from paragone.checks import all_codes

Key = tuple[Any, ...]
LOOKED = {
    "PG110": "canary",
    "PG141": "inverted canary",
    "PG144": "state",
    "PG143": "held-out rows",
    "PG142": "held-out rows",
    "PG201": "canary",
}
"""How the name of the check begins that gives a code about methods."""
OF_METHODS = (*LOOKED, "PG111", "PG112", "PG145")


CODES_MARK = "<!-- made of the registry by benchmarks/audit_power.py -->\n"
"""What stands above the table of codes in ``docs/howto-audit.md``, which it ends with."""


def codes_table() -> str:
    """Return every code with what it means and what to do, as Markdown."""
    rows = [
        f"| {one.code} | {one.severity} | {one.title} | {one.advice} |"
        for one in all_codes().values()
    ]
    levels = (
        "`error`: a number cannot be trusted. `warning`: it may be too good. `note`: worth knowing;"
        " it asks for no answer, is never open and does not\nmake the exit code 1."
    )
    head = ["| code | severity | what | what to do |", "|---|---|---|---|"]
    return "\n".join([levels, "", *head, *rows]) + "\n"


@dataclass(frozen=True)
class Made:
    """What was simulated: results by part and key, the clean kinds, the families of them, and the plants."""

    parts: Mapping[str, Mapping[Key, Any]]
    clean: Mapping[str, Any]
    families: Mapping[str, list[str]]
    plants: Mapping[str, Any]


def upper(found: int, runs: int) -> float:
    """Return the exact upper limit of a share, 95 % one-sided (Clopper and Pearson)."""
    return 1.0 if found >= runs else float(beta.ppf(0.95, found + 1, runs - found))


def percent(share: float) -> str:
    return f"{share:.2%}" if share < 0.1 else f"{share:.0%}"


def table(headings: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """Lay a table out; headings that end in a bar are numbers."""
    headings = list(headings)
    marks = ["--:" if name.endswith("|") else ":--" for name in headings]
    lines = [
        "| " + " | ".join(name.rstrip("|") for name in headings) + " |",
        "|" + "|".join(marks) + "|",
    ]
    return ["", *lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def page(made: Made) -> str:
    lines = [
        "# What the audit finds, and how often it is wrong",
        "",
        (
            "Made by `python benchmarks/audit_power.py`, with fixed seeds, from the clean zoo and"
            " the register of plants that the tests use too (`tests/checks`). [How the checks"
            " decide](../explanation-audit.md) says what each goes by. Upper limits are exact, 95 % one-sided."
        ),
        "",
        (
            "The law: a false alarm at level *error* at most once in a hundred clean datasets of"
            " any kind, and every plant found at its stated size."
        ),
        "",
    ]
    for part in (_law, _by_code, _honest, _found, _power, _knowing, _missed, _kinds):
        lines += part(made)
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip() + "\n"


def _errors(codes: Iterable[str]) -> list[str]:
    return [code for code in codes if all_codes()[code].severity == "error"]


def _clean_counts(made: Made) -> dict[str, tuple[int, Counter[str], int]]:
    """Count by kind: datasets, findings by code, and datasets with an error."""
    found: dict[str, tuple[int, Counter[str], int]] = {}
    for (name, _), codes in made.parts["clean"].items():
        runs, counts, wrong = found.get(name, (0, Counter(), 0))
        found[name] = (runs + 1, counts + Counter(codes), wrong + bool(_errors(codes)))
    return found


def _law(made: Made) -> list[str]:
    counts = _clean_counts(made)
    lines = ["## The law in short", ""]
    groups = {
        "**all kinds**": list(counts),
        "discrete kinds": [name for name in counts if made.clean[name].discrete],
        **{
            title: [name for name in names if name in counts]
            for title, names in made.families.items()
        },
    }
    rows = []
    for title, names in groups.items():
        runs, wrong = sum(counts[name][0] for name in names), sum(counts[name][2] for name in names)
        worst = max((upper(counts[name][2], counts[name][0]) for name in names), default=1.0)
        rows.append(
            [title, len(names), f"{runs:,}", wrong, percent(upper(wrong, runs)), percent(worst)]
        )
    headings = [
        "clean data",
        "kinds|",
        "datasets|",
        "with an error|",
        "upper limit|",
        "upper limit of the worst kind|",
    ]
    lines += table(headings, rows)
    plants = Counter(one.kind for one in made.plants.values())
    found = list(_plant_rows(made))
    whole = sum(row["found"] == row["runs"] > 0 for row in found)
    return [
        *lines,
        (
            f"Of {plants.total() - plants['missed']} plants ({plants['rows']} in rows,"
            f" {plants['columns']} in columns, {plants['methods']} in methods, {plants['reports']}"
            f" in reports), {whole} were found every time at their stated size,"
            f" {sum(row['found'] < row['runs'] for row in found)} not every"
            f" time{_not_always(found)}. {plants['missed']} more are known to be"
            " [missed](#what-it-misses)."
        ),
        "",
    ]


def _not_always(found: list[dict[str, Any]]) -> str:
    seldom = [
        f"{row['name']}: {row['found']} of {row['runs']}"
        for row in found
        if row["found"] < row["runs"]
    ]
    return f" ({'; '.join(seldom)})" if seldom else ""


def _by_code(made: Made) -> list[str]:
    counts = _clean_counts(made)
    total = sum(runs for runs, _, _ in counts.values())
    if not total:
        return []
    lines = [
        "## False alarms by check",
        "",
        (
            f"The {total:,} clean datasets, by code: how many have a finding, and where most of"
            " them are. Warnings on clean data may say what is so: a file sorted by a feature"
            " (PG109), two columns that set a class apart (PG121)."
        ),
    ]
    rows = []
    for code, entry in all_codes().items():
        if not code.startswith("PG1") or entry.severity == "note" or code in OF_METHODS:
            continue
        alarms = sum(found[code] for _, found, _ in counts.values())
        most = sorted(
            ((found[code], name) for name, (_, found, _) in counts.items() if found[code]),
            reverse=True,
        )[:3]
        where = "; ".join(f"{name} ({number})" for number, name in most)
        rows.append(
            [code, entry.severity, entry.title, alarms, percent(upper(alarms, total)), where]
        )
    return lines + table(
        ["code", "level", "what", "alarms|", "upper limit|", "where, mostly"], rows
    )


def _honest(made: Made) -> list[str]:
    trials = list(made.parts["honest"].values())
    if not trials:
        return []
    rows = []
    for code, check in LOOKED.items():
        tried = sum(any(name.startswith(check) for name in one["looked"]) for one in trials)
        alarms = [one["model"] for one in trials if code in one["codes"]]
        where = "; ".join(f"{name} ({number})" for name, number in Counter(alarms).most_common(3))
        entry, limit = all_codes()[code], percent(upper(len(alarms), tried))
        rows.append([code, entry.severity, entry.title, f"{tried:,}", len(alarms), limit, where])
    return [
        "## False alarms about methods",
        "",
        (
            f"{len(trials):,} audits of one honest method each:"
            f" {len({one['model'] for one in trials})} of scikit-learn's classifiers and"
            " regressors, on clusters, outliers, counts, yes and no, zeros, lines and skewed"
            " numbers of 40 to 200 rows. A dummy that guesses anew for every row does depend on"
            " the rows that come along (PG142)."
        ),
        *table(
            ["code", "level", "what", "trials|", "alarms|", "upper limit|", "which, mostly"], rows
        ),
    ]


def _plant_rows(made: Made) -> Iterator[dict[str, Any]]:
    """Walk over the plants: how often each was found at its stated size."""
    for one in made.plants.values():
        if one.kind == "missed":
            continue
        if hasattr(one, "material"):
            tried = _tried(made.parts[one.kind], one.name, one.n, one.amount)
        else:
            codes = [
                found for (name, _), found in made.parts["methods"].items() if name == one.name
            ]
            tried = [bool(set(found) & set(one.codes)) for found in codes]
        yield {"plant": one, "name": one.name, "found": sum(tried), "runs": len(tried)}


def _tried(results: Mapping[Key, Any], name: str, n: int, amount: float) -> list[bool]:
    return [found for (one, _, m, a), found in results.items() if (one, m, a) == (name, n, amount)]


def _found(made: Made) -> list[str]:
    lines = ["## Plants at their stated size", ""]
    rows = list(_plant_rows(made))
    for kind in ("rows", "columns", "methods", "reports"):
        mine = [row for row in rows if row["plant"].kind == kind]
        if mine:
            lines += [f"### In {kind}", ""]
            cells = []
            for row in mine:
                one, times = row["plant"], f"{row['found']} of {row['runs']}"
                cells.append(
                    [one.name, " ".join(one.how.split()), one.size, " or ".join(one.codes), times]
                )
            lines += table(["plant", "how", "size", "code", "found|"], cells)
    return lines


def _power(made: Made) -> list[str]:
    lines = ["## Power of the checks of data", ""]
    trials = Counter(
        (name, n, amount) for kind in ("rows", "columns") for name, _, n, amount in made.parts[kind]
    )
    if not trials:
        return []
    lines.append(
        f"The share found, by the leak's size and the number of rows, of {min(trials.values())} to "
        f"{max(trials.values())} trials each. The stated size is in bold."
    )
    for kind in ("rows", "columns"):
        rows = []
        for one in made.plants.values():
            if one.kind != kind or not (one.sizes or one.rows):
                continue
            for amount in one.sizes or (one.amount,):
                cells = []
                for n in one.rows or (one.n,):
                    tried = _tried(made.parts[kind], one.name, n, amount)
                    share = f"{sum(tried) / len(tried):.2f}" if tried else "?"
                    cells.append(f"n = {n}: {share}")
                size = one.unit.format(amount=f"{amount:g}", n="n")
                shown = f"**{size}**" if amount == one.amount else size
                rows.append([one.name, " or ".join(one.codes), shown, ", ".join(cells)])
        lines += [
            "",
            f"### Leaks in {kind}",
            "",
            *table(["plant", "code", "size", "share found"], rows),
        ]
    return lines


def _knowing(made: Made) -> list[str]:
    results = made.parts["knowing"]
    if not results:
        return []
    shares, sizes = sorted({key[0] for key in results}), sorted({key[1] for key in results})
    rows = []
    for share in shares:
        tried = [[v for (s, m, _), v in results.items() if (s, m) == (share, n)] for n in sizes]
        rows.append(
            [f"{share:.0%}", *(f"{sum(one) / len(one):.2f}" if one else "?" for one in tried)]
        )
    runs = min(
        len([1 for (s, m, _) in results if (s, m) == (share, n)]) for share in shares for n in sizes
    )
    return [
        "## Power of the inverted canary",
        "",
        (
            "The share found of methods that have the true labels of some rows from elsewhere;"
            f" {runs} trials each, noise of two classes, a third of the rows held out. Whoever"
            " shows less than a quarter of what full knowledge gives is not blamed. The other"
            " checks of methods compare to the last bit or to 1e-6: one prediction that changes is"
            " enough."
        ),
        *table(["labels known", *(f"n = {n}|" for n in sizes)], rows),
    ]


def _missed(made: Made) -> list[str]:
    rows = []
    for one in made.plants.values():
        if one.kind == "missed":
            tried = [v for (name, *_), v in made.parts["missed"].items() if name == one.name]
            rows.append(
                [one.name, " ".join(one.how.split()), one.size, f"{sum(tried)} of {len(tried)}"]
            )
    return [
        "## What it misses",
        "",
        "Planted, and not found; kept in the register so that this stays known.",
        *table(["plant", "how", "size", "found|"], rows),
    ]


def _kinds(made: Made) -> list[str]:
    rows = []
    for name, (runs, counts, wrong) in _clean_counts(made).items():
        errors = ", ".join(f"{code}: {counts[code]}" for code in sorted(_errors(counts)))
        warned = sorted(code for code in counts if all_codes()[code].severity == "warning")
        told = ", ".join(f"{code}: {counts[code]}" for code in warned)
        rows.append(
            [
                name,
                "yes" if made.clean[name].discrete else "",
                runs,
                errors,
                percent(upper(wrong, runs)),
                told,
            ]
        )
    headings = ["kind", "discrete", "datasets|", "errors", "upper limit|", "warnings"]
    return ["## The clean zoo, kind by kind", "", *table(headings, rows)]
