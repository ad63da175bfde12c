"""Collections that are made from formula and seed when they are asked for: DIGEN, and the evolved ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from paragone.data.dataset import Dataset
from paragone.data.generated import (
    collection_names,
    digen_entries,
    evolved_entries,
    find_digen,
    load_evolved,
    make_digen,
)
from paragone.data.reader import Reader, ReadOptions, readers


def _add(name: str, make: Callable[[str], Dataset], members: Callable[[], list[str]]) -> None:
    def read(wanted: str, options: ReadOptions) -> Dataset:
        options.refuse_all_but_name(f"dataset '{name}:{wanted}' is generated")
        return make(wanted)

    readers.add(Reader(name, read, is_of_paths=False, members=members))


def _members(name: str) -> list[str]:
    return [entry.name for entry in evolved_entries(name)]


_add(
    "digen",
    lambda wanted: make_digen(find_digen(wanted)),
    lambda: [str(entry.number) for entry in digen_entries()],
)
for _name in collection_names():
    _add(_name, partial(load_evolved, _name), partial(_members, _name))
