"""Whose seed was fixed: what is found of such a method holds for that seed, and two copies of it may differ by luck."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paragone.methods.method import SEED_PARAMETERS, Method

OPEN = "open"

AVERAGING = re.compile(r"Forest|ExtraTrees|Bagging|Boost|XGB|LGBM|Voting|Stacking")
"""Classes of models that are means of many: simulated, their seed hardly matters."""

STEADY = re.compile(
    r"^(LogisticRegression|Linear|SV|NuSV|Ridge|Lasso|ElasticNet|MultiTask|Dummy|PCA|TruncatedSVD"
    r"|GaussianProcess|Iterative|Quantile|Tuned)"
)
"""Classes with a seed that is for a solver, which comes to the same model with any."""


def throws_dice(method: Method) -> bool:
    """Say whether a method is one model whose seed matters, so that its folds differ by more than rows.

    Examples
    --------
    >>> names = ["linear_model:LogisticRegression", "ensemble:RandomForestClassifier",
    ...          "neural_network:MLPClassifier", "naive_bayes:GaussianNB"]
    >>> [throws_dice(Method.declare(f"sklearn.{name}")) for name in names]
    [False, False, True, False]
    """
    parts = method.with_nested()
    if any(AVERAGING.search(_class_name(one)) for one in parts):
        return False
    return any(_matters(one) for one in parts)


def _class_name(method: Method) -> str:
    return str(getattr(method.factory, "__name__", ""))


def _matters(method: Method) -> bool:
    name = _class_name(method)
    if not any(method.has_parameter(seed) for seed in SEED_PARAMETERS):
        return False
    if name.startswith("DecisionTree"):
        # A tree that looks at all columns asks its seed about ties alone.
        return method.params.get("max_features") is not None or "splitter" in method.params
    return not STEADY.match(name)


def fixed_seeds(described: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Walk over the seed parameters that were set in a method, or inside it, as a store describes it.

    Examples
    --------
    >>> inner = {"use": "sklearn.svm:SVC", "params": {"random_state": 3}}
    >>> list(fixed_seeds({"use": "sklearn.pipeline:Pipeline", "params": {"steps": [["svc", inner]]}}))
    [('steps.svc.random_state', 3)]
    """
    if isinstance(described, Mapping):
        inside = described.get("params", {}) if "use" in described else described
        for name, value in inside.items() if isinstance(inside, Mapping) else ():
            whole = f"{path}.{name}" if path else str(name)
            if (
                name in SEED_PARAMETERS
                and value is not None
                and not isinstance(value, (Mapping, list))
            ):
                yield whole, value
            else:
                yield from fixed_seeds(value, whole)
    elif isinstance(described, Sequence) and not isinstance(described, str):
        for value in described:
            # A step of a pipeline stands beside its name.
            first = value[0] if isinstance(value, list | tuple) and value else None
            yield from fixed_seeds(value, f"{path}.{first}" if isinstance(first, str) else path)


def _without_seeds(described: Any) -> Any:
    if isinstance(described, Mapping):
        return {
            key: _without_seeds(value)
            for key, value in described.items()
            if key not in SEED_PARAMETERS
        }
    if isinstance(described, Sequence) and not isinstance(described, str):
        return [_without_seeds(value) for value in described]
    return described


def seed_sentences(methods: Mapping[str, Any]) -> tuple[str, ...]:
    """Say which methods have a fixed seed, and which are the same method but for the seed.

    Parameters
    ----------
    methods : mapping of str to mapping
        What a store keeps of every method, by the name to display.

    Examples
    --------
    >>> net = {"use": "sklearn.neural_network:MLPClassifier", "params": {"random_state": 0}}
    >>> other = {"use": "sklearn.neural_network:MLPClassifier", "params": {"random_state": 1}}
    >>> for line in seed_sentences({"net": net, "again": other}):
    ...     print(line)
    net and again are one method but for the seed (0, 1): a difference between them is the seed's.
    The seed of net and again is fixed (random_state = 0, 1): what is found of them holds for that
    seed. Leave it open
    and say seeds = 5 to vary it.
    """
    found = {name: list(fixed_seeds(facts)) for name, facts in methods.items()}
    fixed = {name: seeds for name, seeds in found.items() if seeds}
    if not fixed:
        return ()
    alike: dict[str, list[str]] = {}
    for name, facts in methods.items():
        bare = json.dumps(_without_seeds(facts), sort_keys=True, default=str)
        alike.setdefault(bare, []).append(name)
    lines = []
    for names in alike.values():
        if len(names) > 1 and any(name in fixed for name in names):
            seeds = ", ".join(
                ", ".join(str(value) for _, value in found[name]) or OPEN for name in names
            )
            lines.append(
                f"{_listed(names)} are one method but for the seed ({seeds}): a difference between"
                " them is the seed's."
            )
    paths = {path.rpartition(".")[2] for seeds in fixed.values() for path, _ in seeds}
    values = dict.fromkeys(str(value) for seeds in fixed.values() for _, value in seeds)
    who = "it" if len(fixed) == 1 else "them"
    lines.append(
        f"The seed of {_listed(list(fixed))} is fixed ({', '.join(sorted(paths))} ="
        f" {', '.join(values)}): what is found of {who} holds for that seed. Leave it open and say"
        " seeds = 5 to vary it."
    )
    return tuple(lines)


def _listed(names: Sequence[str]) -> str:
    if len(names) > 5:
        return f"{', '.join(names[:4])} and {len(names) - 4} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
