"""Where a method wins and fails, by families of concepts, and which known method it is most like.

A family says why a formula is hard, told by what its labels do and not by how it is spelled. A
formula may be of several families, or of none, which is called mixed. The rules look at the labels
of a fixed sample of the population, so that two spellings of one function are of the same families;
only for ratios the spelling counts.

A rank tells a developer nothing to act on. What does: on which kind of problem the method falls
behind the best known one, by how much, and whose profile it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from paragone.generate.benchmark import MethodBenchmark
from paragone.generate.concepts import (
    NEGLIGIBLE,
    active_features,
    agreements,
    concept_rule,
    numbered_concepts,
    signature,
)
from paragone.generate.expressions import Expression
from paragone.generate.formulas import Node, to_expression, to_tree
from paragone.generate.inspection import MARGIN
from paragone.generate.methods import METRICS, common_target
from paragone.generate.proof import mean_interval
from paragone.generate.sampling import (
    GeneratorSpec,
    TargetKind,
    TargetRule,
    Threshold,
    changed_target,
    halving_threshold,
    population,
)
from paragone.page import Plot
from paragone.ties import least_loss, rank_losses
from paragone.validation import FloatArray, IntArray

FAMILIES: Mapping[str, str] = {
    "parity": "no feature tells anything alone: only together do they give the {what}",
    "thresholds": "a tree of at most 16 leaves gives the {what}: a few cuts through single features",
    "ratios": "a quotient counts by its size: a product in its place would give other {what}s",
    "smooth": "nearly straight: a sum of features gives most of the {what}",
    "local": "only the sizes of the features count, not their signs",
    "sparse": "at most a fifth of the columns matter",
}
"""The families, each with its rule in words."""
MIXED = "mixed"
"""A formula of none of them."""

ROWS = 20_000
BINS = 20
ALONE = 0.05
"""Features that explain less than this share of the label, each alone and added up, tell nothing alone."""
LEAVES = 16
BY_CUTS = 0.985
"""The agreement of a small tree from which on cuts give the label; a straight slant border reaches .97."""
CHANGED = 0.05
"""Labels that change by more than this share have noticed."""
STRAIGHT = 0.5
"""The share of the label that linear terms carry. The sign of any sum of normal features has 2/pi = .64."""
STRAIGHT_NUMBERS = 0.8
"""The same for numbers, where linear terms may carry everything: .5 of .64. For several classes it is this share of
what linear terms carry where a sum of features is cut into the same classes."""
FEW = 0.2


def family_rules(target: TargetKind) -> Mapping[str, str]:
    """Return the families with their rules in the words of a target.

    Examples
    --------
    >>> family_rules("regression")["smooth"]
    'nearly straight: a sum of features gives most of the number'
    """
    what = {"binary": "label", "multiclass": "class", "regression": "number"}[target]
    rules = {name: words.format(what=what) for name, words in FAMILIES.items()}
    return {name: words.replace("classs", "classes") for name, words in rules.items()}


def families(
    expression: Expression, threshold: Threshold | None = None, n_features: int = 10
) -> tuple[str, ...]:
    """Return the families of a formula, in the order of `FAMILIES`; ``mixed`` where it is of none.

    Parameters
    ----------
    expression : Expression
        The formula.
    threshold : Threshold, optional
        Where it is cut; the middle of the population where it is not given.
    n_features : int, default=10
        The columns.

    Examples
    --------
    >>> families(Expression.parse("mul(X0, mul(X1, X2))"))
    ('parity',)
    >>> families(Expression.parse("add(mul(X0, X0), mul(X1, X1))"))
    ('local', 'sparse')
    """
    cut = threshold or halving_threshold(expression, n_features)
    return _families(expression, TargetRule((cut,), (0.5, 0.5)), n_features)


def generator_families(generator: GeneratorSpec) -> tuple[str, ...]:
    """Return the families of a generator's formula with the target that it has.

    The rules are those of two classes, in the terms of the target. What features tell of several
    classes is added up over the classes, each against the rest: a product of features says nothing
    of the order of three classes, and yet a small factor gives the middle one away. Borders are
    straight or not by the number of the class, lowest values first. Of numbers, variance is
    explained, and correlation is what agreement is of labels.

    Examples
    --------
    >>> generator_families(GeneratorSpec("mul(X0, mul(X1, X2))", target="regression"))
    ('parity',)
    >>> generator_families(GeneratorSpec("mul(X0, mul(X1, X2))", target="multiclass"))
    ('mixed',)
    >>> generator_families(GeneratorSpec("add(X0, sub(X1, X2))", target="multiclass"))
    ('smooth',)
    """
    return _families(generator.expression, generator.resolved(), generator.n_features)


@lru_cache(maxsize=512)
def _families(expression: Expression, rule: TargetRule, n_features: int) -> tuple[str, ...]:
    rows = population(n_features)[:ROWS]
    values = expression.evaluate(rows)
    active = active_features(expression, rule, n_features, negligible=NEGLIGIBLE)
    if not active or not np.isfinite(values).all():
        return (MIXED,)
    target = rule.classes(values) if rule.shares else values
    if not np.ptp(target):
        return (MIXED,)
    several = len(active) > 1
    holds = {
        "parity": several and _told_of_all(rows, target, rule, active) < ALONE,
        "thresholds": False,
        "ratios": _ratio_counts(expression, rows, target, rule),
        "smooth": several and _is_straight(rows, target, rule, active),
        "local": all(
            changed_target(rule, values, expression.evaluate(_turned(rows, feature))) <= CHANGED
            for feature in active
        ),
        "sparse": len(active) <= FEW * n_features,
    }
    # A parity of two is four boxes too, which a greedy tree finds by luck only: it is told by the
    # harder rule.
    if not holds["parity"]:
        holds["thresholds"] = fit_of_a_tree(rows, target, rule) >= BY_CUTS
    return tuple(name for name in FAMILIES if holds[name]) or (MIXED,)


def _told_of_all(
    rows: FloatArray, target: FloatArray | IntArray, rule: TargetRule, active: tuple[int, ...]
) -> float:
    """Return what features explain one by one: of the number, or of all classes, each weighted by its variance."""
    if not rule.shares:
        return told_alone(rows, target, active)
    memberships = [(target == number).astype(np.int64) for number in np.unique(target)]
    weights = np.array([member.var() for member in memberships])
    told = np.array([told_alone(rows, member, active) for member in memberships])
    return float(weights @ told / weights.sum())


def _is_straight(
    rows: FloatArray, target: FloatArray | IntArray, rule: TargetRule, active: tuple[int, ...]
) -> bool:
    least = STRAIGHT_NUMBERS
    if len(rule.cuts) == 1:
        least = STRAIGHT
    elif rule.cuts:
        # The most that linear terms can carry depends on the cuts: a straight value with as many
        # rows in every class.
        straight: IntArray = np.sort(target)[np.argsort(np.argsort(rows[:, 0]))].astype(np.int64)
        least *= straightness(rows, straight, (0,))
    return straightness(rows, target, active) >= least


def _ratio_counts(
    expression: Expression, rows: FloatArray, target: FloatArray | IntArray, rule: TargetRule
) -> bool:
    if "safeDiv" not in expression.tokens:
        return False
    others = to_expression(_multiplied(to_tree(expression))).evaluate(rows)
    if not np.isfinite(others).all() or np.ptp(others) == 0:
        return True
    if not rule.shares:
        agreement = (1 + abs(float(np.corrcoef(others, target)[0, 1]))) / 2
        return 1 - agreement > CHANGED
    # By ranks, so that the classes have the shares that they have with the quotient; in either
    # order, since a product that falls where the quotient rises tells as much.
    ends = np.cumsum(np.bincount(target, minlength=len(rule.shares)))[:-1] / len(target)
    recut = [
        np.searchsorted(np.quantile(turned, ends), turned, side="right")
        for turned in (others, -others)
    ]
    return min(float((found != target).mean()) for found in recut) > CHANGED


def fit_of_a_tree(rows: FloatArray, target: FloatArray | IntArray, rule: TargetRule) -> float:
    """Return how well a small tree gives rows that it has not seen: the share of classes, or R2."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if rule.shares else DecisionTreeRegressor
    half = len(rows) // 2
    tree = kind(max_leaf_nodes=LEAVES, random_state=0).fit(rows[:half], target[:half])
    return float(tree.score(rows[half:], target[half:]))


