"""OpenML, through scikit-learn's fetcher and its cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.error import URLError

from paragone.data.columns import FileColumn, dataset_from
from paragone.data.dataset import Dataset, Task
from paragone.data.reader import Reader, ReadOptions, readers
from paragone.data.readers.table import frame_table
from paragone.errors import InputError, setting

PREFIX = "openml:"


def read_openml(
    reference: str, options: ReadOptions, *, fetch: Callable[..., Any] | None = None
) -> Dataset:
    """Read ``openml:NAME``, ``openml:NAME@VERSION`` or ``openml:ID``.

    The target is OpenML's default one unless the options name another. The task is the declared
    one; where none is, it is what OpenML declares of the target: nominal means classification,
    numeric regression, several yes/no targets multilabel. A note says so.

    Parameters
    ----------
    reference : str
        The dataset, with or without the prefix.
    options : ReadOptions
        Target, task, groups and coding.
    fetch : callable, optional
        Stands in for `sklearn.datasets.fetch_openml`.
    """
    reference = reference.removeprefix(PREFIX).strip()
    if not reference:
        raise InputError("openml: needs a name or a number, such as openml:iris@1 or openml:61")
    where = PREFIX + reference
    bunch = _fetch(reference, where, fetch)
    targets = list(options.target) or _default_targets(bunch, where)
    table = frame_table(bunch.frame, reference.partition("@")[0], where, options)
    task = options.task
    if task is None:
        task = _declared_task([table.column(name, "target column") for name in targets], where)
    dataset = dataset_from(table, targets, task, options)
    if options.task is not None:
        return dataset
    return replace(
        dataset, notes=(*dataset.notes, f"task {task} taken from the types OpenML declares")
    )


def _fetch(reference: str, where: str, fetch: Any) -> Any:
    if fetch is None:
        from sklearn.datasets import fetch_openml

        fetch = fetch_openml
    name, _, version = reference.partition("@")
    if version and not version.isdigit():
        raise InputError(f"{where}: the version after @ must be a number")
    query: dict[str, Any] = {"data_id": int(name)} if name.isdigit() else {"name": name}
    if "name" in query:
        query["version"] = int(version) if version else "active"
    try:
        return fetch(**query, as_frame=True, parser="auto")
    except (URLError, ConnectionError, TimeoutError) as error:
        raise InputError(
            f"{where}: OpenML cannot be reached ({error}); connect once so that scikit-learn caches"
            " it, or use a file"
        ) from error
    except (ValueError, OSError) as error:
        raise InputError(f"{where}: OpenML does not give it ({error})") from error


def _default_targets(bunch: Any, where: str) -> list[str]:
    names = list(bunch.target_names or [])
    if not names:
        raise InputError(
            f"{where}: OpenML names no default target; name it with {setting('target')}"
        )
    return names


def _declared_task(columns: Sequence[FileColumn], where: str) -> Task:
    if not any(column.is_nominal for column in columns):
        return "regression"
    if len(columns) == 1:
        return "classification"
    if all(column.binary_codes is not None for column in columns):
        return "multilabel"
    raise InputError(
        f"{where}: its targets are not all yes/no; name one with {setting('target')} and say"
        f" {setting('task')}"
    )


readers.add(Reader("openml", read_openml, is_of_paths=False))
