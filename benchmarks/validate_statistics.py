"""Check by simulation that every test keeps its level and every interval covers what it claims.

Run as a script it keeps the rates of each group in ``build/validation`` and writes
``docs/validation.md`` and its chart once all are there. ``python
benchmarks/validate_statistics.py`` runs everything, in about half an hour of one core; names of
groups run those only, and ``--share 0.2`` a fifth of the level study. Seeds are fixed, so the
figures are the same every time. The slow tests run the same simulations, of the level study a short
version.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
from scipy import stats

from level_study import ALPHA, LEAST_COVERAGE, STUDY, Check, Rule
from paragone.stats import corrections
from paragone.stats.pairs import double_fails
from paragone.stats.ranks import bonferroni_dunn, friedman, nemenyi
from paragone.stats.signed_rank import exact_p, wilcoxon_signed_rank
from paragone.stats.t_tests import corrected_resampled_t, paired_t

ROOT = Path(__file__).resolve().parents[1]
DOCS, KEPT = ROOT / "docs", ROOT / "build" / "validation"


def rate(decide: Callable[[np.random.Generator], bool], n_runs: int, seed: int) -> float:
    generator = np.random.default_rng(seed)
    return float(np.mean([decide(generator) for _ in range(n_runs)]))


# ---------------------------------------------------------------- single tests


def attained_level(n: int) -> float:
    """Return the level that the exact signed-rank test attains without ties: the largest p at most alpha."""
    ranks = np.arange(1.0, n + 1)
    return max(p for w in range(n * (n + 1) // 2 + 1) if (p := exact_p(ranks, w)) <= ALPHA)


def single_tests(n_runs: int = 10_000) -> Iterator[Check]:
    group = "Type-I error of single tests"

    def check(
        name: str, decide: Callable[[np.random.Generator], bool], expected: float, rule: Rule
    ) -> Check:
        return Check(group, name, expected, rate(decide, n_runs, seed=len(name)), n_runs, rule)

    def ties(generator: np.random.Generator) -> np.ndarray:
        return generator.integers(-3, 4, 20).astype(float)

    yield check(
        "Wilcoxon exact, n = 20",
        lambda g: wilcoxon_signed_rank(g.normal(size=20)).p <= ALPHA,
        attained_level(20),
        "equal",
    )
    for zeros in ("wilcox", "pratt", "split"):
        yield check(
            f"Wilcoxon exact, ties and zeros ({zeros}), n = 20",
            lambda g, zeros=zeros: wilcoxon_signed_rank(ties(g), zeros=zeros).p <= ALPHA,  # type: ignore[misc]
            ALPHA,
            "at most",
        )
    yield check(
        "Wilcoxon exact, n = 100",
        lambda g: wilcoxon_signed_rank(g.normal(size=100)).p <= ALPHA,
        ALPHA,
        "equal",
    )
    yield check(
        "paired t, n = 20", lambda g: paired_t(g.normal(size=20)).p <= ALPHA, ALPHA, "equal"
    )
    yield check(
        "Friedman chi-square, 5 methods x 30",
        lambda g: friedman(g.normal(size=(30, 5))).p_chi2 <= ALPHA,
        ALPHA,
        "at most",
    )
    yield check(
        "Friedman chi-square with ties, 5 methods x 30",
        lambda g: friedman(g.integers(0, 4, size=(30, 5))).p_chi2 <= ALPHA,
        ALPHA,
        "at most",
    )
    yield check(
        "Iman-Davenport F, 5 methods x 30",
        lambda g: friedman(g.normal(size=(30, 5))).p_f <= ALPHA,
        ALPHA,
        "equal",
    )
    yield check(
        "Iman-Davenport F with ties, 5 methods x 30",
        lambda g: friedman(g.integers(0, 4, size=(30, 5))).p_f <= ALPHA,
        ALPHA,
        "at most",
    )


# ---------------------------------------------------------------- folds of one dataset


Learner = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def nearest_mean(rows: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict by the nearer class mean: a stable learner."""
    means = [rows[labels == label].mean(axis=0) for label in (0, 1)]
    distance = [np.square(test - mean).sum(axis=1) for mean in means]
    return distance[1] < distance[0]


