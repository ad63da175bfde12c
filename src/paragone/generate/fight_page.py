"""The page of a fight, and its folder: the finding, a card per proven dataset, what was tried, and files to load."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paragone.data import Expression
from paragone.generate.claims import ClaimRecord
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.concepts import agreements, concept_rule, numbered_concepts, signature
from paragone.generate.evidence import Evidence
from paragone.generate.families import family_rules, generator_families
from paragone.generate.fight import FightResult, time_in_words
from paragone.generate.fight_pictures import Picture, claims_chart, curve_chart, search_chart
from paragone.generate.formulas import simplify
from paragone.generate.mathematics import feature_name, mathematics, target_in_words
from paragone.generate.pages import drawn_gallery, gallery, write_whole
from paragone.generate.planes import plane_chart
from paragone.generate.proof import Proof
from paragone.generate.thresholds import population
from paragone.page import (
    Attachment,
    Block,
    Fold,
    Listing,
    NumberDetails,
    Page,
    Points,
    Prose,
    Section,
    Sheet,
    frame_sheet,
)
from paragone.tables import frame_as_csv

COIN = 0.9
"""A claim whose method is ahead on a smaller share of the samples is called a coin, whatever its mean."""


def write_fight(
    result: FightResult, shown: Sequence[Picture], folder: str | Path, name: str
) -> Path:
    """Write the page, the collection, the datasets and every fit into a folder, and return the page.

    Parameters
    ----------
    result : FightResult
        What was found.
    shown : sequence of Picture
        The proven datasets; none is as good a page.
    folder : str or Path
        That of the fight. What an earlier sitting wrote is replaced as a whole; the store stays.
    name : str
        Of the collection.
    """
    page = fight_page(result, shown, folder, name)
    collection = fight_collection(result, shown, name)
    return write_whole(folder, "duel", page, collection=collection)


def fight_collection(result: FightResult, shown: Sequence[Picture], name: str) -> Collection:
    """Return the proven datasets as a collection, with every method's score on every sample of its proof."""
    generators = [picture.generator for picture in shown]
    marks = [signature(made.expression, concept_rule(made), made.n_features) for made in generators]
    numbers = numbered_concepts(agreements(marks)) if marks else []
    sets = []
    for picture, concept in zip(shown, numbers, strict=True):
        scores = [
            [fit.score for fit in picture.proof.fits if fit.method == method]
            for method in result.names
        ]
        first = {fit.method: dict(fit.params) for fit in reversed(picture.proof.fits)}
        sets.append(
            GeneratedSet.of(
                picture.name,
                picture.generator,
                concept,
                seed_of(picture, result),
                result.plan.rows,
                Evidence(result.names, np.array(scores).T),
                first,
                (ClaimRecord.of(picture.proof),),
            )
        )
    proof = result.plan.proof()
    plan = result.plan
    return Collection(
        name, plan.margin, plan.fresh, tuple(sets), proof, plan.seed, target=plan.target
    )


def seed_of(picture: Picture, result: FightResult) -> int:
    """Return the seed of the rows that are written."""
    from paragone.generate.fight import shown_seed

    return shown_seed(result.plan, picture.generator)


def fight_page(
    result: FightResult, shown: Sequence[Picture], folder: str | Path, name: str
) -> Page:
    """Make the page of a fight."""
    first, second = result.names
    sections = [Section("finding", "The finding", _finding(result, shown, folder))]
    for place, (up, down) in enumerate(result.directions, start=1):
        own = [picture for picture in shown if picture.proof.claim.up == up]
        # That nothing was found, and what was tried, stands in the finding: an empty section would
        # say it twice.
        if own:
            sections.append(
                Section(f"wins{place}", f"Where {up} beats {down}", _direction(result, own, folder))
            )
    sections.append(Section("tried", "What was tried", _tried(result)))
    sections.append(Section("how", "How it was done", _how(result)))
    n = len(shown)
    subtitle = (
        f"{n} proven dataset{'s' * (n != 1)}, {result.plan.rows} training rows,"
        f" {time_in_words(result.seconds)}"
    )
    evidence = {key: details for picture in shown for key, details in _behind(picture).items()}
    return Page(f"{first} against {second}", subtitle, (), tuple(sections), evidence)


