"""EvolveSpec: what a search looks for, as a file and as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from paragone.errors import InputError, unknown_name
from paragone.generate.methods import Contender, check_methods, contenders, target_of, usual_methods
from paragone.generate.proof import ProofPlan
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.hashing import digest
from paragone.reading import read_toml


@dataclass(frozen=True)
class EvolveSpec:
    """A search for datasets that tell methods apart.

    Parameters
    ----------
    name : str
        What the collection is called.
    seed : int, default=0
        Every random thing follows from it.
    generations, batch : int
        Generations, and candidates that are screened in each.
    chunk : int, default=16
        Candidates per cell.
    n_train, n_test, n_features : int
        Training rows, fresh rows for screening, and columns.
    margin : float, default=0.05
        By how much the score of two methods must differ: AUROC, or R2 for a target of numbers.
    depth : int, default=6
        Concepts kept per pair.
    random_share : float, default=0.25
        The share of candidates that are new random formulas.
    constants, max_size
        See `Grammar`.
    smallest_class : float, default=0.3
        The least share of either class among the fresh rows. Of several classes each must have at
        least this part of twice its declared share: .6 of it by default, as of two halves.
    evidence_rows : int, default=20_000
        Fresh test rows of each sample of the proof.
    looks : tuple of int, default=(6, 12, 24)
        Numbers of samples at which claims are looked at.
    claims : int, default=100
        The most claims that are put to proof, however often the search is continued: the level
        covers them all.
    alpha : float, default=0.05
        The chance that any of their intervals misses the mean lead.
    screened : int, default=16
        Candidates of a generation that are scored with the methods themselves, where scouts stand
        in for some.
    races, race_seeds : int
        Candidates that are raced after each generation, and samples of a race; see `proving`.
    concepts : int, default=24
        Candidates are put to proof for the sake of a new concept until so many concepts are.
    finalists : int, default=20
        Candidates that are raced after the last generation, as long as some promise a pair or a
        concept.
    trials, folds : int
        Configurations that every method may try on every sample of a race's end and of the proof,
        beginning with its portfolio, and the inner folds that decide.
    defaults : bool, default=True
        Whether the first of these configurations is that of the method's library, which a search
        space may leave out.
    per_concept : int, default=3
        Datasets of one concept that the collection may hold.
    methods : mapping
        Tables as in the file; the eight usual methods of the target where it is empty, see
        `targets`.
    data : mapping
        What every dataset is like beside its formula: noise, positive, irrelevant, correlation,
        categories, gaps, drift, groups, as `GeneratorSpec` takes them, and ``target`` with
        ``n_classes`` and ``shares``. Without it data are noise-free and of two classes, balanced.

    Examples
    --------
    >>> EvolveSpec("small", generations=2).batch
    64
    """

    name: str
    seed: int = 0
    generations: int = 100
    batch: int = 64
    chunk: int = 16
    n_train: int = 1000
    n_test: int = 2000
    n_features: int = 10
    margin: float = 0.05
    depth: int = 6
    random_share: float = 0.25
    constants: str = "quantile"
    max_size: int = 40
    smallest_class: float = 0.3
    evidence_rows: int = 20_000
    looks: tuple[int, ...] = (6, 12, 24)
    claims: int = 100
    alpha: float = 0.05
    screened: int = 16
    races: int = 2
    race_seeds: int = 3
    concepts: int = 24
    finalists: int = 20
    trials: int = 20
    folds: int = 3
    defaults: bool = True
    per_concept: int = 3
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            whole = item.type == "int" and (not isinstance(value, int) or isinstance(value, bool))
            if whole or (item.type == "float" and not isinstance(value, (int, float))):
                raise InputError(
                    f"{item.name} must be a number of type {item.type}, it is {value!r}"
                )
        for name, least in (("generations", 1), ("batch", 2), ("chunk", 1), ("n_train", 50), ("n_test", 50),
                            ("n_features", 1), ("claims", 1), ("evidence_rows", 50), ("finalists", 0),
                            ("concepts", 0), ("screened", 1), ("races", 0), ("race_seeds", 2),
                            ("per_concept", 1), ("depth", 1), ("trials", 1), ("folds", 2)):  # fmt: skip
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, it is {getattr(self, name)}")
        object.__setattr__(self, "looks", tuple(self.looks))
        self.plan()
        self._check_data()
        check_methods(self.contenders(), self.target)
        if len(self.contenders()) < 2:
            raise InputError("the search needs at least two methods to tell apart")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a spec from a TOML file; ``[methods.NAME]`` tables hold use, fixed, space and portfolio."""
        path = Path(path)
        # TOML itself refuses a table that occurs twice: two methods with one name.
        table = read_toml(path)
        known = [item.name for item in fields(cls)]
        for key in table:
            if key not in known:
                raise unknown_name(f"key in {path}", key, known)
        try:
            return cls(**{"name": path.stem, **table})
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def contenders(self) -> tuple[Contender, ...]:
        """Return the methods."""
        return contenders(self.methods) if self.methods else usual_methods(self.target)

    @property
    def target(self) -> TargetKind:
        """What the formulas' values become: two classes, several, or numbers.

        Examples
        --------
        >>> EvolveSpec("numbers", data={"target": "regression"}).target
        'regression'
        """
        return target_of(self.data)

    def _check_data(self) -> None:
        for key in ("formula", "n_features", "cut", "inclusive"):
            if key in self.data:
                raise InputError(
                    f"data.{key}: a search makes its own formulas and cuts; leave it out"
                )
        if "n_classes" in self.data and self.target != "multiclass":
            raise InputError(
                f"data.n_classes is for a multiclass target, and data.target is {self.target!r}"
            )
        share = self.generator("X0").positive
        # Every formula would be rejected, one by one, until the hours are over.
        if share is not None and min(share, 1 - share) < self.smallest_class:
            raise InputError(
                f"data.positive gives a class a share of {min(share, 1 - share):g}, and"
                f" smallest_class rejects shares below {self.smallest_class:g}: lower"
                " smallest_class"
            )

    def generator(self, formula: str) -> GeneratorSpec:
        """Return the source of rows for a formula.

        Examples
        --------
        >>> EvolveSpec("noisy", n_features=3, data={"noise": 0.1}).generator("mul(X0, X1)").noise
        0.1
        """
        return GeneratorSpec.of({"formula": formula, "n_features": self.n_features, **self.data})

    def plan(self) -> ProofPlan:
        """Return how claims are proven."""
        return ProofPlan(
            margin=self.margin,
            alpha=self.alpha,
            trials=self.trials,
            folds=self.folds,
            n_train=self.n_train,
            n_fresh=self.evidence_rows,
            looks=self.looks,
            n_claims=self.claims,
            defaults=self.defaults,
        )

    def key(self, focus: str | None, goal: str) -> str:
        """Return what identifies the search with its focus and goal; how long it goes on is no part of it."""
        # Searches were once told apart by their strategy too.
        told = {**asdict(replace(self, generations=1)), "strategy": "map-elites"}
        # Searches that were begun before defaults could be asked for are known by the keys that
        # they had.
        if not told.pop("defaults"):
            return digest({**told, "focus": focus, "goal": goal})
        return digest({**told, "defaults": True, "focus": focus, "goal": goal})

    def against(self, use: str) -> Self:
        """Return the spec with one method more: a class of the user's, with its default parameters."""
        name = use.rpartition(":")[2]
        tables = dict(self.methods) or {m.name: m.table() for m in usual_methods(self.target)}
        if name in tables:
            raise InputError(
                f"two methods are called {name!r}: the spec has one of that name already"
            )
        return replace(self, methods={**tables, name: {"use": use}})
