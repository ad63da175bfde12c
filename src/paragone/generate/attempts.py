"""How hard a search tried for pairs that it did not prove: races and proofs, counted, each with its best outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paragone.generate.claims import OpenPair
from paragone.generate.proof import Proof
from paragone.generate.proving import DatasetProof, Race
from paragone.validation import FloatArray

NamedPair = tuple[str, str]


def attempts(
    wanted: Iterable[NamedPair], races: Sequence[Race], verdicts: Sequence[DatasetProof]
) -> tuple[OpenPair, ...]:
    """Return what was tried for ordered pairs.

    Nothing is fitted: races and proofs are those of the search.

    Parameters
    ----------
    wanted : iterable of pairs
        The pairs that are asked for, such as those that stayed open.
    races : sequence of Race
        Of the whole search.
    verdicts : sequence of DatasetProof
        Of every dataset that was put to proof.

    Returns
    -------
    tuple of OpenPair
        In the order of the pairs.

    Examples
    --------
    >>> from paragone.generate.evidence import Evidence
    >>> lost = Evidence(("A", "B"), np.array([[0.6, 0.5], [0.5, 0.6]]))
    >>> found, = attempts([("A", "B")], [Race("X0", (("A", "B"),), (), lost, None)], [])
    >>> found.raced, found.raced_tuned, found.race_won, found.tried
    (1, 0, 0.5, 0)
    """
    return tuple(_attempted(pair, races, verdicts) for pair in wanted)


def _attempted(
    pair: NamedPair, races: Sequence[Race], verdicts: Sequence[DatasetProof]
) -> OpenPair:
    for_pair = [race for race in races if pair in race.pairs]
    tuned = [race for race in for_pair if pair in race.tuned_pairs]
    # A lead without tuning is no match for one with it: the first is shown only where there is
    # nothing else.
    leads = [(race.formula, race.tuned.leads(*pair)) for race in tuned if race.tuned is not None]
    leads = leads or [
        (race.formula, race.untuned.leads(*pair)) for race in for_pair if race.untuned is not None
    ]
    proofs = [
        proof
        for verdict in verdicts
        for proof in verdict.proofs
        if (proof.claim.up, proof.claim.down) == pair
    ]
    found = {"raced": len(for_pair), "raced_tuned": len(tuned), "tried": len(proofs)}
    return OpenPair(*pair, **{**found, **_best_race(leads), **_best(proofs)})


def _best_race(leads: Sequence[tuple[str, FloatArray]]) -> dict[str, Any]:
    if not leads:
        return {}
    formula, best = max(leads, key=lambda found: float(found[1].mean()))
    return {
        "race_formula": formula,
        "race_mean": float(best.mean()),
        "race_won": float(np.mean(best > 0)),
    }


def _best(proofs: Sequence[Proof]) -> dict[str, Any]:
    ended = [proof for proof in proofs if proof.leads]
    if not ended:
        return {}
    best = max(ended, key=lambda proof: proof.interval.estimate)
    return {
        "formula": best.claim.generator.formula,
        "mean": best.interval.estimate,
        "low": best.interval.low,
        "high": best.interval.high,
        "share_won": best.share_won,
        "samples": best.stopped_at,
        "ending": best.ending,
    }
