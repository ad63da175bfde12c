"""What a store says about its cells: the part of `Results` that tells done, failed, running, stale and missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from paragone.store import Store, queries

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("done", "failed", "timeout", "running", "stale", "missing")


class PlaceResults:
    """The cells of a store, planned and ended."""

    _store: Store

    def experiments(self) -> list[str]:
        """Return the names of the experiments in the store."""
        return [row[0] for row in self._store.read(queries.EXPERIMENTS, types="t")]

    def failures(self) -> pd.DataFrame:
        """Return the cells that failed or ran out of time, with error and traceback."""
        import pandas as pd

        columns = ["experiment", "dataset", "fold", "method", "repeat", "status", "error", "traceback", "seconds"]
        return pd.DataFrame(self._store.read(queries.FAILURES, types="ttititttr"), columns=columns)

    def losses(self) -> pd.DataFrame:
        """Return the workers that died under cells, which then began again: no fault of the methods'."""
        import pandas as pd

        columns = ["run", "key", "why", "lost_at"]
        return pd.DataFrame(
            [(loss.run, loss.key, loss.why, loss.lost_at) for loss in self._store.losses()], columns=columns
        )

    def places(self) -> pd.DataFrame:
        """Return every planned cell with its status: done, failed, timeout, running, stale or missing.

        The column ``why`` says what changed where a result is stale, and the error where one failed.
        """
        import pandas as pd

        columns = ["experiment", "dataset", "fold", "method", "repeat", "key", "status", "why", "seconds", "notes"]
        with self._store.one_moment():
            frame = pd.DataFrame(
                self._store.read(queries.PLACES, types="ttititTTRTR"), columns=[*columns, "fit_seconds"]
            )
            running = self._store.running()
            changed = self._changes() if frame["status"].isna().any() else {}
        open_ = frame.index[frame["status"].isna()]
        where = frame.loc[open_, columns[:5]].itertuples(index=False, name=None)
        why = pd.Series([changed.get(place, "") for place in where], index=open_, dtype=object)
        at_work = frame.loc[open_, "key"].isin(running)
        stale = open_[~at_work & (why != "")]
        frame["status"] = frame["status"].fillna("missing")
        frame["why"] = frame["why"].fillna("")
        frame.loc[open_[at_work], "status"] = "running"
        frame.loc[stale, "status"] = "stale"
        frame.loc[stale, "why"] = why[stale] + " changed"
        return frame

    def _changes(self) -> dict[tuple[str, str, int, str, int], str]:
        """Name the parts that changed at every place that has a result, but none of the current plan."""
        found = {}
        code = self._store.code_states()
        for experiment in self.experiments():
            earlier = self._store.outdated_parts(experiment)
            if not earlier:
                continue
            for place, parts in self._store.planned_parts(experiment).items():
                if place in earlier and earlier[place] != parts:
                    found[(experiment, *place)] = ", ".join(parts.changed(earlier[place], code))
        return found

    def folds_of(self, experiment: str, dataset: str, method: str) -> pd.DataFrame:
        """Return the folds of a method on a dataset: ``fold, repeat, protocol, status, seconds``; quick to ask for.

        The status is ``missing`` where there is no result yet, whether one is being computed or not.
        """
        import pandas as pd

        rows = self._store.read(queries.FOLDS, (experiment, dataset, method), "iitTR")
        frame = pd.DataFrame(rows, columns=["fold", "repeat", "protocol", "status", "seconds"])
        return frame.assign(status=frame["status"].fillna("missing"))

    def counts(self, experiment: str) -> dict[str, int]:
        """Return how many cells of an experiment have which status; ``missing`` counts stale ones too.

        Quicker than :meth:`places`, for whoever asks again and again.
        """
        rows = self._store.read(queries.COUNTS, (experiment,), "TiR")
        counts = {status or "missing": int(count) for status, count, _ in rows}
        claimed = set(self._store.running())
        if claimed and counts.get("missing"):
            open_keys = self._store.read(queries.OPEN_KEYS, (experiment,))
            running = len(claimed & {row[0] for row in open_keys})
            counts["running"] = running
            counts["missing"] -= running
        return {status: counts[status] for status in STATUSES if counts.get(status)}

    def version(self, experiment: str) -> str:
        """Return a text that changes whenever a cell of the experiment ends; quick to ask for."""
        rows = self._store.read(queries.NEWEST, (experiment,))
        return f"{rows[0][0]}-{rows[0][1] or 0}"

    def ended(
        self, experiment: str, *, order: Literal["latest", "slowest"] = "latest", failed: bool = False, limit: int = 20
    ) -> pd.DataFrame:
        """Return cells that ended, the latest or the slowest first, or those that failed only."""
        import pandas as pd

        sql = queries.ENDED.format(
            and_status="AND c.status <> 'done'" if failed else "",
            order={"latest": "c.id DESC", "slowest": "c.seconds DESC, c.id"}[order],
        )
        columns = ["dataset", "fold", "method", "repeat", "status", "seconds", "error", "traceback", "finished_at"]
        return pd.DataFrame(self._store.read(sql, (experiment, limit)), columns=[*columns, "cell"])
