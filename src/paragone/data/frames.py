"""Tables with typed columns: what a column may hold, its kind, its content as bytes and as numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

ColumnKind: TypeAlias = Literal["number", "boolean", "category", "text", "date"]


def is_table(X: Any) -> bool:
    """Whether features are a table with named columns of their own types, of pandas or of another library."""
    return hasattr(X, "shape") and hasattr(X, "columns") and not isinstance(X, np.ndarray)


def checked_table(given: Any, where: str) -> pd.DataFrame:
    """Return a table as pandas holds it, after a look at every column.

    Columns keep their types: numbers, truth values, categories, text and dates, with gaps. Text
    beside numbers in one column becomes text; a duration becomes seconds. Tables of other libraries
    are converted by narwhals.

    Parameters
    ----------
    given : DataFrame
        Of pandas, polars or whatever narwhals knows.
    where : str
        What to call it in an error.

    Examples
    --------
    >>> import pandas as pd
    >>> checked_table(pd.DataFrame({"a": [1, 2], "b": ["x", 3]}), "t")["b"].tolist()
    ['x', '3']
    """
    import pandas as pd

    frame = given if isinstance(given, pd.DataFrame) else _converted(given, where)
    names = [str(name) for name in frame.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{where}: column {twice!r} stands twice: rename or drop one of them")
    given_columns = {name: frame.iloc[:, place] for place, name in enumerate(names)}
    columns = {
        name: checked_column(one, f"{where}: column {name!r}")
        for name, one in given_columns.items()
    }
    same = all(columns[name] is one for name, one in given_columns.items())
    # A table that needs nothing keeps its memory as it is: sums are added up in its order, to the
    # last bit.
    found = frame.set_axis(names, axis=1) if same else pd.DataFrame(columns, index=frame.index)
    return (
        found
        if isinstance(found.index, pd.RangeIndex) and found.index.start == 0
        else found.reset_index(drop=True)
    )


def _converted(given: Any, where: str) -> pd.DataFrame:
    import narwhals

    try:
        native = narwhals.from_native(given)
        eager = native.collect() if isinstance(native, narwhals.LazyFrame) else native
        return eager.to_pandas()
    except (TypeError, ImportError, AttributeError) as error:
        raise InputError(
            f"{where}: a {type(given).__name__} cannot be read as a table ({error})"
        ) from error


def checked_column(series: pd.Series[Any], where: str) -> pd.Series[Any]:
    """Return a column whose kind is known; what cannot be compared or hashed is refused."""
    import pandas as pd
    from pandas.api import types

    dtype = series.dtype
    if types.is_complex_dtype(dtype):
        raise InputError(
            f"{where} holds complex numbers: drop it, or give its parts as two columns"
        )
    if types.is_timedelta64_dtype(dtype):
        return series.dt.total_seconds()
    if not types.is_object_dtype(dtype):
        return series
    there = series[series.notna()]
    held = {type(value) for value in there}
    if held <= {bool, np.bool_} and held and len(there) == len(series):
        return series.astype(bool)
    if held <= {int, float, bool, np.bool_, Decimal} or all(
        issubclass(kind, (int, float, np.number)) for kind in held
    ):
        return series.astype(float)
    if all(issubclass(kind, (date, np.datetime64)) for kind in held):
        return pd.to_datetime(series)
    wrong = next(
        (
            kind
            for kind in held
            if not issubclass(kind, (str, int, float, bool, np.generic, Decimal, date))
        ),
        None,
    )
    if wrong is not None:
        raise InputError(
            f"{where} holds a {wrong.__name__} in a cell: a table holds numbers, text, dates or"
            " categories"
        )
    return series.map(str, na_action="ignore") if held != {str} else series


def column_kinds(frame: pd.DataFrame) -> dict[str, ColumnKind]:
    """Return the kind of every column.

    Examples
    --------
    >>> import pandas as pd
    >>> column_kinds(pd.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": [True, False]}))
    {'a': 'number', 'b': 'text', 'c': 'boolean'}
    """
    return {str(name): column_kind(frame[name]) for name in frame.columns}


def column_kind(series: pd.Series[Any]) -> ColumnKind:
    """Return the kind of a column."""
    from pandas.api import types

    dtype = series.dtype
    if types.is_bool_dtype(dtype):
        return "boolean"
    if isinstance(dtype, types.CategoricalDtype):
        return "category"
    if types.is_datetime64_any_dtype(dtype):
        return "date"
    return "number" if types.is_numeric_dtype(dtype) else "text"


def missing_values(frame: pd.DataFrame) -> int:
    """Count the gaps."""
    return int(frame.isna().to_numpy().sum())


def table_digest(frame: pd.DataFrame) -> str:
    """Hash names, types and values of all columns."""
    found = hashlib.sha256()
    for name in frame.columns:
        series = frame[name]
        found.update(f"{name}\0{series.dtype}\0".encode())
        for part in _column_bytes(series):
            found.update(part)
    return found.hexdigest()


def _column_bytes(series: pd.Series[Any]) -> Iterator[bytes]:
    kind = column_kind(series)
    if kind == "category":
        yield np.ascontiguousarray(series.cat.codes.to_numpy().astype("<i4")).tobytes()
        yield repr([str(value) for value in series.cat.categories]).encode()
        yield b"ordered" if series.cat.ordered else b""
    elif kind == "text":
        missing = series.isna().to_numpy()
        yield missing.tobytes()
        yield repr([str(value) for value in series[~missing]]).encode()
    elif kind == "date":
        yield series.to_numpy(dtype="datetime64[ns]").astype("<i8").tobytes()
    elif isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
        # As they are: beyond 2**53 two whole numbers may be one as floats.
        yield np.ascontiguousarray(series.to_numpy()).tobytes()
    else:
        yield series.isna().to_numpy().tobytes()
        yield np.ascontiguousarray(series.to_numpy(dtype="<f8", na_value=np.nan)).tobytes()


def as_numbers(frame: pd.DataFrame) -> FloatArray:
    """Return every column as numbers for checks that compare values: text and categories by their place, dates by day.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "x"]}))
    array([[ 1.,  0.],
           [ 2., nan],
           [ 3.,  0.]])
    """
    import pandas as pd

    columns: list[NDArray[Any]] = []
    for name, kind in column_kinds(frame).items():
        if kind in ("number", "boolean"):
            columns.append(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))
        elif kind == "date":
            days = (
                frame[name].to_numpy(dtype="datetime64[ns]") - np.datetime64(0, "ns")
            ) / np.timedelta64(1, "D")
            columns.append(days)
        else:
            codes = pd.factorize(frame[name])[0].astype(np.float64)
            codes[codes < 0] = np.nan
            columns.append(codes)
    return np.column_stack(columns)
