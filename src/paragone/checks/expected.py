"""What the tables of a curve experiment should say, from scores recomputed from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.checks.recomputed import ChainFigures, Recomputation, prediction_score
from paragone.checks.tables import ExpectedCell, ExpectedTable, expected_of_frame, expected_of_table, plain
from paragone.checks.tuning import selected
from paragone.checks.verify import recomputed
from paragone.directions import higher_is_better, score_size
from paragone.errors import InputError
from paragone.metrics.topk.metrics import F1_OF_MEANS
from paragone.protocols.crossval.frames import final_frame, group_frame
from paragone.protocols.crossval.ledger import Predictions
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import metric_name, score_name
from paragone.reporting.words import title_of
from paragone.results import Results
from paragone.results.chains import CrossvalRun
from paragone.results.topk_runs import BEYOND, TopKRun, beyond_frame, score_frame, segment_frame
from paragone.stats import Comparison, SampleComparison, compare, compare_samples
from paragone.ties import best_losses, loss_order
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-9
TOP_SHARE = 0.2


def curve_expectations(
    frame: pd.DataFrame, results: Results, experiment: str, reference: str | None
) -> list[ExpectedTable]:
    """Return the expectation for every table of a report on a curve experiment, and of `paragone compare`.

    Parameters
    ----------
    frame : DataFrame
        Recomputed scores: ``dataset, fold, method, repeat, metric, grid, at, value``.
    results : Results
        For rankings and the declaration.
    experiment : str
        The experiment's name.
    reference : str, optional
        The method that statistics compare with each other one; the first where it is not given.

    Returns
    -------
    list of ExpectedTable
        Score tables both ways round, statistics, ranks, the means and the stability over seeds.
    """
    found: list[ExpectedTable] = []
    for suffix, folds in reduced(frame, results, experiment).items():
        found += _grid_expectations(folds, suffix, reference)
    stability = seed_stability(frame, results, experiment)
    if len(stability):
        found.append(expected_of_frame(stability, ["dataset", "method"], "stability over seeds"))
    return found


def reduced(frame: pd.DataFrame, results: Results, experiment: str) -> dict[str, pd.DataFrame]:
    """Reduce curves to one score a fold: the mean over a k-grid, the value at the target of a p-grid."""
    protocol = results.described(experiment)["protocol"]
    found = {}
    for grid in [grid for grid in ("k", "p") if protocol[grid] is not None]:
        mine, suffix = frame[frame["grid"] == grid], "kgrid"
        if grid == "p":
            target = float(protocol["p"]["target"])
            mine, suffix = mine[(mine["at"] - target).abs() < NEAR], f"p{100 * target:g}"
        if len(mine):
            # Over grid and seeds at once: the same as one after the other, since every seed has the whole grid.
            keys = ["dataset", "fold", "method", "metric"]
            found[suffix] = mine.groupby(keys, sort=False)["value"].mean().reset_index()
    return found


def _grid_expectations(folds: pd.DataFrame, suffix: str, reference: str | None) -> list[ExpectedTable]:
    metrics = list(dict.fromkeys(folds["metric"]))
    tables = [table for metric in metrics for table in score_expectations(folds, metric, suffix)]
    grouped = folds.groupby(["dataset", "method", "metric"], sort=False)["value"]
    means = grouped.agg(mean="mean", std=lambda values: values.std(ddof=1), folds="size").reset_index()
    tables.append(expected_of_frame(means, ["dataset", "method", "metric"], f"means ({suffix})"))
    if folds["method"].nunique() > 1 and folds["dataset"].nunique() > 1:
        leader = reference or str(folds["method"].iloc[0])
        each = {m: _compared(folds, m, leader) for m in metrics}
        tables += [_statistics(each, suffix), _ranks(each, list(dict.fromkeys(folds["method"])), suffix)]
    return tables


def _compared(folds: pd.DataFrame, metric: str, reference: str) -> Comparison:
    rows = folds[folds["metric"] == metric]
    return compare(rows, metric=metric, reference=reference, correction="holm", bayes=False)


def score_expectations(folds: pd.DataFrame, metric: str, suffix: str) -> list[ExpectedTable]:
    """Return the table of a metric with datasets down and methods across, and the other way round."""
    rows = folds[folds["metric"] == metric]
    methods, datasets = list(dict.fromkeys(rows["method"])), list(dict.fromkeys(rows["dataset"]))
    values = {key: part["value"].to_numpy() for key, part in rows.groupby(["dataset", "method"], sort=False)}
    higher = bool(higher_is_better(metric))
    by_dataset: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    across: dict[tuple[str, ...], dict[str, ExpectedCell]] = {(plain(method),): {} for method in methods}
    for dataset in datasets:
        means = np.array([values[dataset, m].mean() if (dataset, m) in values else np.nan for m in methods])
        best, second = best_and_second(means, higher, score_size(metric))
        cells = {}
        for place, method in enumerate(methods):
            of = values.get((dataset, method), np.empty(0))
            spread = float(np.std(of, ddof=1)) if len(of) > 1 else np.nan
            cells[method] = ExpectedCell((float(means[place]), spread), "", bool(best[place]), bool(second[place]))
            across[(plain(method),)][dataset] = ExpectedCell((float(means[place]), spread))
        by_dataset[(plain(dataset),)] = cells
    title, label = f"{metric} ({suffix})", f"tab:{metric.replace('_', '-')}-{suffix}"
    return [
        ExpectedTable(title, ("Dataset",), ("Dataset", *methods), by_dataset, label=label),
        ExpectedTable(f"{title}, methods down", ("Method",), ("Method", *datasets), across),
    ]


def best_and_second(values: FloatArray, higher: bool, size: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Mark the best values and the second best; ties (`paragone.ties`) go together.

    Examples
    --------
    >>> [marks.tolist() for marks in best_and_second(np.array([0.5, 0.7, 0.6]), True)]
    [[False, True, False], [False, False, True]]
    """
    loss = -values if higher else values
    best = best_losses(loss, size=size)
    return best, best_losses(np.where(best, np.nan, loss), size=size)


