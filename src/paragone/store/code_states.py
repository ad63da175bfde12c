"""Code states: the files and packages behind the version part of a cell's key, kept with the runs that used them."""

from __future__ import annotations

from paragone.errors import InputError
from paragone.store.kept import kept_object
from paragone.store.readable import Readable

CODE_STATES = "code_states"


def read_code_states(store: Readable) -> dict[str, dict[str, str]]:
    """Return what is behind version parts, as far as the runs kept it; runs of the first stores kept nothing."""
    found: dict[str, dict[str, str]] = {}
    for (environment,) in store.read("SELECT environment FROM runs ORDER BY id"):
        try:
            states = kept_object(store, environment).get(CODE_STATES)
        except InputError:
            # A run's description that cannot be read takes nothing from the results; `doctor` tells of it.
            continue
        for part, words in (states if isinstance(states, dict) else {}).items():
            if isinstance(words, dict):
                found[str(part)] = {str(name): str(word) for name, word in words.items()}
    return found
