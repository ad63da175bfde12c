"""Collections that are made from formula and seed when they are asked for: DIGEN, and the evolved ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paragone.data import digen, evolved
from paragone.data.dataset import Dataset
from paragone.data.reader import Reader, ReadOptions, readers


def _collection(
    name: str, make: Callable[[str], Dataset], members: Callable[[], Sequence[str]]
) -> Reader:
    def read(wanted: str, options: ReadOptions) -> Dataset:
        options.refuse_all_but_name(f"dataset '{name}:{wanted}' is generated")
        return make(wanted)

    return Reader(name, read, is_of_paths=False, members=members)


def _evolved(name: str) -> Reader:
    return _collection(
        name,
        lambda wanted: evolved.load_evolved(name, wanted),
        lambda: [entry.name for entry in evolved.entries(name)],
    )


readers.add(
    _collection(
        "digen",
        lambda wanted: digen.make_digen(digen.find(wanted)),
        lambda: [str(entry.number) for entry in digen.entries()],
    )
)
for _name in evolved.collections():
    readers.add(_evolved(_name))
