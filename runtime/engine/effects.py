"""What the loop asks of its driver. Data only: drivers.py performs it, tests script it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runtime.engine.model import Checkpoint, Outcome, Task, Write

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

CacheKey = tuple[tuple[str, ...], str]
"""(namespace, key)."""


@dataclass(frozen=True, slots=True)
class Load:
    """Reply: the CheckpointTuple that `config` names, or None."""

    config: RunnableConfig
    to_run: bool = False
    """A run goes on from it."""


@dataclass(frozen=True, slots=True)
class ListCheckpoints:
    """Reply: a list of CheckpointTuples, newest first."""

    config: RunnableConfig
    filter: dict[str, Any] | None = None
    before: RunnableConfig | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class ListNamespaces:
    """Reply: the namespaces below `prefix` in a thread."""

    thread_id: str
    prefix: str


@dataclass(slots=True)
class PutWrites:
    """No reply."""

    config: RunnableConfig
    writes: Sequence[Write]
    task_id: str
    task_path: str


@dataclass(slots=True)
class PutCheckpoint:
    """No reply."""

    config: RunnableConfig
    """Of the parent."""
    checkpoint: Checkpoint
    metadata: dict[str, Any]
    new_versions: dict[str, Any]
    writes: PutWrites | None = None
    """Of the one task that it comes from: stored with it."""
    meet: Callable[[PutCheckpoint, str | None], object] | None = None
    """Told the id of the newest checkpoint of the namespace, right before this one is stored."""


@dataclass(slots=True)
class Emit:
    """A stream item. No reply."""

    ns: tuple[str, ...]
    mode: str
    payload: Any
    forwarded: bool = False
    """The graph above has it already."""


@dataclass(slots=True)
class Start:
    """Start these tasks. No reply."""

    tasks: Sequence[Task]
    execute: Callable[[Task], Any]
    """Task -> the task's program, a generator of Calls that returns an Outcome (see execute.py)."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run one program to its end. Reply: its Outcome."""

    steps: Any


@dataclass(slots=True)
class NextDone:
    """Reply: (Task, Outcome) of the next task that ends, or a TaskCall that a task made. None once no task is running."""


@dataclass(frozen=True, slots=True)
class Head:
    """Reply: the id of the newest checkpoint of a namespace; None for none, or where the saver cannot say."""

    thread_id: str
    ns: str
    besides: str | None = None
    """A checkpoint not to count."""


@dataclass(frozen=True, slots=True)
class CacheGet:
    """Reply: those of the keys that the cache knows, each with its writes."""

    keys: Sequence[CacheKey]


@dataclass(frozen=True, slots=True)
class CachePut:
    """No reply."""

    key: CacheKey
    writes: Sequence[Write]
    ttl: int | None
    """Seconds."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Call this, and await what it gives if that is awaitable: callback handlers are told so. Reply: the result."""

    what: Callable[[], Any]


# -- asked by a task's program -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Call:
    """Run user code. Reply: what it returned."""

    action: Any
    value: Any
    context: Any
    timeout: Any = None
    """A TimeoutPolicy."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait before the next try. No reply."""

    seconds: float


Request = Call | Sleep | Tell
Effect = (
    Load
    | ListCheckpoints
    | ListNamespaces
    | PutCheckpoint
    | PutWrites
    | Emit
    | Start
    | NextDone
    | Run
    | Head
    | CacheGet
    | CachePut
    | Tell
)
EndOfTask = tuple[Task, Outcome]
