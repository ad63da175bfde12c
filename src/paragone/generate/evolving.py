"""evolve: search, prove, choose, write; the docket of a search, and how hard it tried for open pairs.

A store knows a cell by the source of all code behind it, so that a search cannot go on in the store
of another version of the package, or of another machine that is gone. The folder that a search
writes can: beside the collection it holds the docket with the races that filled it, every fit of
the proofs, and the curve. Proofs begin there where they ended.
"""

from __future__ import annotations

import json
import lzma
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.folders import replaced_folder
from paragone.generate.collection import Collection, GeneratedSet, OpenPair, open_table
from paragone.generate.concepts import (
    ScreenedFormula,
    agreements,
    concept_rule,
    numbered_concepts,
    signature,
)
from paragone.generate.evolution import Evolution, Moment, SearchProgress, Stopwatch
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.expressions import Expression
from paragone.generate.laboratory import Laboratory
from paragone.generate.proof import Evidence, KnownFits, LeadClaim, Proof, TunedFit, row_seed
from paragone.generate.proving import DatasetProof, DocketEntry, Hope, Race
from paragone.generate.shipped import CURVE, FIT_COLUMNS, FITS, read_fits
from paragone.reading import read_json
from paragone.tables import frame_as_csv, frame_to_csv
from paragone.ties import best_losses, least_loss
from paragone.validation import FloatArray

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
    >>> from paragone.generate.proof import Evidence
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


def with_concepts(sets: Sequence[GeneratedSet]) -> tuple[GeneratedSet, ...]:
    """Number the concepts of datasets again, with all probe rows, in the order of the datasets."""
    generators = [item.generator() for item in sets]
    marks = [signature(made.expression, concept_rule(made), made.n_features) for made in generators]
    numbers = numbered_concepts(agreements(marks))
    return tuple(replace(item, concept=number) for item, number in zip(sets, numbers, strict=True))


def choose(
    sets: Sequence[GeneratedSet], margin: float, per_concept: int
) -> tuple[GeneratedSet, ...]:
    """Choose datasets that prove many ordered pairs by many concepts.

    First a cover of the pairs. Then, of every concept that is not in it yet, the dataset that
    proves the pairs which the fewest chosen datasets prove; a dataset that proves nothing is never
    chosen.

    Parameters
    ----------
    sets : sequence of GeneratedSet
        What was measured.
    margin : float
        The difference in the score that counts.
    per_concept : int
        The most datasets of one concept.
    """
    return _with_more_concepts(greedy_cover(sets, margin, per_concept), sets, margin)


def greedy_cover(
    sets: Sequence[GeneratedSet], margin: float, per_concept: int
) -> tuple[GeneratedSet, ...]:
    """Choose datasets that prove as many ordered pairs as possible, few of one concept.

    In each step the dataset that proves most pairs that are still open; ties to the one whose order
    of methods is the most stable, then to the earlier one. A concept is taken at most
    ``per_concept`` times.
    """
    proven = {item.name: set(item.proven(margin)) for item in sets}
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
    proven = {item.name: item.proven(margin) for item in sets}
    held = Counter(pair for item in chosen for pair in proven[item.name])
    taken, concepts = list(chosen), {item.concept for item in chosen}
    left = [item for item in sets if item.concept not in concepts and proven[item.name]]
    while left:
        rarity = [sum(1 / (1 + held[pair]) for pair in proven[item.name]) for item in left]
        best = _first(
            [(rare, item.stability) for rare, item in zip(rarity, left, strict=True)], left
        )
        taken.append(best)
        held.update(proven[best.name])
        left = [item for item in left if item.concept != best.concept]
    return tuple(taken)


GOALS = ("both", "wins", "loses")
SEARCH_SHARE = 0.4
"""The share of the hours that the search takes, its races included; the rest is for the proofs."""


