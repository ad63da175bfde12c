"""The docket of a search as a file: what was put down for proof, and what is known of it.

A store knows a cell by the source of all code behind it, so that a search cannot go on in the store
of another version of the package, or of another machine that is gone. The folder that a search
writes can: beside the collection it holds the docket with the races that filled it, every fit of
the proofs, and the curve. Proofs begin there where they ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data import Expression
from paragone.errors import InputError
from paragone.generate.concepts import ScreenedFormula
from paragone.generate.evidence import Evidence, row_seed
from paragone.generate.evolution import Moment, SearchProgress
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.proof import KnownFits, LeadClaim, TunedFit
from paragone.generate.proving import DocketEntry, Hope, Race
from paragone.generate.shipped import CURVE, read_fits
from paragone.reading import read_json

DOCKET = "docket.json"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Docket:
    """What a search put down for proof.

    Parameters
    ----------
    search : str
        Identifies the search: its spec, the method in focus and the goal.
    entries : tuple of DocketEntry
        The datasets with their claims, in the order in which they are proven.
    races : tuple of Race
        Every race, those that were lost too.
    curve : tuple of SearchProgress
        The search and the proofs over time.
    fits : mapping
        What is known of the proofs.
    """

    search: str
    entries: tuple[DocketEntry, ...]
    races: tuple[Race, ...]
    curve: tuple[SearchProgress, ...] = ()
    fits: KnownFits = field(default_factory=dict, repr=False)

    @property
    def searched(self) -> tuple[SearchProgress, ...]:
        """The curve before the first proof."""
        return tuple(moment for moment in self.curve if not moment.tried)

    @property
    def n_tried(self) -> int:
        """How many datasets were put to proof."""
        return max((moment.tried for moment in self.curve), default=0)

    @property
    def times(self) -> dict[Moment, float]:
        """The seconds of every moment of the curve."""
        return {
            (moment.generation, moment.raced, moment.tried): moment.seconds for moment in self.curve
        }

    def write(self, folder: str | Path) -> None:
        """Write entries and races; fits and curve are in files of their own."""
        content = {
            "format": FORMAT,
            "search": self.search,
            "entries": [_told_entry(entry) for entry in self.entries],
            "races": [_told_race(race) for race in self.races],
        }
        (Path(folder) / DOCKET).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: str | Path, spec: EvolveSpec, search: str) -> Docket:
        """Read the docket of a folder that a search wrote, with its fits and its curve.

        Parameters
        ----------
        folder : str or Path
            The folder.
        spec : EvolveSpec
            Of the search.
        search : str
            What identifies the search; it is an error where the folder is of another one.
        """
        path = Path(folder) / DOCKET
        if not path.is_file():
            raise InputError(
                f"{folder} holds no {DOCKET}: only a search that proves under tuning writes it"
            )
        content = read_json(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise InputError(f"{path} is not a docket of this version")
        if content.get("search") != search:
            raise InputError(
                f"{path} is of another search: its spec, method in focus or goal differs from what"
                " is asked"
            )
        try:
            entries = tuple(_read_entry(entry, spec) for entry in content["entries"])
            races = tuple(_read_race(race) for race in content["races"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} is not a docket: {error}") from error
        return cls(
            search,
            entries,
            races,
            _read_curve(Path(folder) / CURVE),
            _read_known(folder, entries, spec),
        )


def _told_entry(entry: DocketEntry) -> dict[str, Any]:
    candidate = entry.hope.candidate
    return {
        "formula": str(candidate.expression),
        "claims": [[claim.up, claim.down] for claim in entry.claims],
        "concept": entry.hope.concept,
        "scores": [float(score) for score in candidate.scores],
        "configurations": list(candidate.configurations),
        "generation": candidate.generation,
    }


def _read_entry(entry: Mapping[str, Any], spec: EvolveSpec) -> DocketEntry:
    places = {method.name: place for place, method in enumerate(spec.contenders())}
    generator = spec.generator(entry["formula"])
    candidate = ScreenedFormula(
        Expression.parse(entry["formula"]),
        np.array(entry["scores"], dtype=np.float64),
        tuple(entry["configurations"]),
        entry["generation"],
    )
    pairs = tuple((places[up], places[down]) for up, down in entry["claims"])
    claims = tuple(LeadClaim(up, down, generator) for up, down in entry["claims"])
    return DocketEntry(Hope(candidate, entry["concept"], pairs), generator, claims)


def _told_race(race: Race) -> dict[str, Any]:
    def told(evidence: Evidence | None) -> dict[str, Any] | None:
        if evidence is None:
            return None
        return {"methods": list(evidence.methods), "scores": evidence.aurocs.tolist()}

    pairs = {
        "pairs": [list(pair) for pair in race.pairs],
        "tuned_pairs": [list(pair) for pair in race.tuned_pairs],
    }
    return {
        "formula": race.formula,
        **pairs,
        "untuned": told(race.untuned),
        "tuned": told(race.tuned),
    }


def _read_race(race: Mapping[str, Any]) -> Race:
    def read(evidence: Mapping[str, Any] | None) -> Evidence | None:
        if evidence is None:
            return None
        return Evidence(tuple(evidence["methods"]), np.array(evidence["scores"], dtype=np.float64))

    def named(pairs: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
        return tuple((up, down) for up, down in pairs)

    return Race(
        race["formula"],
        named(race["pairs"]),
        named(race["tuned_pairs"]),
        read(race["untuned"]),
        read(race["tuned"]),
    )


def _read_curve(path: Path) -> tuple[SearchProgress, ...]:
    import pandas as pd

    kinds: dict[str, Any] = {
        item.name: float if item.type == "float" else int for item in fields(SearchProgress)
    }
    try:
        table = pd.read_csv(path, dtype=str)
        return tuple(
            SearchProgress(**{name: kind(row[name]) for name, kind in kinds.items()})
            for row in table.to_dict("records")
        )
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} is not the curve of a search: {error}") from error


def _read_known(folder: str | Path, entries: Sequence[DocketEntry], spec: EvolveSpec) -> KnownFits:
    """Read the fits; a method may be known on a sample only if the rows are those of the search."""
    identities = {entry.generator.formula: entry.generator.identity for entry in entries}
    known: dict[tuple[str, str, int], TunedFit] = {}
    for row in read_fits(folder).itertuples(index=False):
        formula, sample, seed = str(row.formula), int(row.sample), int(row.row_seed)
        if formula not in identities:
            raise InputError(f"{folder}: fits of {formula}, which is not on the docket")
        key = identities[formula]
        if seed != row_seed("evidence", spec.seed, key, sample):
            raise InputError(
                f"{folder}: sample {sample} of {formula} was fitted on rows of another search"
            )
        fit = TunedFit(
            str(row.method), sample, seed, row.parameters, float(row.tuning_score), float(row.score)
        )
        known[key, fit.method, sample] = fit
    return known
