"""Reading what others wrote: sizes are checked before memory is taken, and nothing in a file is ever run."""

from paragone.reading.arrays import read_arrays
from paragone.reading.json_text import parse_json, read_json
from paragone.reading.sizes import LIMIT_VARIABLE, check_size, size_limit

__all__ = ["LIMIT_VARIABLE", "check_size", "parse_json", "read_arrays", "read_json", "size_limit"]
