"""PG301 for recommenders: stored means and values a sample against those that follow from the kept lists."""

from __future__ import annotations

import numpy as np

from paragone.auditing.finding import Ledger
from paragone.auditing.recomputed_topk import IN_LIST_ORDER, is_known, sample_values
from paragone.auditing.verify_curve import CHECK, report_wrong, same
from paragone.metrics.topk.conventions import F1_OF_MEANS
from paragone.store.cell_records import CellRecords
from paragone.store.topk_runs import TopKCell, TopKRun
from paragone.validation import FloatArray

TOLERANCE = 1e-9


def verify_topk(run: TopKRun, records: CellRecords, ledger: Ledger) -> None:
    """Recompute every stored value of a topk experiment."""
    own = run.settings["ties"] in IN_LIST_ORDER
    by_place = {record.cell_id: record for record in records.cells}
    wrong: dict[str, list[str]] = {}
    checked = n_samples = 0
    unknown = [name for name in run.settings["functions"] if name]
    for cell in run.cells:
        values = recomputed(run, cell)
        evaluated, stored = run.samples(cell)
        where = str(by_place[cell.cell_id])
        lines = []
        for metric, kept in stored.items():
            if metric in values:
                n_samples += int(evaluated.sum()) * kept.shape[1]
                lines += _sample_lines(where, metric, run, evaluated, kept, values[metric])
        for score in records.scores(by_place[cell.cell_id]):
            mean = _mean(values, score.metric, run.ks.index(int(score.at or 0)), evaluated)
            if mean is not None:
                checked += 1
                if not same(score.value, mean, TOLERANCE):
                    lines.append(f"{where}: {score.metric}@{score.at:g} is {score.value!r}, the lists give {mean!r}")
        if lines:
            wrong.setdefault(cell.method, []).extend(lines)
    how = "" if own else f"ties = {run.settings['ties']!r}: by the program's own evaluation of the lists"
    ledger.look(CHECK, checked, "scores", how)
    ledger.look("values a sample recomputed from lists", n_samples, "values", how)
    ledger.miss(CHECK, len(unknown), "metrics", f"functions of the user ({', '.join(unknown)}) are not at hand")
    report_wrong(wrong, checked + n_samples, ledger)


def recomputed(run: TopKRun, cell: TopKCell) -> dict[str, FloatArray]:
    """Return the value of every sample by metric, from the definitions wherever lists count as they were kept."""
    names = [name for name in run.settings["metrics"] if name != F1_OF_MEANS]
    helpers = [name for name in ("precision", "recall") if F1_OF_MEANS in run.settings["metrics"] and name not in names]
    wanted = [name for name in [*names, *helpers] if is_known(name)]
    rows = run.rows(cell)
    if run.settings["ties"] in IN_LIST_ORDER:
        values = sample_values(run.lists(cell)["items"], rows.test, run.ks, wanted)
    else:
        values = {name: found for name, found in run.result(cell).per_sample.items() if name in wanted}
    if run.settings["empty"] == "zero":
        values = {name: np.nan_to_num(found) for name, found in values.items()}
    return values


def _mean(values: dict[str, FloatArray], metric: str, column: int, evaluated: np.ndarray) -> float | None:
    if metric == F1_OF_MEANS:
        precision, recall = (float(values[n][evaluated][:, column].mean()) for n in ("precision", "recall"))
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return float(values[metric][evaluated][:, column].mean()) if metric in values else None


def _sample_lines(
    where: str, metric: str, run: TopKRun, evaluated: np.ndarray, kept: FloatArray, again: FloatArray
) -> list[str]:
    away = np.abs(kept[evaluated] - again[evaluated])
    bad = np.argwhere(~(away <= TOLERANCE))
    if not len(bad):
        return []
    row, column = bad[0]
    sample = int(np.flatnonzero(evaluated)[row])
    return [
        f"{where}: {metric} of {len(bad)} samples and cut-offs, first at K = {run.ks[column]} of test sample {sample}: "
        f"{kept[evaluated][row, column]!r}, the list gives {again[evaluated][row, column]!r}"
    ]
