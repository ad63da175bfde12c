"""Folders: find the files that make up one dataset and hand them to their reader."""

from __future__ import annotations

from pathlib import Path

from paragone.data.dataset import Dataset
from paragone.data.options import ReadOptions
from paragone.errors import InputError
from paragone.reading import read_object_if_any

_SINGLE = (".arff", ".mat", ".npz", ".csv", ".parquet")


def read_folder(folder: Path, options: ReadOptions) -> Dataset:
    r"""Read the one dataset that stands in a folder.

    Looked for in this order: ``fold0.mat`` and so on (stored folds); ``*-train.arff`` with ``*-test.arff``
    (pooled, with the XML that names the labels); ``X.csv`` with ``y.csv`` and ``META.json``; ``*train.mat``
    with ``*test.mat``; ``train.txt`` with ``test.txt`` (prescriptions); else one single data file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "X.csv").write_text("a,b\n1,2\n3,4\n")
    ...     _ = (Path(folder) / "y.csv").write_text("price\n5\n6\n")
    ...     read_folder(Path(folder), ReadOptions(task="regression", name="houses"))
    Dataset 'houses': 2 samples x 2 features, regression, 1 target
    """
    from paragone.data.loading import read_file
    from paragone.data.prescriptions import TEST, TRAIN, read_prescription_folder
    from paragone.data.readers.arff import read_arff
    from paragone.data.readers.folds import holds_folds, read_folds
    from paragone.data.readers.mat import read_mat
    from paragone.data.readers.table import read_matrix_folder

    if holds_folds(folder):
        return read_folds(folder, options)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    name = folder.resolve().name
    pair = _pair(files, ".arff", folder)
    if pair is not None:
        return read_arff(pair, options, xml=_xml(files, pair[0], folder), name=name)
    if {"X.csv", "y.csv"} <= {path.name for path in files}:
        return read_matrix_folder(folder, options, read_object_if_any(folder / "META.json"))
    pair = _pair(files, ".mat", folder)
    if pair is not None:
        return read_mat(pair, options, name=name)
    if {TRAIN, TEST} <= {path.name for path in files}:
        return read_prescription_folder(folder, options, name=name)
    found = [path for path in files if path.suffix.lower() in _SINGLE]
    if len(found) != 1:
        what = "no data file" if not found else "several data files: " + ", ".join(p.name for p in found[:6])
        raise InputError(f"{folder}: {what}; name one file, or a folder with one dataset in a known layout")
    if found[0].suffix.lower() == ".arff":
        return read_arff(found, options, xml=_xml(files, found[0], folder), name=name)
    if found[0].suffix.lower() == ".mat":
        return read_mat(found, options, name=name)
    return read_file(found[0], options, name=name)


def _pair(files: list[Path], suffix: str, folder: Path) -> tuple[Path, Path] | None:
    """Find the train and the test file of a dataset that comes in two parts."""
    stems = {path.stem.lower(): path for path in files if path.suffix.lower() == suffix}
    pairs = [
        (path, stems[stem[: -len("train")] + "test"])
        for stem, path in stems.items()
        if stem.endswith("train") and stem[: -len("train")] + "test" in stems
    ]
    if len(pairs) > 1:
        raise InputError(f"{folder}: several train and test pairs; put each dataset in a folder of its own")
    return pairs[0] if pairs else None


def _xml(files: list[Path], arff: Path, folder: Path) -> Path | None:
    found = [path for path in files if path.suffix.lower() == ".xml"]
    same = [path for path in found if arff.stem.lower().startswith(path.stem.lower())]
    if len(same or found) > 1:
        raise InputError(f"{folder}: several XML files; keep the one that names the labels")
    return next(iter(same or found), None)
