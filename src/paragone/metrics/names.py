"""Names of metrics as people and programs write them, and how such a name is read.

Everything that asks which metric a text means, or which way of it is better, asks here: options,
readers of files, tables of scores. What is known of our own metrics comes from their registry; the
table below adds other spellings of them and the metrics of others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from paragone.errors import InputError
from paragone.metrics.metric import Metric, metrics, registry_names
from paragone.metrics.spellings import OTHERS, PARTS, STATISTICS, TABLE


def _lines(table: str) -> list[str]:
    return table.strip().replace("\n    ", " ").splitlines()


def _groups(table: str) -> dict[str, list[str]]:
    """Return words by what stands before the colon of their line."""
    lines = (line.partition(":") for line in _lines(table))
    return {name: words.split() for name, _, words in lines}


def _turned(groups: Mapping[str, list[str]]) -> dict[str, str]:
    return {word: name for name, words in groups.items() for word in words}


_LIMITS: Mapping[str, tuple[Literal[0, 1, 2], float]] = {
    "brier_score": (0, 2.0),
    "mean_gamma_deviance": (0, float("inf")),
    "mean_poisson_deviance": (1, float("inf")),
    "mean_squared_log_error": (0, float("inf")),
    "negative_likelihood_ratio": (0, float("inf")),
    "root_mean_squared_log_error": (0, float("inf")),
}
"""Unit and highest value of the errors that scorers are minus of; their lowest is 0."""

_PART_OF = _turned(_groups(PARTS))
_STATISTIC_OF = _turned(_groups(STATISTICS))
_ORDER = tuple(dict.fromkeys(_STATISTIC_OF.values()))
_OTHERS = _groups(OTHERS)
_BESIDE_A_METRIC = _OTHERS["beside"]
_AVERAGES = _OTHERS["averages"]
_FILLERS = _OTHERS["fillers"]
_UNITS = _OTHERS["units"]
_CHANGES = _OTHERS["changes"]
_COUNTED = (
    "rows?|samples?|instances?|examples?|features?|attributes?|columns|classes|labels?|targets"
    "|items|users|wins|train|test|params?|parameters|datasets?|tokens|runs|trials|seeds|folds"
    "|epochs|steps|layers|estimators|trees|questions|observations?"
)
_PROPERTY = re.compile(
    r"(?:number|num|nb|no|n|#)(?:of)?(?:" + _COUNTED + ")"
    r"|" + _COUNTED.replace("|wins|train|test", "") + "|#.*"
    r"|(?:train|test|sample|data|dataset|batch|vocab)?size|year|date|datetime|timestamp|index|id"
    r"|weight|unnamed\d+|dims?|dimensions?|dimensionality|iterations?|iter|seed|epoch|step|version"
    r"|url|commit|license|organization|(?:max|min|avg|mean|total)(?:tokens|length|len|depth)"
    r"|learningrate|lr|batch|outlierperc(?:entage)?|imbalanceratio|contamination|lrpg\d+"
)
"""What describes a dataset or a run, in one word."""
_COUNTS = re.compile(r"(?:number|num|nb|no|n|#)(?:of)?.*")
_BRACKETS = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")
_CUTOFF = re.compile(
    r"(?:\s*@\s*|[ _-]at[ _-])(k\b|\[?\d+(?:\.\d+)?(?:[:-]\d+(?:\.\d+)?)?\]?)", re.IGNORECASE
)
_CONVENTION = re.compile(r"\[(?:\w+=)?(?:min|k|hits)\]")
_UP = re.compile(r"↑|⬆|▲|\$?\\uparrow\$?|higher(?:[ _-]is)?[ _-]better", re.IGNORECASE)
_DOWN = re.compile(r"↓|⬇|▼|\$?\\downarrow\$?|lower(?:[ _-]is)?[ _-]better", re.IGNORECASE)
_SPREADS = {
    "std": re.compile(r"standard[ _-]*deviation|std[ _-]?dev|stdev", re.IGNORECASE),
    "stderr": re.compile(r"standard[ _-]*error|std[ _-]?err(?:or)?|stderr", re.IGNORECASE),
}
_WORDS = re.compile(
    r"#|%|\d+[A-Z]+(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9+]+|[A-Z0-9+]+|[^\W_]+"
)
_QUALIFIER = re.compile(r"\s*(?:\[[^\]]*\]|\([^)]*\)|@.*)$")
_MOST_WORDS = 30
_REMEMBERED: dict[str, Metric] = {}


@dataclass(frozen=True)
class ReadName:
    """What a name says: a metric, its better way, the part of the data and the statistic.

    Parameters
    ----------
    metric : str or None
        The name of the table or the registry, with its cut-off; None where none is named.
    higher_is_better : bool or None
        None where the name does not tell, and for spreads and counts.
    part : str or None
        train, val, test, eval or cv.
    statistic : str or None
        mean, average, best, last, median, min, max, sum; std, stderr, rank, count, time, property
        where it is no score at all.
    rest : str
        What is left of the name: of a method's or dataset's name that has a metric's in it.

    Examples
    --------
    >>> ReadName("accuracy", True, part="test").is_score
    True
    >>> ReadName("accuracy", True, statistic="std").is_score
    False
    """

    metric: str | None = None
    higher_is_better: bool | None = None
    part: str | None = None
    statistic: str | None = None
    rest: str = ""

    @property
    def is_score(self) -> bool:
        """Whether all of it names a score with a direction; spreads, counts and times are none."""
        beside = ("std", "stderr", "rank", "count", "time", "property")
        return self.higher_is_better is not None and not self.rest and self.statistic not in beside


class _Row(NamedTuple):
    """A metric of the table or the registry."""

    name: str
    higher: bool | None
    title: str = ""


class _Spellings(NamedTuple):
    """Metrics by spellings without separators; those of lists need a cut-off."""

    plain: dict[str, _Row]
    lists: dict[str, _Row]
    rows: dict[str, _Row]


def base_name(name: str) -> str:
    """Return a metric's name without its cut-off and convention, in lower case with underscores.

    Examples
    --------
    >>> base_name("ndcg[min]@10"), base_name("Micro-F1")
    ('ndcg', 'micro_f1')
    """
    name = name.strip()
    while (shorter := _QUALIFIER.sub("", name)) != name:
        name = shorter
    return name.lower().replace("-", "_").replace(" ", "_")


def named_metric(name: str | None) -> Metric:
    """Return what is known of the metric that scores are called by, or the name alone.

    No code is imported that a name points to: the name may come from any file.

    Parameters
    ----------
    name : str or None
        As it is printed or as a file has it; see `read_name`. A name with anything left over is
        unknown: it may be that of something else.

    Returns
    -------
    Metric
        Without a direction, a unit or a function where the name is unknown.

    Examples
    --------
    >>> named_metric("Micro-F1").higher_is_better, named_metric("precision@5").title
    (True, 'Precision')
    >>> named_metric("test_wer").higher_is_better, named_metric("my_score").higher_is_better
    (False, None)
    """
    if not name:
        return Metric("score")
    known = _certain(name)
    if known is not None:
        return known
    read = read_name(name)
    if read.metric is None or read.rest or read.higher_is_better is None:
        return Metric(name)
    own = _certain(read.metric)
    if own is None or not read.is_score:
        return Metric(name, higher_is_better=read.higher_is_better)
    return replace(
        own, name=name, title=name, short=name, aliases=(), function=None, summary=None, note=None
    )


def _certain(name: str) -> Metric | None:
    """Return the metric of ours, of the store or of scikit-learn that has a name itself."""
    base = base_name(name)
    for key in registry_keys(base, "@" in name):
        if key in metrics:
            return metrics.get(key)
        if key in _REMEMBERED:
            return _REMEMBERED[key]
    row = _known_spellings().rows.get(base)
    if row is None or not row.title:
        return None
    unit, highest = _LIMITS.get(base, (None, float("inf")))
    lowest = 0 if base in _LIMITS else -float("inf")
    return Metric(
        base,
        title=row.title,
        higher_is_better=row.higher,
        lowest=lowest,
        highest=highest,
        unit=unit,
    )


def registry_keys(base: str, has_cutoff: bool) -> tuple[str, str]:
    """Return the names to look under, the one of lists first where a cut-off says so."""
    return (f"{base}@k", base) if has_cutoff else (base, f"{base}@k")


def remember(described: Iterable[Any]) -> None:
    """Take up what a store says about metrics that are not ours: their titles and directions.

    Parameters
    ----------
    described : iterable
        What `Metric.described` gave: names of ours are passed over.

    Examples
    --------
    >>> remember(["rmse", {"name": "gain", "title": "Gain", "higher_is_better": True}])
    >>> named_metric("gain").title
    'Gain'
    """
    for given in described:
        if isinstance(given, Mapping):
            words = {word: value for word, value in given.items() if word != "use"}
            read = Metric(**words, reference=given.get("use", ""))
            remember_error(read)
            known = _certain(read.name)
            told = None if known is None else known.higher_is_better
            if read.higher_is_better is not None and told is not read.higher_is_better:
                if told is not None:
                    raise InputError(
                        f"metric {read.name!r} of the store has another direction than the one"
                        " known here: rename one"
                    )
                _REMEMBERED[registry_names(read)[0]] = read


def remembered(name: str) -> Metric | None:
    """Return what a store said of a metric of this name."""
    return _REMEMBERED.get(name)


def remember_error(scorer: Metric) -> None:
    """Take up the error that a user's own scorer is minus of, which lacks its ``neg_``."""
    error = scorer.name.removeprefix("neg_")
    if scorer.negated and error != scorer.name and named_metric(error).higher_is_better is None:
        _REMEMBERED[error] = Metric(error, higher_is_better=False, unit=scorer.unit)


