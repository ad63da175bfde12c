"""Generated data: formulas beside DEAP and gplearn, batched neighbours, scouts, and what a search and a proof cost.

Both sides take the same formulas, rows and folds in one run and must give the same values; peers
are used at their best, and DEAP also as the published search used it, row by row. DEAP and gplearn
are measured where they are installed. Rejection and duplicates are counted on random formulas with
DIGEN's constants, U(0, 100), with ours, and on bred ones. All times are CPU seconds, those of
worker processes included.

Run: python benchmarks/generate.py [--trees N] [--candidates N] [--scouted N] [--rounds N] [--parts
formulas search ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import operator
import os
import sqlite3
import tempfile
import time
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)

import numpy as np

from paragone.generate import EvolveSpec, Grammar, evolve, reason_to_reject
from paragone.generate.methods import reference_method
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


SCALAR = {
    "safeDiv": lambda a, b: 1.0 if b == 0 else a / b,
    "min": min,
    "max": max,
}
VECTOR = {
    "safeDiv": lambda a, b: np.where(np.equal(b, 0), 1.0, np.divide(a, b)),
    "min": lambda a, b: np.where(b < a, b, a),
    "max": lambda a, b: np.where(b > a, b, a),
}
COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")


def deap_primitives(*, vectors):
    """Return DEAP's set of our operators, over ten arguments: numbers, or columns of them."""
    from deap import gp

    primitives = gp.PrimitiveSet("formula", N_FEATURES, prefix="X")
    primitives.renameArguments(**{f"ARG{j}": f"X{j}" for j in range(N_FEATURES)})
    for name in ("add", "sub", "mul"):
        primitives.addPrimitive(getattr(operator, name), 2, name=name)
    for name, function in (VECTOR if vectors else SCALAR).items():
        primitives.addPrimitive(function, 2, name=name)
    for name in COMPARISONS:
        primitives.addPrimitive(_as_number(getattr(operator, name), vectors), 2, name=name)
    return primitives


def _as_number(compare, vectors):
    if vectors:
        return lambda a, b: np.asarray(compare(a, b), dtype=np.float64)
    return lambda a, b: 1.0 if compare(a, b) else 0.0


def deap_rows(texts, X):
    """Compile every formula with DEAP and call it row by row, as the published search does."""
    from deap import gp

    primitives, rows = deap_primitives(vectors=False), X.tolist()
    values = []
    for text in texts:
        function = gp.compile(text, primitives)
        values.append(np.array([function(*row) for row in rows]))
    return values


def deap_columns(texts, X):
    """Compile every formula with DEAP and call it once on whole columns: the best that DEAP can do."""
    from deap import gp

    primitives, columns = deap_primitives(vectors=True), list(X.T)
    with np.errstate(all="ignore"):
        return [np.broadcast_to(gp.compile(text, primitives)(*columns), len(X)) for text in texts]


def gplearn_programs(trees):
    """Return formulas as programs of gplearn, with our operators among its functions."""
    from gplearn._program import _Program
    from gplearn.functions import _Function

    operators = {name: getattr(operator, name) for name in ("add", "sub", "mul")} | VECTOR
    operators |= {name: _as_number(getattr(operator, name), vectors=True) for name in COMPARISONS}
    known = {name: _Function(function, name, 2) for name, function in operators.items()}
    options = dict.fromkeys(("metric", "p_point_replace", "parsimony_coefficient", "random_state"))
    made = []
    for tree in trees:
        program = [known[str(part)] if str(part) in known else _leaf(part) for part in tree.tokens]
        made.append(_Program(list(known.values()), {2: list(known.values())}, (2, 6), "full", N_FEATURES, None,
                             program=program, **options))  # fmt: skip
    return made


def _leaf(part):
    return int(str(part)[1:]) if str(part).startswith("X") else float(part)


def gplearn_values(programs, X):
    """Run gplearn's own interpreter over whole columns."""
    with np.errstate(all="ignore"):
        return [np.broadcast_to(program.execute(X), len(X)) for program in programs]


def is_installed(name):
    return importlib.util.find_spec(name) is not None