def best_column(rows: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict by the one column whose class means lie furthest apart: an unstable learner."""
    means = np.array([rows[labels == label].mean(axis=0) for label in (0, 1)])
    column = int(np.argmax(np.abs(means[1] - means[0])))
    above = test[:, column] > means[:, column].mean()
    return above == (means[1, column] > means[0, column])


DESIGNS: dict[str, tuple[Learner, int, float]] = {
    "stable learner (nearest mean, 3 columns)": (nearest_mean, 3, 0.5),
    "unstable learner (best of 20 columns)": (best_column, 20, 0.3),
}


def fold_differences(
    generator: np.random.Generator, repeats: int, learner: Learner, n_columns: int, shift: float
) -> np.ndarray:
    """Return accuracy differences of one learner on two exchangeable blocks of columns under 10-fold CV.

    Both see the same 100 rows, one through the first block and one through the second, so neither
    is better.
    """
    labels = np.repeat([0, 1], 50)
    rows = generator.normal(size=(100, 2 * n_columns)) + shift * labels[:, None]
    blocks = (rows[:, :n_columns], rows[:, n_columns:])
    differences = []
    for _ in range(repeats):
        for fold in np.array_split(generator.permutation(100), 10):
            train = np.ones(100, dtype=bool)
            train[fold] = False
            hits = [
                np.mean(learner(x[train], labels[train], x[fold]) == labels[fold]) for x in blocks
            ]
            differences.append(hits[1] - hits[0])
    return np.array(differences)


def fold_tests(n_runs: int = 2_000) -> Iterator[Check]:
    for seed, (design, setup) in enumerate(DESIGNS.items()):
        for repeats in (1, 10):
            yield from _fold_design(
                design, setup, repeats, n_runs if repeats == 1 else n_runs // 4, seed
            )


def _fold_design(
    design: str, setup: tuple[Learner, int, float], repeats: int, runs: int, seed: int
) -> Iterator[Check]:
    generator = np.random.default_rng([seed, repeats])
    published = "Nadeau and Bengio's variance (not offered)"
    rejected = {
        "corrected t": 0,
        published: 0,
        "plain t (not offered)": 0,
        "Wilcoxon (not offered)": 0,
    }
    for _ in range(runs):
        difference = fold_differences(generator, repeats, *setup)
        rejected["corrected t"] += corrected_resampled_t(difference, repeats=repeats).p <= ALPHA
        plain = paired_t(difference)
        t = plain.t / sqrt(1 + difference.size / 9)
        rejected[published] += abs(t) > stats.t.ppf(1 - ALPHA / 2, plain.df)
        rejected["plain t (not offered)"] += plain.p <= ALPHA
        rejected["Wilcoxon (not offered)"] += wilcoxon_signed_rank(difference).p <= ALPHA
    for name, count in rejected.items():
        # How far a plain test errs on one cross-validation depends on the learner; it is shown, not
        # judged.
        wrong: Rule = "above" if repeats > 1 and name != published else "shown"
        rule: Rule = "at most" if name.startswith("corrected") else wrong
        group = f"Type-I error on the folds of one dataset, {design}"
        yield Check(group, f"{name}, {repeats} x 10-fold", ALPHA, count / runs, runs, rule)


# ---------------------------------------------------------------- families


def family_tests(n_runs: int = 1_500) -> Iterator[Check]:
    """Count runs in which any true null is rejected, with all methods equal and with one bad method."""
    for n_methods, bad in ((5, False), (9, False), (9, True), (10, True)):
        yield from _all_pairs_family(n_methods, bad, n_runs)
    for bad in (False, True):
        yield from _reference_family(10, bad, n_runs)


def _null_scores(generator: np.random.Generator, n_methods: int, bad: bool) -> np.ndarray:
    scores = generator.normal(size=(30, 1)) + generator.normal(size=(30, n_methods))
    if bad:
        scores[:, -1] -= 2.0
    return scores


def _wilcoxon_p(scores: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array([wilcoxon_signed_rank(scores[:, i], scores[:, j]).p for i, j in pairs])


def _title(n_methods: int, bad: bool, what: str) -> str:
    state = "one bad method" if bad else "all equal"
    return f"Family-wise error, {what}, {n_methods} methods, {state}"


def _all_pairs_family(n_methods: int, bad: bool, n_runs: int) -> Iterator[Check]:
    pairs = list(combinations(range(n_methods), 2))
    true_null = np.array([not (bad and j == n_methods - 1) for _, j in pairs])
    names = ["bonferroni", "holm", "hochberg", "hommel", "shaffer"]
    names += ["bergmann_hommel"] if n_methods <= 9 else []
    names += [] if bad else ["benjamini_hochberg"]
    errors = dict.fromkeys([*names, "nemenyi"], 0)
    false_share = 0.0
    generator = np.random.default_rng(10 * n_methods + bad)
    for _ in range(n_runs):
        scores = _null_scores(generator, n_methods, bad)
        raw = _wilcoxon_p(scores, pairs)
        for name in names:
            errors[name] += bool((getattr(corrections, name)(raw)[true_null] <= ALPHA).any())
        matrix = nemenyi(friedman(scores).average_ranks, 30)
        by_pair = np.array([matrix[i, j] for i, j in pairs])
        errors["nemenyi"] += bool((by_pair[true_null] <= ALPHA).any())
        rejected = corrections.benjamini_hochberg(raw) <= ALPHA
        false_share += rejected[true_null].sum() / max(rejected.sum(), 1)
    group = _title(n_methods, bad, "all pairs")
    for name, count in errors.items():
        yield Check(group, name.replace("_", "-"), ALPHA, count / n_runs, n_runs, "at most")
    if bad:
        yield Check(
            group,
            "benjamini-hochberg (false discovery rate)",
            ALPHA,
            false_share / n_runs,
            n_runs,
            "at most",
        )


def _reference_family(n_methods: int, bad: bool, n_runs: int) -> Iterator[Check]:
    pairs = [(0, j) for j in range(1, n_methods)]
    true_null = np.array([not (bad and j == n_methods - 1) for _, j in pairs])
    names = ["bonferroni", "holm", "hochberg", "hommel"]
    errors = dict.fromkeys([*names, "bonferroni-dunn"], 0)
    generator = np.random.default_rng(100 * n_methods + bad)
    for _ in range(n_runs):
        scores = _null_scores(generator, n_methods, bad)
        raw = _wilcoxon_p(scores, pairs)
        for name in names:
            errors[name] += bool((getattr(corrections, name)(raw)[true_null] <= ALPHA).any())
        on_ranks = bonferroni_dunn(friedman(scores).average_ranks, 30, 0)[1:]
        errors["bonferroni-dunn"] += bool((on_ranks[true_null] <= ALPHA).any())
    group = _title(n_methods, bad, "reference against each")
    for name, count in errors.items():
        yield Check(group, name, ALPHA, count / n_runs, n_runs, "at most")


# ---------------------------------------------------------------- intervals


def intervals(n_runs: int = 10_000) -> Iterator[Check]:
    for n in (5, 15, 100):
        table = np.random.default_rng(7).normal(size=(n_runs, n))
        inside = np.mean([(test := paired_t(row)).low <= 0 <= test.high for row in table])
        name = f"paired t, normal, n = {n}"
        yield Check("Coverage of 95 % intervals", name, 0.95, float(inside), n_runs, "equal")


# ---------------------------------------------------------------- the double-fail filter


def subjects(generator: np.random.Generator, gain: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of two methods on 32 subjects of differing ability, many of them near chance (0.25)."""
    ability = generator.normal(0.28, 0.10, 32)
    a = ability + generator.normal(0, 0.06, 32)
    b = ability + gain + generator.normal(0, 0.06, 32)
    return a, b


def filter_checks(n_runs: int = 5_000) -> Iterator[Check]:
    group = "Type-I error with the double-fail filter (tau = 0.25, 32 subjects)"
    generator = np.random.default_rng(25)
    rejected = {
        "both fail (offered)": 0,
        "one fails (not offered)": 0,
        "best of ten tau (not offered)": 0,
    }
    for _ in range(n_runs):
        a, b = subjects(generator)
        rejected["both fail (offered)"] += _filtered_p(a, b, 0.25) <= ALPHA
        kept = a > 0.25
        rejected["one fails (not offered)"] += (
            bool(kept.any()) and wilcoxon_signed_rank(a[kept], b[kept]).p <= ALPHA
        )
        taus = np.linspace(0.15, 0.42, 10)
        rejected["best of ten tau (not offered)"] += (
            min(_filtered_p(a, b, tau) for tau in taus) <= ALPHA
        )
    for name, count in rejected.items():
        rule: Rule = "at most" if name.startswith("both") else "above"
        yield Check(group, name, ALPHA, count / n_runs, n_runs, rule)


def _filtered_p(a: np.ndarray, b: np.ndarray, tau: float) -> float:
    kept = ~double_fails(np.stack([a, b], axis=1), tau, higher_is_better=True)
    return wilcoxon_signed_rank(a[kept], b[kept]).p if kept.any() else 1.0


def widening(n_runs: int = 5_000) -> float:
    """Return by how much the filter widens the mean gap when one method gains 0.03 on every subject."""
    generator = np.random.default_rng(26)
    plain, filtered = [], []
    for _ in range(n_runs):
        a, b = subjects(generator, gain=0.03)
        kept = ~double_fails(np.stack([a, b], axis=1), 0.25, higher_is_better=True)
        plain.append((b - a).mean())
        filtered.append((b - a)[kept].mean())
    return float(np.mean(filtered) / np.mean(plain) - 1)


# ---------------------------------------------------------------- report


def fold_note(design: str) -> list[str]:
    """Return what the fold figures of a design mean, with the variance ratio it really has."""
    return [
        (
            "How far a plain test errs on one cross-validation depends on the learner. Nadeau and"
            " Bengio assume a variance"
        ),
        (
            "ratio of n_test/n_train = 0.111; the ratio measured on 400 runs of this design is "
            f"{implied_ratio(DESIGNS[design]):.3f}."
        ),
        "The corrected t adds to it, and less where repeats agree.",
    ]


def implied_ratio(setup: tuple[Learner, int, float], runs: int = 400) -> float:
    """Return the ratio by which the mean of ten repeats really varies: Var(mean) / mean variance - 1/J."""
    generator = np.random.default_rng(99)
    table = np.array([fold_differences(generator, 10, *setup) for _ in range(runs)])
    spread = table.mean(axis=1).var(ddof=1) / table.var(axis=1, ddof=1).mean()
    return float(spread - 1 / table.shape[1])


GROUPS: tuple[Callable[[], Iterator[Check]], ...] = (
    single_tests,
    fold_tests,
    family_tests,
    intervals,
    filter_checks,
)

LEVEL_NOTE = """Every word and every interval of a comparison, in both scopes. *level* is the rate of false claims
where nothing is there: at most 0.05 and 2 SE. *covers* is how often an interval called 95 % holds the truth: 0.93 or
more. On this data the rule has to hold for learners that go by one column or one cut of many, whose folds share
more luck of the training rows than the share of test rows tells; so its words are conservative for all others.
Nadeau and Bengio's published variance is shown beside it and is not offered."""

LEGEND = """Made by `python benchmarks/validate_statistics.py`; the slow tests run the same simulations, seeds included.
A rate is judged by the binomial standard error (SE) of its simulation: *level* must not be above by more than 2 SE,
*covers* must be 0.93 or more, *equal* means within 3 SE of what theory says, *at most* not above it by more than 3 SE,
*above* marks procedures that Paragone does not offer and that are seen to be invalid here, and *shown* is reported
without being judged. A rule that is not kept is marked NO."""


def write_report(checks: list[Check], notes: dict[str, list[str]]) -> None:
    """Write the page: a table per group, and what is to be said below it."""
    lines = ["# Validation of the statistics by simulation", "", LEGEND]
    lines += ["", "![Every rate as a dot beside its limit, a line per group](validation.svg)"]
    study = [check.group for check in checks if check.rule in ("level", "covers")]
    for group in dict.fromkeys(check.group for check in checks):
        part = [check for check in checks if check.group == group]
        if study and group == study[0]:
            lines += ["", "## What is said, and how often it is wrong", "", LEVEL_NOTE]
        title = f"{'###' if group in study else '##'} {group}"
        lines += ["", title, "", "| procedure | expected | observed | SE | runs | rule | holds |",
                  "|:--|--:|--:|--:|--:|:--|:--|"]  # fmt: skip
        lines += [
            f"| {c.name} | {c.expected:.4f} | {c.observed:.4f} | {c.standard_error:.4f} |"
            f" {c.n_runs} | {c.rule} | {'-' if c.rule == 'shown' else 'yes' if c.holds else 'NO'} |"
            for c in part
        ]
        lines += notes.get(group, [])
    page = DOCS / "validation.md"
    # The study of rows is made by a program of its own.
    _, mark, rows = page.read_text(encoding="utf-8").partition("\n## On this data, rows and folds")
    page.write_text("\n".join(lines) + "\n" + mark + rows, encoding="utf-8")


def notes_below(checks: list[Check]) -> dict[str, list[str]]:
    """Return what stands below the table of a group; the figures in it are simulated too."""
    notes = {}
    for group in dict.fromkeys(check.group for check in checks):
        if group.startswith("Type-I error on the folds"):
            notes[group] = [
                "",
                *fold_note(next(design for design in DESIGNS if group.endswith(design))),
            ]
        elif "double-fail" in group:
            gap = f"{widening():.1%}"
            notes[group] = [
                "",
                (
                    "With a true gain of 0.03 on every subject the filter widens the mean gap by"
                    f" {gap}."
                ),
            ]
    return notes


KINDS = ("kept", "not kept", "not offered")


def kind_of(check: Check) -> str:
    return "not offered" if "not offered" in check.name else "kept" if check.holds else "not kept"


def write_chart(checks: list[Check]) -> None:
    """Draw every rate as a dot in the line of its group: false claims above, coverages below."""
    import altair as alt

    from paragone.charts import BLUE, GREY, VERMILION, from_rows, save_chart, styled

    judged = [
        check for check in checks if check.rule != "equal" or check.expected in (ALPHA, 1 - ALPHA)
    ]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(KINDS), range=[BLUE, VERMILION, GREY]),
        legend=alt.Legend(title=None, orient="top"),
    )
    panels = []
    for title, limit, part, scale in (
        (
            "false claims (limit 0.05 and 2 SE)",
            ALPHA,
            [c for c in judged if c.expected < 0.5],
            alt.Scale(type="sqrt"),
        ),
        (
            "coverage (limit 0.93)",
            LEAST_COVERAGE,
            [c for c in judged if c.expected >= 0.5],
            alt.Scale(zero=False),
        ),
    ):
        rows = [{"group": c.group, "observed": c.observed, "kind": kind_of(c)} for c in part]
        groups = list(dict.fromkeys(c.group for c in part))
        y = alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labelLimit=420))
        dots = from_rows(rows).mark_point(filled=True, size=30, opacity=0.7)
        dots = dots.encode(y=y, x=alt.X("observed:Q", title=title, scale=scale), color=colour)
        line = from_rows([{"limit": limit}]).mark_rule(color="#000000").encode(x="limit:Q")
        panels.append(alt.layer(line, dots).properties(width=420, height=17 * len(groups)))
    save_chart(styled(alt.vconcat(*panels)), DOCS / "validation", ["svg"])


