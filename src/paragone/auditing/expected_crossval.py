"""What the tables of a cross-validation should say, from figures recomputed from the ledgers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.auditing.recomputed_crossval import ChainFigures, Recomputation
from paragone.auditing.recomputed_prediction import prediction_score
from paragone.auditing.table_model import ExpectedCell, ExpectedTable, expected_of_frame, plain
from paragone.auditing.tuning import selected
from paragone.protocols.crossval.frames import final_frame
from paragone.protocols.crossval.group_frames import group_frame
from paragone.protocols.crossval.ledger import Predictions
from paragone.protocols.crossval.naming import metric_name, score_name
from paragone.protocols.crossval.problem import Problem
from paragone.store.chains import CrossvalRun
from paragone.ties import best_losses, loss_order

if TYPE_CHECKING:
    import pandas as pd

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
