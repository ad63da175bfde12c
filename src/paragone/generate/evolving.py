"""evolve: search, measure, choose, write."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paragone.errors import unknown_name
from paragone.folders import replaced_folder
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.concepts import agreements, numbered_concepts, signature
from paragone.generate.evolution import Evolution, SearchProgress, Stopwatch
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.hashing import digest
from paragone.tables import frame_to_csv
from paragone.ties import best_losses, least_loss

if TYPE_CHECKING:
    import pandas as pd

NamedPair = tuple[str, str]


def with_concepts(sets: Sequence[GeneratedSet]) -> tuple[GeneratedSet, ...]:
    """Number the concepts of datasets again, with all probe rows, in the order of the datasets."""
    marks = [signature(item.generator().expression, n_features=item.n_features) for item in sets]
    numbers = numbered_concepts(agreements(marks))
    return tuple(replace(item, concept=number) for item, number in zip(sets, numbers, strict=True))


def choose(sets: Sequence[GeneratedSet], margin: float, per_concept: int) -> tuple[GeneratedSet, ...]:
    """Choose datasets that prove many ordered pairs by many concepts.

    First a cover of the pairs. Then, of every concept that is not in it yet, the dataset that proves the pairs which
    the fewest chosen datasets prove; a dataset that proves nothing is never chosen.

    Parameters
    ----------
    sets : sequence of GeneratedSet
        What was measured.
    margin : float
        The difference in AUROC that counts.
    per_concept : int
        The most datasets of one concept.
    """
    return _with_more_concepts(greedy_cover(sets, margin, per_concept), sets, margin)


def greedy_cover(sets: Sequence[GeneratedSet], margin: float, per_concept: int) -> tuple[GeneratedSet, ...]:
    """Choose datasets that prove as many ordered pairs as possible, few of one concept.

    In each step the dataset that proves most pairs that are still open; ties to the one whose order of methods is
    the most stable, then to the earlier one. A concept is taken at most ``per_concept`` times.
    """
    proven = {item.name: set(item.evidence().proven(margin)) for item in sets}
    left, chosen, done = list(sets), list[GeneratedSet](), set[NamedPair]()
    while left:
        best = _first([(len(proven[item.name] - done), item.stability) for item in left], left)
        if not proven[best.name] - done:
            break
        chosen.append(best)
        done |= proven[best.name]
        left.remove(best)
        taken = sum(item.concept == best.concept for item in chosen)
        if taken >= per_concept:
            left = [item for item in left if item.concept != best.concept]
    return tuple(chosen)


def _first(values: Sequence[tuple[float, float]], sets: Sequence[GeneratedSet]) -> GeneratedSet:
    """Return the dataset of the largest first value, of those tied by it the largest second one, then the earliest."""
    first, second = np.array(values).T
    return sets[least_loss(np.where(best_losses(-first), -second, np.nan), size=1.0)]


def _with_more_concepts(
    chosen: Sequence[GeneratedSet], sets: Sequence[GeneratedSet], margin: float
) -> tuple[GeneratedSet, ...]:
    proven = {item.name: item.evidence().proven(margin) for item in sets}
    held = Counter(pair for item in chosen for pair in proven[item.name])
    taken, concepts = list(chosen), {item.concept for item in chosen}
    left = [item for item in sets if item.concept not in concepts and proven[item.name]]
    while left:
        rarity = [sum(1 / (1 + held[pair]) for pair in proven[item.name]) for item in left]
        best = _first([(rare, item.stability) for rare, item in zip(rarity, left, strict=True)], left)
        taken.append(best)
        held.update(proven[best.name])
        left = [item for item in left if item.concept != best.concept]
    return tuple(taken)


GOALS = ("both", "wins", "loses")
SEARCH_SHARE = 0.85
"""The share of the hours that the search takes, its races included; the rest is for what it left unproven."""


@dataclass(frozen=True, eq=False)
class Evolved:
    """What a search gave.

    Parameters
    ----------
    collection : Collection
        The datasets that were chosen.
    measured : tuple of GeneratedSet
        All that were measured, the chosen ones among them.
    curve : tuple of SearchProgress
        The state of the search after every generation and every later race.
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
    curve: tuple[SearchProgress, ...]
    n_failed: int

    def curve_table(self) -> pd.DataFrame:
        """Return the coverage over generations and time."""
        import pandas as pd

        return pd.DataFrame([asdict(progress) for progress in self.curve])

    def open_table(self) -> pd.DataFrame:
        """Return the pairs that nothing measured proves, each with the best that was measured."""
        leads = replace(self.collection, sets=self.measured).leads()
        return leads.loc[~leads["proven"].astype(bool)].drop(columns="proven").reset_index(drop=True)

    def write(self, folder: str | Path, file_format: str = "csv") -> None:
        """Write the collection, its evidence, its datasets, the coverage curve and a page of all that."""
        from paragone.generate.pages import write_collection_page

        with replaced_folder(folder, "collection") as new:
            self.collection.write_data(new / "data", file_format)
            self.collection.write(new / "collection.json")
            frame_to_csv(self.collection.evidence_table(), new / "evidence.csv")
            frame_to_csv(self.curve_table(), new / "coverage_curve.csv")
            frame_to_csv(self.open_table(), new / "open_pairs.csv")
        if self.collection.sets:
            write_collection_page(self.collection.inspect(), folder, self.collection, self.curve_table())


