"""numpy scalars and arrays, where numpy is: any dtype but `object`, any order, any shape.

numpy is not imported to write (a value of its kind cannot exist without it); it is imported to read, if installed.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from runtime.checkpoint.serde.kinds import RefusedError, Speller

KINDS = frozenset({"numpy_scalar", "numpy_array"})


def speller(cls: type) -> Speller | None:
    """How scalars and arrays of a class are spelled; None for any other class. They raise RefusedError for objects."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if issubclass(cls, numpy.generic):
        return "numpy_scalar", _scalar
    return ("numpy_array", _array) if issubclass(cls, numpy.ndarray) else None


def _scalar(value: Any) -> list[Any]:
    return [_descr(value.dtype), value.tobytes()]


def _array(value: Any) -> list[Any]:
    if type(value).__name__ != "ndarray":
        raise RefusedError(f"{type(value).__name__}. Of numpy's arrays, plain ones are kept: pass numpy.asarray(...)")
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return [_descr(value.dtype), list(value.shape), order, value.tobytes(order=order)]


def _descr(dtype: Any) -> Any:
    if dtype.hasobject:
        raise RefusedError("a numpy array of Python objects. Use a list")
    return importlib.import_module("numpy.lib.format").dtype_to_descr(dtype)


def make(kind: str, content: Any) -> Any:
    """The scalar or array. Raises ModuleNotFoundError where numpy is not installed."""
    numpy = importlib.import_module("numpy")
    formats = importlib.import_module("numpy.lib.format")
    dtype = formats.descr_to_dtype(content[0])
    if dtype.hasobject:
        raise TypeError("arrays of objects are not read")
    if kind == "numpy_scalar":
        return numpy.frombuffer(content[1], dtype=dtype)[0]
    _, shape, order, data = content
    return numpy.frombuffer(data, dtype=dtype).copy().reshape(shape, order=order)