def told_alone(rows: FloatArray, labels: IntArray | FloatArray, active: tuple[int, ...]) -> float:
    """Return the share of the label's variance that features explain one by one, added up."""
    variance = float(labels.var())
    explained = 0.0
    for feature in active:
        edges = np.quantile(rows[:, feature], np.arange(1, BINS) / BINS)
        place = np.searchsorted(edges, rows[:, feature])
        counts = np.bincount(place, minlength=BINS)
        means = np.bincount(place, labels, BINS) / counts
        # Means of few rows differ by chance: that part is taken off.
        explained += float((counts * (means - labels.mean()) ** 2).sum() / len(labels)) / variance
        explained -= (BINS - 1) / len(labels)
    return explained


def straightness(rows: FloatArray, labels: IntArray | FloatArray, active: tuple[int, ...]) -> float:
    """Return the share of the label's variance that linear terms of standard normal features carry."""
    centred = labels - labels.mean()
    return float(
        sum(float(np.mean(centred * rows[:, feature])) ** 2 for feature in active) / labels.var()
    )


def _multiplied(tree: Node) -> Node:
    """Return a tree with products in the place of quotients: the same signs, other sizes."""
    if not isinstance(tree, tuple):
        return tree
    return ("mul" if tree[0] == "safeDiv" else tree[0], _multiplied(tree[1]), _multiplied(tree[2]))


