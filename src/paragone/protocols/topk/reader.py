"""Read topk experiments back: lists, per-sample values, and the frames made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from typing_extensions import override

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError, unknown_name
from paragone.intervals import bootstrap_means, percentile_interval
from paragone.lab.answers import SplitLists
from paragone.lab.cells import Score
from paragone.lab.store import Store
from paragone.lab.store.queries import damaged_part
from paragone.lab.store.records import StoredCell, StoredCells
from paragone.lab.view import CellAddress, Rescored, ResultsReader, View
from paragone.metrics import metric_title
from paragone.metrics.topk import TopKResult, parse_metric
from paragone.metrics.topk.metrics import F1_OF_MEANS
from paragone.metrics.topk.result import TIE_SHARE_SHOWN
from paragone.metrics.topk.segments import beyond_accuracy, ceilings, segment_results
from paragone.protocols.topk.lists import evaluate_lists, sample_values
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

LISTS = 20
USUAL_CUT = 10
"""The cut-off that most readers look at."""
SAMPLE_COLUMNS = [
    "experiment",
    "dataset",
    "fold",
    "method",
    "sample",
    "query",
    "metric",
    "at",
    "value",
]

SAME = 1e-12
"""Up to which two values per sample are one: they differ by the order of additions."""


class TopKReader(ResultsReader):
    """The topk experiments of a store: every list, and the value of every sample."""

    fold_title = "Lists of a fold:"

    def topk_experiments(self) -> list[str]:
        """Return the experiments whose protocol is top-K recommendation."""
        return self.results.experiments_of("topk")

    def topk(self, experiment: str | None = None) -> TopKRun:
        """Return a topk experiment, whose name may be left out where the store has one."""
        names = self.topk_experiments()
        if not names:
            raise InputError(f"{self._store.path} holds no topk experiment")
        if experiment is None and len(names) > 1:
            raise InputError(
                f"several experiments are topk ({', '.join(names)}): say which with experiment="
            )
        if experiment is not None and experiment not in names:
            raise unknown_name("topk experiment", experiment, names)
        return TopKRun(self._store, experiment or names[0])

    def topk_result(
        self,
        dataset: str,
        method: str,
        fold: int = 0,
        repeat: int = 0,
        experiment: str | None = None,
    ) -> TopKResult:
        """Return the evaluation of one trained recommender: means, intervals, ties, per-sample values."""
        run = self.topk(experiment)
        return run.result(run.cell(dataset, method, fold, repeat))

    def recommendations(
        self,
        dataset: str,
        method: str,
        fold: int = 0,
        repeat: int = 0,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return the kept lists of one trained recommender.

        Returns
        -------
        DataFrame
            Columns ``sample, place, item, score, relevant``; ``sample`` is the row number in the
            dataset, places count from 1.
        """
        import pandas as pd

        run = self.topk(experiment)
        cell = run.cell(dataset, method, fold, repeat)
        kept = self._lists(run, cell)
        n_rows, places = kept.items.shape
        frame = pd.DataFrame(
            {
                "sample": np.repeat(kept.rows, places),
                "place": np.tile(np.arange(1, places + 1), n_rows),
                "item": kept.items.ravel(),
                "score": run.lists(cell)["scores"].ravel(),
                "relevant": kept.hits.ravel(),
            }
        )
        return frame[frame["item"] >= 0].reset_index(drop=True)

    def _lists(self, run: TopKRun, cell: StoredCell, at: int | None = None) -> SplitLists:
        """Return the lists of a cell, cut off where that is asked for, with the items that were held out."""
        items, rows = np.asarray(run.lists(cell)["items"], dtype=np.int64), run.rows(cell)
        names = self.results.datasets(run.experiment)[cell.dataset]["target_names"]
        held_out = np.asarray(rows.test.items, dtype=np.int64)
        return SplitLists(
            rows.samples, items[:, :at], rows.test.indptr, held_out, tuple(map(str, names))
        )

    @override
    def answers(self, view: View, dataset: str, method: str) -> Iterator[SplitLists]:
        run = view.of_whole(_run_of)
        at = int(view.at.removeprefix("K=")) if view.at else usual_cut(run.ks)
        for cell in run.cells:
            if (cell.dataset, cell.method) == (dataset, method):
                yield self._lists(run, cell, at)

    def sample_scores(
        self, metric: str | None = None, at: int | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return the value of every test sample, method, metric and cut-off, averaged over seeds.

        Parameters
        ----------
        metric : str, optional
            Keep one metric only, by its full name.
        at : int, optional
            Keep one cut-off only.
        experiment : str, optional
            Needed where the store holds several.

        Returns
        -------
        DataFrame
            Columns ``experiment, dataset, fold, method, sample, query, metric, at, value``. Samples
            with the same ``query`` are not independent: their set of tokens is the same.
        """
        import pandas as pd

        run = self.topk(experiment)
        places = [place for place, cut in enumerate(run.ks) if at in (None, cut)]
        if not places:
            raise unknown_name("cut-off", str(at), [str(cut) for cut in run.ks])
        frames = [pd.DataFrame(columns=SAMPLE_COLUMNS)]
        for dataset, fold, method in dict.fromkeys(
            (c.dataset, c.fold, c.method) for c in run.cells
        ):
            evaluated, values = mean_samples(run, dataset, method, fold)
            if metric is not None and metric not in values:
                raise unknown_name("metric with a value a sample", metric, values)
            rows = run.rows(run.select(dataset, method, fold)[0])
            for name in values if metric is None else [metric]:
                block = values[name][evaluated][:, places]
                columns = {
                    "experiment": run.experiment,
                    "dataset": dataset,
                    "fold": fold,
                    "method": method,
                    "sample": np.repeat(rows.samples[evaluated], len(places)),
                    "query": np.repeat(rows.queries[evaluated], len(places)),
                    "metric": name,
                    "at": np.tile([run.ks[place] for place in places], len(block)),
                    "value": block.ravel(),
                }
                frames.append(pd.DataFrame(columns))
        # The first has the columns alone, for where there is nothing.
        return pd.concat(frames[1:] or frames, ignore_index=True)

    @override
    def rescored(self, view: View) -> Iterator[Rescored]:
        run = self.topk(view.experiment)
        functions = set(run.settings["functions"])
        for cell in run.cells:
            scores, result = view.cells.scores(cell), run.result(cell)
            evaluated, samples = run.samples(cell)
            ours = {name: values for name, values in samples.items() if name not in functions}
            wrong = [
                wrong_samples(n, run.ks, evaluated, values, result.per_sample[n])
                for n, values in ours.items()
            ]
            derived = [
                Score(name, float(result.means[name][place]), "K", cut)
                for name in result.names
                for place, cut in enumerate(result.ks)
                if name not in functions
            ]
            stored = [score for score in scores if score.metric not in functions]
            n_values = sum(int(evaluated.sum()) * values.shape[1] for values in ours.values())
            yield Rescored(
                cell, stored, derived, "", tuple(line for line in wrong if line), n_values
            )
            left = [score for score in scores if score.metric in functions]
            if left:
                yield Rescored(
                    cell,
                    left,
                    why_not=f"functions of the user ({', '.join(functions)}) are not at hand",
                )

    @override
    def compares_samples(self, view: View) -> bool:
        return len(self.topk(view.experiment).datasets) == 1

    @override
    def options(self, view: View) -> dict[str, list[str]]:
        run = self.topk(view.experiment)
        if not run.cells:
            raise InputError(f"experiment {view.experiment!r} has no scores yet")
        # Named as in the tables: a user's functions stand beside the metrics of ours.
        metrics = [str(name) for name in dict.fromkeys(view.scores["metric"])]
        return {
            "metric": ["", *metrics],
            "at": [f"K={cut}" for cut in run.ks],
            "reference": run.methods,
            "method": run.methods,
            "dataset": run.datasets,
        }

    @override
    def cell_parts(self, address: CellAddress) -> list[tuple[str, list[str]]]:
        dataset, method = address.dataset, address.method
        frame = self.recommendations(
            dataset, method, address.fold, address.repeat, address.experiment
        )
        names = self.results.datasets(address.experiment)[dataset]["target_names"]
        samples = list(dict.fromkeys(frame["sample"]))
        lines = []
        for sample, rows in frame[frame["sample"].isin(samples[:LISTS])].groupby(
            "sample", sort=False
        ):
            items = [
                f"{names[item]}{' ✓' if hit else ''}"
                for item, hit in zip(rows["item"], rows["relevant"], strict=True)
            ]
            lines.append(f"sample {sample}: {', '.join(items)}")
        title = (
            f"Lists: {len(lines)} of {len(samples)} test rows, best item first, ✓ where it is"
            " relevant"
        )
        return [(title, lines), self.fit_lines(address)]

    @override
    def summary(self, view: View, naming: Any = None) -> Iterable[tuple[str, pd.DataFrame]]:
        """Return the mean over folds of every method at every cut-off, a table per dataset and metric."""
        frame = (
            view.scores
            if view.metric is None
            else view.scores[view.scores["metric"] == view.metric]
        )
        for (dataset, metric), rows in frame.groupby(["dataset", "metric"], sort=False):
            table = rows.groupby(["method", "at"], sort=False)["value"].mean().unstack("at")
            table.columns = [f"K = {int(cut)}" for cut in table.columns]
            yield f"{metric_title(str(metric))} on {dataset}", table.reset_index()


def usual_cut(ks: Sequence[int]) -> int:
    """Return the cut-off that most readers look at: the largest up to ten, or the smallest of larger ones.

    Examples
    --------
    >>> usual_cut((5, 10, 20)), usual_cut((20, 50))
    (10, 20)
    """
    return max((cut for cut in ks if cut <= USUAL_CUT), default=min(ks))


def _run_of(view: View) -> TopKRun:
    return TopKRun(view.results.store, view.experiment)


def wrong_samples(
    metric: str,
    ks: Sequence[int],
    evaluated: NDArray[np.bool_],
    stored: FloatArray,
    again: FloatArray,
) -> str:
    """Say how many stored values per sample do not follow from the lists, and which is the first; empty where none."""
    bad = np.argwhere(~(np.abs(stored[evaluated] - again[evaluated]) <= SAME))
    if not len(bad):
        return ""
    sample, column = int(np.flatnonzero(evaluated)[bad[0][0]]), int(bad[0][1])
    return (
        f"{metric} of {len(bad)} samples and cut-offs, first at K = {ks[column]} of test sample"
        f" {sample}: {stored[sample, column]!r}, the list gives {again[sample, column]!r}"
    )


def mean_samples(
    run: TopKRun, dataset: str, method: str, fold: int
) -> tuple[np.ndarray, dict[str, FloatArray]]:
    """Return which samples of a fold count, and their values averaged over seeds; a metric that failed is left out."""
    each = [run.samples(cell) for cell in run.select(dataset, method, fold)]
    shared = [name for name in each[0][1] if all(name in values for _, values in each)]
    return each[0][0], {
        name: np.mean([values[name] for _, values in each], axis=0) for name in shared
    }


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The rows of a split in their roles; ``samples`` are the row numbers of the test rows in the dataset."""

    train: Prescriptions
    validation: Prescriptions | None
    test: Prescriptions
    samples: IntArray
    queries: IntArray


def _check(what: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            raise unknown_name(what, name, known or ["(none yet)"])


class TopKRun:
    """A topk experiment as the store has it; lists and rows are read when they are asked for.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.
    """

    def __init__(self, store: Store, experiment: str) -> None:
        self._store = store
        self._stored = StoredCells(store, experiment)
        self.experiment = experiment
        self.settings: Mapping[str, Any] = store.settings(experiment)
        self._rows: dict[str, Prescriptions] = {}
        self._splits: dict[tuple[str, str], SplitRows] = {}
        self._results: dict[StoredCell, TopKResult] = {}

    @cached_property
    def cells(self) -> tuple[StoredCell, ...]:
        """Every cell that is done, in the order of the plan."""
        return self._stored.cells

    def narrowed(self, datasets: Sequence[str] = (), methods: Sequence[str] = ()) -> TopKRun:
        """Return the experiment with the cells of some datasets and methods only; none named keeps all."""
        _check("dataset", datasets, self.datasets)
        _check("method", methods, self.methods)
        narrow = TopKRun(self._store, self.experiment)
        narrow.cells = tuple(
            cell
            for cell in self.cells
            if (not datasets or cell.dataset in datasets)
            and (not methods or cell.method in methods)
        )
        return narrow

    @property
    def methods(self) -> list[str]:
        """The methods with results, in declared order."""
        return list(dict.fromkeys(cell.method for cell in self.cells))

    @property
    def datasets(self) -> list[str]:
        """The datasets with results."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def ks(self) -> tuple[int, ...]:
        """The cut-offs."""
        return tuple(self.settings["k"])

    @property
    def notes(self) -> list[str]:
        """What the guards found: about the rows, and about each method."""
        found = [note for notes in self.settings["notes"].values() for note in notes]
        for cell in self.cells:
            seed = f", seed {cell.repeat}" if cell.repeat else ""
            found += [f"{cell.method} on {cell.dataset}{seed}: {note}" for note in cell.notes]
        return found

    def select(self, dataset: str, method: str, fold: int | None = None) -> list[StoredCell]:
        """Return the cells of a method on a dataset: one a fold and seed."""
        _check("dataset with results", [dataset], self.datasets)
        _check("method with results", [method], self.methods)
        cells = [cell for cell in self.cells if (cell.dataset, cell.method) == (dataset, method)]
        return [cell for cell in cells if fold in (None, cell.fold)]

    def cell(self, dataset: str, method: str, fold: int, repeat: int) -> StoredCell:
        """Return the cell of one trained recommender."""
        for cell in self.select(dataset, method, fold):
            if cell.repeat == repeat:
                return cell
        raise InputError(f"{method} on {dataset}, fold {fold}, seed {repeat}, has no result yet")

    def rows(self, cell: StoredCell) -> SplitRows:
        """Return the rows of a cell's split."""
        key = cell.parts.data, cell.parts.split
        if key not in self._splits:
            everything = self._dataset(cell)
            train, test = self._stored.rows(cell)
            validation = self._stored.truth(cell).get("validation")
            self._splits[key] = SplitRows(
                everything.take(train, name="train"),
                None if validation is None else everything.take(validation, name="validation"),
                everything.take(test, name="test"),
                test,
                everything.query_codes[test],
            )
        return self._splits[key]

    def lists(self, cell: StoredCell) -> Mapping[str, NDArray[Any]]:
        """Return the kept lists of a cell."""
        return self._stored.arrays(cell)

    def result(self, cell: StoredCell) -> TopKResult:
        """Evaluate the kept lists of a cell anew, as declared."""
        if cell not in self._results:
            self._results[cell] = self._evaluated(cell)
        return self._results[cell]

    def _evaluated(self, cell: StoredCell) -> TopKResult:
        result = evaluate_lists(
            self.lists(cell),
            self.rows(cell).test,
            self.ks,
            [parse_metric(name) for name in self.settings["metrics"]],
            ties=self.settings["ties"],
            empty=self.settings["empty"],
        )
        functions = self.settings["functions"]
        if not functions:
            return result
        # A user's functions are not at hand any more, their values are.
        kept = self.samples(cell)[1].items()
        stored = {name: values for name, values in kept if name in functions}
        return replace(result, per_sample={**result.per_sample, **stored})

    def samples(self, cell: StoredCell) -> tuple[NDArray[np.bool_], dict[str, FloatArray]]:
        """Return which test rows count, and the stored value of each by metric, rows x cut-offs."""
        arrays = self._stored.predictions(cell)
        if arrays is None:
            raise damaged_part(self._store.path, f"the values of {cell.method} on {cell.dataset}")
        return arrays["evaluated"], sample_values(arrays)

    def _dataset(self, cell: StoredCell) -> Prescriptions:
        part = cell.parts.data
        if part not in self._rows:
            kept = self._stored.data(cell)
            n_tokens, n_items = (int(size) for size in kept["sizes"])
            ones = np.ones(len(kept["tokens"]))
            n_rows = len(kept["indptr"]) - 1
            queries = sparse.csr_array(
                (ones, kept["tokens"], kept["token_indptr"]), shape=(n_rows, n_tokens)
            )
            self._rows[part] = Prescriptions(
                queries, kept["indptr"].astype(np.int64), kept["items"], n_items
            )
        return self._rows[part]


CONFIDENCE = 0.95
N_BOOT = 1000
BEYOND = ("coverage", "gini", "novelty", "tail_recall")


@dataclass(frozen=True, eq=False)
class _Pooled:
    """One method on one segment: values of all samples, the mean over seeds, folds one after another."""

    names: tuple[str, ...]
    values: dict[str, FloatArray]
    clusters: np.ndarray
    best: dict[str, FloatArray]


def segment_frame(run: TopKRun) -> pd.DataFrame:
    """Return value, interval, number of samples and ceiling of every method, segment, metric and cut-off.

    Intervals resample queries, of which several samples may be: 95 %, 1000 draws. The segment
    ``all`` comes first.
    """
    import pandas as pd

    frames = []
    for dataset in run.datasets:
        for method in run.methods:
            by_segment: dict[str, list[tuple[int, Any, TopKResult]]] = {}
            for cell in run.select(dataset, method):
                rows = run.rows(cell)
                for name, part in segment_results(run.result(cell), rows.train, rows.test).items():
                    by_segment.setdefault(name, []).append((cell.fold, rows.queries, part))
            frames += [
                _rows(run, _pooled(parts), dataset=dataset, method=method, segment=segment)
                for segment, parts in by_segment.items()
            ]
    return pd.concat(frames, ignore_index=True)


def _pooled(parts: Iterable[tuple[int, Any, TopKResult]]) -> _Pooled:
    folds: dict[int, list[tuple[Any, TopKResult]]] = {}
    for fold, queries, part in parts:
        folds.setdefault(fold, []).append((queries, part))
    first = next(iter(folds.values()))[0][1]
    everyone = [part for seeds in folds.values() for _, part in seeds]
    keys = [key for key in first.per_sample if all(key in part.per_sample for part in everyone)]
    values = {
        key: np.concatenate(
            [
                np.mean([part.per_sample[key][part.evaluated] for _, part in seeds], axis=0)
                for seeds in folds.values()
            ]
        )
        for key in keys
    }
    clusters = np.concatenate([seeds[0][0][seeds[0][1].evaluated] for seeds in folds.values()])
    sizes = [int(seeds[0][1].evaluated.sum()) for seeds in folds.values()]
    highest = [ceilings(seeds[0][1]) for seeds in folds.values()]
    best = {
        key: np.average([one[key] for one in highest], axis=0, weights=sizes) for key in highest[0]
    }
    names = tuple(name for name in first.names if name in values or name == F1_OF_MEANS)
    return _Pooled(names, values, clusters, best)


def _rows(run: TopKRun, pooled: _Pooled, **keys: str) -> pd.DataFrame:
    import pandas as pd

    stacked = np.concatenate(list(pooled.values.values()), axis=1)
    codes = np.unique(pooled.clusters, return_inverse=True)[1]
    drawn = _split(
        bootstrap_means(stacked, clusters=codes, n_resamples=N_BOOT), pooled, len(run.ks)
    )
    means = _split(stacked.mean(axis=0)[None, :], pooled, len(run.ks))
    rows = []
    for name in pooled.names:
        low, high = percentile_interval(drawn[name], CONFIDENCE, int(codes.max()) + 1)
        for place, cut in enumerate(run.ks):
            ceiling = float(pooled.best[name][place]) if name in pooled.best else np.nan
            value, ends = float(means[name][0, place]), (float(low[place]), float(high[place]))
            rows.append((*keys.values(), name, cut, value, *ends, len(stacked), ceiling))
    return pd.DataFrame(
        rows, columns=[*keys, "metric", "at", "value", "low", "high", "n", "ceiling"]
    )


def _split(stacked: FloatArray, pooled: _Pooled, width: int) -> dict[str, FloatArray]:
    found = {
        key: stacked[:, place * width : (place + 1) * width]
        for place, key in enumerate(pooled.values)
    }
    if F1_OF_MEANS in pooled.names:
        total = found["precision"] + found["recall"]
        product = 2.0 * found["precision"] * found["recall"]
        found[F1_OF_MEANS] = np.divide(product, total, out=np.zeros_like(total), where=total > 0)
    return found


def score_frame(run: TopKRun, segments: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of every method with intervals, ceilings, the spread over seeds, and ties.

    Parameters
    ----------
    run : TopKRun
        The experiment.
    segments : DataFrame
        What `segment_frame` gave.
    scores : DataFrame
        Tidy scores of the experiment, repeats row by row.

    Returns
    -------
    DataFrame
        Columns ``dataset, method, metric, at, value, low, high, n, ceiling, seeds, seed_sd,
        tie_share, tie_low, tie_high``; the last two, the value if all ties fell out worst and best,
        where over 0.1 % of the samples are tied.
    """
    whole = segments[segments["segment"] == "all"].drop(columns="segment")
    keys = ["dataset", "method", "metric", "at"]
    # The spread of a whole run over seeds; folds count with their mean.
    per_seed = scores.groupby([*keys, "repeat"], sort=False)["value"].mean()
    spread = (
        per_seed.groupby(keys)
        .agg(seeds="size", seed_sd=lambda values: values.std(ddof=1))
        .reset_index()
    )
    return whole.merge(spread, on=keys, how="left").merge(tie_frame(run), on=keys, how="left")


def tie_frame(run: TopKRun) -> pd.DataFrame:
    """Return the share of samples with a tie across each cut-off, what ties could do; means over folds and seeds."""
    import pandas as pd

    rows = []
    for cell in run.cells:
        result = run.result(cell)
        shown = result.tie_share > TIE_SHARE_SHOWN
        bounds = result.tie_bounds if shown.any() else {}
        for name in result.names:
            ends = bounds.get(name)
            for place, cut in enumerate(run.ks):
                low, high = (
                    (ends[0][place], ends[1][place]) if ends and shown[place] else (np.nan, np.nan)
                )
                rows.append(
                    (cell.dataset, cell.method, name, cut, result.tie_share[place], low, high)
                )
    columns = ["dataset", "method", "metric", "at", "tie_share", "tie_low", "tie_high"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.groupby(columns[:4], sort=False).mean().reset_index()


def beyond_frame(run: TopKRun) -> pd.DataFrame:
    """Return coverage, Gini of exposure, novelty and tail recall at every cut-off, as means over folds and seeds."""
    import pandas as pd

    rows = [row for cell in run.cells for row in _beyond(run, cell)]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "at", *BEYOND])
    return frame.groupby(["dataset", "method", "at"], sort=False).mean().reset_index()


def _beyond(run: TopKRun, cell: StoredCell) -> list[tuple[Any, ...]]:
    train = run.rows(cell).train
    counts = np.bincount(train.items, minlength=train.n_items)
    found = beyond_accuracy(run.result(cell), counts, train.n_rows)
    return [
        (cell.dataset, cell.method, cut, *(float(found[name][place]) for name in BEYOND))
        for place, cut in enumerate(run.ks)
    ]
