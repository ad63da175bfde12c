"""The datasets that need no network: their names, what they are, and one entry to load them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from paragone.data.dataset import Dataset
from paragone.errors import unknown_name


@dataclass(frozen=True)
class BundledSet:
    """A dataset that comes with the package: its name, one line on it, and how it is made."""

    name: str
    summary: str
    make: Callable[[], Dataset]


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled datasets.

    Examples
    --------
    >>> "digits-traits" in bundled_names()
    True
    """
    return tuple(_catalogue())


def bundled_sets() -> tuple[BundledSet, ...]:
    """Return the bundled datasets with a line on each, without loading them.

    Examples
    --------
    >>> next(entry.summary for entry in bundled_sets() if entry.name == "iris")
    '150 flowers, three species'
    """
    return tuple(_catalogue().values())


def load_bundled(name: str, *, name_as: str | None = None) -> Dataset:
    """Load a bundled dataset by its name.

    Examples
    --------
    >>> load_bundled("digits-traits")
    Dataset 'digits-traits': 1797 samples x 64 features, multilabel, 7 labels
    """
    catalogue = _catalogue()
    if name not in catalogue:
        raise unknown_name("dataset", name, catalogue)
    dataset = catalogue[name].make()
    return dataset if name_as is None else replace(dataset, name=name_as)


def _catalogue() -> dict[str, BundledSet]:
    from paragone.data import bundled_grouped, bundled_multilabel, bundled_plain, synthetic

    entries = (
        BundledSet("digits-traits", "digit images, 7 traits of the digit", bundled_multilabel.digits_traits),
        BundledSet(
            "digits-completion",
            "upper half of a digit, ink in the lower",
            bundled_multilabel.digits_completion,
        ),
        BundledSet(
            "breast-cancer-traits",
            "cell nuclei, diagnosis and 5 traits",
            bundled_multilabel.breast_cancer_traits,
        ),
        BundledSet("wine-traits", "wines, cultivar, strength and colour", bundled_multilabel.wine_traits),
        BundledSet("synthetic-multilabel", "seeded, relevant features known", synthetic.make_synthetic),
        BundledSet("digits-by-writer", "digit images, grouped by writing sheet", bundled_grouped.digits_by_writer),
        BundledSet("diabetes-by-age", "disease progression, grouped by age band", bundled_grouped.diabetes_by_age),
        BundledSet("iris", "150 flowers, three species", bundled_plain.iris),
        BundledSet("wine", "178 wines of three cultivars", bundled_plain.wine),
        BundledSet("breast-cancer", "569 tumours, malignant or benign", bundled_plain.breast_cancer),
        BundledSet("digits", "1797 images of handwritten digits", bundled_plain.digits),
        BundledSet("diabetes", "442 patients, disease progression", bundled_plain.diabetes),
    )
    return {entry.name: entry for entry in entries}
