"""evolve: search, measure, choose, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.generate.archive import Candidate
from paragone.generate.collection import Collection, GeneratedSet, greedy_cover
from paragone.generate.duel_settings import DuelSettings
from paragone.generate.evidence import measure
from paragone.generate.evolution import Evolution, Progress
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.holdout import Holdout
from paragone.generate.laboratory import Laboratory, parted
from paragone.generate.methods import Contender
from paragone.generate.sampling import GeneratorSpec

if TYPE_CHECKING:
    import pandas as pd

TUNING_SEED = 500_000
"""Samples for tuning have seeds of their own, apart from those of searches and of evidence."""
GIVE_UP = 0.1
"""A trial that falls further behind the best is not tried on all folds."""
SEARCH_SHARE = 0.5
"""The share of the hours that the search takes; the rest is for measuring."""


@dataclass(frozen=True, eq=False)
class Evolved:
    """What a search gave.

    Parameters
    ----------
    collection : Collection
        The datasets that were chosen.
    measured : tuple of GeneratedSet
        All that were measured, the chosen ones among them.
    curve : tuple of Progress
        Where the search stood after every generation.
    n_failed : int
        Cells that failed; what needed them is not claimed.

    Examples
    --------
    >>> import tempfile
    >>> classes = {"NB": "naive_bayes:GaussianNB", "Tree": "tree:DecisionTreeClassifier"}
    >>> methods = {name: {"use": f"sklearn.{use}"} for name, use in classes.items()}
    >>> sizes = {"generations": 1, "batch": 4, "chunk": 4, "n_train": 100, "n_test": 200, "n_features": 3}
    >>> spec = EvolveSpec("tiny", **sizes, evidence_seeds=2, evidence_rows=200, methods=methods)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evolved = evolve(spec, Path(folder) / "search.sqlite")
    >>> evolved.curve_table().columns.tolist()[:2], evolved.n_failed
    (['generation', 'seen'], 0)
    """

    collection: Collection
    measured: tuple[GeneratedSet, ...]
    curve: tuple[Progress, ...]
    n_failed: int

    def curve_table(self) -> pd.DataFrame:
        """Return the coverage over generations and time."""
        import pandas as pd

        return pd.DataFrame([asdict(progress) for progress in self.curve])

    def open_table(self) -> pd.DataFrame:
        """Return the pairs that nothing measured proves, each with the best that was measured."""
        import pandas as pd

        proven = {pair for item in self.measured for pair in item.evidence().proven(self.collection.margin)}
        methods = list(self.measured[0].aurocs) if self.measured else []
        rows = []
        for pair in permutations(methods, 2):
            if pair not in proven:
                leads = [(item.evidence().lead(*pair), item) for item in self.measured]
                lead, item = max(leads, key=lambda found: found[0].low)
                rows.append({"up": pair[0], "down": pair[1], "dataset": item.name, **asdict(lead)})
        return pd.DataFrame(rows, columns=["up", "down", "dataset", "mean", "low", "high"])

    def write(self, folder: str | Path) -> None:
        """Write the collection, its evidence, its datasets and the coverage curve."""
        import pandas as pd

        folder = Path(folder)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        self.collection.write(folder / "collection.json")
        self.collection.evidence_table().to_csv(folder / "evidence.csv", index=False)
        self.curve_table().to_csv(folder / "coverage_curve.csv", index=False)
        self.open_table().to_csv(folder / "open_pairs.csv", index=False)
        for item in self.collection.sets:
            dataset = item.load()
            frame = pd.DataFrame(dataset.X, columns=list(dataset.feature_names)).assign(target=dataset.y)
            frame.to_csv(folder / "data" / f"{item.name}.csv", index=False)


def evolve(
    spec: EvolveSpec,
    store: str | Path,
    workers: int = 0,
    *,
    executor: Executor | None = None,
    hours: float | None = None,
    focus: str | None = None,
    retry_failed: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Evolved:
    """Evolve a collection for the methods of a spec.

    Parameters
    ----------
    spec : EvolveSpec
        What is searched.
    store : str or Path
        Where every score is kept; the same spec on the same store goes on where it was stopped.
    workers : int, default=0
        Worker processes; the outcome does not depend on them.
    executor : concurrent.futures.Executor, optional
        Where to work instead, such as a Dask client's.
    hours : float, optional
        Stop beginning new work after this time; without it the spec's generations are done.
    focus : str, optional
        Measure only candidates of pairs in which this method stands.
    retry_failed : bool, default=False
        Whether cells that failed before run again.
    tell : callable, optional
        Is told in a sentence how far it is.

    Returns
    -------
    Evolved
        The collection and how it came about.

    Examples
    --------
    >>> import tempfile
    >>> classes = {"NB": "naive_bayes:GaussianNB", "Tree": "tree:DecisionTreeClassifier"}
    >>> methods = {name: {"use": f"sklearn.{use}"} for name, use in classes.items()}
    >>> sizes = {"generations": 1, "batch": 4, "chunk": 4, "n_train": 100, "n_test": 200, "n_features": 3}
    >>> spec = EvolveSpec("tiny", **sizes, evidence_seeds=2, evidence_rows=200, methods=methods)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evolved = evolve(spec, Path(folder) / "search.sqlite")
    >>> all(item.n_features == 3 for item in evolved.measured)
    True
    """
    begun = time.monotonic()
    say = tell or (lambda _: None)
    with Laboratory(store, workers, executor=executor, retry_failed=retry_failed) as laboratory:
        evolution = Evolution(spec, laboratory)
        search_hours = None if hours is None else SEARCH_SHARE * hours
        evolution.run(search_hours, lambda progress: say(str(progress)))
        measured: list[GeneratedSet] = []
        proven: set[tuple[str, str]] = set()
        finalists = _finalists(evolution, focus)
        for position, (concept, candidate, hoped) in enumerate(finalists, start=1):
            if hours is not None and time.monotonic() - begun > hours * 3600:
                break
            if hoped <= proven:
                continue
            item = _measured(evolution, candidate, concept, len(measured) + 1)
            if item is None:
                say(f"a fit failed on {candidate.expression}: nothing is claimed of it")
            else:
                measured.append(item)
                proven |= set(item.evidence().proven(spec.margin))
            say(
                f"measured {position} of {len(finalists)}: {len(proven)} of {len(evolution.archive.pairs)} pairs proven"
            )
        chosen = greedy_cover(measured, spec.margin, spec.per_concept)
        collection = Collection(spec.name, spec.margin, spec.evidence_rows, chosen)
        return Evolved(collection, tuple(measured), tuple(evolution.curve), laboratory.n_failed)


def _finalists(evolution: Evolution, focus: str | None) -> Sequence[tuple[int, Candidate, set[tuple[str, str]]]]:
    """Return concept, candidate and the pairs it may prove; those that may prove most come first."""
    names = [method.name for method in evolution.methods]
    margin = evolution.spec.margin
    found: dict[str, tuple[int, Candidate]] = {}
    for pair in evolution.archive.pairs:
        if focus is None or focus in (names[pair[0]], names[pair[1]]):
            for concept, candidate in list(evolution.archive.best(pair))[: evolution.spec.finalists]:
                if candidate.lead(pair) >= margin:
                    found.setdefault(str(candidate.expression), (concept, candidate))
    hopes = []
    for concept, candidate in found.values():
        hoped = {(names[a], names[b]) for a, b in evolution.archive.pairs if candidate.lead((a, b)) >= margin}
        hopes.append((concept, candidate, hoped))
    return sorted(hopes, key=lambda hope: (-len(hope[2]), str(hope[1].expression)))


def _measured(evolution: Evolution, candidate: Candidate, concept: int, number: int) -> GeneratedSet | None:
    spec = evolution.spec
    generator = GeneratorSpec(str(candidate.expression), spec.n_features)
    screened = [
        (method, method.portfolio[position])
        for method, position in zip(evolution.methods, candidate.configurations, strict=True)
    ]
    configured = _tuned(evolution, generator, screened) if spec.trials else screened
    evidence = measure(
        candidate.expression.md5,
        generator,
        configured,
        evolution.laboratory,
        n_train=spec.n_train,
        n_fresh=spec.evidence_rows,
        n_seeds=spec.evidence_seeds,
    )
    if evidence is None:
        return None
    return GeneratedSet.of(f"{spec.name}-{number}", generator, concept, spec.seed, spec.n_train, evidence)


def _tuned(
    evolution: Evolution, generator: GeneratorSpec, screened: Sequence[tuple[Contender, Mapping[str, Any]]]
) -> list[tuple[Contender, Mapping[str, Any]]]:
    """Tune every method that has a space on a sample that is used for nothing else."""
    spec = evolution.spec
    sample = generator.sample(spec.n_train + spec.n_test, TUNING_SEED + spec.seed, name=generator.expression.md5)
    tuners = {}
    for method, _ in screened:
        if method.space:
            tuner = DuelSettings(folds=spec.folds, tolerance=GIVE_UP).tuner(method, spec.seed, spec.trials)
            tuner["params"]["first"] = [dict(params) for params in method.portfolio]
            tuners[method.name] = tuner
    if not tuners:
        return list(screened)
    found = evolution.laboratory.run(
        f"{spec.name} tunes {generator.expression.md5}",
        [parted(sample, np.arange(spec.n_train))],
        tuners,
        Holdout(keep_values=False),
        seed=spec.seed,
    )
    chosen = {method: fitted.info["params"] for (_, method), fitted in found.items()}
    return [(method, chosen.get(method.name, params)) for method, params in screened]