def _finding(
    result: FightResult, shown: Sequence[Picture], folder: str | Path
) -> tuple[Block, ...]:
    # What is proven comes first: it is what the duel was fought for.
    order = sorted(result.directions, key=lambda pair: not result.proven(*pair))
    said = tuple(_sentence(result.sentence(up, down)) for up, down in order)
    blocks: list[Block] = [Prose(said, "lead")]
    border = boundary(result, shown)
    if border:
        blocks.append(Points(border))
    # Where nothing came to a proof, the search is all that there is to see.
    blocks += (
        gallery(claims=claims_chart(result))
        if has_claims(result)
        else gallery(search=search_chart(result))
    )
    if shown:
        blocks.append(
            Listing(
                "Load a dataset into scikit-learn", load_lines(shown[0].name, folder), is_open=True
            )
        )
    return tuple(blocks)


def has_claims(result: FightResult) -> bool:
    """Say whether any claim has leads to draw."""
    return any(proof.leads for proof in result.proofs)


def load_lines(name: str, folder: str | Path) -> str:
    """Return the lines of Python that load a dataset of a fight."""
    number = name.rpartition("-")[2]
    place = json.dumps(f"{Path(folder).as_posix()}/collection.json:{number}")
    return f"import paragone\n\ndata = paragone.load({place})\nX, y = data.X, data.y"


def boundary(result: FightResult, shown: Sequence[Picture]) -> tuple[str, ...]:
    """Say in words what kind of problem each method wins on."""
    said = []
    rules = family_rules(result.plan.target)
    for up, down in result.directions:
        own = [picture for picture in shown if picture.proof.claim.up == up]
        counts = Counter(family for picture in own for family in families_of(picture))
        for family, n in counts.most_common():
            rule = rules.get(family, "of no family that has a name here")
            of = f"{n} of {len(own)} dataset{'s' * (len(own) != 1)}"
            said.append(f"{up} wins on problems of the family {family} ({of}): {rule}.")
        ceilings = [picture for picture in own if picture.curve is not None and len(picture.curve)]
        for picture in ceilings:
            said.append(f"{picture.name}: {crossing(picture, up, down)}.")
    return tuple(said)


def families_of(picture: Picture) -> tuple[str, ...]:
    """Return the families of a dataset's formula."""
    return generator_families(picture.generator)


def crossing(picture: Picture, up: str, down: str) -> str:
    """Say between which numbers of training rows one method overtakes the other, as far as the curves show."""
    assert picture.curve is not None
    wide = picture.curve.pivot(index="rows", columns="method", values="mean").dropna()
    if wide.empty or up not in wide or down not in wide:
        return "its learning curves have no point that both methods reached"
    ahead = (wide[up] > wide[down]).to_list()
    sizes = [int(size) for size in wide.index]
    if all(ahead):
        return f"{up} is ahead at every size from {sizes[0]} to {sizes[-1]} training rows"
    last = max(place for place, won in enumerate(ahead) if not won)
    if last + 1 < len(ahead):
        return f"{up} overtakes {down} between {sizes[last]} and {sizes[last + 1]} training rows"
    return f"{down} is ahead at {sizes[last]} training rows, the most that were tried"


def _direction(
    result: FightResult, own: Sequence[Picture], folder: str | Path
) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for place, picture in enumerate(own):
        title = f"{picture.name}: {target_in_words(_simplified(picture), picture.generator)}"
        blocks.append(Fold(title, _card(result, picture, folder), is_open=place == 0))
    return tuple(blocks)


def _simplified(picture: Picture) -> Expression:
    return simplify(picture.generator.expression, population(picture.generator.n_features))


