"""The claims of a collection, measured again by a script that shares no code with the search that made them.

Only the collection's file is read: formulas, what the data are like, and what is claimed. Formulas
are evaluated by recursion over Python's own syntax tree, rows come from other seeds, all seeds of a
method differ from sample to sample, and both methods are tuned at one budget by another tuner: a
Latin hypercube over scipy's distributions, and the library's own defaults, scored by scikit-learn's
five stratified folds of the train rows. AUROC is scikit-learn's, on fresh rows. What is measured is
kept line by line under build/remeasure, and the same command goes on where it stopped. Claims on
one dataset share the fits of their methods. With --halve the worse half of the configurations is
given up after two of the five folds, which spares three fits of ten; the budget stays the same for
all methods.

A table is printed, and written with all that was asked for as NAME-ONLY.json and NAME-ONLY.csv in
the same folder.

Run: python benchmarks/remeasure.py COLLECTION_JSON_OR_NAME [--samples 12] [--trials 20] [--workers
2] [--minutes M]
     [--halve] [--sets NAME,NAME] [--claims N] [--only best|all|refuted]
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import json
import math
import os
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from itertools import combinations, permutations
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np
import sklearn
from scipy.special import ndtr
from scipy.stats import loguniform, qmc, randint, t, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src" / "paragone" / "generate" / "collections"
TAG = "measured again, 1"
"""All seeds follow from it; another one is another replication."""
FOLDS = 5
TEST_ROWS = 10_000
LARGE_SAMPLE = 400_000
ERRORS = 2.0
"""So many standard errors are noise."""


# Formulas


def evaluate(formula, rows):
    """Return the value of a formula on every row."""
    with np.errstate(all="ignore"):
        return _value(
            ast.parse(formula.strip(), mode="eval").body, np.asarray(rows, dtype=np.float64)
        )


def _value(node, rows):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        return _applied(node.func.id, _value(node.args[0], rows), _value(node.args[1], rows))
    if isinstance(node, ast.Name) and node.id[:1] == "X" and node.id[1:].isdigit():
        return rows[:, int(node.id[1:])].copy()
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return np.full(len(rows), float(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, rows)
        return -value if isinstance(node.op, ast.USub) else value
    raise ValueError(f"not part of a formula: {ast.unparse(node)}")


def _applied(name, a, b):
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "safeDiv":
            quotient = a / b
            quotient[b == 0] = 1.0
            return quotient
        case "min":
            return np.where(b < a, b, a)
        case "max":
            return np.where(b > a, b, a)
        case "eq" | "ne" | "ge" | "gt" | "le" | "lt":
            compared = {
                "eq": a == b,
                "ne": a != b,
                "ge": a >= b,
                "gt": a > b,
                "le": a <= b,
                "lt": a < b,
            }
            return np.where(compared[name], 1.0, 0.0)
    raise ValueError(f"not an operator: {name}")


def used_columns(formula):
    """Return the features that occur in a formula."""
    names = {
        node.id
        for node in ast.walk(ast.parse(formula.strip(), mode="eval"))
        if isinstance(node, ast.Name)
    }
    return sorted(int(name[1:]) for name in names if name[:1] == "X" and name[1:].isdigit())


# Rows and labels


def seeds(*what):
    """Return the source of randomness that belongs to these words and numbers."""
    read = hashlib.sha256("\n".join(map(str, (TAG, *what))).encode()).digest()
    return np.random.SeedSequence(int.from_bytes(read, "big"))


KNOWN_SETTINGS = {
    "target", "noise", "positive", "correlation", "irrelevant", "redundant", "categorical", "levels", "missing",
    "missing_by", "drift", "n_features",
}  # fmt: skip


class Source:
    """Rows and labels of one dataset of a collection.

    Parameters
    ----------
    item : mapping
        As it stands in the file: ``formula``, ``n_features``, ``cut`` and ``inclusive`` where it
        names them, ``data``.
    """

    def __init__(self, item):
        data = dict(item.get("data") or {})
        unknown = sorted(set(data) - KNOWN_SETTINGS)
        if unknown or data.get("target", "binary") != "binary":
            raise ValueError(
                f"data that this script does not make: {', '.join(unknown) or data['target']}"
            )
        self.formula, self.width, self.data = item["formula"], int(item["n_features"]), data
        self.key = json.dumps(
            [self.formula, self.width, item.get("cut"), item.get("inclusive"), data], sort_keys=True
        )
        values = evaluate(
            self.formula, self._plain(LARGE_SAMPLE, np.random.default_rng(seeds(self.key, "large")))
        )
        self.cut, self.inclusive = item.get("cut"), item.get("inclusive", True)
        if self.cut is None:
            self.cut, self.inclusive = quantile_cut(values, data.get("positive") or 0.5)
        self.share = float(self._above(values).mean())

    def _plain(self, n, rng):
        rows = rng.standard_normal((n, self.width))
        common = self.data.get("correlation", 0.0)
        if common:
            rows = math.sqrt(1 - common) * rows + math.sqrt(common) * rng.standard_normal((n, 1))
        return rows

    def _above(self, values):
        return values >= self.cut if self.inclusive else values > self.cut

    def draw(self, n, rng, drifted=False):
        """Return fresh rows as a method sees them, and their labels."""
        rows = self._plain(n, rng)
        if drifted:
            rows = rows + self.data.get("drift", 0.0)
        labels = self._above(evaluate(self.formula, rows)).astype(int)
        # A noisy label is drawn again with the shares of the classes.
        again = rng.random(n) < self.data.get("noise", 0.0)
        labels[again] = rng.random(int(again.sum())) < self.share
        return self._shown(rows, rng), labels

    def _shown(self, rows, rng):
        data, n = self.data, len(rows)
        other = rng.standard_normal((n, data.get("irrelevant", 0)))
        seen = rows.copy()
        levels = data.get("levels", 4)
        for column in data.get("categorical", ()):
            seen[:, column] = np.minimum(np.floor(ndtr(rows[:, column]) * levels), levels - 1)
        if data.get("missing"):
            for plain, shown in ((rows, seen), (other, other)):
                by_value = data.get("missing_by", "chance") == "value"
                chance = 2 * data["missing"] * ndtr(plain) if by_value else data["missing"]
                shown[rng.random(shown.shape) < chance] = np.nan
        return np.hstack([seen, *self._redundant(seen), other])

    def _redundant(self, seen):
        hidden = self.data.get("categorical", ())
        numbers = [j for j in used_columns(self.formula) if j not in hidden]
        numbers = numbers or [j for j in range(self.width) if j not in hidden]
        pairs = list(combinations(numbers, 2)) or [(numbers[0], numbers[0])] if numbers else []
        for place in range(self.data.get("redundant", 0)):
            a, b = pairs[place // 2 % len(pairs)]
            sign = -1 if place % 2 and a != b else 1
            yield ((seen[:, a] + sign * seen[:, b]) / math.sqrt(2))[:, None]


def quantile_cut(values, positive):
    """Return a cut with this share above it, and whether it is included: ties there go to the side nearer to it."""
    cut = float(np.quantile(values, 1 - positive))
    with_cut, without = np.mean(values >= cut), np.mean(values > cut)
    return cut, bool(abs(with_cut - positive) <= abs(without - positive))


# Methods and their tuning


def _logistic(penalty="l2", **params):
    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8):
        return LogisticRegression(l1_ratio=float(penalty == "l1"), **params)
    return LogisticRegression(penalty=penalty, **params)


def _xgboost(**params):
    from xgboost import XGBClassifier

    return XGBClassifier(
        tree_method="exact", n_jobs=1, eval_metric="logloss", base_score=0.5, **params
    )


def _lightgbm(**params):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(deterministic=True, force_row_wise=True, n_jobs=1, verbose=-1, **params)


def whole(low, high):
    """Return the even distribution of whole numbers, both ends included."""
    return randint(low, high + 1)


TREE = {
    "criterion": ["gini", "entropy"],
    "max_depth": whole(1, 10),
    "min_samples_split": whole(2, 20),
    "min_samples_leaf": whole(1, 20),
    "max_features": [None, "sqrt", "log2"],
}
METHODS = {
    "LogisticRegression": (
        _logistic,
        {
            "solver": ["newton-cg", "lbfgs", "liblinear", "sag", "saga"],
            "C": loguniform(1e-4, 1e4),
            "penalty": ["l1", "l2"],
            "dual": [True, False],
        },
    ),
    "KNeighborsClassifier": (
        KNeighborsClassifier,
        {
            "n_neighbors": whole(1, 100),
            "weights": ["uniform", "distance"],
            "p": whole(1, 5),
            "metric": ["euclidean", "minkowski"],
        },
    ),
    "DecisionTreeClassifier": (DecisionTreeClassifier, TREE),
    "SVC": (
        lambda **params: SVC(max_iter=20_000, **params),
        {
            "kernel": ["poly", "rbf", "linear", "sigmoid"],
            "C": loguniform(1e-2, 1e5),
            "gamma": ["scale", "auto"],
            "degree": whole(2, 5),
            "class_weight": [None, "balanced"],
            "coef0": uniform(0, 10),
            "tol": loguniform(1e-5, 1e-2),
        },
    ),
    "RandomForestClassifier": (
        RandomForestClassifier,
        {"n_estimators": whole(10, 100), **TREE, "bootstrap": [True, False]},
    ),
    "GradientBoostingClassifier": (
        lambda **params: GradientBoostingClassifier(tol=1e-7, **params),
        {
            "loss": ["log_loss", "exponential"],
            "learning_rate": loguniform(1e-2, 1),
            "min_samples_leaf": whole(1, 200),
            "max_depth": whole(1, 10),
            "n_iter_no_change": whole(1, 20),
            "validation_fraction": uniform(0.01, 0.3),
        },
    ),
    "XGBClassifier": (
        _xgboost,
        {
            "booster": ["gbtree", "dart"],
            "n_estimators": whole(10, 100),
            "reg_lambda": loguniform(1e-5, 1e2),
            "reg_alpha": loguniform(1e-5, 1e2),
            "gamma": uniform(0, 0.5),
            "learning_rate": loguniform(1e-8, 1),
            "max_depth": whole(1, 10),
        },
    ),
    "LGBMClassifier": (
        _lightgbm,
        {
            "boosting_type": ["gbdt", "dart", "goss"],
            "num_leaves": whole(2, 256),
            "max_depth": whole(1, 10),
            "n_estimators": whole(10, 100),
        },
    ),
}
"""The eight methods of DIGEN: how each is made, and what is tuned between which ends."""


def configurations(method, n, rng):
    """Return so many configurations: the library's own defaults, then a Latin hypercube over the space."""
    space = METHODS[method][1]
    cube = qmc.LatinHypercube(len(space), rng=rng).random(n - 1) if n > 1 else []
    found = [{}]
    for point in cube:
        chosen = {name: _at(space[name], place) for name, place in zip(space, point, strict=True)}
        if method == "LogisticRegression":
            if chosen["solver"] != "liblinear":
                chosen["penalty"] = "l2"
            chosen["dual"] = (
                chosen["dual"] and chosen["solver"] == "liblinear" and chosen["penalty"] == "l2"
            )
        found.append(chosen)
    return found