def _turned(rows: FloatArray, feature: int) -> FloatArray:
    """Return rows with the sign of one feature turned."""
    turned = rows.copy()
    turned[:, feature] *= -1
    return turned


@dataclass(frozen=True)
class FamilyRecord:
    """How a method does on one family.

    Parameters
    ----------
    family : str
        Its name; see `FAMILIES`.
    n_sets, n_concepts : int
        Datasets and distinct concepts of it.
    method : float
        The method's mean score: a mean over concepts, each the mean of its datasets, since ten
        datasets of one concept are one problem.
    best, best_method : float and str
        The reference with the largest mean, and that mean.
    typical : float
        The mean of the references' median.
    behind : float
        How far the method is behind the best reference of every concept, on average; negative where
        it leads.
    low, high : float
        Limits of that, over concepts; NaN for one concept.
    """

    family: str
    n_sets: int
    n_concepts: int
    method: float
    best_method: str
    best: float
    typical: float
    behind: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class MethodDiagnosis:
    """What the scores on one or more collections say of a method.

    Parameters
    ----------
    method : str
        The method.
    datasets : DataFrame
        One row per dataset: collection, dataset, concept, families, formula, the method's score,
        the best reference and its score, the difference, the place among all, the ceiling.
    records : tuple of FamilyRecord
        By family.
    likeness : DataFrame
        One row per reference: the mean absolute difference of the scores over concepts, and
        Spearman's correlation; the nearest first.
    means : DataFrame
        Mean score over concepts by family (down) and method (across).
    margin : float
        The difference that counts as a win or a failure.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What is predicted: scores are R2 for numbers, and AUROC else.
    """

    method: str
    datasets: pd.DataFrame
    records: tuple[FamilyRecord, ...]
    likeness: pd.DataFrame
    means: pd.DataFrame
    margin: float
    target: TargetKind = "binary"

    @property
    def metric(self) -> str:
        """What the scores are called."""
        return METRICS[self.target]

    @property
    def wins(self) -> pd.DataFrame:
        """The datasets on which it beats every reference by the margin, the largest lead first."""
        return self._sorted(self.datasets["difference"] >= self.margin, ascending=False)

    @property
    def failures(self) -> pd.DataFrame:
        """The datasets on which some reference beats it by the margin, the largest gap first."""
        return self._sorted(self.datasets["difference"] <= -self.margin, ascending=True)

    def _sorted(self, which: Any, *, ascending: bool) -> pd.DataFrame:
        return self.datasets.loc[which].sort_values(
            "difference", ascending=ascending, kind="stable"
        )

    def sentences(self) -> tuple[str, ...]:
        """Return the diagnosis in words."""
        n, rules = len(self.datasets), family_rules(self.target)
        said = [
            f"{self.method} beats every reference by {self.margin:g} {self.metric} on"
            f" {len(self.wins)} of {n} datasets; on {len(self.failures)} some reference beats it by"
            " as much"
        ]
        far = [record for record in self.records if record.behind >= self.margin]
        for record in sorted(far, key=lambda one: -one.behind):
            # Over several concepts the interval says whether that is more than chance; over one
            # there is none.
            verb = "may fall behind" if record.low <= 0 else "falls behind"
            limits = f" [{record.low:.2f}, {record.high:.2f}]" if np.isfinite(record.low) else ""
            said.append(
                f"it {verb} on {record.family} ({rules.get(record.family, 'of no family')}):"
                f" {record.behind:.2f}{limits} behind the best reference of each concept, over"
                f" {_counted(record)}; {record.best_method} does best there with {record.best:.2f},"
                f" it has {record.method:.2f}"
            )
        good = [record for record in self.records if record.behind <= 0]
        said += [
            (
                f"it is as good as the best reference on {record.family}, over {_counted(record)}"
                if record.behind > -self.margin
                else f"it leads on {record.family} by {-record.behind:.2f}, over {_counted(record)}"
            )
            for record in good
        ]
        nearest = self.likeness.iloc[0]
        said.append(
            f"its profile is nearest to that of {nearest['reference']}: the scores differ by "
            f"{nearest['mean absolute difference']:.3f} on average"
        )
        return tuple(said)