def run_group(name: str, make: Callable[[], Iterator[Check]]) -> None:
    """Simulate a group, print its rates and keep them."""
    checks = []
    for check in make():
        print(f"{'ok ' if check.holds else 'NO '} {check.group}: {check.name}: expected {check.expected:.4f}, "
              f"observed {check.observed:.4f} (SE {check.standard_error:.4f})", flush=True)  # fmt: skip
        checks.append(check)
    kept = {"checks": [asdict(check) for check in checks], "notes": notes_below(checks)}
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Simulate levels and coverages, and write docs/validation.md."
    )
    parser.add_argument(
        "groups", nargs="*", help="which groups to run; all of them where none is named"
    )
    parser.add_argument("--share", type=float, default=1.0, help="share of the level study's runs")
    given = parser.parse_args()
    makers: dict[str, Callable[[], Iterator[Check]]] = {group.__name__: group for group in GROUPS}
    makers = {group.__name__: partial(group, given.share) for group in STUDY} | makers
    for name in given.groups or makers:
        run_group(name, makers[name])
    files = [KEPT / f"{name}.json" for name in makers]
    if not all(file.is_file() for file in files):
        print(f"not yet there: {', '.join(file.stem for file in files if not file.is_file())}")
        return
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    checks = [Check(**check) for part in kept for check in part["checks"]]
    write_report(checks, {group: lines for part in kept for group, lines in part["notes"].items()})
    write_chart(checks)


if __name__ == "__main__":
    main()