def _at(values, place):
    if isinstance(values, list):
        return values[min(int(place * len(values)), len(values) - 1)]
    value = values.ppf(place)
    return int(value) if isinstance(values.dist, type(randint)) else float(value)


class Made(ClassifierMixin, BaseEstimator):
    """Makes one method from a configuration, as scikit-learn's search wants it: an estimator with one parameter."""

    def __init__(self, method=None, seed=0, configuration=None):
        self.method, self.seed, self.configuration = method, seed, configuration

    def fit(self, X, y):
        """Fit the method itself."""
        self.model_ = METHODS[self.method][0](**(self.configuration or {}))
        if "random_state" in self.model_.get_params():
            self.model_.set_params(random_state=self.seed)
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X):
        """Return a value for class 1 of every row."""
        if hasattr(self.model_, "predict_proba"):
            return self.model_.predict_proba(X)[:, 1]
        return self.model_.decision_function(X)

    def predict(self, X):
        """Return hard labels."""
        return self.model_.predict(X)


# Cells


@dataclass(frozen=True)
class Cell:
    """A method on a sample of a dataset."""

    dataset: str
    method: str
    sample: int
    trials: int
    n_train: int
    n_test: int
    halve: bool = False

    def key(self, source):
        """Return what the outcome follows from, as a hash: names of files and datasets are no part of it."""
        what = [
            TAG,
            source.key,
            self.method,
            self.sample,
            self.trials,
            self.n_train,
            self.n_test,
            FOLDS,
        ]
        # Added only where it is asked for: what was kept before stays known.
        what += ["halved"] if self.halve else []
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:24]