def _counted(record: FamilyRecord) -> str:
    sets = f"{record.n_sets} dataset{'s' * (record.n_sets != 1)}"
    return f"{sets} of {record.n_concepts} concept{'s' * (record.n_concepts != 1)}"


def diagnose(benchmarks: Sequence[MethodBenchmark], margin: float = MARGIN) -> MethodDiagnosis:
    """Make a diagnosis of a method's scores on one or more collections.

    Parameters
    ----------
    benchmarks : sequence of MethodBenchmark
        Of one method, beside the same references; all of one target.
    margin : float, default=0.05
        The difference that counts as a win or a failure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from paragone.generate import Contender, StageSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8", "digen1"], settings=StageSettings(folds=3))
    >>> found = diagnose([result])
    >>> [record.family for record in found.records], list(found.failures["dataset"])
    (['parity', 'smooth'], ['digen8_4426'])
    """
    method = benchmarks[0].method
    target = common_target([(benchmark.collection, benchmark.target) for benchmark in benchmarks])
    rows, scores, generators = [], [], list[GeneratorSpec]()
    for benchmark in benchmarks:
        for dataset, row in benchmark.table().iterrows():
            specimen = benchmark.specimens[str(dataset)]
            references = row.drop(method).astype(float)
            best = str(references.index[least_loss(-references.to_numpy(), size=1.0)])
            place = rank_losses(-row.to_numpy(dtype=float), size=1.0)[list(row.index).index(method)]
            generator = specimen.generator()
            generators.append(generator)
            rows.append(
                {
                    "collection": benchmark.collection,
                    "dataset": str(dataset),
                    "concept": f"{benchmark.collection} {specimen.concept}",
                    "families": generator_families(generator),
                    "formula": specimen.formula,
                    "score": float(row[method]),
                    "best reference": best,
                    "its score": float(references[best]),
                    "difference": float(row[method] - references[best]),
                    "place": float(place),
                    "ceiling": specimen.ceiling,
                }
            )
            scores.append(row.astype(float).rename(str(dataset)))
    datasets = pd.DataFrame(rows)
    if len(benchmarks) > 1:
        datasets["concept"] = _joined(datasets["concept"], generators)
    table = pd.DataFrame(scores).reset_index(drop=True)
    met = {family for of in datasets["families"] for family in of}
    held = [family for family in (*FAMILIES, MIXED) if family in met]
    by_concept = {
        family: (
            table.loc[[family in of for of in datasets["families"]]]
            .groupby(datasets["concept"], sort=False)
            .mean()
        )
        for family in held
    }
    widest = np.inf if target == "regression" else 1.0
    records = tuple(
        _record(family, by_concept[family], datasets, method, widest) for family in held
    )
    means = pd.DataFrame({family: concepts.mean() for family, concepts in by_concept.items()}).T
    whole = table.groupby(datasets["concept"], sort=False).mean()
    return MethodDiagnosis(
        method, datasets, records, _likeness(whole, method), means, margin, target
    )