def same_metric(one: str, other: str) -> bool:
    """Say whether two names are of the same values: spelled alike, or other words for one metric.

    Examples
    --------
    >>> same_metric("AUROC", "roc-auc"), same_metric("F1 macro", "Macro-F1"), same_metric("test_mae", "MAE")
    (True, True, False)
    """
    return _compact(one) == _compact(other) or _meaning(one) == _meaning(other)


def _meaning(name: str) -> tuple[object, ...]:
    read = read_name(name)
    # Micro and macro stand before F1 in one registered name and behind it in another.
    metric = sorted((read.metric or "").split("_"))
    return (*metric, read.part, read.statistic, _compact(read.rest))


def choose_metric(asked: str, known: Iterable[str], kind: str = "metric") -> str:
    """Return the one of the known names that a person asked for, by whatever name it is printed or called.

    Examples
    --------
    >>> choose_metric("AUROC", ["accuracy", "roc_auc"])
    'roc_auc'
    >>> choose_metric("acuracy", ["accuracy", "roc_auc"])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown metric 'acuracy': did you mean 'accuracy'?
    """
    names = list(known)
    found = [asked] if asked in names else [name for name in names if same_metric(asked, name)]
    if len(found) != 1:
        raise unknown_metric(kind, asked, names)
    return found[0]


