"""What a store says about its recommenders: the part of `Results` that reads lists and per-sample values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.lab.store import Store
from paragone.results.places import topk_experiments
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from paragone.metrics.topk import TopKResult
    from paragone.results.topk_runs import TopKRun

SAMPLE_COLUMNS = ["experiment", "dataset", "fold", "method", "sample", "query", "metric", "at", "value"]


class TopKResults:
    """The topk experiments of a store: every list, and the value of every sample."""

    _store: Store

    def topk_experiments(self) -> list[str]:
        """Return the experiments whose protocol is top-K recommendation."""
        return topk_experiments(self._store)

    def topk(self, experiment: str | None = None) -> TopKRun:
        """Return a topk experiment, whose name may be left out where the store has one."""
        names = self.topk_experiments()
        if not names:
            raise InputError(f"{self._store.path} holds no topk experiment")
        if experiment is None and len(names) > 1:
            raise InputError(f"several experiments are topk ({', '.join(names)}): say which with experiment=")
        if experiment is not None and experiment not in names:
            raise unknown_name("topk experiment", experiment, names)
        from paragone.results.topk_runs import TopKRun

        return TopKRun(self._store, experiment or names[0])

    def topk_result(
        self, dataset: str, method: str, fold: int = 0, repeat: int = 0, experiment: str | None = None
    ) -> TopKResult:
        """Return the evaluation of one trained recommender: means, intervals, ties, per-sample values."""
        run = self.topk(experiment)
        found = [cell for cell in run.select(dataset, method, fold) if cell.repeat == repeat]
        if not found:
            raise InputError(f"{method} on {dataset}, fold {fold}, seed {repeat}, has no result yet")
        return run.result(found[0])

    def recommendations(
        self, dataset: str, method: str, fold: int = 0, repeat: int = 0, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return the kept lists of one trained recommender.

        Returns
        -------
        DataFrame
            Columns ``sample, place, item, score, relevant``; ``sample`` is the row number in the dataset, places
            count from 1.
        """
        import pandas as pd

        run = self.topk(experiment)
        found = [cell for cell in run.select(dataset, method, fold) if cell.repeat == repeat]
        if not found:
            raise InputError(f"{method} on {dataset}, fold {fold}, seed {repeat}, has no result yet")
        lists, rows = run.lists(found[0]), run.rows(found[0])
        items = lists["items"]
        n_rows, places = items.shape
        relevant = np.zeros((n_rows, rows.test.n_items), dtype=np.bool_)
        relevant[np.repeat(np.arange(n_rows), np.diff(rows.test.indptr)), rows.test.items] = True
        frame = pd.DataFrame(
            {
                "sample": np.repeat(rows.samples, places),
                "place": np.tile(np.arange(1, places + 1), n_rows),
                "item": items.ravel(),
                "score": lists["scores"].ravel(),
                "relevant": np.take_along_axis(relevant, np.maximum(items, 0), axis=1).ravel(),
            }
        )
        return frame[frame["item"] >= 0].reset_index(drop=True)

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
            Columns ``experiment, dataset, fold, method, sample, query, metric, at, value``. Samples with the same
            ``query`` are not independent: their set of tokens is the same.
        """
        import pandas as pd

        run = self.topk(experiment)
        frames = []
        for dataset, fold, method in dict.fromkeys((c.dataset, c.fold, c.method) for c in run.cells):
            cells = run.select(dataset, method, fold)
            evaluated, values = mean_samples(run, dataset, method, fold)
            if metric is not None and metric not in values:
                raise unknown_name("metric with a value a sample", metric, values)
            rows = run.rows(cells[0])
            kept = [place for place, cut in enumerate(run.ks) if at in (None, cut)]
            if not kept:
                raise unknown_name("cut-off", str(at), [str(cut) for cut in run.ks])
            for name in values if metric is None else [metric]:
                block = values[name][evaluated][:, kept]
                frames.append(
                    pd.DataFrame(
                        {
                            "experiment": run.experiment,
                            "dataset": dataset,
                            "fold": fold,
                            "method": method,
                            "sample": np.repeat(rows.samples[evaluated], len(kept)),
                            "query": np.repeat(rows.queries[evaluated], len(kept)),
                            "metric": name,
                            "at": np.tile([run.ks[place] for place in kept], len(block)),
                            "value": block.ravel(),
                        }
                    )
                )
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=SAMPLE_COLUMNS)


def mean_samples(run: TopKRun, dataset: str, method: str, fold: int) -> tuple[np.ndarray, dict[str, FloatArray]]:
    """Return which samples of a fold count, and their values averaged over seeds; a metric that failed is left out."""
    each = [run.samples(cell) for cell in run.select(dataset, method, fold)]
    shared = [name for name in each[0][1] if all(name in values for _, values in each)]
    return each[0][0], {name: np.mean([values[name] for _, values in each], axis=0) for name in shared}
