"""What headings and names of tables mean: methods, datasets, units, folds; and which names are no scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paragone.metrics import read_name

ROLE_WORDS = {
    "method": (
        "method", "model", "algorithm", "algo", "classifier", "regressor", "estimator", "learner", "system",
        "framework", "approach", "technique", "detector", "forecaster", "recommender", "ranker", "optimizer",
        "agent", "policy", "solver", "backbone", "network", "architecture", "llm", "ml model", "pipeline",
        "submission", "library", "implementation",
    ),
    "dataset": (
        "dataset", "data", "data set", "benchmark", "problem", "task", "env", "environment", "competition",
        "corpus", "test set", "testset", "function", "domain", "scenario", "game", "horizon",
    ),
    "fold": ("fold", "split", "cv fold", "cv", "resample"),
    "repeat": ("repeat", "rep", "repetition"),
    "seed": ("seed", "random state", "random seed"),
    "subject": ("subject", "participant", "patient", "person"),
    "item": (
        "item", "question", "example", "instance", "image", "sentence", "prompt", "utterance", "case", "sample",
        "user", "qid", "query", "doc", "basin", "topic", "id",
    ),
    "cluster": ("cluster", "document", "paragraph", "passage", "video", "session", "conversation", "block"),
    "metric": ("metric", "measure"),
    "value": ("value", "result", "score"),
}  # fmt: skip
"""What each kind of column is called, the more telling word first."""
KEY_ROLES = ("dataset", "fold", "repeat", "seed", "subject", "item")
AMBIGUOUS = ("run", "trial", "replicate", "iteration", "version")
"""Columns that may count seeds on one split or new splits of the rows."""
HOLD_OUTS = ("split", "resample")
"""Columns of folds that may be those of one cross-validation or split anew each."""
OWN = ("experiment", "protocol", "at")
"""Columns of scores that this program wrote, which are handed on."""
TRUTH = {
    "y true", "y test", "truth", "ground truth", "gold", "label", "true label", "target", "actual", "y", "expected",
}  # fmt: skip
"""Columns that hold what is right, beside which others are predictions."""
PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}

_BEHIND = ("name", "names", "id", "ids", "idx", "index", "type", "no", "number", "key")
_BEFORE = ("params", "tags", "config", "path")
_PIECES = re.compile(r"[\s_./:-]+")
_UNIT = re.compile(
    r"(?P<word>folds?|splits?|cv|seeds?|runs?|rep(?:eat|etition)?s?|resamples?|trials?)?[ _-]?(?P<number>\d{1,4})"
    r"(?:[ _-](?:test[ _-])?(?P<rest>[a-z][\w ]*))?",
    re.IGNORECASE,
)
_METHOD_WORDS = re.compile(
    r"(?<![a-z])(lr|svm|svc|svr|[kt]?-?nn|knn|cnn|rnn|lstm|gru|mlp|gbm|gbdt|rf|lda|qda|pls|lasso|ridge|elastic ?net"
    r"|(random ?)?forests?|tree|trees|\w*boost\w*|bagging|bayes|logistic|linear|regression|network|nets?|transformer"
    r"|[a-z]*bert|gpt\S*|llama\S*|resnet\S*|vit|gcn|gat|gin|arima|ets|kernel|baseline|ours|proposed|random|dummy"
    r"|chance|ppo|sac|td3|dqn|a2c|xgb|lgbm|autoencoder|unet|yolo\S*|\d+b)(?![a-z])",
    re.IGNORECASE,
)
_DATASET_WORDS = frozenset(
    """
    iris wine glass sonar heart vowel yeast ecoli mnist fashion-mnist cifar10 cifar-10 cifar100 cifar-100
    imagenet svhn adult boston california diabetes titanic pima ionosphere vehicle segment letter satimage
    hepatitis zoo car australian german credit-g cora citeseer pubmed mutag proteins nci1 mmlu arc hellaswag
    gsm8k humaneval mbpp truthfulqa winogrande boolq copa rte cola sst-2 sst2 mrpc qqp mnli qnli wnli stsb
    squad coco voc kitti movielens hopper walker2d halfcheetah ant humanoid swimmer breakout pong
    """.split()  # noqa: SIM905
)


def plain_heading(name: object) -> str:
    """Return a heading in small letters without what separates its words.

    Examples
    --------
    >>> plain_heading("ML_Model Name")
    'ml model name'
    """
    return " ".join(part for part in _PIECES.split(str(name).strip().lower()) if part)


def role_of(name: object) -> tuple[str, int]:
    """Return the role that a heading names, and how telling it is; the lower, the more.

    Examples
    --------
    >>> role_of("classifier_name")[0], role_of("Data Set")[0], role_of("accuracy")[0]
    ('method', 'dataset', '')
    """
    words = plain_heading(name).split()
    steps = 0
    while words:
        heading = " ".join(words)
        for role, known in ROLE_WORDS.items():
            for place, word in enumerate(known):
                if heading in (word, f"{word}s"):
                    return role, place + 100 * steps
        if words[-1] in _BEHIND and len(words) > 1:
            words = words[:-1]
        elif words[0] in _BEFORE and len(words) > 1:
            words = words[1:]
        else:
            return "", 0
        steps += 1
    return "", 0


_COUNT = re.compile(r"(?:n|num|no|#)[ _.]+\w+", re.IGNORECASE)
_SPREAD = re.compile(r"(?P<of>.+)[ _-](?:std|sd|stdev|stderr|var|ci|ci95)", re.IGNORECASE)
LabelKind = Literal["name", "metric", "crossed", "unit", "summary", "spread", "property"]


@dataclass(frozen=True)
class Label:
    """What the name of a row or column says by itself.

    Parameters
    ----------
    text : str
        As it is written.
    kind : str
        A name; a metric; a name beside a metric (``iris accuracy``); a numbered unit; a summary, a
        spread or a property, which are no scores.
    name : str
        The name, or the number of the unit.
    metric : str
        The metric, with the part of the data that it is of.
    unit : str
        What the unit is: ``fold``, ``seed`` or ``repeat``.
    sums_up : bool
        Whether the name says that it is a mean, a best or another summary.
    """

    text: str
    kind: LabelKind
    name: str = ""
    metric: str = ""
    unit: str = ""
    sums_up: bool = False


_UNIT_ROLES = {"f": "fold", "s": "fold", "c": "fold", "r": "repeat", "t": "repeat"}


def label_of(text: object) -> Label:
    """Read the name of a row or column.

    Examples
    --------
    >>> [label_of(one).kind for one in ("iris WER", "WER", "fold 3", "WER_std", "Average", "Forest", "n_rows")]
    ['crossed', 'metric', 'unit', 'spread', 'summary', 'name', 'property']
    """
    written = str(text).strip()
    unit = _UNIT.fullmatch(written)
    if unit is not None and (not unit["rest"] or label_of(unit["rest"]).kind == "metric"):
        word = (unit["word"] or "").lower()
        role = "seed" if word.startswith("seed") else _UNIT_ROLES.get(word[:1], "fold")
        metric = label_of(unit["rest"]).metric if unit["rest"] else ""
        return Label(written, "unit", unit["number"], metric, role)
    before, slash, behind = written.rpartition(" / ")
    if slash:
        for name, metric in ((before, behind), (behind, before)):
            if read_name(metric).is_score and not read_name(name).is_score:
                return Label(written, "crossed", name.strip(), _metric_of(metric))
    if _COUNT.fullmatch(written):
        return Label(written, "property")
    spread = _SPREAD.fullmatch(written)
    if spread is not None:
        return Label(written, "spread", spread["of"])
    read = read_name(written)
    if read.statistic in ("std", "stderr"):
        return Label(written, "spread", read.rest)
    # In the head of a table lr is rather logistic regression than a learning rate.
    if read.statistic == "property" and _METHOD_WORDS.fullmatch(written):
        return Label(written, "name", written)
    if read.statistic in ("count", "time", "property", "rank") and not read.rest:
        return Label(written, "property", metric=_metric_of(written) if read.metric else "")
    sums_up = read.statistic is not None and read.statistic != "last"
    if read.metric is not None and read.rest:
        return Label(written, "crossed", read.rest, _metric_of(written), sums_up=sums_up)
    if read.metric is not None:
        return Label(written, "metric", "", _metric_of(written), sums_up=sums_up)
    if sums_up and not read.rest:
        return Label(written, "summary", sums_up=True)
    return Label(written, "name", written)


def _metric_of(text: str) -> str:
    """Return the name of the metric in a name, with the part of the data."""
    read = read_name(text)
    return f"{read.part}_{read.metric}" if read.part else str(read.metric)


SideKind = Literal["names", "metrics", "crossed", "affixed", "units"]


@dataclass(frozen=True)
class NamedSide:
    """The rows or the columns of a table: what their names are together.

    Parameters
    ----------
    kind : str
        Names; metrics; names crossed with several metrics; names that all carry one metric; numbered
        units.
    labels : tuple of Label
        In the order of the table; what is left out is of kind summary, spread or property.
    """

    kind: SideKind
    labels: tuple[Label, ...]

    @property
    def kept(self) -> list[Label]:
        """The labels that are not left out."""
        wanted: dict[str, tuple[str, ...]] = {
            "names": ("name", "crossed", "unit"),
            "affixed": ("crossed",),
            "crossed": ("crossed",),
            "metrics": ("metric", "crossed"),
            "units": ("unit",),
        }
        return [one for one in self.labels if one.kind in wanted[self.kind]]

    @property
    def methodness(self) -> float:
        """How much the names look like those of methods rather than of datasets."""
        names = [one.name or one.text for one in self.kept]
        if not names:
            return 0.0
        methods = sum(_METHOD_WORDS.search(name) is not None for name in names)
        datasets = sum(name.lower() in _DATASET_WORDS for name in names)
        return (methods - datasets) / len(names)

    @property
    def has_properties(self) -> bool:
        """Whether counts and sizes stand among the names, which describe what the other side names."""
        return any(one.kind == "property" for one in self.labels)


def side_of(texts: Iterable[object]) -> NamedSide:
    """Say what the names of rows or columns are together: no single name decides.

    Examples
    --------
    >>> side_of(["iris acc", "wine acc", "iris f1", "wine f1"]).kind, side_of(["Ridge_acc", "Forest_acc"]).kind
    ('crossed', 'affixed')
    >>> side_of(["0", "1", "2"]).kind, side_of(["Forest", "AdaBoost.R2"]).kind, side_of(["acc", "f1", "n_rows"]).kind
    ('units', 'names', 'metrics')
    """
    labels = [label_of(text) for text in texts]
    told = [one for one in labels if one.kind not in ("summary", "spread", "property")]
    counted: dict[str, list[Label]] = {"unit": [], "crossed": [], "metric": [], "name": []}
    for one in told:
        counted[one.kind].append(one)
    units, crossed, metrics = counted["unit"], counted["crossed"], counted["metric"]
    # A mean of all folds, or the best of all methods, stands beside what it sums up.
    beside = sum(one.sums_up for one in metrics)
    if len(units) > 1 and len(units) + beside == len(told) and _are_counted(units):
        return NamedSide("units", tuple(labels))
    if len(metrics) > beside and 4 * len(metrics) > len(told) and not units:
        return NamedSide("metrics", tuple(labels))
    if len(crossed) > 1 and len(crossed) + beside == len(told):
        kind = _crossed_kind(crossed)
        if kind != "names":
            return NamedSide(kind, tuple(_without_affixes(labels)))
    named = [
        replace(one, kind="name", name=one.text) if one.kind in ("crossed", "unit") else one
        for one in labels
    ]
    return NamedSide("names", tuple(named))


def _without_affixes(labels: Sequence[Label]) -> list[Label]:
    """Name each crossed label by what is left when the part that all labels of its metric share is taken away."""
    groups: dict[str, list[str]] = {}
    for one in labels:
        if one.kind == "crossed":
            groups.setdefault(one.metric, []).append(one.text)
    affixes = {metric: _shared_affix(texts) for metric, texts in groups.items()}
    found = []
    for one in labels:
        behind, affix = affixes.get(one.metric, (True, "")) if one.kind == "crossed" else (True, "")
        if affix:
            rest = one.text.removesuffix(affix) if behind else one.text.removeprefix(affix)
            rest = rest.removesuffix(")") if affix.endswith("(") else rest
            one = replace(one, name=rest.strip(" _/.-"))
        bare = one.name.startswith("(") and one.name.endswith(")")
        found.append(replace(one, name=one.name[1:-1]) if bare else one)
    return found


def _shared_affix(texts: Sequence[str]) -> tuple[bool, str]:
    """Return whether a metric stands behind the names, and how it is written with what separates it."""
    for behind in (True, False):
        for at in re.finditer(r"[\s_/.(:-]", texts[0]):
            affix = texts[0][at.start() :] if behind else texts[0][: at.end()]
            same = all(one.endswith(affix) if behind else one.startswith(affix) for one in texts)
            read = read_name(affix.strip(" _/.(:-"))
            if same and read.metric is not None and not read.rest and len(affix) < len(texts[0]):
                return behind, affix
    return True, ""


def _crossed_kind(crossed: Sequence[Label]) -> SideKind:
    """Say whether several metrics stand at the same names, one at all, or metrics are parts of names."""
    names: dict[str, set[str]] = {}
    for one in crossed:
        names.setdefault(one.metric, set()).add(one.name)
    sets = list(names.values())
    if len(sets) == 1:
        return "affixed"
    common = set.intersection(*sets)
    whole = len(common) >= 1 and all(2 * len(common) >= len(one) for one in sets)
    return "crossed" if whole else "names"


def _are_counted(units: Sequence[Label]) -> bool:
    """Whether numbers count: with a word before them, or one after the other from 0 or 1."""
    numbers = sorted(int(one.name) for one in units)
    if not all(one.text.isdigit() for one in units):
        return True
    return (
        len(numbers) > 1
        and numbers[0] in (0, 1)
        and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    )
