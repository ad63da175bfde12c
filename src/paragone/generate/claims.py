"""What a collection says of pairs of methods: claims that were put to proof, and pairs that stayed open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from math import inf, isfinite, isinf, nan
from typing import TYPE_CHECKING, Any, Self

from paragone.generate.proof import Proof
from paragone.stats import Interval

if TYPE_CHECKING:
    import pandas as pd


_NO_LIMIT = {"low": -inf, "high": inf}


def limits_as_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without infinite limits, which JSON does not know: a lead of R2 may have none on few samples.

    Examples
    --------
    >>> limits_as_json({"mean": 0.1, "low": -inf, "high": 0.4})
    {'mean': 0.1, 'low': None, 'high': 0.4}
    """
    return {
        key: None if key in _NO_LIMIT and isinf(value) else value for key, value in content.items()
    }


def limits_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with infinity where a file names no limit.

    Examples
    --------
    >>> limits_from_json({"mean": 0.1, "low": None, "high": 0.4})
    {'mean': 0.1, 'low': -inf, 'high': 0.4}
    """
    return {
        key: _NO_LIMIT[key] if key in _NO_LIMIT and value is None else value
        for key, value in content.items()
    }


@dataclass(frozen=True)
class ClaimRecord:
    """What became of the claim that a method beats another on a dataset, both tuned alike on every sample.

    Parameters
    ----------
    up, down : str
        The methods.
    mean, low, high : float
        The mean lead and its limits; these cover all claims of the collection together.
    share_won : float
        The share of samples on which the method was ahead.
    holds : bool
        Whether the lower limit reached the margin.
    ending : str
        How the proof ended: shown, hopeless, not shown, failed or not begun.
    leads : tuple of float
        On every sample.
    row_seeds : tuple of int
        The seeds of the samples' rows.

    Examples
    --------
    >>> record = ClaimRecord("A", "B", 0.3, 0.1, 0.5, 1.0, True, "shown", (0.29, 0.31), (1, 2))
    >>> record.interval.low
    0.1
    """

    up: str
    down: str
    mean: float
    low: float
    high: float
    share_won: float
    holds: bool
    ending: str
    leads: tuple[float, ...]
    row_seeds: tuple[int, ...]

    @classmethod
    def of(cls, proof: Proof) -> Self:
        """Keep what a proof came to."""
        claim, seeds = proof.claim, dict.fromkeys(fit.row_seed for fit in proof.fits)
        found = (proof.interval.estimate, proof.interval.low, proof.interval.high, proof.share_won)
        leads = tuple(round(lead, 6) for lead in proof.leads)
        return cls(claim.up, claim.down, *found, proof.holds, proof.ending, leads, tuple(seeds))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file."""
        lists = {"leads": tuple(content["leads"]), "row_seeds": tuple(content["row_seeds"])}
        return cls(**{**limits_from_json(content), **lists})

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a collection's file."""
        return limits_as_json(asdict(self))

    @property
    def interval(self) -> Interval:
        """The mean lead between its limits."""
        return Interval(self.mean, self.low, self.high)


