"""What a node's author says about trying again, taking too long, and remembering results. Values and pure functions only."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, NamedTuple

from typing_extensions import TypeVar

_OWN_FAULTS = (
    ArithmeticError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    ReferenceError,
    RuntimeError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
)
"""Errors that come again however often one tries."""


def default_retry_on(exc: Exception) -> bool:
    """Whether an error is worth another try: connections and 5xx answers are, mistakes in the program are not."""
    if isinstance(exc, ConnectionError):
        return True
    for module, name in (("httpx", "HTTPStatusError"), ("requests", "HTTPError")):
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(exc, getattr(loaded, name)):
            response = getattr(exc, "response", None)
            return response is None or 500 <= response.status_code < 600
    return not isinstance(exc, _OWN_FAULTS)


class RetryPolicy(NamedTuple):
    """Try a node again when it raises."""

    initial_interval: float = 0.5
    """Seconds before the second try."""
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    """Seconds; no pause is longer."""
    max_attempts: int = 3
    """The first try included."""
    jitter: bool = True
    """Add up to a second, so that many clients do not come back at once."""
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = default_retry_on


def retry_pause(policies: Sequence[RetryPolicy], error: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next try, by the first policy that knows the error; None: give up.

    Args:
        attempt: the number of the try that failed, from 1.
    """
    policy = next((policy for policy in policies if _matches(policy.retry_on, error)), None)
    if policy is None or attempt >= policy.max_attempts:
        return None
    pause = min(policy.max_interval, policy.initial_interval * policy.backoff_factor ** (attempt - 1))
    return pause + random.random() if policy.jitter else pause  # noqa: S311 - spreads load, guards nothing


def _matches(retry_on: Any, error: Exception) -> bool:
    if isinstance(retry_on, type):
        return isinstance(error, retry_on)
    if isinstance(retry_on, (list, tuple)):
        return isinstance(error, tuple(retry_on))
    if callable(retry_on):
        return bool(retry_on(error))
    raise TypeError(
        f"retry_on must be an Exception class, a list or tuple of Exception classes, or a callable, got {retry_on!r}."
    )


def retry_policies(given: RetryPolicy | Sequence[RetryPolicy] | None) -> tuple[RetryPolicy, ...]:
    """One policy, several, or none -> a tuple. Raises TypeError for anything else."""
    if given is None:
        return ()
    policies = (given,) if isinstance(given, RetryPolicy) else tuple(given)
    for policy in policies:
        if not hasattr(policy, "max_attempts"):
            raise TypeError(f"retry_policy must be a RetryPolicy or a list of them, got {policy!r}.")
    return policies


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutPolicy:
    """How long one try of an async node may take. Sync code cannot be stopped from outside."""

    run_timeout: float | timedelta | None = None
    """Seconds for the whole try."""
    idle_timeout: float | timedelta | None = None
    """Seconds without a sign of progress."""
    refresh_on: Literal["auto", "heartbeat"] = "auto"
    """What counts as progress: anything streamed or called back, or `runtime.heartbeat()` alone."""

    @classmethod
    def coerce(cls, given: float | timedelta | TimeoutPolicy | None) -> TimeoutPolicy | None:
        """A number or timedelta is a run timeout. Raises ValueError for one that is not above zero."""
        if given is None:
            return None
        policy = given if isinstance(given, TimeoutPolicy) else cls(run_timeout=given)
        run, idle = _seconds(policy.run_timeout), _seconds(policy.idle_timeout)
        for name, value in (("run_timeout", run), ("idle_timeout", idle)):
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be greater than 0, got {value}.")
        if policy.refresh_on not in ("auto", "heartbeat"):
            raise ValueError(f"refresh_on must be 'auto' or 'heartbeat', got {policy.refresh_on!r}.")
        if run is None and idle is None:
            return None
        return cls(run_timeout=run, idle_timeout=idle, refresh_on=policy.refresh_on)


def _seconds(value: float | timedelta | None) -> float | None:
    if value is None:
        return None
    try:
        return value.total_seconds() if isinstance(value, timedelta) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"A timeout must be seconds or a timedelta, got {value!r}.") from None


def default_cache_key(*args: Any, **kwargs: Any) -> bytes:
    """The input as bytes: equal inputs give equal keys, whatever the order of dict keys and sets. Nothing is read back."""
    return pickle.dumps((_frozen(args), _frozen(kwargs)), protocol=5)


def _frozen(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return tuple(sorted(((repr(key), _frozen(item)) for key, item in value.items()), key=lambda pair: pair[0]))
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(repr(item) for item in value))
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return (type(value).__qualname__, _frozen(dump()))
    fields: Hashable = value
    return fields


KeyFuncT = TypeVar("KeyFuncT", bound=Callable[..., str | bytes], default=Callable[..., str | bytes])


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy(Generic[KeyFuncT]):
    """Remember what a node returned, by its input."""

    key_func: Any = default_cache_key
    """The node's input -> text or bytes; equal keys share a result."""
    ttl: int | None = None
    """Seconds that a result is good for; None: for ever."""


def omit_payload(_value: Any) -> dict[str, Any]:
    """For `TracePolicy`: record nothing of the value."""
    return {}


class TracePolicy(NamedTuple):
    """What callback handlers see of a node's input and output. Not a means to hide secrets: its children are traced too."""

    process_inputs: Callable[[Any], Any] | None = None
    process_outputs: Callable[[Any], Any] | None = None