def _card(result: FightResult, picture: Picture, folder: str | Path) -> tuple[Block, ...]:
    proof, generator = picture.proof, picture.generator
    claim, limits = proof.claim, proof.interval
    whole, simple = mathematics(generator.expression), mathematics(_simplified(picture))
    n_columns = len(generator.roles)
    shares = ", ".join(
        f"{feature_name(found.feature)} {found.shapley.value:.0%}"
        for found in picture.truth.features
    )
    matter = (
        f"{len(picture.truth.features)} of {n_columns} columns matter, with these Shapley shares:"
        f" {shares}."
    )
    lines = [
        f"Formula: {whole}." if whole == simple else f"Formula: {whole}; simplified: {simple}.",
        matter,
        (
            f"Family: {', '.join(families_of(picture))}. The best that any method can reach:"
            f" {picture.metric} {picture.ceiling:.3f}."
        ),
        (
            f"{claim.up} leads by {limits.estimate:.3f} [{limits.low:.3f}, {limits.high:.3f}],"
            f" ahead on {proof.share_won:.0%} of {proof.stopped_at} samples, both tuned on each."
        ),
    ]
    if proof.share_won < COIN:
        lines.append(coin_sentence(proof))
    drawn = {
        f"{picture.name}_truth": plane_chart(
            picture.plane, picture.plane.truth, "The truth", _points(picture)
        )
    }
    for method, values in picture.shown.items():
        drawn[f"{picture.name}_{_stem(method)}"] = plane_chart(
            picture.plane, values, f"What {method} learned"
        )
    curves = {}
    if picture.curve is not None and len(picture.curve):
        curves[f"{picture.name}_curves"] = curve_chart(picture, result.methods)
    load = Listing("Load it", load_lines(picture.name, folder))
    return (
        Points(tuple(lines)),
        *drawn_gallery(wide=False, **drawn),
        *gallery(**curves),
        _score_sheet(picture, result),
        load,
    )


def coin_sentence(proof: Proof) -> str:
    """Say that a lead is a coin: large on some samples, none on others."""
    leads = sorted(proof.leads)
    return (
        f"A coin, not a margin: the lead is {leads[-1]:.3f} on the best sample and {leads[0]:.3f}"
        " on the worst; whoever draws one sample may see either."
    )


def _points(picture: Picture) -> list[tuple[float, float, float]]:
    """Return rows of the dataset for the plane, where all that matters lies in it."""
    plane = picture.plane
    if plane.held or picture.generator.categorical:
        return []
    rows = np.asarray(picture.data.X, dtype=np.float64)[:200]
    target = np.asarray(picture.data.y[:200])
    labels = target.tolist() if plane.target == "binary" else plane.drawn(target).round(3).tolist()
    found = zip(rows[:, plane.across], rows[:, plane.up], labels, strict=True)
    return [(round(float(a), 3), round(float(b), 3), label) for a, b, label in found]


def _stem(method: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in method)


def _score_sheet(picture: Picture, result: FightResult) -> Sheet:
    import pandas as pd

    rows = []
    for method in result.names:
        scores = np.array([fit.score for fit in picture.proof.fits if fit.method == method])
        rows.append(
            {
                "method": method,
                f"mean {picture.metric}": float(scores.mean()),
                "lowest": float(scores.min()),
                "highest": float(scores.max()),
                "samples": len(scores),
                "below the ceiling by": picture.ceiling - float(scores.mean()),
            }
        )
    sheet = frame_sheet(f"scores_{picture.name}", "Scores of the proof", pd.DataFrame(rows))
    keys = tuple(("", f"{picture.name}/{method}", "", "", "", "") for method in result.names)
    return Sheet(sheet.name, sheet.title, sheet.table, sheet.numbers, keys)


def _behind(picture: Picture) -> dict[str, NumberDetails]:
    found = {}
    for method in dict.fromkeys(fit.method for fit in picture.proof.fits):
        rows = tuple(
            (f"sample {f.sample}", f.score, "") for f in picture.proof.fits if f.method == method
        )
        place = (picture.name, method)
        found[f"{picture.name}/{method}"] = NumberDetails(
            f"{method} on {picture.name}", ("sample", picture.metric), rows, place=place
        )
    return found


def _tried(result: FightResult) -> tuple[Block, ...]:
    import pandas as pd

    n_claims, n_races = len(result.proofs), len(result.raced)
    blocks: list[Block] = [
        Points(
            (
                (
                    f"{result.n_formulas:,} formulas were looked at, {result.n_screened:,} scored"
                    " with both methods."
                ),
                f"The search ended because {result.ended_by}.",
                (
                    f"{n_races} race{'s' * (n_races != 1)} under tuning, {n_claims}"
                    f" claim{'s' * (n_claims != 1)} put to proof,"
                    f" {sum(proof.holds for proof in result.proofs)} proven."
                ),
                *(
                    [
                        f"{result.n_failed} cells failed: `paragone status` on the store in this"
                        " folder says why."
                    ]
                    if result.n_failed
                    else []
                ),
            )
        ),
    ]
    if has_claims(result):
        blocks += gallery(search=search_chart(result))
    claims = claims_table(result)
    if len(claims):
        blocks.append(frame_sheet("claims", "Every claim that was put to proof", claims))
    races = pd.DataFrame(
        [
            {
                "winner": one.up,
                "loser": one.down,
                "formula": mathematics(Expression.parse(one.formula)),
                "lead in the search": one.screened,
                "lead in the race": one.lead,
            }
            for one in result.raced
        ]
    )
    if len(races):
        sheet = frame_sheet("races", "Every race: both methods tuned, three samples", races)
        blocks.append(Fold(f"{len(races)} race{'s' * (len(races) != 1)}", (sheet,)))
    opened = open_directions(result)
    return (
        *blocks,
        Attachment("claims.csv", frame_as_csv(claims)),
        Attachment("open_pairs.csv", frame_as_csv(opened)),
        Attachment("fits.csv", frame_as_csv(fits_table(result))),
    )