def searched(made, tried, folds, X, y):
    """Return the configuration with the largest mean AUROC over the folds, and that mean."""
    means = fold_means(made, tried, folds, X, y)
    best = int(np.argmax(means))
    return tried[best], float(means[best])


def halved(made, tried, folds, X, y):
    """Return the same, where only the better half after two folds is tried on the others."""
    early = fold_means(made, tried, folds[:2], X, y)
    left = np.sort(np.argsort(-early, kind="stable")[: max(len(tried) // 2, 1)])
    late = fold_means(made, [tried[place] for place in left], folds[2:], X, y)
    means = (2 * early[left] + (len(folds) - 2) * late) / len(folds)
    best = int(np.argmax(means))
    return tried[left[best]], float(means[best])


def fold_means(made, tried, folds, X, y):
    """Return the mean AUROC of every configuration over folds; the worst there is for one that cannot be fitted."""
    search = GridSearchCV(
        made, {"configuration": tried}, scoring="roc_auc", cv=folds, refit=False
    ).fit(X, y)
    return np.nan_to_num(search.cv_results_["mean_test_score"], nan=-1.0)


def measure(cell, source):
    """Tune a method on the train rows of a sample, and score it on the fresh ones."""
    begun = time.process_time()
    train, test = (
        np.random.default_rng(one) for one in seeds(source.key, "rows", cell.sample).spawn(2)
    )
    X, y = source.draw(cell.n_train, train)
    X_test, y_test = source.draw(cell.n_test, test, drifted=True)
    own = np.random.default_rng(seeds(source.key, "method", cell.method, cell.sample))
    fold_seed, method_seed = (int(seed) for seed in own.integers(2**31, size=2))
    tried = configurations(cell.method, cell.trials, own)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=fold_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Made(cell.method, method_seed)
        chosen, inner = (halved if cell.halve else searched)(
            made, tried, list(folds.split(X, y)), X, y
        )
        fitted = clone(made).set_params(configuration=chosen).fit(X, y)
        score = roc_auc_score(y_test, fitted.decision_function(X_test))
    return {
        "key": cell.key(source),
        **asdict(cell),
        "auroc": float(score),
        "cv": inner,
        "params": chosen,
        "seconds": round(time.process_time() - begun, 2),
    }


def read_kept(path):
    """Return what was measured before, by key; a line that was cut off by a stop is left out."""
    kept = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            kept[found["key"]] = found
    return kept


def run(cells, sources, path, workers=1, deadline=math.inf):
    """Measure what is not measured yet, until the time is over; return all that is, by key."""
    kept = read_kept(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = [cell for cell in cells if cell.key(sources[cell.dataset]) not in kept]
    with path.open("a+", encoding="utf-8") as file:
        if file.tell():
            file.seek(0)
            # A stop in the middle of a line must not spoil the next one.
            file.write("" if file.read().endswith("\n") else "\n")

        def keep(found):
            file.write(json.dumps(found) + "\n")
            file.flush()
            kept[found["key"]] = found

        if workers == 1:
            for cell in waiting:
                if time.monotonic() >= deadline:
                    break
                keep(measure(cell, sources[cell.dataset]))
            return kept
        with ProcessPoolExecutor(workers) as pool:
            running, following = set(), iter(waiting)
            while True:
                while (
                    len(running) < workers
                    and time.monotonic() < deadline
                    and (cell := next(following, None))
                ):
                    running.add(pool.submit(measure, cell, sources[cell.dataset]))
                if not running:
                    return kept
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    keep(future.result())


# Claims


@dataclass(frozen=True)
class Claim:
    """What a collection prints: that a method leads another on a dataset, by a mean and at least by a bound."""

    dataset: str
    up: str
    down: str
    mean: float
    low: float


def read_claims(content, only="best"):
    """Return the claims of a collection's file.

    Collections with a plan list them. Those of the first release print every pair whose scores lead
    by the margin with the lower end of Student's 95 % interval; the best of them is the dataset
    with the largest bound of a pair.
    """
    margin, found = content["margin"], []
    for item in content["sets"]:
        if item.get("claims"):
            printed = [c for c in item["claims"] if c["holds"] and c["low"] >= margin]
            found += [Claim(item["name"], c["up"], c["down"], c["mean"], c["low"]) for c in printed]
        elif content.get("plan") is None:
            for up, down in permutations(item["aurocs"], 2):
                leads = np.subtract(item["aurocs"][up], item["aurocs"][down])
                low = leads.mean() - t.ppf(0.975, len(leads) - 1) * standard_error(leads)
                if low >= margin:
                    found.append(Claim(item["name"], up, down, float(leads.mean()), float(low)))
    if content.get("plan") is None and only != "all":
        best = {}
        for claim in found:
            pair = claim.up, claim.down
            best[pair] = max(best.get(pair, claim), claim, key=lambda claim: claim.low)
        found = list(best.values())
    if only == "refuted":
        refuted = {tuple(pair) for pair in content.get("refuted", ())}
        found = [claim for claim in found if (claim.up, claim.down) in refuted]
    return found


def standard_error(values):
    """Return the standard error of a mean; NaN of one value."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def judged(claim, leads, margin):
    """Return what became of a claim, as a row of the table."""
    n = len(leads)
    mean, error = (float(np.mean(leads)), standard_error(leads)) if n else (math.nan, math.nan)
    # One sample alone says nothing about noise.
    noise = ERRORS * error if n > 1 else math.inf
    return {
        "dataset": claim.dataset,
        "up": claim.up,
        "down": claim.down,
        "printed_mean": claim.mean,
        "printed_low": claim.low,
        "samples": n,
        "mean": mean,
        "se": error,
        "share_won": float(np.mean(np.asarray(leads) > 0)) if n else math.nan,
        "holds": bool(mean >= margin),
        "bound_holds": bool(mean + noise >= claim.low),
        "below_margin": bool(mean + noise < margin),
        "reversed": bool(mean + noise < 0),
    }


@dataclass(frozen=True)
class Asked:
    """How claims are measured again."""

    samples: int = 12
    trials: int = 20
    test_rows: int = TEST_ROWS
    halve: bool = False
    only: str = "best"
    sets: tuple = ()
    claims: int | None = None


def remeasure(path, workers=1, minutes=math.inf, folder=ROOT / "build" / "remeasure", **asked):
    """Measure the claims of a collection's file again; return a row for each, and what could not be measured."""
    deadline, asked = time.monotonic() + 60 * minutes, Asked(**asked)
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    items = {item["name"]: item for item in content["sets"]}
    strangers = [name for name in asked.sets if name not in items]
    if strangers:
        raise SystemExit(f"there is no dataset {strangers[0]!r} in {path}")
    wanted, refused, sources = [], [], {}
    printed = [
        claim
        for claim in read_claims(content, asked.only)
        if not asked.sets or claim.dataset in asked.sets
    ]
    for claim in printed[: asked.claims]:
        strange = [method for method in (claim.up, claim.down) if method not in METHODS]
        try:
            if strange:
                raise ValueError(f"a method that this script does not know: {strange[0]}")
            if claim.dataset not in sources:
                sources[claim.dataset] = Source(items[claim.dataset])
        except ValueError as error:
            refused.append((claim, str(error)))
        else:
            wanted.append(claim)

    def cell(claim, method, sample):
        n_train = items[claim.dataset]["n_rows"]
        return Cell(
            claim.dataset, method, sample, asked.trials, n_train, asked.test_rows, asked.halve
        )

    # Sample by sample, so that a run that is stopped has looked at all claims alike; claims on one
    # set share fits.
    cells = [
        cell(claim, m, i)
        for i in range(asked.samples)
        for claim in wanted
        for m in (claim.up, claim.down)
    ]
    cells = list(dict.fromkeys(cells))
    folder = Path(folder)
    kept = run(cells, sources, folder / "cells.jsonl", workers, deadline)
    rows = []
    for claim in wanted:
        keys = [[cell(claim, m, i).key(sources[claim.dataset]) for m in (claim.up, claim.down)]
                for i in range(asked.samples)]  # fmt: skip
        leads = [kept[a]["auroc"] - kept[b]["auroc"] for a, b in keys if a in kept and b in kept]
        rows.append(judged(claim, leads, content["margin"]))
    found = [(one, kept.get(one.key(sources[one.dataset]))) for one in cells]
    write(folder / f"{content['name']}-{asked.only}", content, asked, rows, refused, cost(found))
    return rows, refused


def cost(found):
    """Return what the fits took in CPU seconds, and what those that are left would take, method by method."""
    spent = {}
    for cell, outcome in found:
        if outcome is not None:
            spent.setdefault(cell.method, []).append(outcome["seconds"])
    means = {method: sum(seconds) / len(seconds) for method, seconds in spent.items()}
    typical = sum(means.values()) / len(means) if means else math.nan
    left = [means.get(cell.method, typical) for cell, outcome in found if outcome is None]
    return {
        "fits": len(found),
        "fits_left": len(left),
        "cpu_seconds": round(sum(map(sum, spent.values())), 1),
        "cpu_seconds_left": round(sum(left), 1) if not left or means else None,
        "cpu_seconds_of_a_fit": {method: round(mean, 2) for method, mean in sorted(means.items())},
    }


def totals(rows, n_refused=0):
    """Count what became of the claims."""
    seen = [row for row in rows if row["samples"]]
    counts = {
        word: sum(row[word] for row in seen)
        for word in ("holds", "reversed", "bound_holds", "below_margin")
    }
    share = counts["holds"] / len(seen) if seen else None
    return {
        "claims": len(rows) + n_refused,
        "measured": len(seen),
        **counts,
        "share_that_holds": share,
    }


def write(stem, content, asked, rows, refused, spent):
    """Write the rows as a table, and all that was asked for and found as JSON."""
    with stem.with_name(f"{stem.name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(judged(Claim("", "", "", 0.0, 0.0), [], 0.0)))
        writer.writeheader()
        writer.writerows(rows)
    told = {
        "collection": content["name"],
        "margin": content["margin"],
        "tag": TAG,
        "folds": FOLDS,
        "errors_that_are_noise": ERRORS,
        **asdict(asked),
        "versions": {"numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "totals": totals(rows, len(refused)),
        "cost": spent,
        # JSON has no NaN: what was not measured is null.
        "rows": [
            {key: None if value != value else value for key, value in row.items()} for row in rows
        ],
        "refused": [{**asdict(claim), "why": why} for claim, why in refused],
    }
    stem.with_name(f"{stem.name}.json").write_text(
        json.dumps(told, indent=1) + "\n", encoding="utf-8"
    )


def told(rows, refused):
    """Return the rows and their totals as lines of text."""
    yield f"{'claim':62} {'printed':>14} {'n':>3} {'again':>6} {'SE':>5} {'won':>4}"
    for row in rows:
        name = f"{row['dataset']}: {row['up']} > {row['down']}"
        numbers = f"{row['samples']:3} {row['mean']:6.3f} {row['se']:5.3f} {row['share_won']:4.0%}"
        words = ["holds" if row["holds"] else "does not hold"]
        words += [] if row["bound_holds"] else ["below its bound"]
        words += ["below the margin beyond noise"] * row["below_margin"] + ["REVERSED"] * row[
            "reversed"
        ]
        said = ", ".join(words) if row["samples"] else "not measured yet"
        yield f"{name:62} {row['printed_mean']:6.3f} (>{row['printed_low']:5.3f}) {numbers} {said}"
    for claim, why in refused:
        yield f"{claim.dataset}: {claim.up} > {claim.down}: not measured: {why}"
    found = totals(rows, len(refused))
    if found["measured"]:
        yield (
            f"{found['holds']} of {found['measured']} claims hold"
            f" ({found['share_that_holds']:.1%}), {found['reversed']} reversed; the printed bound"
            f" holds within noise for {found['bound_holds']}; {found['claims'] - found['measured']}"
            " not measured"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "collection", help="a collection's file or folder, or the name of one that is shipped"
    )
    parser.add_argument("--samples", type=int, default=12)
    parser.add_argument(
        "--trials", type=int, default=20, help="configurations of each method on every sample"
    )
    parser.add_argument("--test-rows", type=int, default=TEST_ROWS)
    parser.add_argument(
        "--halve", action="store_true", help="give up the worse half after two of the five folds"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin nothing new after this time"
    )
    parser.add_argument("--claims", type=int, help="the first so many claims only")
    parser.add_argument(
        "--sets", default="", help="the claims on these datasets only, with commas between"
    )
    parser.add_argument(
        "--only", choices=["best", "all", "refuted"], default="best", help="of the first release's"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "remeasure")
    given = vars(parser.parse_args())
    name = given.pop("collection")
    path = Path(name)
    path = path / "collection.json" if path.is_dir() else path
    path = path if path.exists() else SHIPPED / f"{name}.json"
    if not path.exists():
        raise SystemExit(f"{name} is neither a collection's file or folder nor one that is shipped")
    given["sets"] = tuple(part.strip() for part in given["sets"].split(",") if part.strip())
    rows, refused = remeasure(path, **given)
    print("\n".join(told(rows, refused)))
    name = json.loads(path.read_text(encoding="utf-8"))["name"]
    written = given["folder"] / f"{name}-{given['only']}.json"
    spent = json.loads(written.read_text(encoding="utf-8"))["cost"]
    done, left = spent["fits"] - spent["fits_left"], spent["cpu_seconds_left"]
    print(
        f"{spent['cpu_seconds']:,} CPU seconds for {done} of {spent['fits']} fits"
        + (f", {left:,} left" if left else "")
    )
    print(f"all of this: {written}")


if __name__ == "__main__":
    main()
