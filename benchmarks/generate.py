"""Generated data: formulas against DEAP, batched neighbours against scikit-learn, and what is never fitted.

Both sides take the same formulas, rows and folds in one run and must give the same values. Rejection and
duplicates are counted on random formulas with DIGEN's constants, U(0, 100), with ours, and on bred ones.

Run: python benchmarks/generate.py [--trees N] [--candidates N] [--scouted N]
"""

from __future__ import annotations

import argparse
import operator
import os
import time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import numpy as np

from paragone.generate import Grammar, reason_to_reject
from paragone.generate.sampling import Threshold
from paragone.generate.screening import NeighbourVotes

N_ROWS = 1000
N_FEATURES = 10
N_FOLDS = 10
N_NEIGHBORS = 20


def seconds(function, *arguments):
    """Return what a call gives and its CPU seconds."""
    begun = time.process_time()
    value = function(*arguments)
    return value, time.process_time() - begun


def deap_primitives():
    """Return DEAP's set of our operators, over ten arguments."""
    from deap import gp

    primitives = gp.PrimitiveSet("formula", N_FEATURES, prefix="X")
    primitives.renameArguments(**{f"ARG{j}": f"X{j}" for j in range(N_FEATURES)})
    for name in ("add", "sub", "mul"):
        primitives.addPrimitive(getattr(operator, name), 2, name=name)
    primitives.addPrimitive(lambda a, b: 1.0 if b == 0 else a / b, 2, name="safeDiv")
    primitives.addPrimitive(min, 2, name="min")
    primitives.addPrimitive(max, 2, name="max")
    for name in ("eq", "ne", "ge", "gt", "le", "lt"):
        primitives.addPrimitive(_as_number(getattr(operator, name)), 2, name=name)
    return primitives


def _as_number(compare):
    return lambda a, b: 1.0 if compare(a, b) else 0.0


def deap_values(texts, rows):
    """Compile every formula with DEAP and call it row by row."""
    from deap import gp

    primitives = deap_primitives()
    values = []
    for text in texts:
        function = gp.compile(text, primitives)
        values.append(np.array([function(*row) for row in rows]))
    return values


def compare_evaluation(n_trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    trees = [Grammar(constants="uniform").half_and_half(rng) for _ in range(n_trees)]
    theirs, their_seconds = seconds(deap_values, [str(tree) for tree in trees], X.tolist())
    ours, our_seconds = seconds(lambda: [tree.evaluate(X) for tree in trees])
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(ours, theirs, strict=True))
    print(f"{n_trees} random formulas of height 2 to 5 on {N_ROWS} rows")
    print_ratio("DEAP compile and a row loop", their_seconds, our_seconds, n_trees)
    print(f"values equal on every row: {same}")


def sklearn_votes(X, Y, splits):
    """Fit scikit-learn's classifier for every candidate on every fold."""
    from sklearn.neighbors import KNeighborsClassifier

    found = np.empty(Y.shape)
    for column in range(Y.shape[1]):
        for train, test in splits:
            model = KNeighborsClassifier(N_NEIGHBORS).fit(X[train], Y[train, column])
            found[test, column] = model.predict_proba(X[test])[:, 1]
    return found


def batched_votes(X, Y, splits):
    """Look the neighbours of a fold up once, and vote for all candidates."""
    found = np.empty(Y.shape)
    for train, test in splits:
        found[test] = NeighbourVotes(X[test], X[train], N_NEIGHBORS).probabilities(Y[train], N_NEIGHBORS)
    return found


def compare_neighbours(n_candidates):
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(1)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    Y = rng.integers(0, 2, size=(N_ROWS, n_candidates))
    splits = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, Y[:, 0]))
    batched_votes(X, Y[:, :1], splits)
    theirs, their_seconds = seconds(sklearn_votes, X, Y, splits)
    ours, our_seconds = seconds(batched_votes, X, Y, splits)
    print(f"\nk nearest neighbours, {n_candidates} candidates x {N_FOLDS} folds of {N_ROWS} rows")
    print_ratio("scikit-learn, one by one", their_seconds, our_seconds, n_candidates)
    print(f"largest difference of a probability: {np.abs(ours - theirs).max():.1e}")


def print_ratio(other, their_seconds, our_seconds, count):
    print(f"{'':30s} {'CPU s':>9s} {'ms each':>9s} {'ratio':>8s}")
    for name, value in ((other, their_seconds), ("paragone", our_seconds)):
        print(f"{name:30s} {value:9.3f} {1000 * value / count:9.3f} {value / our_seconds:8.1f}")


