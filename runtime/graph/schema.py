"""A state schema (TypedDict, dataclass, Pydantic model) -> channels, and values -> what nodes are given."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin

from pydantic import TypeAdapter, create_model
from typing_extensions import ReadOnly, get_type_hints, is_typeddict

from runtime.channels import BaseChannel, BinaryOperatorAggregate, LastValue
from runtime.channels.delta import DeltaChannel
from runtime.checkpoint.serde.types import allow_schema
from runtime.constants import ROOT
from runtime.engine.action import parameters
from runtime.managed import ManagedValue

Coerce = Callable[[dict[str, Any]], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Schema:
    """What a schema class says."""

    type: Any
    channels: dict[str, BaseChannel[Any, Any, Any]]
    managed: dict[str, ManagedValue]

    @property
    def keys(self) -> tuple[str, ...]:
        """All its keys, managed ones included."""
        return (*self.channels, *self.managed)

    @property
    def is_root(self) -> bool:
        """Whether it has no keys: its one value is the state."""
        return ROOT in self.channels

    def coerce(self, values: dict[str, Any]) -> Any:
        """Values in the schema's form: a dict for a TypedDict, else an instance. Raises what the class raises."""
        if ROOT in self.channels:
            return values.get(ROOT)
        if is_typeddict(self.type) or self.type is dict or not isinstance(values, dict):
            return values
        return self.type(**values)


def is_schema(typ: Any) -> bool:
    """Whether a type is a class with annotated keys."""
    return inspect.isclass(typ) and (is_typeddict(typ) or dataclasses.is_dataclass(typ) or hasattr(typ, "model_fields"))


def read_schema(typ: Any) -> Schema:
    """The channels of a schema class. Checkpointers may revive values of the classes that it mentions from now on.

    Any other type (`int`, `list[str]`, `Annotated[list, add]`) makes a state without keys: nodes take and give its value.

    Raises:
        TypeError: not a type.
    """
    if not is_schema(typ):
        if typ is None or not (inspect.isclass(typ) or get_origin(typ) or typ is Any):
            raise TypeError(
                f"Invalid state schema {typ!r}: expected a TypedDict, a dataclass or a Pydantic model, as a class, "
                f"or another type for a state without keys."
            )
        channel = _channel(typ, ROOT, typ)
        if isinstance(channel, ManagedValue):
            raise TypeError(f"Invalid state schema {typ!r}: a managed value cannot be the whole state.")
        return Schema(typ, {ROOT: channel}, {})
    allow_schema(typ)
    channels: dict[str, BaseChannel[Any, Any, Any]] = {}
    managed: dict[str, ManagedValue] = {}
    for name, hint in get_type_hints(typ, include_extras=True).items():
        if name.startswith("__") or name == "model_config" or _is_classvar(hint):
            continue
        found = _channel(typ, name, hint)
        if isinstance(found, ManagedValue):
            managed[name] = found
        else:
            channels[name] = found
    return Schema(typ, channels, managed)


def _is_classvar(hint: Any) -> bool:
    return str(get_origin(hint) or hint).startswith("typing.ClassVar")


def _channel(owner: Any, name: str, hint: Any) -> BaseChannel[Any, Any, Any] | ManagedValue:
    typ, notes = _unwrap(hint)
    note = notes[-1] if notes else None
    if isinstance(note, ManagedValue):
        return note
    if isinstance(note, BaseChannel):
        channel = note.of(typ) if isinstance(note, DeltaChannel) else note.copy()
        channel.key = name
        return channel
    if inspect.isclass(note) and issubclass(note, BaseChannel):
        channel = note(typ)
        channel.key = name
        return channel
    if callable(note) and not inspect.isclass(note) and _takes_two(note):
        return BinaryOperatorAggregate(typ, note, name, declared_default(owner, name))
    return LastValue(typ, name)


def _unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The bare type, and the notes of Annotated around it."""
    notes: tuple[Any, ...] = ()
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            notes = (*hint.__metadata__, *notes)
            hint = hint.__origin__
        elif origin in (Required, NotRequired, ReadOnly):
            hint = get_args(hint)[0]
        else:
            return hint, notes


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # builtins such as operator.add have none on some versions
        return True
    required = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(required) <= 2 <= len(positional) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    raise ValueError(
        f"Invalid reducer signature. Expected (a, b) -> c. Got {getattr(function, '__name__', function)}"
        f"{inspect.signature(function)}."
    )


def declared_default(owner: Any, name: str) -> Callable[[], Any] | None:
    """How to make the default that a dataclass or model declares for a key; None when it declares none."""
    if dataclasses.is_dataclass(owner):
        field = next((f for f in dataclasses.fields(owner) if f.name == name), None)
        if field is not None and field.default_factory is not dataclasses.MISSING:
            return field.default_factory
        if field is not None and field.default is not dataclasses.MISSING and field.default is not None:
            default = field.default
            return lambda: default
        return None
    field = getattr(owner, "model_fields", {}).get(name)
    if field is None or field.is_required() or field.get_default(call_default_factory=True) is None:
        return None
    return lambda: field.get_default(call_default_factory=True)


def first_hint(function: Any) -> Any:
    """The annotation of a function's first parameter, if it has one."""
    if _is_bare(function):
        return None
    known = parameters(function)
    if not known or known[0][1] is None:
        return None
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    try:
        return get_type_hints(target).get(known[0][0])
    except (TypeError, NameError):
        return None


def _is_bare(function: Any) -> bool:
    """Whether it is a function without annotations."""
    return type(function) is FunctionType and not function.__annotations__


def return_hint(function: Any) -> Any:
    """The annotation of what a function returns, if it has one."""
    if _is_bare(function):
        return None
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    if "return" not in getattr(target, "__annotations__", ()):
        return None
    try:
        return get_type_hints(target, include_extras=True).get("return")
    except (TypeError, NameError):
        return None


def as_items(value: Any) -> list[tuple[str, Any]] | None:
    """An update given as a dataclass or model -> (key, value) pairs: those that were set. None for anything else."""
    fields = getattr(type(value), "model_fields", None)
    if fields is not None:
        chosen = value.model_fields_set
        return [
            (name, getattr(value, name)) for name in fields if name in chosen or _differs(value, name, fields[name])
        ]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            (f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if getattr(value, f.name) is not None
        ]
    return None


def _differs(model: Any, name: str, field: Any) -> bool:
    """Whether a field that was not given holds something else than its default."""
    return bool(getattr(model, name) != field.get_default(call_default_factory=True))


def json_schema(schema: Schema) -> dict[str, Any]:
    """JSON schema of a schema class. Keys of a TypedDict may all be left out: an input is an update."""
    if is_typeddict(schema.type):
        fields: dict[str, Any] = {name: (channel.typ, None) for name, channel in schema.channels.items()}
        made: dict[str, Any] = create_model(schema.type.__name__, **fields).model_json_schema()
        return made
    return TypeAdapter(schema.type).json_schema()