def claims_table(result: FightResult):  # type: ignore[no-untyped-def]
    """Return every claim that was put to proof, one row each."""
    import pandas as pd

    rows = [
        {
            "claim": place,
            "winner": proof.claim.up,
            "loser": proof.claim.down,
            "formula": mathematics(proof.claim.generator.expression),
            "lead": proof.interval.estimate,
            "low": proof.interval.low,
            "high": proof.interval.high,
            "samples won": proof.share_won,
            "samples": proof.stopped_at,
            "ended": "proven" if proof.holds else proof.ending,
        }
        for place, proof in enumerate(result.proofs, start=1)
    ]
    names = [
        "claim",
        "winner",
        "loser",
        "formula",
        "lead",
        "low",
        "high",
        "samples won",
        "samples",
        "ended",
    ]
    return pd.DataFrame(rows, columns=names)


def open_directions(result: FightResult):  # type: ignore[no-untyped-def]
    """Return the directions that nothing proves, each with how hard it was tried."""
    import pandas as pd

    rows = [
        (up, down, result.tried(up, down))
        for up, down in result.directions
        if not result.proven(up, down)
    ]
    return pd.DataFrame(rows, columns=["up", "down", "tried"])


def fits_table(result: FightResult):  # type: ignore[no-untyped-def]
    """Return every fit of every proof: its rows, the configuration that tuning chose, and its scores."""
    import pandas as pd

    rows = [
        (
            place,
            fit.method,
            fit.sample,
            fit.row_seed,
            json.dumps(dict(fit.params)),
            fit.tuning_score,
            fit.score,
        )
        for place, proof in enumerate(result.proofs, start=1)
        for fit in proof.fits
    ]
    names = [
        "claim",
        "method",
        "sample",
        "row seed",
        "parameters",
        "tuning score",
        result.plan.metric,
    ]
    return pd.DataFrame(rows, columns=names)


def _how(result: FightResult) -> tuple[Block, ...]:
    plan = result.plan
    untuned = [
        method.name for method in result.methods if not method.space and len(method.portfolio) < 2
    ]
    budget = (
        f"On every sample of races and proof each method tried {plan.trials}"
        f" configuration{'s' * (plan.trials != 1)} of its search space, the settings of its library"
        f" first, on {plan.folds} inner folds of the {plan.rows} training rows, with seeds that are"
        f" new on every sample, nested ones included, and was scored by {plan.metric} on"
        f" {plan.fresh:,} fresh rows."
    )
    if untuned:
        one = len(untuned) == 1
        budget += (
            f" {' and '.join(untuned)} {'has' if one else 'have'} no search space and"
            f" {'was fitted as it is' if one else 'were fitted as they are'}: what is proven"
            f" against {'it' if one else 'them'} is proven against these settings; give a space"
            " with --space-a or --space-b."
        )
    level = (
        f"{2 * plan.finalists} claims were allowed for before anything was seen. The chance that"
        " any interval of the family misses its mean lead is at most 5 %, looks at"
        f" {', '.join(map(str, plan.looks))} samples included. A claim is proven when the lower"
        f" limit reaches {plan.margin:g}."
    )
    rows = (
        "The search, the races, the proof and the rows that are written here have different rows."
        " The search proposes formulas by untuned screening; nothing that the proof came to changed"
        " what was searched."
    )
    kinds = ", ".join(f"{key} {value}" for key, value in plan.kinds.items())
    later = " Redundant columns follow from a formula, so the search itself had none." * (
        "redundant" in plan.kinds
    )
    data = (f"The data: {kinds}, in search, races and proof alike.{later}",) if kinds else ()
    return (Prose((budget, level, rows, *data)),)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
