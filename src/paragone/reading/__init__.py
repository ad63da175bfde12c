"""Reading what others wrote: sizes are checked before memory is taken, and nothing in a file is ever run."""

from paragone.reading.arrays import map_array, read_arrays
from paragone.reading.json_text import parse_json, read_json, read_object_if_any
from paragone.reading.parquet import parquet_batches, read_parquet
from paragone.reading.sizes import LIMIT_VARIABLE, check_size, size_limit
from paragone.reading.toml_text import parse_toml, read_toml

__all__ = [
    "LIMIT_VARIABLE",
    "check_size",
    "map_array",
    "parquet_batches",
    "parse_json",
    "parse_toml",
    "read_arrays",
    "read_json",
    "read_object_if_any",
    "read_parquet",
    "read_toml",
    "size_limit",
]