@dataclass(frozen=True)
class OpenPair:
    """An ordered pair that nothing in a collection proves, and how hard that was tried.

    Parameters
    ----------
    up, down : str
        The methods.
    raced, raced_tuned : int
        Candidates that were raced for the pair, and those of them that went on to the race under
        tuning.
    race_formula, race_mean, race_won : str, float and float
        The tuned race with the largest mean lead: its formula, the lead, and the share of samples
        won. Where no race was tuned, of the races in the configurations of the screening.
    tried : int
        Datasets on which the pair was put to proof.
    formula, mean, low, high, share_won, samples, ending
        The proof with the largest mean lead: formula, mean with its limits, share of samples won,
        number of samples, and how it ended; empty and NaN where the pair was never put to proof.

    Examples
    --------
    >>> print(OpenPair("Tree", "Forest", raced=3, raced_tuned=1, race_mean=0.02, race_won=0.5))
    Tree over Forest: raced 3 times, 1 of them tuned (best lead 0.020, ahead on 50% of samples);
    never put to proof
    """

    up: str
    down: str
    raced: int = 0
    raced_tuned: int = 0
    race_formula: str = ""
    race_mean: float = nan
    race_won: float = nan
    tried: int = 0
    formula: str = ""
    mean: float = nan
    low: float = nan
    high: float = nan
    share_won: float = nan
    samples: int = 0
    ending: str = ""

    def __str__(self) -> str:
        return f"{self.up} over {self.down}: {self._races_in_words()}; {self._proofs_in_words()}"

    def _races_in_words(self) -> str:
        if not self.raced:
            return "no candidate was worth a race"
        best = f" (best lead {self.race_mean:.3f}, ahead on {self.race_won:.0%} of samples)"
        tuned = f", {self.raced_tuned} of them tuned"
        return f"raced {_times(self.raced)}{tuned}{best if isfinite(self.race_mean) else ''}"

    def _proofs_in_words(self) -> str:
        if not self.tried:
            return "never put to proof"
        if not isfinite(self.mean):
            return f"put to proof {_times(self.tried)}, without an outcome"
        is_bounded = isfinite(self.low) and isfinite(self.high)
        limits = f"[{self.low:.3f}, {self.high:.3f}]" if is_bounded else "without limits"
        return (
            f"put to proof {_times(self.tried)}, at best {self.mean:.3f} {limits}, ahead on"
            f" {self.share_won:.0%} of {self.samples} samples"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as plain values: numbers that there are none of are left out."""
        return limits_as_json({key: value for key, value in asdict(self).items() if value == value})

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file; what a later version adds is passed over."""
        known = {item.name for item in fields(cls)}
        return cls(
            **{key: value for key, value in limits_from_json(content).items() if key in known}
        )


@dataclass(frozen=True)
class VariantClaims:
    """What became of a dataset's claims on one of its variants.

    Parameters
    ----------
    dataset, variant : str
        Which variant of which dataset.
    bayes : float
        The best AUROC that any method can reach on it.
    claims : tuple of ClaimRecord
        What was put to proof; their intervals cover the claims on all variants together.

    Examples
    --------
    >>> VariantClaims("paragone-v1-3", "noisy", 0.95, ()).variant
    'noisy'
    """

    dataset: str
    variant: str
    bayes: float
    claims: tuple[ClaimRecord, ...]

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file."""
        claims = tuple(ClaimRecord.read(claim) for claim in content["claims"])
        return cls(content["dataset"], content["variant"], content["bayes"], claims)

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a collection's file."""
        return {**asdict(self), "claims": [claim.as_dict() for claim in self.claims]}


def variant_table(variants: Iterable[VariantClaims]) -> pd.DataFrame:
    """Return every claim that was put to proof on a variant, one row each.

    Examples
    --------
    >>> claim = ClaimRecord("A", "B", 0.3, 0.1, 0.5, 1.0, True, "shown", (0.29, 0.31), (1, 2))
    >>> table = variant_table([VariantClaims("one", "small", 1.0, (claim,))])
    >>> table[["dataset", "variant", "up", "low", "holds"]].to_numpy().tolist()
    [['one', 'small', 'A', 0.1, True]]
    """
    import pandas as pd

    rows = [
        (
            of.dataset,
            of.variant,
            c.up,
            c.down,
            c.mean,
            c.low,
            c.high,
            c.share_won,
            len(c.leads),
            c.ending,
            c.holds,
        )
        for of in variants
        for c in of.claims
    ]
    columns = [
        "dataset",
        "variant",
        "up",
        "down",
        "mean",
        "low",
        "high",
        "share_won",
        "samples",
        "ending",
        "holds",
    ]
    return pd.DataFrame(rows, columns=columns)


def open_table(pairs: Iterable[OpenPair]) -> pd.DataFrame:
    """Return open pairs as a table, one row each.

    Examples
    --------
    >>> open_table([OpenPair("Tree", "Forest", raced=3)])[["up", "down", "raced", "tried"]].to_numpy().tolist()
    [['Tree', 'Forest', 3, 0]]
    """
    import pandas as pd

    return pd.DataFrame(
        [asdict(pair) for pair in pairs], columns=[item.name for item in fields(OpenPair)]
    )


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
