"""Selection: which of the measured datasets make the collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paragone.generate.collection import GeneratedSet
from paragone.generate.concepts import agreements, group_concepts, signature
from paragone.ties import best_losses, least_loss

Pair = tuple[str, str]


def with_concepts(sets: Sequence[GeneratedSet]) -> tuple[GeneratedSet, ...]:
    """Number the concepts of datasets anew, with all probe rows, in the order of the datasets."""
    marks = [signature(item.generator().expression, n_features=item.n_features) for item in sets]
    leaders = group_concepts(agreements(marks))
    numbers = {leader: number for number, leader in enumerate(sorted(set(leaders)), start=1)}
    return tuple(replace(item, concept=numbers[leader]) for item, leader in zip(sets, leaders, strict=True))


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
    left, chosen, done = list(sets), list[GeneratedSet](), set[Pair]()
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