def evolve(
    spec: EvolveSpec,
    store: str | Path,
    workers: int = 0,
    *,
    executor: Executor | None = None,
    hours: float | None = None,
    focus: str | None = None,
    goal: str = "both",
    retry_failed: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Evolved:
    """Evolve a collection for the methods of a spec.

    Parameters
    ----------
    spec : EvolveSpec
        What is searched.
    store : str or Path
        Where every score is kept; the same spec on the same store continues where it stopped.
    workers : int, default=0
        Worker processes; the outcome does not depend on them.
    executor : concurrent.futures.Executor, optional
        Where to work instead, such as a Dask client's.
    hours : float, optional
        Stop beginning new work after this time; without it the spec's generations are done.
    focus : str, optional
        Only pairs with this method count.
    goal : {"both", "wins", "loses"}, default="both"
        What the method in focus is to do.
    retry_failed : bool, default=False
        Whether cells that failed before run again.
    tell : callable, optional
        Called with one sentence of progress after each generation and race.

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
    if goal not in GOALS:
        raise unknown_name("goal", goal, GOALS)
    begun = time.monotonic()
    say = tell or (lambda _: None)

    def over(share: float) -> bool:
        return hours is not None and time.monotonic() - begun > share * hours * 3600

    # The number of generations is not part of the key: a search that is asked for more of them continues.
    key = digest({**asdict(replace(spec, generations=1)), "focus": focus, "goal": goal})
    stopwatch = Stopwatch(Path(store).with_suffix(".times.jsonl"), key)
    with Laboratory(store, workers, executor=executor, retry_failed=retry_failed) as laboratory:
        evolution = Evolution(spec, laboratory, stopwatch, focus, goal)
        evolution.run(lambda progress: say(str(progress)), lambda: over(SEARCH_SHARE))
        evolution.prove_rest(lambda progress: say(str(progress)), lambda: over(1.0))
        return _concluded(evolution)


def _concluded(evolution: Evolution) -> Evolved:
    """Choose the collection; chosen datasets are numbered first, in the order in which they were chosen."""
    spec = evolution.spec
    measured = with_concepts(evolution.prover.measured)
    chosen = choose(measured, spec.margin, spec.per_concept)
    # Chosen ones come first, so that their numbers run from 1 without gaps.
    names = {item.name for item in chosen}
    ordered = [*chosen, *(item for item in measured if item.name not in names)]
    renamed = tuple(replace(item, name=f"{spec.name}-{n}") for n, item in enumerate(ordered, start=1))
    collection = Collection(spec.name, spec.margin, spec.evidence_rows, renamed[: len(chosen)])
    return Evolved(collection, renamed, tuple(evolution.curve), evolution.laboratory.n_failed)
