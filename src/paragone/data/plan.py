"""SplitPlan: how datasets are to be split, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from paragone.errors import InputError, unknown_name

if TYPE_CHECKING:
    from paragone.data.dataset import Dataset

Scale: TypeAlias = Literal["minmax", "zscore", "none"]

SPLIT_KINDS = ("kfold", "holdout", "groups", "official", "stored")
DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class SplitPlan:
    """How every dataset of an experiment is split, and how its features are scaled inside a split.

    Parameters
    ----------
    kind : str, default="kfold"
        ``kfold``; ``holdout`` (repeated); ``groups`` (groups kept together); ``official`` (the train and
        test part a dataset comes in); ``stored`` (the folds it comes in); or ``"module:Class"``, any splitter
        in scikit-learn's interface, which is given the features, the target and the groups. A dataset with
        stored folds is split by them under the default plan too.
    folds : int or "all", optional
        Number of folds, 5 where it is not given. For ``groups``, ``"all"`` or nothing means one fold a group.
    test_size : float, default=0.2
        Share of the rows that ``holdout`` tests on.
    scale : {"minmax", "zscore", "none"}, optional
        Fitted on the train rows of each split. Where it is not given it is ``minmax``, and ``none`` for
        stored folds, which usually hold scaled values already, and for a cross-validation, whose methods bring
        their own preprocessing.
    order : {1, 2}, default=1
        Order of the iterative stratification of multi-label data.
    shuffle : bool, default=True
        Whether ``kfold`` takes the rows in random order. Without it multi-label data is cut into
        consecutive blocks.
    stratify : bool, default=True
        Whether labels or classes are spread evenly over the folds.
    params : mapping
        Parameters of a ``"module:Class"`` splitter.

    Examples
    --------
    >>> SplitPlan(kind="kfold", folds=10).n_folds
    10
    >>> SplitPlan(kind="kfolds")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown kind of split 'kfolds': did you mean 'kfold'?
    """

    kind: str = "kfold"
    folds: int | Literal["all"] | None = None
    test_size: float = 0.2
    scale: Scale | None = None
    order: Literal[1, 2] = 1
    shuffle: bool = True
    stratify: bool = True
    params: Mapping[str, Any] = field(default_factory=dict)

    # Read by pydantic where an experiment file holds a plan: unknown keys are errors there too.
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str):
            raise InputError(f"split: kind must be a text such as 'kfold', it is {self.kind!r}")
        if not isinstance(self.params, Mapping):
            raise InputError(f"split: params are names with their values, not {self.params!r}")
        for name in ("shuffle", "stratify"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"split: {name} must be true or false, it is {getattr(self, name)!r}")
        if isinstance(self.test_size, bool) or not isinstance(self.test_size, (int, float)):
            raise InputError(f"split: test_size must lie between 0 and 1, it is {self.test_size!r}")
        if ":" not in self.kind and self.kind not in SPLIT_KINDS:
            raise unknown_name("kind of split", self.kind, SPLIT_KINDS)
        if self.scale is not None and self.scale not in get_args(Scale):
            raise unknown_name("scale", self.scale, get_args(Scale))
        if self.order not in (1, 2):
            raise InputError(f"split: order must be 1 or 2, it is {self.order}")
        if not 0 < self.test_size < 1:
            raise InputError(f"split: test_size must lie between 0 and 1, it is {self.test_size}")
        if self.params and ":" not in self.kind:
            raise InputError(f"split: params belong to a 'module:Class' splitter, not to {self.kind!r}")
        self._check_folds()

    def _check_folds(self) -> None:
        if self.folds is None:
            return
        if ":" in self.kind or self.kind in ("official", "stored"):
            where = "its params" if ":" in self.kind else "the dataset"
            raise InputError(f"split: {self.kind!r} takes no folds; their number follows from {where}")
        if self.folds == "all":
            if self.kind != "groups":
                raise InputError(f"split: folds = 'all' goes with groups, not with {self.kind!r}")
            return
        least = 1 if self.kind == "holdout" else 2
        if isinstance(self.folds, bool) or not isinstance(self.folds, int) or self.folds < least:
            raise InputError(f"split: folds must be a whole number of at least {least}, it is {self.folds!r}")

    @property
    def n_folds(self) -> int | None:
        """The number of folds where the plan alone says it, else None."""
        if self.kind == "official":
            return 1
        if ":" in self.kind or self.kind == "stored" or (self.kind == "groups" and self.folds in (None, "all")):
            return None
        return DEFAULT_FOLDS if self.folds is None else int(self.folds)

    @property
    def leaves_splits_open(self) -> bool:
        """Whether the plan asks for no certain way to split, so that stored folds may have their own."""
        default = SplitPlan(test_size=self.test_size, scale=self.scale)
        return self == default

    def scale_of(self, dataset: Dataset) -> Scale:
        """Return how the features of a dataset are scaled: as asked, else by what the dataset is.

        Examples
        --------
        >>> from paragone.data import load
        >>> SplitPlan().scale_of(load("iris")), SplitPlan(scale="zscore").scale_of(load("iris"))
        ('minmax', 'zscore')
        """
        if self.scale is not None:
            return self.scale
        return "minmax" if dataset.stored_splits is None else "none"
