"""What a store says about its cross-validations: the part of `Results` that derives scores from ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.errors import InputError, unknown_name
from paragone.lab.store import Store
from paragone.results.places import crossval_experiments

if TYPE_CHECKING:
    import pandas as pd

    from paragone.protocols.crossval.ledger import Aggregate
    from paragone.protocols.crossval.scores import Naming
    from paragone.results.chains import CrossvalRun


class CrossvalResults:
    """The cross-validations of a store, as tables; every number is derived from the stored predictions."""

    _store: Store

    def crossval_experiments(self) -> list[str]:
        """Return the experiments whose protocol is a cross-validation."""
        return crossval_experiments(self._store)

    def crossval(self, experiment: str | None = None) -> CrossvalRun:
        """Return the ledgers of an experiment, which may be left out where the store has one."""
        from paragone.results.chains import read_crossval

        names = self.crossval_experiments()
        if not names:
            raise InputError(f"{self._store.path} holds no cross-validation")
        if experiment is None:
            if len(names) > 1:
                raise InputError(f"several experiments cross-validate ({', '.join(names)}): say which with experiment=")
            experiment = names[0]
        if experiment not in names:
            raise unknown_name("cross-validation", experiment, names)
        return read_crossval(self._store, experiment)

    def chain(self, experiment: str, dataset: str, variant: str) -> CrossvalRun:
        """Return the ledgers of one variant on one of the plan's datasets, without reading the others."""
        from paragone.results.chains import read_crossval

        return read_crossval(self._store, experiment, (dataset, variant))

    def ledger(self, *, ensembles: bool = False, experiment: str | None = None) -> pd.DataFrame:
        """Return every prediction: who predicted what for which sample in which role.

        Parameters
        ----------
        ensembles : bool, default=False
            Whether the derived folds ``avg`` and ``w_avg`` stand there too.
        experiment : str, optional
            Needed where the store holds several.

        Returns
        -------
        DataFrame
            Columns ``dataset, target, variant, repeat, fold, role, sample, y_true, y_pred`` and ``p(label)``.
        """
        from paragone.protocols.crossval import frames as ledger_frames

        run = self.crossval(experiment)
        return ledger_frames.ledger_frame(run.problems, run.settings, ensembles=ensembles)

    def cv_scores(
        self, naming: Naming | None = None, *, metric: str | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return RMSECV, MF_Val, Ens_Test and W_Ens_Test of every variant, in declared order."""
        from paragone.protocols.crossval import frames

        run = self.crossval(experiment)
        return frames.cv_frame(run.problems, run.settings, naming=naming, metric=metric)

    def final_scores(
        self, naming: Naming | None = None, *, metric: str | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return the refitted variants with all their scores and criteria, the best first."""
        from paragone.protocols.crossval import frames

        run = self.crossval(experiment)
        return frames.final_frame(run.problems, run.settings, naming=naming, metric=metric)

    def top_chains(
        self, n: int = 30, naming: Naming | None = None, *, metric: str | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return the best variants of every problem by RMSECV, with the scores of their folds."""
        from paragone.protocols.crossval import frames

        if n < 1:
            raise InputError(f"top_chains: n must be at least 1, it is {n}")
        run = self.crossval(experiment)
        return frames.top_frame(run.problems, run.settings, n, naming=naming, metric=metric)

    def fold_scores(self, *, metric: str | None = None, experiment: str | None = None) -> pd.DataFrame:
        """Return train, validation and test score of every fold, of ``avg``, ``w_avg`` and ``final``."""
        from paragone.protocols.crossval import frames

        run = self.crossval(experiment)
        return frames.fold_frame(run.problems, run.settings, metric)

    def by_group(
        self,
        how: Aggregate | None = None,
        *,
        exclude_outliers: bool = False,
        metric: str | None = None,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return scores a group (a physical sample, a subject) beside those a row."""
        from paragone.protocols.crossval import frames as group_frames

        run = self.crossval(experiment)
        if all(problem.truth.groups is None for problem in run.problems):
            raise InputError("no dataset has groups: name their column with groups=, or say replicates=")
        return group_frames.group_frame(
            run.problems, run.settings, how=how, exclude_outliers=exclude_outliers, metric=metric
        )

    def group_scores(self, *, metric: str | None = None, experiment: str | None = None) -> pd.DataFrame:
        """Return the score of every variant on every group, ready to be paired by group."""
        from paragone.protocols.crossval import frames as group_frames

        run = self.crossval(experiment)
        return group_frames.group_score_frame(run.problems, run.settings, metric)

    def scores_by_group(
        self, variant: str | None = None, metric: str | None = None, experiment: str | None = None
    ) -> tuple[pd.Series, str]:
        """Return one variant's score on every group, and the metric: a side of a paired comparison.

        Parameters
        ----------
        variant : str, optional
            Needed where there are several.
        metric : str, optional
            Another metric than declared.
        experiment : str, optional
            Needed where the store holds several.

        Returns
        -------
        Series, str
            Indexed by group; of the one dataset and target that has groups.
        """
        frame = self.group_scores(metric=metric, experiment=experiment)
        if frame.empty:
            raise InputError(f"{self._store.path}: no dataset has groups, so nothing can be paired by group")
        problems = frame[["dataset", "target"]].drop_duplicates()
        if len(problems) > 1:
            raise InputError(f"{self._store.path}: {len(problems)} problems have groups: compare them one by one")
        names = list(dict.fromkeys(frame["method"]))
        if variant is None and len(names) > 1:
            raise InputError(f"the store holds {len(names)} variants: choose one with ::NAME ({', '.join(names[:9])})")
        chosen = variant or names[0]
        if chosen not in names:
            raise unknown_name("variant", chosen, names)
        rows = frame[frame["method"] == chosen]
        return rows.set_index("group")["value"].rename(chosen), str(rows["metric"].iloc[0])

    def failed_variants(self, experiment: str | None = None) -> pd.DataFrame:
        """Return the variants that failed, which are never selected, with the reason."""
        from paragone.protocols.crossval import frames

        run = self.crossval(experiment)
        return frames.failure_frame(run.problems, run.settings)

    def _crossval_scores(self, metric: str | None) -> list[Any]:
        """Return the tidy fold scores of every cross-validation; none where a metric is of another task."""
        found = [self._tidy_scores(name, metric) for name in self.crossval_experiments()]
        return [frame for frame in found if len(frame)]

    def _tidy_scores(self, experiment: str, metric: str | None) -> pd.DataFrame:
        from paragone.protocols.crossval import frames
        from paragone.results.chains import read_crossval

        run = read_crossval(self._store, experiment)
        return frames.tidy_frame(run.problems, run.settings, experiment, metric)
