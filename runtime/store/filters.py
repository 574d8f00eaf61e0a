"""Whether a value fits a search's filter. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def fits(value: Any, wanted: Any) -> bool:
    """Whether `value` is as `wanted` says: equal, key by key in dicts, or by operators.

    Numbers, and texts that are numbers, are compared as numbers; two other texts as texts. What cannot be compared does not
    fit.

    Raises:
        ValueError: an operator that there is not.
    """
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(isinstance(key, str) and key.startswith("$") for key in wanted):
        return all(_compare(value, name, operand) for name, operand in wanted.items())
    return isinstance(value, dict) and all(fits(value.get(key), part) for key, part in wanted.items())


def _compare(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(value == operand)
    if name == "$ne":
        return bool(value != operand)
    if name not in _ORDER:
        raise ValueError(f"Unsupported operator: {name}. There are $eq, $ne, {', '.join(_ORDER)}.")
    try:
        return _ORDER[name](float(value), float(operand))
    except (TypeError, ValueError):  # not two numbers
        return isinstance(value, str) and isinstance(operand, str) and _ORDER[name](value, operand)