@dataclass(frozen=True, eq=False)
class Evolved:
    """What a search gave.

    Parameters
    ----------
    collection : Collection
        The datasets that were chosen.
    measured : tuple of GeneratedSet
        All that prove something, the chosen ones among them.
    curve : tuple of SearchProgress
        The state of the search after every generation, every later race and every proof.
    n_failed : int
        Cells that failed; what needed them is not claimed.
    verdicts : tuple of DatasetProof
        What came of every dataset that was put to proof, its fits included.
    wanted : tuple of pairs
        The ordered pairs that were searched for.
    races : tuple of Race
        What every race came to.
    docket : Docket, optional
        What was put down for proof, whether it was proven yet or not.

    Examples
    --------
    >>> import tempfile
    >>> classes = {"NB": "naive_bayes:GaussianNB", "Tree": "tree:DecisionTreeClassifier"}
    >>> methods = {name: {"use": f"sklearn.{use}"} for name, use in classes.items()}
    >>> sizes = {"generations": 1, "batch": 4, "chunk": 4, "n_train": 100, "n_test": 200, "n_features": 3}
    >>> spec = EvolveSpec("tiny", **sizes, looks=(2, 3), evidence_rows=200, trials=1, methods=methods)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evolved = evolve(spec, Path(folder) / "search.sqlite")
    >>> evolved.curve_table().columns.tolist()[:2], evolved.n_failed
    (['generation', 'seen'], 0)
    """

    collection: Collection
    measured: tuple[GeneratedSet, ...]
    curve: tuple[SearchProgress, ...]
    n_failed: int
    verdicts: tuple[DatasetProof, ...] = ()
    wanted: tuple[NamedPair, ...] = ()
    races: tuple[Race, ...] = ()
    docket: Docket | None = None

    def curve_table(self) -> pd.DataFrame:
        """Return the coverage over generations and time."""
        return pd.DataFrame([asdict(progress) for progress in self.curve])

    def claims_table(self) -> pd.DataFrame:
        """Return every claim that was put to proof, whether it held or not, with its family-wise interval."""
        names = {item.md5: item.name for item in self.measured}
        rows = [
            (
                names.get(verdict.entry.generator.expression.md5, ""),
                verdict.entry.generator.formula,
                *_claim_row(proof),
            )
            for verdict in self.verdicts
            for proof in verdict.proofs
        ]
        columns = [
            "dataset",
            "formula",
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

    def open_table(self) -> pd.DataFrame:
        """Return the pairs that are not proven, each with how often it was raced and put to proof, and what came of it.

        These are pairs that no claim shows, on a dataset that was chosen or not; `Collection.open`
        are those that no dataset of the collection proves.
        """
        proven = {(row.up, row.down) for row in self.claims_table().itertuples() if row.holds}
        return open_table(
            attempts(
                [pair for pair in self.wanted if pair not in proven], self.races, self.verdicts
            )
        )

    def fits_table(self) -> pd.DataFrame:
        """Return every fit of the proofs: rows, configuration, score in tuning, score on fresh rows."""
        names = {item.md5: item.name for item in self.measured}
        rows = [
            (
                names.get(verdict.entry.generator.expression.md5, ""),
                verdict.entry.generator.formula,
                f.method,
                f.sample,
                f.row_seed,
                f.tuning_score,
                f.score,
                json.dumps(f.params),
            )
            for verdict in self.verdicts
            for f in verdict.fits
        ]
        return pd.DataFrame(rows, columns=list(FIT_COLUMNS))

    def screen_table(self) -> pd.DataFrame:
        """Return, per method, the rank correlation of its score in screening with its mean under tuning.

        It is taken over the datasets that prove something, so over candidates that screening had
        chosen already.
        """
        from scipy.stats import spearmanr

        shown = [verdict for verdict in self.verdicts if verdict.item is not None]
        names = [method for verdict in shown[:1] if verdict.item for method in verdict.item.aurocs]
        rows = []
        for place, name in enumerate(names):
            screened = [verdict.entry.hope.candidate.scores[place] for verdict in shown]
            full = [float(np.mean(verdict.item.aurocs[name])) for verdict in shown if verdict.item]
            varied = len(shown) > 2 and np.ptp(screened) > 0 and np.ptp(full) > 0
            rows.append(
                (name, len(shown), float(spearmanr(screened, full).statistic) if varied else np.nan)
            )
        return pd.DataFrame(rows, columns=["method", "datasets", "rank_correlation"])

    def write(self, folder: str | Path, file_format: str = "csv") -> None:
        """Write the collection, its evidence, its datasets, the coverage curve and a page of all that."""
        from paragone.generate.pages import write_collection_page

        with replaced_folder(folder, "collection") as new:
            self.collection.write_data(new / "data", file_format)
            self.collection.write(new / "collection.json")
            frame_to_csv(self.collection.evidence_table(), new / "evidence.csv")
            frame_to_csv(self.curve_table(), new / CURVE)
            if self.docket is not None:
                self.docket.write(new)
            frame_to_csv(self.open_table(), new / "open_pairs.csv")
            frame_to_csv(self.claims_table(), new / "claims.csv")
            # Thousands of rows, most of whose text repeats: a tenth of the size, and pandas reads
            # it as it is.
            (new / FITS).write_bytes(lzma.compress(frame_as_csv(self.fits_table()).encode()))
            frame_to_csv(self.screen_table(), new / "screening.csv")
        # A search that proved nothing has a page too: what was tried, and the pairs that stay open.
        inspection = self.collection.inspect() if self.collection.sets else None
        opened = self.open_table()
        write_collection_page(
            inspection, folder, self.collection, self.curve_table(), opened=opened
        )


def _claim_row(proof: Proof) -> tuple[Any, ...]:
    claim, interval = proof.claim, proof.interval
    found = (interval.estimate, interval.low, interval.high, proof.share_won, proof.stopped_at)
    return claim.up, claim.down, *found, proof.ending, proof.holds


def evolve(
    spec: EvolveSpec,
    store: str | Path | Laboratory,
    *,
    hours: float | None = None,
    focus: str | None = None,
    goal: str = "both",
    conclude: bool = False,
    taken_up: str | Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Evolved:
    """Evolve a collection for the methods of a spec.

    Parameters
    ----------
    spec : EvolveSpec
        What is searched.
    store : str, Path or Laboratory
        Where every score is kept; the same spec on the same store continues where it stopped. A
        laboratory says how many workers there are too: the outcome does not depend on them.
    hours : float, optional
        Stop beginning new work after this time; without it the spec's generations are done.
    focus : str, optional
        Only pairs with this method count.
    goal : {"both", "wins", "loses"}, default="both"
        What the method in focus is to do.
    conclude : bool, default=False
        Begin nothing new: go over what earlier runs did, up to the moment at which most was proven,
        and give that. A proof that the time had cut short between two looks is brought to its end.
    taken_up : str or Path, optional
        A folder that `Evolved.write` made: nothing is searched, and its proofs go on with the fits
        that it has. A store is bound to the version of the package that filled it; a folder is not.
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
    >>> spec = EvolveSpec("tiny", **sizes, looks=(2, 3), evidence_rows=200, trials=1, methods=methods)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evolved = evolve(spec, Path(folder) / "search.sqlite")
    >>> all(item.n_features == 3 for item in evolved.measured)
    True
    """
    if goal not in GOALS:
        raise unknown_name("goal", goal, GOALS)
    begun = time.monotonic()
    say = tell or (lambda _: None)
    laboratory = Laboratory(store) if isinstance(store, (str, Path)) else store

    def told(progress: SearchProgress) -> None:
        say(str(progress))

    def over(share: float) -> Callable[[], bool]:
        return lambda: hours is not None and time.monotonic() - begun > share * hours * 3600

    # The number of generations is not part of the key: a search that is asked for more of them
    # continues.
    key = spec.key(focus, goal)
    stopwatch = Stopwatch(laboratory.store.with_suffix(".times.jsonl"), key)
    evolution = Evolution(spec, laboratory, stopwatch, focus, goal)
    if taken_up is not None:
        docket = Docket.read(taken_up, spec, key)
        evolution.take_up(docket.searched, docket.times)
        evolution.prover.take_up(docket.entries, docket.races, docket.fits)
        # Whatever the hours: what the folder has is not lost, and a proof that was cut short comes
        # to its end.
        evolution.prove(told, lambda: len(evolution.prover.verdicts) >= docket.n_tried)
    elif conclude:
        _go_over(evolution, stopwatch.furthest(), say)
        return _concluded(evolution, key)
    else:
        evolution.run(told, over(SEARCH_SHARE))
        evolution.race_rest(told, over(SEARCH_SHARE))
    evolution.prove(told, over(1.0))
    return _concluded(evolution, key)


def _go_over(evolution: Evolution, until: Moment, say: Callable[[str], None]) -> None:
    """Go the way of earlier runs up to a moment of theirs; every cell on it is in the store."""
    generations, raced, proven = until
    prover = evolution.prover

    def raced_enough() -> bool:
        return prover.n_raced >= raced

    while evolution.progress.generation < generations:
        # Races that the time had cut off in the last generation are not made up for: others
        # followed, or none.
        evolution.step(raced_enough)
        say(str(evolution.progress))
    evolution.race_rest(lambda progress: say(str(progress)), raced_enough)
    evolution.prove(lambda progress: say(str(progress)), lambda: len(prover.verdicts) >= proven)


def _concluded(evolution: Evolution, key: str) -> Evolved:
    """Choose the collection; chosen datasets are numbered first, in the order in which they were chosen."""
    spec = evolution.spec
    measured = with_concepts(evolution.prover.measured())
    chosen = choose(measured, spec.margin, spec.per_concept)
    # Chosen ones come first, so that their numbers run from 1 without gaps.
    taken = {item.name for item in chosen}
    ordered = [*chosen, *(item for item in measured if item.name not in taken)]
    renamed = tuple(
        replace(item, name=f"{spec.name}-{n}") for n, item in enumerate(ordered, start=1)
    )
    names = [method.name for method in evolution.methods]
    wanted = tuple((names[up], names[down]) for up, down in evolution.prover.wanted)
    verdicts, races = tuple(evolution.prover.verdicts), tuple(evolution.prover.races)
    kept = Collection(
        spec.name,
        spec.margin,
        spec.evidence_rows,
        renamed[: len(chosen)],
        plan=spec.plan(),
        seed=spec.seed,
        target=spec.target,
    )
    covered = kept.covered()
    collection = replace(
        kept, open=attempts([pair for pair in wanted if pair not in covered], races, verdicts)
    )
    curve, n_failed = tuple(evolution.curve), evolution.laboratory.n_failed
    docket = Docket(key, tuple(evolution.prover.docket), races)
    return Evolved(collection, renamed, curve, n_failed, verdicts, wanted, races, docket)
