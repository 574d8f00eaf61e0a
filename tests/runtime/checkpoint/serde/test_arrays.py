"""numpy's values come back with their dtype, shape and order. Skipped where numpy is not installed."""

from __future__ import annotations

from typing import Any

import pytest

numpy: Any = pytest.importorskip("numpy")

from runtime.checkpoint.serde.codec import dumps, loads  # noqa: E402 - after the check for numpy

SCALARS = ("float64(1.5)", "float32(0.1)", "int64(-3)", "uint8(255)", "bool_(True)", "complex128(1j)", "str_('x')")


@pytest.mark.parametrize("text", SCALARS)
def test_a_scalar_comes_back_as_itself(text: str) -> None:
    name, _, argument = text.rstrip(")").partition("(")
    value = getattr(numpy, name)({"True": True, "1j": 1j, "'x'": "x"}.get(argument) or float(argument))

    back = loads(dumps({"k": [value], value: 1}))

    assert back == {"k": [value], value: 1}
    assert type(back["k"][0]) is type(value)
    assert type([*back][1]) is type(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: numpy.arange(6).reshape(2, 3),
        lambda: numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
        lambda: numpy.arange(12).reshape(3, 4)[::2, ::-1],
        lambda: numpy.array(5),
        lambda: numpy.empty((0, 3)),
        lambda: numpy.array(["ab", "c"]),
        lambda: numpy.array(["2026-01-02"], dtype="datetime64[D]"),
        lambda: numpy.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", ">f8")]),
        lambda: numpy.array([1, 2], dtype=">u2"),
    ],
)
def test_an_array_comes_back_as_itself(make: Any) -> None:
    value = make()

    back = loads(dumps((value,)))[0]

    assert type(back) is numpy.ndarray
    assert (back.dtype, back.shape) == (value.dtype, value.shape)
    assert back.flags.f_contiguous == numpy.array(value, order="K").flags.f_contiguous or not value.flags.contiguous
    assert numpy.array_equal(back, value)
    assert back.flags.writeable


@pytest.mark.parametrize(
    "make", [lambda: numpy.array([{}, []], dtype=object), lambda: numpy.ma.array([1], mask=[True])]
)
def test_what_cannot_be_kept_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match=r"numpy array of Python objects|MaskedArray"):
        dumps({"k": make()})