def compare_scouts(n_candidates):
    from paragone.generate.classifiers import auroc, confidence
    from paragone.generate.methods import SCOUTS, reference_method
    from paragone.generate.scouts import BoostingScout, ForestScout

    X = np.random.default_rng(4).normal(size=(3 * N_ROWS, N_FEATURES))
    labels = candidates(X, n_candidates)
    portfolios = {
        "boosting scout": [BoostingScout(**params) for params in SCOUTS["boosting"][1]],
        "forest scout": [ForestScout(**params) for params in SCOUTS["forest"][1]],
    }
    for letter in "XLGF":
        method = reference_method(letter)
        portfolios[method.name] = [method.configured(params).build(0) for params in method.portfolio]

    def scores(models):
        return [
            max(auroc(y[N_ROWS:], confidence(m.fit(X[:N_ROWS], y[:N_ROWS]), X[N_ROWS:]).values) for m in models)
            for y in labels
        ]

    for scout in ("boosting scout", "forest scout"):
        scores(portfolios[scout][:1])
    found = {name: seconds(scores, models) for name, models in portfolios.items()}
    print(
        f"\n{n_candidates} candidates, trained on {N_ROWS} rows: a portfolio of each method, and what stands in for it"
    )
    print(f"{'':30s} {'CPU s':>9s} {'ms each':>9s} {'scout':>16s} {'ratio':>8s} {'correlation':>12s}")
    for name, (values, spent) in found.items():
        scout = "forest scout" if "Forest" in name or "forest" in name else "boosting scout"
        alike = float(np.corrcoef(values, found[scout][0])[0, 1])
        ratio = spent / found[scout][1]
        print(f"{name:30s} {spent:9.3f} {1000 * spent / n_candidates:9.1f} {scout:>16s} {ratio:8.1f} {alike:12.3f}")


def candidates(X, count):
    """Return the labels of random formulas that are usable and neither empty nor full on fresh rows."""
    rng, labels = np.random.default_rng(5), []
    while len(labels) < count:
        values = Grammar().half_and_half(rng, 3, 5).evaluate(X)
        if reason_to_reject(values[:N_ROWS]) is None:
            y = Threshold.halving(values[:N_ROWS]).label(values)
            labels += [y] if 0.3 < y[N_ROWS:].mean() < 0.7 else []
    return labels


def count_rejections(n_trees):
    print(f"\n{n_trees} formulas: what is never fitted")
    columns = ("non-finite", "constant", "tie at the threshold", "duplicate", "left")
    print(f"{'formulas':28s} " + " ".join(f"{name:>20s}" for name in columns))
    for constants in ("uniform", "quantile"):
        grammar, rng = Grammar(constants=constants), np.random.default_rng(3)
        left = print_fates(
            f"random, {constants} constants", columns, [grammar.half_and_half(rng) for _ in range(n_trees)]
        )
    grammar = Grammar()
    print_fates("random, one operator folded", columns, [grammar.fold(rng) for _ in range(n_trees)])
    bred = []
    for _ in range(n_trees):
        first, second = (left[int(position)] for position in rng.integers(len(left), size=2))
        bred.append(grammar.cross(rng, first, second) if rng.random() < 0.7 else grammar.mutate(rng, first))
    print_fates("bred from what is left", columns, bred, left)


def print_fates(name, columns, trees, met_before=()):
    """Print what becomes of formulas, and return those that are left."""
    X = np.random.default_rng(2).normal(size=(N_ROWS, N_FEATURES))
    met, left, counts = {label_key(tree.evaluate(X)) for tree in met_before}, [], dict.fromkeys(columns, 0)
    for tree in trees:
        values = tree.evaluate(X)
        fate = reason_to_reject(values)
        if fate is None:
            key = label_key(values)
            fate = "duplicate" if key in met else "left"
            met.add(key)
            left += [tree] if fate == "left" else []
        counts[fate] += 1
    print(f"{name:28s} " + " ".join(f"{counts[column] / len(trees):20.1%}" for column in columns))
    return left


def label_key(values):
    labels = Threshold.halving(values).label(values)
    return np.packbits(labels ^ labels[0]).tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--scouted", type=int, default=20)
    options = parser.parse_args()
    compare_evaluation(options.trees)
    compare_neighbours(options.candidates)
    compare_scouts(options.scouted)
    count_rejections(10 * options.trees)


if __name__ == "__main__":
    main()