def _statistics(each: Mapping[str, Comparison], suffix: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    for metric, comparison in each.items():
        for pair in comparison.leading_pairs:
            counts = len(pair.won), len(pair.tied), len(pair.lost)
            bold = pair.p_adjusted <= comparison.settings.alpha
            rows[plain(title_of(metric)), plain(pair.rival)] = {
                "Gain": ExpectedCell((pair.mean_difference,)),
                "W/T/L": ExpectedCell(tuple(float(count) for count in counts)),
                "p": ExpectedCell((pair.p,)),
                "p (Holm)": ExpectedCell((pair.p_adjusted,), bold=bold),
            }
    columns = ("Metric", "Rival", "Gain", "W/T/L", "p", "p (Holm)")
    return ExpectedTable(f"statistics ({suffix})", columns[:2], columns, rows, label=f"tab:stats-{suffix}")


def _ranks(each: Mapping[str, Comparison], methods: Sequence[str], suffix: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {(plain(method),): {} for method in methods}
    notes = []
    for metric, comparison in each.items():
        ranks = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
        best, second = best_and_second(np.array([ranks[method] for method in methods]), False)
        for place, method in enumerate(methods):
            cell = ExpectedCell((ranks[method],), "", bool(best[place]), bool(second[place]))
            rows[(plain(method),)][title_of(metric)] = cell
        friedman = comparison.friedman
        notes.append((friedman.chi2, friedman.p, friedman.f, friedman.p_f))
    columns = ("Method", *(title_of(metric) for metric in each))
    title, label = f"average ranks ({suffix})", f"tab:ranks-{suffix}"
    return ExpectedTable(title, ("Method",), columns, rows, label=label, notes=tuple(notes))


def comparison_expectations(
    frame: pd.DataFrame, results: Results, experiment: str, reference: str | None
) -> list[ExpectedTable]:
    """Return the expectations for the files of `paragone compare` with its defaults, which take a while to work out."""
    return [
        table
        for folds in reduced(frame, results, experiment).values()
        for metric in dict.fromkeys(folds["metric"])
        for table in _comparison_tables(folds[folds["metric"] == metric], metric, reference)
    ]


def _comparison_tables(rows: pd.DataFrame, metric: str, reference: str | None) -> list[ExpectedTable]:
    from paragone.stats.layout import build

    if higher_is_better(metric) is None:
        return []
    try:
        found = compare(rows, metric=metric, reference=reference)
    except InputError:
        return []  # what cannot be compared has no table
    tables = [
        expected_of_table(build(found, "summary"), ["method"], f"comparison by {metric}"),
        expected_of_table(build(found, "scores"), ["dataset"], f"scores compared by {metric}"),
        expected_of_table(build(found, "pairs"), ["method", "rival"], f"pairs by {metric}"),
        expected_of_frame(found.rank_table, ["method"], f"ranks by {metric}"),
        expected_of_frame(found.table, ["method", "rival"], f"pairs by {metric}"),
        expected_of_frame(found.corrections, ["method", "rival"], f"corrections by {metric}"),
    ]
    if len(found.per_dataset):
        keys = ["dataset", "method", "rival"]
        tables.append(expected_of_frame(found.per_dataset, keys, f"tests within datasets by {metric}"))
    return tables


def seed_stability(frame: pd.DataFrame, results: Results, experiment: str) -> pd.DataFrame:
    """Return the agreement over seeds of the top fifth of the features, and the spread of the first metric."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for (dataset, method), mine in frame.groupby(["dataset", "method"], sort=False):
        if mine["repeat"].nunique() < 2:
            continue
        shared: list[tuple[float, float]] = []
        size = top = 0
        for fold, part in mine.groupby("fold"):
            tops = []
            for repeat in sorted(part["repeat"].unique()):
                ranking = results.ranking(dataset, int(fold), method, experiment, int(repeat)).tolist()
                size, top = len(ranking), max(1, round(TOP_SHARE * len(ranking)))
                tops.append(set(ranking[:top]))
            shared += [_agreement(a, b, top, size) for a, b in combinations(tops, 2)]
        jaccard, kuncheva = (float(np.mean([pair[place] for pair in shared])) for place in (0, 1))
        first = mine[(mine["metric"] == mine["metric"].iloc[0]) & (mine["grid"] == mine["grid"].iloc[0])]
        spread = first.groupby(["fold", "repeat"])["value"].mean().groupby("fold").std(ddof=1).mean()
        rows.append((dataset, method, mine["repeat"].nunique(), top, jaccard, kuncheva, float(spread)))
    return pd.DataFrame(rows, columns=["dataset", "method", "seeds", "top", "jaccard", "kuncheva", "spread"])


def _agreement(a: set[int], b: set[int], k: int, n: int) -> tuple[float, float]:
    both = len(a & b)
    return both / len(a | b), 1.0 if k == n else (both - k * k / n) / (k - k * k / n)


TOP = 30
PLACE = ["dataset", "target", "model", "variant"]
OF_NUMBERS = ("r2", "rmse", "mae", "sep", "rpd", "bias")
OF_CLASSES = ("accuracy", "balanced_accuracy", "f1", "precision", "recall", "cohen_kappa", "matthews_corrcoef")


def crossval_expectations(run: CrossvalRun) -> list[ExpectedTable]:
    """Return the expectation for every table and CSV file of a report on a cross-validation."""
    each = [_Problem(problem, run) for problem in run.problems]
    tables: list[ExpectedTable] = []
    for one in each:
        tables += [one.final_table(), one.top_table(), *one.model_tables()]
    tables.append(_frame(each, "cross-validation scores", PLACE, _Problem.cv_rows))
    tables.append(_frame(each, "scores of folds", [*PLACE, "repeat", "fold"], _Problem.fold_rows))
    tables.append(_final_frame(each, run))
    if any(problem.truth.groups is not None for problem in run.problems):
        groups = group_frame(run.problems, run.settings)
        tables.append(expected_of_frame(groups, [*PLACE, "role"], "scores of groups"))
    return [table for table in tables if table.rows]


def _frame(each: Sequence[_Problem], title: str, keys: Sequence[str], rows: Any) -> ExpectedTable:
    import pandas as pd

    return expected_of_frame(pd.DataFrame([row for one in each for row in rows(one)]), keys, title)


def _final_frame(each: Sequence[_Problem], run: CrossvalRun) -> ExpectedTable:
    """Return the expectation for the final scores: figures by ours, criteria and credit by the program's selection."""
    frame: pd.DataFrame = final_frame(run.problems, run.settings)
    if frame.empty:
        return ExpectedTable("final scores", tuple(PLACE), tuple(PLACE), {})
    by_problem = {(one.problem.dataset, one.problem.target): one for one in each}
    for row in frame.index:
        one = by_problem[str(frame.at[row, "dataset"]), str(frame.at[row, "target"])]
        figures = one.figures[str(frame.at[row, "variant"])]
        for key in ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv", "train_score"):
            frame.at[row, one.name(key)] = getattr(figures, key)
    return expected_of_frame(frame, PLACE, "final scores")


class _Problem:
    """One problem with the recomputed figures of its chains."""

    def __init__(self, problem: Problem, run: CrossvalRun) -> None:
        self.problem = problem
        self.run = run
        task = problem.truth.task
        self.metric = run.settings.scoring(task).metric
        again = Recomputation(task, self.metric, run.settings)
        self.figures: dict[str, ChainFigures] = {v: again.figures(chain) for v, chain in problem.chains.items()}
        several = len(run.of_dataset(problem.dataset)) > 1
        self.title = f"{problem.dataset}: {problem.target}" if several else problem.dataset

    def name(self, key: str) -> str:
        """Return what a score is called."""
        settings = self.run.settings
        return score_name(key, self.metric, settings.naming, holdout=settings.holdout)

    def place(self, variant: str) -> dict[str, str]:
        """Return dataset, target, model and variant."""
        model = str(self.run.settings.variants[variant].get("method", variant))
        return dict(zip(PLACE, (self.problem.dataset, self.problem.target, model, variant), strict=True))

    def refitted(self) -> list[str]:
        """Return the variants that the cross-validation selects for the refit."""
        together = self.run.of_dataset(self.problem.dataset) if self.run.settings.aggregate else [self.problem]
        return selected(together, self.run)

    def _listed(self) -> pd.DataFrame:
        """Return the refitted variants as the program lists them: in order, with the criteria that took them."""
        together = self.run.of_dataset(self.problem.dataset) if self.run.settings.aggregate else [self.problem]
        frame = final_frame(together, self.run.settings)
        return frame[frame["target"] == self.problem.target] if len(frame) else frame

    def final_table(self) -> ExpectedTable:
        """Return the expectation for the table of refitted variants."""
        keys = ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv")
        rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
        for place, record in enumerate(self._listed().to_dict("records"), start=1):
            variant = str(record["variant"])
            figures = self.figures[variant]
            cells = {self.name(key): ExpectedCell((getattr(figures, key),)) for key in keys}
            cells[self.name(keys[0])] = ExpectedCell((figures.test_score,), bold=bool(record["best_of"]))
            cells["#"] = ExpectedCell((float(place),))
            cells["Model"] = ExpectedCell(text=self.place(variant)["model"])
            cells["Selected_By"] = ExpectedCell(text=str(record["selected_by"]))
            rows[(plain(variant),)] = cells
        columns = ("Variant", "#", "Model", *(self.name(key) for key in keys), "Selected_By")
        return ExpectedTable(
            f"final scores on {self.title}", ("Variant",), columns, rows, caption=plain(f"Final scores on {self.title}")
        )

    def top_table(self) -> ExpectedTable:
        """Return the expectation for the table of the best chains, with their places and folds."""
        keys = ("cv_score", "mean_fold_cv", "ens_test", "w_ens_test")
        there = [variant for variant, of in self.figures.items() if not np.isnan(of.cv_score)]
        scoring = self.run.settings.scoring(self.problem.truth.task)
        size = scoring.size(self.problem.truth.y)
        losses = scoring.settled([self.figures[variant].cv_score for variant in there], size)
        best = {variant for variant, is_best in zip(there, best_losses(losses), strict=True) if is_best}
        order = [there[place] for place in loss_order(losses)[:TOP]]
        rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
        for place, variant in enumerate(order, start=1):
            figures = self.figures[variant]
            cells = {self.name(key): ExpectedCell((getattr(figures, key),)) for key in keys}
            cells[self.name(keys[0])] = ExpectedCell((figures.cv_score,), bold=variant in best)
            cells["#"] = ExpectedCell((float(place),))
            cells |= {f"f{number}": ExpectedCell((value,)) for number, value in enumerate(figures.fold_val)}
            cells["Model"] = ExpectedCell(text=self.place(variant)["model"])
            rows[(plain(variant),)] = cells
        folds = [f"f{number}" for number in range(len(self.problem.folds))]
        columns = ("Variant", "#", "Model", *(self.name(key) for key in keys), *folds)
        caption = plain(f"Top {len(order)} CV chains on {self.title}")
        return ExpectedTable(f"best chains on {self.title}", ("Variant",), columns, rows, caption=caption)

    def model_tables(self) -> list[ExpectedTable]:
        """Return the expectations for the tables of one refitted model each."""
        return [self._model_table(variant) for variant in self.refitted() if self.problem.chains[variant].final]

    def _model_table(self, variant: str) -> ExpectedTable:
        chain = self.problem.chains[variant]
        first = "Hold-out" if self.run.settings.holdout else "Cross-val"
        parts = {first: chain.validation()}
        if chain.final is not None:
            parts |= {"Train": chain.final.train, "Test": chain.final.test}
        rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {
            (name,): self._model_row(part, chain.classes) for name, part in parts.items()
        }
        columns = ("", *next(iter(rows.values())))
        caption = plain(f"{variant} on {self.title}")
        return ExpectedTable(f"figures of {variant} on {self.title}", ("",), columns, rows, caption=caption)

    def _model_row(self, part: Predictions, classes: Any) -> dict[str, ExpectedCell]:
        task, ddof = self.problem.truth.task, self.run.settings.ddof
        figures: dict[str, float] = {"n": float(len(part)), "Features": float(self.problem.n_features)}
        if task == "regression":
            truth = part.y_true
            spread = ("Mean", np.mean), ("Median", np.median), ("Min", np.min), ("Max", np.max)
            figures |= {name: float(f(truth)) if len(truth) else np.nan for name, f in spread}
            figures["SD"] = float(np.std(truth, ddof=ddof)) if len(truth) > ddof else np.nan
        for metric in OF_NUMBERS if task == "regression" else OF_CLASSES:
            figures[metric_name(metric)] = prediction_score(
                metric, task, part.y_true, part.y_pred, probabilities=part.probabilities, classes=classes, ddof=ddof
            )
        return {name: ExpectedCell((value,)) for name, value in figures.items()}

    def cv_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the file of cross-validation scores."""
        keys = ("cv_score", "mean_fold_cv", "ens_test", "w_ens_test")
        rows = []
        for variant, figures in self.figures.items():
            chain = self.problem.chains[variant]
            row: dict[str, Any] = {**self.place(variant), "metric": self.metric}
            row |= {self.name(key): getattr(figures, key) for key in keys}
            if chain.n_repeats > 1:
                again = Recomputation(self.problem.truth.task, self.metric, self.run.settings)
                each = [again.score(chain.validation(r), chain.classes) for r in range(chain.n_repeats)]
                row |= {"repeats": len(each), "repeat_mean": np.mean(each), "repeat_sd": np.std(each, ddof=1)}
            rows.append(row)
        return rows

    def fold_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the file of fold scores."""
        rows = []
        for variant, of in self.figures.items():
            chain, place = self.problem.chains[variant], self.place(variant)
            for number, fold in enumerate(chain.folds):
                values = of.fold_train[number], of.fold_val[number], of.fold_test[number], of.weights[number]
                rows.append(self._fold_row(place, fold.repeat, fold.fold, values))
            rows.append(self._fold_row(place, 0, "avg", (of.ens_train, of.cv_score, of.ens_test, np.nan)))
            rows.append(self._fold_row(place, 0, "w_avg", (of.w_ens_train, of.cv_score, of.w_ens_test, np.nan)))
            if chain.final is not None:
                rows.append(self._fold_row(place, 0, "final", (of.train_score, np.nan, of.test_score, np.nan)))
        return rows

    def _fold_row(self, place: dict[str, str], repeat: int, fold: str, values: tuple[float, ...]) -> dict[str, Any]:
        names = ("train_score", "val_score", "test_score", "weight")
        return {**place, "repeat": repeat, "fold": fold, "metric": self.metric, **dict(zip(names, values, strict=True))}


def topk_expectations(run: TopKRun, results: Results, reference: str | None) -> list[ExpectedTable]:
    """Return the expectation for every table and CSV file of a report on a topk experiment.

    Means are recomputed from the lists by the definitions; intervals, ties, segments and what lies beyond accuracy are
    derived from the same lists by the program.
    """
    tidy = results.scores(repeats=True)
    segments = segment_frame(run)
    scores = score_frame(run, segments, tidy[tidy["experiment"] == run.experiment])
    means = _means(run)
    for frame in (scores, segments[segments["segment"] == "all"]):
        for place in frame.index:
            key = tuple(frame.loc[place, ["dataset", "method", "metric", "at"]])
            if key in means:
                (scores if frame is scores else segments).loc[place, "value"] = means[key]
    beyond = beyond_frame(run)
    tables = [
        expected_of_frame(scores, ["dataset", "method", "metric", "at"], "scores"),
        expected_of_frame(segments, ["dataset", "method", "segment", "metric", "at"], "segments"),
        expected_of_frame(beyond, ["dataset", "method", "at"], "beyond accuracy"),
    ]
    for dataset in run.datasets:
        mine = scores[scores["dataset"] == dataset]
        tables += [_metric_table(mine, dataset, metric) for metric in dict.fromkeys(mine["metric"])]
        tables.append(_tie_table(mine, dataset))
        tables += _segment_tables(segments[segments["dataset"] == dataset], dataset)
        tables.append(_beyond_table(beyond[beyond["dataset"] == dataset], dataset))
    if len(run.methods) > 1:
        comparison = compare_samples(results.sample_scores(experiment=run.experiment), reference=reference)
        tables += _differences(comparison)
    return tables


def _means(run: TopKRun) -> dict[tuple[Any, ...], float]:
    """Return the mean over all samples, folds pooled and seeds averaged, by dataset, method, metric and cut-off."""
    pooled: dict[tuple[str, str], dict[int, list[dict[str, Any]]]] = {}
    for cell in run.cells:
        evaluated, _ = run.samples(cell)
        values = {name: found[evaluated] for name, found in recomputed(run, cell).items()}
        pooled.setdefault((cell.dataset, cell.method), {}).setdefault(cell.fold, []).append(values)
    means: dict[tuple[Any, ...], float] = {}
    for (dataset, method), folds in pooled.items():
        names = next(iter(folds.values()))[0]
        for name in names:
            seeds = [np.mean([values[name] for values in each], axis=0) for each in folds.values()]
            for place, cut in enumerate(run.ks):
                means[dataset, method, name, cut] = float(np.concatenate(seeds)[:, place].mean())
        if F1_OF_MEANS in run.settings["metrics"]:
            for cut in run.ks:
                p, r = (means[dataset, method, name, cut] for name in ("precision", "recall"))
                means[dataset, method, F1_OF_MEANS, cut] = 2 * p * r / (p + r) if p + r else 0.0
    return means


def _label(metric: str, cut: float) -> str:
    name, _, rest = metric.partition("[")
    return f"{name}@{cut:g}[{rest}" if rest else f"{name}@{cut:g}"


def _shown(row: Any) -> str:
    return plain(f"{row.method} (mean of {int(row.seeds)} seeds)" if row.seeds > 1 else row.method)


def _with_interval(row: Any) -> tuple[float, ...]:
    return float(row.value), float(row.low), float(row.high)


def _metric_table(scores: pd.DataFrame, dataset: str, metric: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    mine = scores[scores["metric"] == metric]
    higher = higher_is_better(metric) is not False
    for cut, at in mine.groupby("at", sort=False):
        best, second = best_and_second(at["value"].to_numpy(dtype=float), higher, score_size(metric))
        for place, row in enumerate(at.itertuples()):
            cell = ExpectedCell(_with_interval(row), "", bool(best[place]), bool(second[place]))
            rows.setdefault((_shown(row),), {})[_label(metric, cut)] = cell
        ceiling = float(at["ceiling"].iloc[0])
        if not np.isnan(ceiling):
            rows.setdefault(("best possible",), {})[_label(metric, cut)] = ExpectedCell((ceiling,))
    columns = ("Method", *(_label(metric, cut) for cut in dict.fromkeys(mine["at"])))
    title, label = f"{metric} on {dataset}", _name(metric, dataset)
    return ExpectedTable(title, ("Method",), columns, rows, label=label)


def _tie_table(scores: pd.DataFrame, dataset: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    mine = scores[scores["metric"] == scores["metric"].iloc[0]]
    for row in mine.itertuples():
        numbers: tuple[float, ...] = (100 * float(row.tie_share),)
        if row.tie_low == row.tie_low:
            numbers = (*numbers, float(row.tie_low), float(row.tie_high))
        rows.setdefault((plain(row.method),), {})[f"K = {int(row.at)}"] = ExpectedCell(numbers)
    columns = ("Method", *(f"K = {int(cut)}" for cut in dict.fromkeys(mine["at"])))
    return ExpectedTable(f"ties on {dataset}", ("Method",), columns, rows, label=_name("ties", dataset))


def _segment_tables(segments: pd.DataFrame, dataset: str) -> list[ExpectedTable]:
    tables = []
    for (metric, cut), mine in segments.groupby(["metric", "at"], sort=False):
        methods = list(dict.fromkeys(mine["method"]))
        rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
        for segment, part in mine.groupby("segment", sort=False):
            by_method = part.set_index("method").reindex(methods)
            best, second = best_and_second(
                by_method["value"].to_numpy(dtype=float), higher_is_better(metric) is not False, score_size(metric)
            )
            cells = {"n": ExpectedCell((float(part["n"].iloc[0]),))}
            cells["best possible"] = ExpectedCell((float(part["ceiling"].iloc[0]),))
            for place, row in enumerate(by_method.itertuples()):
                marks = bool(best[place]), bool(second[place])
                cells[methods[place]] = ExpectedCell(_with_interval(row), "", *marks)
            rows[(plain(str(segment)),)] = cells
        columns = ("Segment", "n", "best possible", *methods)
        name = _name(f"segments-{metric}-{int(cut)}", dataset)
        tables.append(ExpectedTable(f"{_label(metric, cut)} on segments", ("Segment",), columns, rows, label=name))
    return tables


def _beyond_table(beyond: pd.DataFrame, dataset: str) -> ExpectedTable:
    shown = dict(zip(BEYOND, ("coverage", "Gini of exposure", "novelty", "tail recall"), strict=True))
    last = beyond[beyond["at"] == beyond["at"].max()]
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {
        (plain(record["method"]),): {shown[name]: ExpectedCell((float(record[name]),)) for name in BEYOND}
        for record in last.to_dict("records")
    }
    label = _name("beyond", dataset)
    return ExpectedTable("beyond accuracy", ("Method",), ("Method", *shown.values()), rows, label=label)


def _differences(comparison: SampleComparison) -> list[ExpectedTable]:
    """Return the expectations for the table and the file of the comparison on samples."""
    frame = comparison.table
    several = frame["dataset"].nunique() > 1
    keys = (*(["Dataset"] if several else []), "Metric", "K", "Rival")
    interval = f"{100 * (1 - comparison.alpha):g} % interval"
    columns = (*keys, comparison.reference, "rival", "difference", interval, "detectable", "p", "p (Holm)")
    rows = {}
    for row in comparison.rows:
        key = (*([plain(row.dataset)] if several else []), plain(row.metric), f"{row.at:g}", plain(row.rival))
        rows[key] = {
            comparison.reference: ExpectedCell((row.mean_reference,)),
            "rival": ExpectedCell((row.mean_rival,)),
            "difference": ExpectedCell((row.difference,)),
            interval: ExpectedCell((row.low, row.high)),
            "detectable": ExpectedCell((row.detectable,)),
            "p": ExpectedCell((row.p,)),
            "p (Holm)": ExpectedCell((row.p_holm,), bold=row.p_holm <= comparison.alpha),
        }
    return [
        ExpectedTable("differences on samples", keys, columns, rows, label="tab:samples"),
        expected_of_frame(frame, ["dataset", "metric", "at", "rival"], "differences on samples"),
    ]


def _name(what: str, dataset: str) -> str:
    text = "".join(letter if letter.isalnum() else "-" for letter in f"{what}-{dataset}")
    return f"tab:{text.strip('-')}"
