"""The label names of a Mulan XML file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from paragone.errors import InputError


def read_labels(path: Path) -> tuple[str, ...]:
    """Return the label names of a Mulan XML file in its order; nested labels follow their parent.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.xml"
    ...     _ = path.write_text('<labels><label name="a"><label name="b"/></label></labels>')
    ...     read_labels(path)
    ('a', 'b')
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    # In whatever encoding: those of two or four bytes a character have zeros between the letters.
    if b"<!ENTITY" in text.replace(b"\0", b""):
        raise InputError(f"{path}: entity declarations are not read; write the label names out")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  entities were refused above
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not well-formed XML ({error})") from error
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = tuple(element.get("name", "") for element in elements)
    if not names or "" in names:
        raise InputError(f"{path}: no <label name=...> found, or one without a name")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: label {twice!r} stands twice")
    return names