_PARTS_IN_ORDER = (None, "test", "eval", "val", "cv", "train")


def called_metrics(asked: str, known: Iterable[str]) -> list[str]:
    """Return the known names that a person may mean: by the letter, as one spells it, or by the metric in them.

    Where the part of the data is left open, scores of test come before those of training.

    Examples
    --------
    >>> called_metrics("rmse", ["Train RMSE", "Test RMSE"]), called_metrics("AUROC", ["auc-roc", "accuracy"])
    (['Test RMSE'], ['auc-roc'])
    >>> called_metrics("acc", ["acc,none", "acc,strict"])
    ['acc,none', 'acc,strict']
    """
    names = list(known)
    if asked in names:
        return [asked]
    found = [name for name in names if asked == name.split(",")[0]]
    found = found or [name for name in names if same_metric(asked, name)]
    wanted = read_name(asked)
    if found or wanted.metric is None or wanted.rest or wanted.part:
        return found
    metric = sorted(wanted.metric.split("_"))
    fits = {
        name: read
        for name in names
        if (read := read_name(name)).metric is not None
        and sorted(read.metric.split("_")) == metric
        and not read.rest
        and read.statistic not in ("std", "stderr", "rank")
    }
    for part in _PARTS_IN_ORDER:
        found = [name for name, read in fits.items() if read.part == part]
        if found:
            return found
    return []