def compare_evaluation(n_trees, n_rounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    trees = [Grammar(constants="uniform").half_and_half(rng) for _ in range(n_trees)]
    texts = [str(tree) for tree in trees]
    contenders = {"paragone": lambda: [tree.evaluate(X) for tree in trees]}
    if is_installed("deap"):
        contenders["DEAP, compile and a row loop"] = lambda: deap_rows(texts, X)
        contenders["DEAP, compile and columns"] = lambda: deap_columns(texts, X)
    if is_installed("gplearn"):
        programs = gplearn_programs(trees)
        contenders["gplearn, its programs"] = lambda: gplearn_values(programs, X)
    print(
        f"{n_trees} random formulas of height 2 to 5 on {N_ROWS} rows, {n_rounds} rounds in turn,"
        " medians"
    )
    print(
        f"{'':30s} {'formulas/s':>11s} {'ms each':>9s} {'ratio':>8s}  range of ratios, values equal"
        " on every row"
    )
    spent, found = {name: [] for name in contenders}, {}
    for _ in range(n_rounds):
        for name, run in contenders.items():
            found[name], used = seconds(run)
            spent[name].append(used)
    for name in contenders:
        ratios = np.array(spent[name]) / np.array(spent["paragone"])
        same = all(
            np.array_equal(a, b, equal_nan=True)
            for a, b in zip(found[name], found["paragone"], strict=True)
        )
        used = float(np.median(spent[name]))
        print(f"{name:30s} {n_trees / used:11,.0f} {1000 * used / n_trees:9.3f} {np.median(ratios):8.1f}"
              f"  [{ratios.min():.1f}, {ratios.max():.1f}], {same}")  # fmt: skip


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
        found[test] = NeighbourVotes(X[test], X[train], N_NEIGHBORS).probabilities(
            Y[train], N_NEIGHBORS
        )
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
    from paragone.generate.methods import SCOUTS
    from paragone.generate.scouts import BoostingScout, ForestScout

    X = np.random.default_rng(4).normal(size=(3 * N_ROWS, N_FEATURES))
    labels = candidates(X, n_candidates)
    portfolios = {
        "boosting scout": [BoostingScout(**params) for params in SCOUTS["boosting"]["binary"][1]],
        "forest scout": [ForestScout(**params) for params in SCOUTS["forest"]["binary"][1]],
    }
    for letter in "XLGF":
        method = reference_method(letter)
        portfolios[method.name] = [
            method.configured(params).build(0) for params in method.portfolio
        ]

    def scores(models):
        return [
            max(
                auroc(y[N_ROWS:], confidence(m.fit(X[:N_ROWS], y[:N_ROWS]), X[N_ROWS:]).values)
                for m in models
            )
            for y in labels
        ]

    for scout in ("boosting scout", "forest scout"):
        scores(portfolios[scout][:1])
    found = {name: seconds(scores, models) for name, models in portfolios.items()}
    print(
        f"\n{n_candidates} candidates, trained on {N_ROWS} rows: a portfolio of each method, and"
        " what stands in for it"
    )
    print(
        f"{'':30s} {'CPU s':>9s} {'ms each':>9s} {'scout':>16s} {'ratio':>8s} {'correlation':>12s}"
    )
    for name, (values, spent) in found.items():
        scout = "forest scout" if "Forest" in name or "forest" in name else "boosting scout"
        alike = float(np.corrcoef(values, found[scout][0])[0, 1])
        ratio = spent / found[scout][1]
        print(
            f"{name:30s} {spent:9.3f} {1000 * spent / n_candidates:9.1f} {scout:>16s} {ratio:8.1f}"
            f" {alike:12.3f}"
        )


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
            f"random, {constants} constants",
            columns,
            [grammar.half_and_half(rng) for _ in range(n_trees)],
        )
    grammar = Grammar()
    print_fates("random, one operator folded", columns, [grammar.fold(rng) for _ in range(n_trees)])
    bred = []
    for _ in range(n_trees):
        first, second = (left[int(position)] for position in rng.integers(len(left), size=2))
        bred.append(
            grammar.cross(rng, first, second) if rng.random() < 0.7 else grammar.mutate(rng, first)
        )
    print_fates("bred from what is left", columns, bred, left)


def print_fates(name, columns, trees, met_before=()):
    """Print what becomes of formulas, and return those that are left."""
    X = np.random.default_rng(2).normal(size=(N_ROWS, N_FEATURES))
    met, left, counts = (
        {label_key(tree.evaluate(X)) for tree in met_before},
        [],
        dict.fromkeys(columns, 0),
    )
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


SEARCHED = "RKDS"
"""Letters of the methods of the small search: the four cheap references, so that a run takes minutes."""


def searching(**options):
    methods = {
        method.name: method.table() for method in (reference_method(letter) for letter in SEARCHED)
    }
    return EvolveSpec("cost", seed=1, batch=64, screened=8, chunk=8, n_train=N_ROWS, n_test=N_ROWS, methods=methods,
                      **options)  # fmt: skip


def searched(spec):
    """Run a search, and return what it found with the CPU seconds of this process and of all cells.

    Cells are processes that nobody here waits for, so their time is what the store keeps of each;
    forking is not in it.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "search.sqlite"
        found, own = seconds(evolve, spec, store)
        with sqlite3.connect(store) as database:
            cells = database.execute("SELECT sum(cpu_seconds) FROM costs").fetchone()[0] or 0.0
    return found, own, cells


def cost_of_search(n_generations):
    """Search without proofs, and print how many formulas a CPU second sees and scores with the methods."""
    found, own, cells = searched(searching(generations=n_generations, races=0, finalists=0))
    last, spent = found.curve[-1], own + cells
    print(
        f"\na search of {n_generations} generations without proofs, methods {SEARCHED}, {spent:.1f}"
        " CPU s"
    )
    for name in ("seen", "fitted"):
        print(
            f"formulas {name:8s} {getattr(last, name):7d} {getattr(last, name) / spent:9.2f} per"
            " CPU s"
        )


def cost_of_proof(n_generations):
    """Search with proofs under tuning, and print what a proven claim costs."""
    spec = searching(
        generations=n_generations, races=1, looks=(6, 12, 24), claims=8, trials=8, folds=3, evidence_rows=2000,
        finalists=1,
    )  # fmt: skip
    found, own, cells = searched(spec)
    claims, spent = found.claims_table(), own + cells
    held = int(claims["holds"].sum())
    print(
        f"\na search of {n_generations} generations with proofs (8 trials, looks at 6, 12, 24),"
        f" {spent:.0f} CPU s,"
    )
    print(
        f"{cells:.0f} of them fits: {len(claims)} claims on {claims['formula'].nunique()} formulas,"
        f" {held} proven"
    )
    if held:
        print(
            f"{spent / held:.1f} CPU s per proven claim, search, races and refused claims included"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--scouted", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--generations", type=int, default=4)
    parts = {
        "formulas": lambda o: compare_evaluation(o.trees, o.rounds),
        "neighbours": lambda o: compare_neighbours(o.candidates),
        "scouts": lambda o: compare_scouts(o.scouted),
        "rejections": lambda o: count_rejections(10 * o.trees),
        "search": lambda o: cost_of_search(o.generations),
        "proof": lambda o: cost_of_proof(o.generations),
    }
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    options = parser.parse_args()
    for part in options.parts:
        parts[part](options)


if __name__ == "__main__":
    main()
