"""Structured output from models that differ in how they give it: try each protocol, keep each error, check what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

METHODS = ("json_schema", "function_calling", "json_mode")
"""The protocols of `with_structured_output`."""


@dataclass(frozen=True, slots=True)
class StructuredResult:
    """What a model gave."""

    value: Any
    """Of the schema; checked."""
    method: str
    """The protocol that it came by."""
    errors: tuple[str, ...] = field(default=())
    """What went wrong before, `method: Type: text` each."""


class StructuredOutputError(ValueError):
    """No protocol gave a value that passes. `errors` has what each said."""

    def __init__(self, errors: Sequence[str]) -> None:
        self.errors = tuple(errors)
        super().__init__("No structured output:\n" + "\n".join(self.errors))


def structured_output(
    model: Any,
    schema: Any,
    messages: Any,
    *,
    check: Callable[[Any], None] | None = None,
    methods: Sequence[str] = METHODS,
    attempts: int = 1,
) -> StructuredResult:
    """Ask a model for a value of a schema.

    Args:
        model: with LangChain's `with_structured_output(schema, method=)`.
        check: raises for a value that fits the schema and is wrong all the same: the schema is the first gate, code the
            second.
        methods: protocols, in the order to try them.
        attempts: how often each is tried.

    Raises StructuredOutputError when none gave a value that passes.
    """
    errors: list[str] = []
    for method in methods:
        for _ in range(attempts):
            try:
                value = model.with_structured_output(schema, method=method).invoke(messages)
                if value is None:
                    raise ValueError("the model gave no value")
                if check is not None:
                    check(value)
            except Exception as error:  # noqa: BLE001 - whatever a provider raises is the reason to try the next way
                errors.append(f"{method}: {type(error).__name__}: {error}")
            else:
                return StructuredResult(value, method, tuple(errors))
    raise StructuredOutputError(errors)
