"""Where no process can be forked, every cell has a fresh one."""

from __future__ import annotations

from paragone.lab.engine import workers as isolation
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.lab.store.records import StoredCells
from paragone.protocols import Curve, KGrid
from told_methods import Does


def test_where_nothing_can_be_forked_every_cell_has_a_fresh_process(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "can_fork", lambda: False)
    counts = """
        import builtins
        builtins.seen = getattr(builtins, "seen", 0) + 1
        self.ranking_ = np.roll(np.arange(X.shape[1]), builtins.seen)
    """
    methods = {"Counts": Does(counts), "Quits": Does("raise SystemExit(0)")}
    protocol = Curve(k=KGrid(2, 4, 2), metrics=("micro_f1",))
    experiment = Experiment(["wine-traits"], methods, {"folds": 2}, protocol, name="fresh")
    results = experiment.run(tmp_path / "a.sqlite", workers=1)
    statuses = results.places().groupby("method")["status"].agg(set).to_dict()
    assert statuses == {"Counts": {"done"}, "Quits": {"failed"}}
    with Store(tmp_path / "a.sqlite") as store:
        first = [
            int(store.fitted(cell.fit_key).arrays["ranking"][1])
            for cell in StoredCells(store, "fresh").cells
        ]
    assert first == [0, 0], "each was the first of its process"
