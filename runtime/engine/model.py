"""The engine's values: a compiled graph as data, and the tasks of a super-step. No behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.channels.base import BaseChannel
from runtime.engine.action import Action
from runtime.errors import GraphDrained, NodeError
from runtime.managed import ManagedValue
from runtime.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy
from runtime.types import Command, Interrupt

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Write = tuple[str, Any]
"""(channel, value)."""
Channels = dict[str, BaseChannel[Any, Any, Any]]
Checkpoint = dict[str, Any]
"""The stored record: id, ts, channel_values, channel_versions, versions_seen, updated_channels."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A router: runs after its node and says where to go."""

    router: Action
    read: Callable[[Mapping[str, Any]], Any]
    """Values of all state keys -> what the router takes."""
    write: Callable[[Any], list[Write]]
    """What the router said -> writes. Raises ValueError naming the router for a place that is not there."""


@dataclass(slots=True, eq=False)  # a graph may have thousands: freezing would double what one costs
class Node:
    """A node, compiled. Nobody changes it."""

    name: str
    action: Action
    triggers: tuple[str, ...]
    """Channels whose new value makes it run."""
    keys: tuple[str, ...]
    """State keys that it reads."""
    coerce: Callable[[dict[str, Any]], Any]
    """Values of those keys -> its input (dict, dataclass, model)."""
    write: Callable[[Any], list[Write]]
    """What it returned -> writes, jumps included. Raises InvalidUpdateError, ParentCommand."""
    edges: tuple[Write, ...]
    """Writes that follow each run: static edges."""
    branches: tuple[Branch, ...]
    metadata: Mapping[str, Any]
    hidden: bool = False
    """The start node: streams leave it out."""
    retry: tuple[RetryPolicy, ...] = ()
    timeout: TimeoutPolicy | None = None
    """Of one try."""
    cache: CachePolicy[Any] | None = None
    cache_ns: tuple[str, ...] = ()
    """Where its results are remembered."""
    trace: TracePolicy | None = None
    """What callback handlers see of it."""
    handler: Node | None = None
    """Runs in the same super-step when this node has failed for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSpec:
    """A compiled graph as data: all that the loop needs to know."""

    name: str
    nodes: Mapping[str, Node]
    channels: Channels
    """Empty prototypes, one a key."""
    managed: Mapping[str, ManagedValue]
    triggered_by: Mapping[str, tuple[str, ...]]
    """Channel -> nodes it triggers: only these are looked at after a step."""
    ticking: tuple[str, ...]
    """Channels that may change in a step without writes to them."""
    finishing: tuple[str, ...]
    """Channels that wait for the moment when nothing else can run."""
    output_keys: tuple[str, ...]
    stream_keys: tuple[str, ...]
    """All state keys, private ones included."""
    branch_keys: tuple[str, ...]
    """What routers read: all state keys, and managed values."""
    root: str | None = None
    """The one key whose bare value is the state, where the state has no keys."""
    ticking_set: frozenset[str] = field(init=False)
    """The same as `ticking`."""
    places: Mapping[str, int] = field(init=False)
    """Node -> its place in the order in which nodes were added."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ticking_set", frozenset(self.ticking))
        object.__setattr__(self, "places", {name: place for place, name in enumerate(self.nodes)})


@dataclass(slots=True)
class Task:
    """One node execution within a super-step."""

    id: str
    name: str
    path: tuple[Any, ...]
    """(PULL, name) or (PUSH, index, False)."""
    triggers: tuple[str, ...]
    input: Any
    node: Node
    step: int
    checkpoint_ns: str
    """The task's namespace: `node:id`, below that of its graph."""
    writes: list[Write] | None = None
    """None until it has ended."""
    answered: dict[int | str, Any] = field(default_factory=dict)
    """Answers that it has used, by the index of the question, and what its scratchpad has kept."""
    interrupts: tuple[Interrupt, ...] = ()
    """Questions that wait, as stored."""
    error: BaseException | None = None
    resuming: bool = False
    timeout: TimeoutPolicy | None = None
    """Of one try: the Send's, else the node's."""
    cached: bool = False
    """Its writes are remembered ones of an earlier run of the node."""
    failure: NodeError | None = None
    """What it has to handle, if it is an error handler."""
    caller: str | None = None
    """Id of the task that called it, if one did."""
    invalid: Exception | None = None
    """Why its input does not fit the node's schema: the task fails with this when it runs, reading it still works."""

    @property
    def shown(self) -> bool:
        """Whether snapshots have it: an error handler is a part of the task that failed, until it asks something."""
        return self.failure is None or bool(self.interrupts)


@dataclass(slots=True)
class Finished:
    """A task ended with these writes."""

    writes: list[Write]


@dataclass(frozen=True, slots=True)
class Paused:
    """A task asks."""

    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A task raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Jumped:
    """A task raised a command for the graph above this one."""

    command: Command[Any]


@dataclass(frozen=True, slots=True)
class Drained:
    """A graph that the task called was asked to stop, and did."""

    reason: GraphDrained


Outcome = Finished | Paused | Failed | Jumped | Drained


@dataclass(slots=True)  # one a run: freezing costs a microsecond a field
class RunOptions:
    """What one call of a graph says."""

    config: RunnableConfig
    context: Any
    input: Any
    modes: frozenset[str]
    output_keys: tuple[str, ...]
    interrupt_before: frozenset[str]
    """Node names, or {'*'}."""
    interrupt_after: frozenset[str]
    durability: str
    subgraphs: bool
    notes: Mapping[str, Any]
    """The metadata that the caller gave: kept with each checkpoint."""


@dataclass(slots=True)
class RunOutcome:
    """How a run ended."""

    values: Any
    interrupts: tuple[Interrupt, ...]
