"""Read cross-validations back: every number is derived from the stored predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from paragone.errors import InputError, unknown_name
from paragone.lab.answers import SplitAnswers
from paragone.lab.row_moments import computable
from paragone.lab.view import CellAddress, Rescored, ResultsReader, StageChoice, View
from paragone.metrics import Metric, named_metric
from paragone.protocols.crossval import frames
from paragone.protocols.crossval.ledger import Chain, Predictions
from paragone.protocols.crossval.problem import Problem, choose
from paragone.protocols.crossval.run import CrossvalRun, read_crossval
from paragone.protocols.crossval.tables import (
    CLASS_FIGURES,
    REGRESSION_FIGURES,
    crossval_tables,
)
from paragone.stats.stored_rows import SplitSlopes, slopes_of
from paragone.tables import Table, format_signed
from paragone.ties import IntArray, loss_order

if TYPE_CHECKING:
    import pandas as pd

    from paragone.protocols.crossval.ledger import Aggregate
    from paragone.protocols.crossval.scores import Naming


class CrossvalReader(ResultsReader):
    """The cross-validations of a store, as tables; every number is derived from the stored predictions."""

    fold_title = "Predictions of a fold:"

    def crossval_experiments(self) -> list[str]:
        """Return the experiments whose protocol is a cross-validation."""
        return self.results.experiments_of("crossval")

    def crossval(
        self,
        experiment: str | None = None,
        *,
        metric: str | None = None,
        naming: Naming | None = None,
    ) -> CrossvalRun:
        """Return the ledgers of an experiment, which may be left out where the store has one."""
        names = self.crossval_experiments()
        if not names:
            raise InputError(f"{self._store.path} holds no cross-validation")
        if experiment is None:
            if len(names) > 1:
                raise InputError(
                    f"several experiments cross-validate ({', '.join(names)}): say which with"
                    " experiment="
                )
            experiment = names[0]
        if experiment not in names:
            raise unknown_name("cross-validation", experiment, names)
        return replace(read_crossval(self._store, experiment), metric=metric, naming=naming)

    @override
    def rescored(self, view: View) -> Iterator[Rescored]:
        # A store keeps predictions alone of a cross-validation: scores are derived whenever they
        # are read.
        return iter(())

    @override
    def stage_choices(self, view: View) -> Iterator[StageChoice]:
        run = view.of_whole(whole_run)
        refitted: dict[str, list[str]] = {}
        for cell in view.cells.cells:
            if cell.protocol == "refit":
                refitted.setdefault(cell.dataset, []).append(cell.method)
        for name, described in run.settings.problems.items():
            problems = [
                p
                for p in run.problems
                if p.dataset == described["dataset"] and p.target in described["targets"]
            ]
            if name in refitted and problems and not any(problem.pending for problem in problems):
                chosen = tuple(choose(problems, run.settings).variants)
                yield StageChoice(
                    name, tuple(refitted[name]), chosen, tuple(_by_test(problems, run))
                )

    def chain(self, experiment: str, dataset: str, variant: str) -> CrossvalRun:
        """Return the ledgers of one variant on one of the plan's datasets, without reading the others."""
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
            Columns ``dataset, target, variant, repeat, fold, role, sample, y_true, y_pred`` and
            ``p(label)``.
        """
        return frames.ledger_frame(self.crossval(experiment), ensembles=ensembles)

    def cv_scores(
        self,
        naming: Naming | None = None,
        *,
        metric: str | None = None,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return RMSECV, MF_Val, Ens_Test and W_Ens_Test of every variant, in declared order."""
        return frames.cv_frame(self.crossval(experiment, metric=metric, naming=naming))

    def final_scores(
        self,
        naming: Naming | None = None,
        *,
        metric: str | None = None,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return the refitted variants with all their scores and criteria, the best first."""
        return frames.final_frame(self.crossval(experiment, metric=metric, naming=naming))

    def top_chains(
        self,
        n: int = 30,
        naming: Naming | None = None,
        *,
        metric: str | None = None,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return the best variants of every problem by RMSECV, with the scores of their folds."""
        if n < 1:
            raise InputError(f"top_chains: n must be at least 1, it is {n}")
        return frames.top_frame(self.crossval(experiment, metric=metric, naming=naming), n)

    def fold_scores(
        self, *, metric: str | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return train, validation and test score of every fold, of ``avg``, ``w_avg`` and ``final``."""
        return frames.fold_frame(self.crossval(experiment, metric=metric))

    def by_group(
        self,
        how: Aggregate | None = None,
        *,
        exclude_outliers: bool = False,
        metric: str | None = None,
        experiment: str | None = None,
    ) -> pd.DataFrame:
        """Return scores a group (a physical sample, a subject) beside those a row."""
        run = self.crossval(experiment, metric=metric)
        if all(problem.truth.groups is None for problem in run.problems):
            raise InputError(
                "no dataset has groups: name their column with groups=, or say replicates="
            )
        return frames.group_frame(run, how=how, exclude_outliers=exclude_outliers)

    def group_scores(
        self, *, metric: str | None = None, experiment: str | None = None
    ) -> pd.DataFrame:
        """Return the score of every variant on every group, ready to be paired by group."""
        return frames.group_score_frame(self.crossval(experiment, metric=metric))

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
            raise InputError(
                f"{self._store.path}: no dataset has groups, so nothing can be paired by group"
            )
        problems = frame[["dataset", "target"]].drop_duplicates()
        if len(problems) > 1:
            raise InputError(
                f"{self._store.path}: {len(problems)} problems have groups: compare them one by one"
            )
        names = list(dict.fromkeys(frame["method"]))
        if variant is None and len(names) > 1:
            raise InputError(
                f"the store holds {len(names)} pipelines: choose one with ::NAME"
                f" ({', '.join(names[:9])})"
            )
        chosen = variant or names[0]
        if chosen not in names:
            raise unknown_name("pipeline", chosen, names)
        rows = frame[frame["method"] == chosen]
        return rows.set_index("group")["value"].rename(chosen), str(rows["metric"].iloc[0])

    def failed_variants(self, experiment: str | None = None) -> pd.DataFrame:
        """Return the variants that failed, which are never selected, with the reason."""
        return frames.failure_frame(self.crossval(experiment))

    @override
    def derived_scores(self, view: View, metric: str | None) -> pd.DataFrame:
        return frames.tidy_frame(replace(view.of_whole(whole_run), metric=metric))

    @override
    def answers(self, view: View, dataset: str, method: str) -> Iterator[SplitAnswers]:
        problem = _problem(view, dataset)
        chain = None if problem is None else problem.chains.get(method)
        if chain is not None:
            yield from (_answers(chain, fold.val) for fold in chain.folds)

    @override
    def row_metric(self, view: View, dataset: str, metric: str) -> Metric | None:
        problem = _problem(view, dataset)
        return None if problem is None else computable(metric, problem.truth.task)

    @override
    def row_slopes(
        self, view: View, dataset: str, method: str, metric: Metric
    ) -> dict[int, list[SplitSlopes]]:
        found = [slopes_of(metric, one) for one in self.answers(view, dataset, method)]
        return {fold: [one] for fold, one in enumerate(found) if one is not None}

    @override
    def groups_of(self, view: View, dataset: str) -> IntArray | None:
        problem = _problem(view, dataset)
        groups = None if problem is None else problem.truth.groups
        return None if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)

    @override
    def options(self, view: View) -> dict[str, list[str]]:
        run = view.of_whole(whole_run)
        metrics = known_metrics(run)
        methods = [str(facts.get("method", name)) for name, facts in run.settings.variants.items()]
        return {
            "metric": metrics,
            "at": [],
            "reference": [],
            "method": list(dict.fromkeys(methods)),
            "dataset": [run.name(problem) for problem in run.problems],
        }

    @override
    def cell_answers(self, address: CellAddress) -> SplitAnswers | None:
        problems = self.chain(address.experiment, address.dataset, address.method).problems
        chain = problems[0].chains.get(address.method) if len(problems) == 1 else None
        if chain is None or address.fold >= len(chain.folds):
            return None
        return _answers(chain, chain.folds[address.fold].val)

    @override
    def cell_parts(self, address: CellAddress) -> list[tuple[str, list[str]]]:
        parts = []
        for problem in self.chain(address.experiment, address.dataset, address.method).problems:
            chain = problem.chains.get(address.method)
            if chain is None:
                raise InputError(f"{address.method} on {address.dataset} has not all its folds yet")
            if address.fold < len(chain.folds):
                ledger, roles = chain.folds[address.fold], (("validation", "val"), ("test", "test"))
            elif chain.final is not None:
                ledger, roles = chain.final, (("test", "test"), ("train", "train"))
            else:
                raise InputError(
                    f"no cell of method {address.method!r} on dataset {address.dataset!r}, fold"
                    f" {address.fold}"
                )
            for words, role in roles:
                part = getattr(ledger, role)
                if len(part):
                    title = (
                        f"Predictions of {problem.target}, {words} rows: {min(len(part), SAMPLES)}"
                        f" of {len(part)}"
                    )
                    parts.append((title, _predicted_lines(part, chain.task)))
        return [*parts, self.fit_lines(address)]

    @override
    def summary(self, view: View, naming: Naming | None = None) -> Iterable[Table]:
        return crossval_tables(replace(view.of_whole(whole_run), naming=naming, metric=view.metric))


def _answers(chain: Chain, part: Predictions) -> SplitAnswers:
    """Return predictions with their truth, and with their probabilities where there are any."""
    classes = None if part.probabilities is None else chain.classes
    of_classes = chain.task == "classification"
    return SplitAnswers(
        part.samples, part.y_true, part.y_pred, of_classes, classes, part.probabilities
    )


SAMPLES = 40


def _problem(view: View, dataset: str) -> Problem | None:
    """Return the problem that scores call by a name."""
    run = view.of_whole(whole_run)
    return next((one for one in run.problems if run.name(one) == dataset), None)


def whole_run(view: View) -> CrossvalRun:
    """Return the ledgers of a view's experiment under the names of the store."""
    return read_crossval(view.results.store, view.experiment)


def known_metrics(run: CrossvalRun) -> list[str]:
    """Return the metrics that chains can be ranked by, the declared one first; none where tasks are mixed."""
    tasks = {problem.truth.task for problem in run.problems}
    if len(tasks) != 1:
        return []
    figures = REGRESSION_FIGURES if tasks == {"regression"} else CLASS_FIGURES
    known = [metric for metric in figures if named_metric(metric).higher_is_better is not None]
    return list(dict.fromkeys([run.settings.scoring(next(iter(tasks))).metric, *known]))


def _predicted_lines(part: Predictions, task: str) -> list[str]:
    lines = []
    rows = zip(part.samples[:SAMPLES], part.y_true, part.y_pred, strict=False)
    for sample, truth, predicted in rows:
        if task == "regression":
            residual = format_signed(float(predicted - truth))
            words = f"measured {truth:.6g}; predicted {predicted:.6g}; residual {residual}"
        else:
            words = f"true {truth}; predicted {predicted}" + "  (wrong)" * (truth != predicted)
        lines.append(f"sample {sample}: {words}")
    return lines


def _by_test(problems: Sequence[Problem], run: CrossvalRun) -> list[str]:
    """Sort the variants by the plain ensemble's test score, the one test score that all of them have."""
    scoring = run.settings.scoring(problems[0].truth.task)
    each = [problem.scores(scoring) for problem in problems]
    means = {
        variant: float(np.mean([scores[variant].ens_test for scores in each]))
        for variant in each[0]
    }
    known = [variant for variant, mean in means.items() if not np.isnan(mean)]
    size = max(scoring.size(problem.truth.y) for problem in problems)
    losses = scoring.settled([means[variant] for variant in known], size)
    return [known[place] for place in loss_order(losses)]