def unknown_metric(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Build the error for a metric that is not there; one that is another metric's name is not taken for a slip.

    Examples
    --------
    >>> print(unknown_metric("metric", "AUROCC", ["accuracy", "roc_auc"]))
    unknown metric 'AUROCC': did you mean 'roc_auc'?
    >>> print(unknown_metric("metric", "AUROC", ["accuracy", "auprc"]))
    unknown metric 'AUROC': choose one of accuracy, auprc
    """
    names = list(known)
    read = read_name(name)
    spelled = {_compact(one): one for one in names}
    of_name = {base_name(one): one for one in names}
    spellings = _known_spellings()
    for text, row in (*spellings.plain.items(), *spellings.lists.items()):
        if row.name in of_name:
            spelled.setdefault(text, of_name[row.name])
    is_another = read.metric is not None and not read.rest
    near = [] if is_another else get_close_matches(_compact(name), spelled, n=1, cutoff=0.7)
    if near:
        return InputError(f"unknown {kind} {name!r}: did you mean {spelled[near[0]]!r}?")
    return InputError(f"unknown {kind} {name!r}: choose one of {', '.join(names)}")


def _compact(text: str) -> str:
    return re.sub(r"[^\w@+#%]|_", "", unicodedata.normalize("NFKC", text)).lower()


_LINE = re.compile(r"(\S+) +([=+?-]) ?(.*)")
_WAYS = {"+": True, "-": False, "?": None}


@lru_cache(maxsize=8)
def _spellings(names: tuple[str, ...]) -> _Spellings:
    """Return the table with what the registry has under these names: its own spellings come first."""
    known = [one for name, one in metrics.at_hand().items() if name in names]
    made = _Spellings({}, {}, {})
    others: list[tuple[dict[str, _Row], str, _Row]] = []
    alone = {one.name for one in known if one.task != "topk"}
    for one in known:
        row = _Row(one.name, one.higher_is_better, one.title)
        made.rows.setdefault(one.name, row)
        place = made.lists if one.task == "topk" else made.plain
        _spell(place, one.name, row)
        others.extend((place, text, row) for text in (one.title, one.short, *one.aliases))
        if one.task == "topk" and one.name not in alone:
            others.extend((made.plain, text, row) for text in (one.name, one.title))
    for line in _lines(TABLE):
        name, way, rest = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]
        title, _, aliases = ("", "", rest) if way == "=" else rest.partition("|")
        row = made.rows.setdefault(name, _Row(name, _WAYS.get(way), title.strip()))
        place = made.lists if name.endswith("@k") else made.plain
        _spell(place, name.removesuffix("@k"), row)
        others.extend((place, text, row) for text in (title, *aliases.split(",")))
    # A name of one metric is never taken for the title of another.
    for place, text, row in others:
        if text.strip():
            _spell(place, text, row)
    return made


def _spell(place: dict[str, _Row], text: str, row: _Row) -> None:
    for spelled in (_compact(text), _compact(text) + "score"):
        place.setdefault(spelled, row)


def _known_spellings() -> _Spellings:
    return _spellings(tuple(metrics.at_hand()))


def read_name(text: object) -> ReadName:
    """Read the name of a column, a row or a field as that of a metric.

    Capitals, spaces, hyphens and underscores do not count. What is no metric's name is all rest.

    Examples
    --------
    >>> read_name("Mean Test Accuracy (%)")
    ReadName(metric='accuracy', higher_is_better=True, part='test', statistic='mean', rest='')
    >>> read_name("SADA WER").rest, read_name("Average WER").statistic, read_name("Forest").rest
    ('SADA', 'average', 'Forest')
    >>> read_name("NDCG@10").metric, read_name("neg_rmse").metric, read_name("cSIL (↑)").higher_is_better
    ('ndcg@10', 'neg_root_mean_squared_error', True)
    """
    return _read(str(text), tuple(metrics.at_hand()))


@lru_cache(maxsize=65536)
def _read(text: str, known: tuple[str, ...]) -> ReadName:
    spellings = _spellings(known)
    # Harnesses write the filter of the answers behind a comma.
    plain = re.sub(
        r",\s*none$", "", unicodedata.normalize("NFKC", text).strip(), flags=re.IGNORECASE
    )
    plain, told = _without_arrows(plain)
    if _PROPERTY.fullmatch(_compact(_BRACKETS.sub("", plain))):
        is_count = _COUNTS.fullmatch(_compact(plain)) and not plain[:1].isdigit()
        return ReadName(None, told, None, "count" if is_count else "property")
    plain, cut = _without_cutoff(_without_units(plain))
    for short, pattern in _SPREADS.items():
        plain = pattern.sub(f" {short} ", plain)
    words = list(_WORDS.finditer(plain))[:_MOST_WORDS]
    found = _longest(words, cut, spellings)
    if found is None:
        return _without_metric(text, words, told)
    return _beside(found, words, plain, told, spellings)


def _without_arrows(text: str) -> tuple[str, bool | None]:
    """Return a text without an arrow or words for the better way, and that way."""
    if _UP.search(text):
        return _UP.sub("", text), True
    if _DOWN.search(text):
        return _DOWN.sub("", text), False
    return text, None


def _without_units(text: str) -> str:
    """Return a text without brackets: a unit goes, anything else is words like those outside."""

    def inside(match: re.Match[str]) -> str:
        content = match[1].strip().lower()
        is_unit = content in _UNITS or re.fullmatch(r"(?:in )?[\w$€°%]+/[\w]+", content)
        return " " if is_unit or content.removeprefix("in ") in _UNITS else f" {match[1]} "

    kept = _CONVENTION.search(text)
    return text if kept else _BRACKETS.sub(inside, text)


def _without_cutoff(text: str) -> tuple[str, str]:
    """Return a text without its cut-off and convention, and these as a metric's name has them."""
    convention = _CONVENTION.search(text)
    text = _CONVENTION.sub("", text)
    cut = _CUTOFF.search(text)
    kept = convention[0] if convention else ""
    if cut is None:
        return text, kept
    return text[: cut.start()] + " " + text[cut.end() :], f"@{cut[1].strip('[]').lower()}{kept}"


class _Found(NamedTuple):
    """A metric and the words that it takes, from ``first`` until before ``end``."""

    name: str
    higher: bool | None
    first: int
    end: int
    part: str | None = None


def _longest(words: list[re.Match[str]], cut: str, spellings: _Spellings) -> _Found | None:
    """Return the metric with the longest spelling among the words; of equal ones the last, which is the noun."""
    best: _Found | None = None
    most = 0
    for first in range(len(words)):
        joined = ""
        for end in range(first + 1, min(first + 9, len(words) + 1)):
            joined += words[end - 1][0].lower()
            row = _row_of(joined, cut, spellings)
            if row is not None and len(joined) >= most:
                best, most = _Found(*row, first, end), len(joined)
        glued = None if best else _glued(words[first][0].lower(), cut, spellings)
        if glued is not None:
            part, row = glued
            best, most = _Found(*row, first, first + 1, part), 0
    return best


def _row_of(joined: str, cut: str, spellings: _Spellings) -> tuple[str, bool | None] | None:
    number = cut.partition("[")[0]
    if cut.startswith("@"):
        whole = spellings.plain.get(_compact(joined + number))
        if whole is not None:
            return whole.name, whole.higher
        row = spellings.lists.get(joined)
        if row is not None:
            return row.name.removesuffix("@k") + cut, row.higher
    row = spellings.plain.get(joined)
    if row is None:
        return None
    return (row.name if row.name in ("top_k_accuracy",) else row.name + cut), row.higher


def _glued(
    word: str, cut: str, spellings: _Spellings
) -> tuple[str, tuple[str, bool | None]] | None:
    """Return the part and the metric of a word such as ``valloss``."""
    for called in ("train", "test", "valid", "val", "eval"):
        row = (
            _row_of(word.removeprefix(called), cut, spellings) if word.startswith(called) else None
        )
        if row is not None:
            return _PART_OF[called], row
    return None


def _without_metric(text: str, words: list[re.Match[str]], told: bool | None) -> ReadName:
    """Read a name without a metric: a statistic or a part alone, or the name of something else."""
    plain = [word[0].lower() for word in words]
    statistics = [
        _STATISTIC_OF[word]
        for word in plain
        if word in _STATISTIC_OF and word not in _BESIDE_A_METRIC
    ]
    parts = [_PART_OF[word] for word in plain if word in _PART_OF]
    others = [word for word in plain if word not in _FILLERS]
    if not words or len(statistics) + len(parts) < len(others):
        return ReadName(None, told, rest=text.strip())
    statistic = min(statistics, key=_ORDER.index, default=None)
    if told is None and statistic == "rank":
        told = False
    return ReadName(None, told, parts[0] if parts else None, statistic)


def _beside(
    found: _Found,
    words: list[re.Match[str]],
    plain: str,
    told: bool | None,
    spellings: _Spellings,
) -> ReadName:
    """Read the words that stand beside a metric's name."""
    name, higher, part = found.name, found.higher, found.part
    statistics: list[str] = []
    averages: list[str] = []
    kept: list[int] = []
    for place, match in enumerate(words):
        word = match[0].lower()
        if found.first <= place < found.end or word in _FILLERS:
            continue
        if word in ("neg", "negative") and place == found.first - 1:
            name, higher = f"neg_{name}", (True if higher is False else None)
        elif word in _PART_OF and part is None:
            part = _PART_OF[word]
        elif word in _UNITS and place >= found.end and place == len(words) - 1 and word != "min":
            continue
        elif word in _STATISTIC_OF:
            statistics.append(_STATISTIC_OF[word])
        elif word in _AVERAGES:
            averages.append(word)
        else:
            row = spellings.plain.get(word)
            if row is None or row.name != found.name:
                kept.append(place)
            if word in _CHANGES or (row is not None and row.higher is (higher is False)):
                higher = None
    if averages:
        name, _, cut = name.partition("@")
        name = "_".join((name, *averages)) + (f"@{cut}" if cut else "")
    statistic = min(statistics, key=_ORDER.index, default=None)
    if statistic == "rank":
        higher = False
    elif statistic in ("std", "stderr", "count"):
        higher = None
    elif name in _OTHERS["times"] or name in _OTHERS["sizes"]:
        statistic = "time" if name in _OTHERS["times"] else "property"
    return ReadName(
        name, higher if told is None else told, part, statistic, _text_of(kept, words, plain)
    )


def _text_of(kept: list[int], words: list[re.Match[str]], plain: str) -> str:
    """Return words as they were written: neighbours with what separates them."""
    pieces: list[str] = []
    last = -2
    for place in kept:
        if place == last + 1:
            pieces[-1] += plain[words[last].end() : words[place].end()]
        else:
            pieces.append(words[place][0])
        last = place
    return " ".join(pieces)