def _joined(concepts: Sequence[str], generators: Sequence[GeneratorSpec]) -> list[str]:
    """Give concepts of several collections one name where they are one problem: it is to count once.

    Examples
    --------
    >>> made = [GeneratorSpec(formula) for formula in ("mul(X0, X1)", "mul(X2, sub(0.0, X7))", "X3")]
    >>> _joined(["digen 1", "own 4", "own 5"], made)
    ['digen 1', 'digen 1', 'own 5']
    """
    # Datasets of one concept of a collection agree already: one formula speaks for them.
    first = dict(zip(reversed(list(concepts)), reversed(list(generators)), strict=True))
    names = list(dict.fromkeys(concepts))
    widest = max(generator.n_features for generator in generators)
    marks = [signature(first[name].expression, concept_rule(first[name]), widest) for name in names]
    numbers = numbered_concepts(agreements(marks))
    called = dict(zip(reversed(numbers), reversed(names), strict=True))
    common = {name: called[number] for name, number in zip(names, numbers, strict=True)}
    return [common[name] for name in concepts]


def _record(
    family: str, concepts: pd.DataFrame, datasets: pd.DataFrame, method: str, widest: float
) -> FamilyRecord:
    references = concepts.drop(columns=method)
    means = references.mean()
    best = str(means.index[least_loss(-means.to_numpy(), size=1.0)])
    behind = mean_interval((references.max(axis=1) - concepts[method]).to_numpy(dtype=float))
    return FamilyRecord(
        family,
        int(datasets["families"].map(lambda of: family in of).sum()),
        len(concepts),
        float(concepts[method].mean()),
        best,
        float(means[best]),
        float(references.median(axis=1).mean()),
        behind.estimate,
        # Two AUROCs differ by 1 at most, which Student's interval over a few concepts does not
        # know; R2 has no end.
        max(behind.low, -widest),
        min(behind.high, widest),
    )


def _likeness(concepts: pd.DataFrame, method: str) -> pd.DataFrame:
    from scipy.stats import spearmanr

    rows = []
    for reference in concepts.columns.drop(method):
        one, other = (
            concepts[method].to_numpy(dtype=float),
            concepts[reference].to_numpy(dtype=float),
        )
        varies = len(one) > 2 and np.ptp(one) > 0 and np.ptp(other) > 0
        correlation = float(spearmanr(one, other).statistic) if varies else float("nan")
        rows.append((str(reference), float(np.abs(one - other).mean()), correlation))
    found = pd.DataFrame(
        rows, columns=["reference", "mean absolute difference", "Spearman correlation"]
    )
    return found.sort_values("mean absolute difference", kind="stable").reset_index(drop=True)


def profile_plot(diagnosis: MethodDiagnosis) -> Plot:
    """Return the mean score by family as the page draws it: the method, its nearest reference, then the others.

    A cell is tinted by how far it is behind the best of its family.

    Examples
    --------
    >>> import pandas as pd
    >>> means = pd.DataFrame({"B": [0.7, 0.8], "A": [0.9, 0.6]}, index=["parity", "smooth"])
    >>> near = pd.DataFrame({"reference": ["B"], "mean absolute difference": [0.2], "Spearman correlation": [0.0]})
    >>> plot = profile_plot(MethodDiagnosis("A", pd.DataFrame(), (), near, means, 0.05))
    >>> list(plot.series), plot.columns, [round(share, 3) for _, share in plot.series["A"]]
    (['A', 'B'], ('parity', 'smooth'), [0.0, 0.4])
    """
    means = diagnosis.means
    nearest = [str(name) for name in diagnosis.likeness["reference"]]
    counts = {record.family: f" ({record.n_concepts})" for record in diagnosis.records}
    # As far behind as a guess is behind perfection, half an AUROC or a whole R2, is the strongest
    # tint.
    far = 1.0 if diagnosis.target == "regression" else 0.5
    shares = ((means.max(axis=1).to_numpy()[:, None] - means.to_numpy()) / far).clip(0, 1)
    place = {str(name): column for column, name in enumerate(means.columns)}
    series = {
        name: tuple(
            (float(value), float(share))
            for value, share in zip(means.iloc[:, place[name]], shares[:, place[name]], strict=True)
        )
        for name in (diagnosis.method, *nearest)
    }
    columns = tuple(f"{family}{counts.get(family, '')}" for family in means.index)
    subtitle = (
        f"Mean {diagnosis.metric} over the concepts of a family; a stronger colour is further behind"
        " its best"
    )
    title = f"The profile of {diagnosis.method}"
    return Plot("matrix", title, "family of concepts", "method", series, subtitle, columns)
