"""The shapes in which a caller gets stream items: v1 and v2."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

from runtime.constants import INTERRUPT
from runtime.engine.effects import Emit
from runtime.types import StreamMode

_MODES = frozenset(get_args(StreamMode))


def check_modes(modes: str | Sequence[str]) -> frozenset[str]:
    """The modes as a set. Raises ValueError for one that is none."""
    named = frozenset((modes,) if isinstance(modes, str) else modes)
    unknown = named - _MODES
    if unknown:
        raise ValueError(f"Unknown stream mode {sorted(unknown)}. The modes are {sorted(_MODES)}.")
    return named


class Shape:
    """Item -> what the caller gets.

    v1: the data; (mode, data) for a list of modes; with subgraphs the namespace in front. v2: type, ns, data, and
    interrupts for values.
    """

    def __init__(
        self,
        modes: str | Sequence[str],
        subgraphs: bool,
        version: str,
        schema: Any,
        keys: str | Sequence[str] | None = None,
    ) -> None:
        if version not in ("v1", "v2"):
            raise ValueError(f"Unknown stream version {version!r}: it is 'v1' or 'v2'.")
        self.modes = check_modes(modes)
        self._single = isinstance(modes, str)
        self._subgraphs = subgraphs
        self._version = version
        self._schema = schema
        self._only = keys if isinstance(keys, str) else None
        """The one key whose value stands for the state."""

    def __call__(self, item: Emit, print_mode: frozenset[str]) -> Iterator[Any]:
        """The item for the caller, if it asked for its mode; printed, if it asked for that."""
        if item.mode in print_mode:
            where = f"{item.ns} " if item.ns else ""
            sys.stdout.write(f"\x1b[1m{where}[{item.mode}]\x1b[0m {item.payload}\n")
        if item.mode not in self.modes:
            return
        if self._only is not None and not item.ns:
            item = replace(item, payload=_only(item.mode, item.payload, self._only))
        if self._version == "v2":
            yield self._part(item)
        elif self._subgraphs:
            yield (item.ns, item.payload) if self._single else (item.ns, item.mode, item.payload)
        else:
            yield item.payload if self._single else (item.mode, item.payload)

    def _part(self, item: Emit) -> dict[str, Any]:
        part: dict[str, Any] = {"type": item.mode, "ns": item.ns, "data": item.payload}
        if item.mode == "values":
            data = dict(item.payload) if isinstance(item.payload, dict) else item.payload
            part["interrupts"] = tuple(data.pop(INTERRUPT, ())) if isinstance(data, dict) else ()
            part["data"] = data if item.ns else self._typed(data)
        elif not item.ns and "values" in _checkpoint(item):
            part["data"] = self._typed_checkpoint(item)
        return part

    def _typed_checkpoint(self, item: Emit) -> dict[str, Any]:
        """A checkpoint of mode checkpoints or debug, its state an instance where the state is whole enough for one."""
        shown = _checkpoint(item)
        if shown["metadata"]["source"] == "input":  # nothing is read yet
            return item.payload  # type: ignore[no-any-return]  # payloads of these modes are dicts
        try:
            shown = {**shown, "values": self._typed(shown["values"])}
        except (TypeError, ValueError):  # before the first step some keys may be missing
            return item.payload  # type: ignore[no-any-return]  # payloads of these modes are dicts
        return {**item.payload, "payload": shown} if item.mode == "debug" else shown

    def _typed(self, data: dict[str, Any]) -> Any:
        """The state as an instance, where its schema is a model or a dataclass."""
        if (
            self._only is None
            and isinstance(data, dict)
            and (hasattr(self._schema, "model_fields") or dataclasses.is_dataclass(self._schema))
        ):
            return self._schema(**data)
        return data


def _checkpoint(item: Emit) -> dict[str, Any]:
    """The checkpoint in an item; empty where it has none."""
    if item.mode == "debug" and item.payload["type"] == "checkpoint":
        return item.payload["payload"]  # type: ignore[no-any-return]
    return item.payload if item.mode == "checkpoints" else {}


def _only(mode: str, payload: Any, key: str) -> Any:
    """A chunk of values or updates with one key's value in place of the state; a pause stays as it is."""
    if mode == "values" and INTERRUPT not in payload:
        return payload.get(key)
    if mode == "updates" and INTERRUPT not in payload:
        return {node: _part_only(part, key) for node, part in payload.items()}
    return payload


def _part_only(part: Any, key: str) -> Any:
    if isinstance(part, list):
        return [one[key] for one in part if key in one]
    return part.get(key) if isinstance(part, dict) else part
