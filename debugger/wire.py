"""The shapes that travel between the server and the page.

Owns: what an answer of `/debug/*`, a socket message and a request body look like. `static/src/wire.ts` is generated from
this module, so page and server cannot drift apart. Refuses: behaviour, Flask, database.

Values of user state travel as JSON; what JSON cannot say is tagged: `{"$type": "tuple", "$value": [...]}`,
`{"$type": "message", "$value": {"type": "ai", "content": ...}}`, `{"$type": "datetime", "$value": "2026-..."}`,
`{"$type": "package.Model", "$value": {...}}` (see `debugger.values`). The same tags are accepted in edits.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

EventMode = Literal["values", "updates", "messages", "custom", "checkpoints", "tasks", "debug", "run", "edit"]
"""The seven stream modes, and two of our own: a run's life, and a person's edit."""
ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
RunStatus = Literal["pending", "running", "success", "error", "interrupted", "cancelled"]
Source = Literal["input", "loop", "update", "fork"]


class Wire(BaseModel):
    """Base of all shapes: closed, so that a mistyped field is an error and not a silence."""

    model_config = ConfigDict(extra="forbid")


# -- graphs ----------------------------------------------------------------------------------------------------------


class ChannelInfo(Wire):
    """A state key: where it lives and how writes merge."""

    name: str
    type: str
    """The annotation as a person would write it, e.g. `list[str]`."""
    reducer: str | None
    """Name of the reducer, e.g. `operator.add`; None when the last write wins."""


class GraphInfo(Wire):
    """A served graph."""

    id: str
    """Unique among the served graphs; also accepted as an assistant id."""
    kind: Literal["runtime", "langgraph"]
    target: str
    """Where it came from: an absolute `file.py:name`, or `gallery:name`."""
    description: str
    notices: list[str]
    """What the person should know, e.g. that a checkpointer was attached."""
    channels: list[ChannelInfo]
    input_schema: dict[str, Any]
    """JSON schema of the input, for the form."""
    example_inputs: list[dict[str, Any]] = Field(default_factory=list)
    """Ready-made inputs that the form offers (gallery graphs have them)."""


class TopologyNode(Wire):
    id: str
    """Path of names joined by ':', e.g. `research:search` (as `get_graph(xray=True)` names them)."""
    name: str
    kind: Literal["start", "end", "node", "subgraph"]
    parent: str | None
    """Id of the enclosing subgraph node, None at the root."""
    expanded: bool
    """For a subgraph: whether it is drawn as a box with its nodes inside."""


class TopologyEdge(Wire):
    id: str
    source: str
    target: str
    conditional: bool
    """Drawn dashed."""
    anywhere: bool
    """A router without declared targets: may go to any node."""
    label: str | None


class TopologyView(Wire):
    """A compiled graph, with the chosen subgraphs opened. In the SVG made from `dot`, elements have the ids
    `n|<node id>`, `e|<edge id>` and `c|<subgraph node id>` (clusters)."""

    graph_id: str
    nodes: list[TopologyNode]
    edges: list[TopologyEdge]
    dot: str
    mermaid: str


# -- threads and timelines -------------------------------------------------------------------------------------------


class ThreadRow(Wire):
    thread_id: str
    graph_id: str
    status: ThreadStatus
    created_at: str
    updated_at: str
    metadata: dict[str, Any]


class NamespaceRef(Wire):
    """A subgraph's own line of checkpoints."""

    ns: str
    """`checkpoint_ns`: '' for the root, `node:task_id`, nested by '|'."""
    label: str
    """For people: node names joined by ' > '."""
    node: str | None
    task_id: str | None
    count: int
    """Checkpoints in it."""


class TimelineRow(Wire):
    checkpoint_id: str
    parent_id: str | None
    step: int
    source: Source
    writers: list[str]
    """Nodes whose writes made this checkpoint; for an edit the `as_node`; empty for an input."""
    changed: list[str]
    """Channels that this checkpoint changed; empty means 'no change'."""
    next: list[str]
    created_at: str
    interrupts: int
    """Questions that wait at this checkpoint."""
    error: str | None
    lane: int
    """Column of the branch, 0 = the oldest line."""
    branch: str
    """Id of the branch = id of its first checkpoint."""
    is_head: bool
    run_id: str | None
    children: list[NamespaceRef]
    """Namespaces of subgraphs that ran from this checkpoint."""


class Branch(Wire):
    """A path of checkpoints from a fork to a leaf."""

    id: str
    lane: int
    tip: str
    forked_from: str | None
    count: int


class TimelinePage(Wire):
    thread_id: str
    ns: str
    rows: list[TimelineRow]
    """Newest first."""
    branches: list[Branch]
    head: str | None
    total: int
    next_before: str | None
    """Checkpoint id to pass as `before` for the next page; None when this was the last."""


class InterruptView(Wire):
    id: str
    value: Any


class TaskView(Wire):
    id: str
    name: str
    path: list[Any]
    error: str | None
    interrupts: list[InterruptView]
    result: Any
    """What the node wrote, None while it has not ended."""
    ended: bool
    subgraph_ns: str | None


class Change(Wire):
    """One difference against the parent checkpoint."""

    path: list[str | int]
    op: Literal["add", "remove", "replace"]
    before: Any = None
    after: Any = None


class CheckpointView(Wire):
    graph_id: str
    thread_id: str
    ns: str
    checkpoint_id: str
    parent_id: str | None
    step: int
    source: Source
    created_at: str
    values: dict[str, Any]
    message_channels: list[str]
    """Channels whose value is a list of messages: shown as a chat."""
    next: list[str]
    tasks: list[TaskView]
    interrupts: list[InterruptView]
    metadata: dict[str, Any]
    config: dict[str, Any]
    """The RunnableConfig of this checkpoint, to copy."""
    changes: list[Change]
    children: list[NamespaceRef]
    warnings: list[str]


# -- edits -----------------------------------------------------------------------------------------------------------


class CheckpointRef(Wire):
    checkpoint_id: str | None = None
    checkpoint_ns: str = ""
    thread_id: str | None = None
    checkpoint_map: dict[str, str] | None = None


class StateEditRequest(Wire):
    """`POST /threads/{id}/state` and `POST /debug/threads/{id}/preview`."""

    values: dict[str, Any] | None = None
    """Channel to update. None makes a fork without a change."""
    as_node: str | None = None
    checkpoint: CheckpointRef | None = None
    checkpoint_id: str | None = None
    overwrite: list[str] = Field(default_factory=list)
    """Channels whose value replaces the old one, past their reducer."""


class FieldProblem(Wire):
    path: list[str | int]
    message: str
    fix: str


class ChannelPreview(Wire):
    name: str
    reducer: str | None
    before: Any = None
    update: Any = None
    after: Any = None
    changed: bool


class EditPreview(Wire):
    """What `update_state` would make of an edit; nothing is stored."""

    as_node: str | None
    next: list[str]
    channels: list[ChannelPreview]
    problems: list[FieldProblem]


class AsNodeChoice(Wire):
    name: str
    next: list[str]
    """What would run after an edit in this node's name."""


class AsNodeChoices(Wire):
    choices: list[AsNodeChoice]
    inferred: str | None
    reason: str
    """Why that one is inferred, or why none could be."""


# -- runs and events -------------------------------------------------------------------------------------------------


class CommandBody(Wire):
    resume: Any = None
    update: Any = None
    goto: Any = None


class RunRequest(Wire):
    """`POST /threads/{id}/runs` (and `/wait`, `/stream`): the LangGraph server's body, and `until`."""

    assistant_id: str
    input: Any = None
    command: CommandBody | None = None
    checkpoint: CheckpointRef | None = None
    checkpoint_id: str | None = None
    config: dict[str, Any] | None = None
    context: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    interrupt_before: list[str] | Literal["*"] | None = None
    interrupt_after: list[str] | Literal["*"] | None = None
    stream_mode: list[str] | str | None = None
    stream_subgraphs: bool = False
    stream_resumable: bool = False
    multitask_strategy: Literal["reject", "enqueue", "interrupt", "rollback"] = "reject"
    if_not_exists: Literal["create", "reject"] = "reject"
    on_disconnect: Literal["cancel", "continue"] = "continue"
    durability: Literal["sync", "async", "exit"] | None = None
    until: Literal["pause", "end", "step"] = "pause"
    """`pause`: stop at the next breakpoint or question. `end`: go on past breakpoints (a question still stops).
    `step`: one super-step."""
    after_edit: bool = False
    """The second half of "save and run to next pause": a breakpoint right at the edit is a pause, too."""


class RunView(Wire):
    run_id: str
    thread_id: str
    assistant_id: str
    created_at: str
    updated_at: str
    status: RunStatus
    metadata: dict[str, Any]
    multitask_strategy: str
    error: str | None = None


class EventRow(Wire):
    """One journalled event."""

    seq: int
    """Counts from 1 within a thread, without gaps."""
    ts: str
    thread_id: str
    run_id: str | None
    mode: EventMode
    ns: list[str]
    """Namespace as streams give it: one `node:task_id` a level."""
    node: str | None
    task_id: str | None
    checkpoint_id: str | None
    phase: str | None
    """tasks: `start`, `result`, `error`, `interrupt`. run: `started`, `success`, `error`, `interrupted`, `cancelled`."""
    summary: str
    data: Any


class EventPage(Wire):
    thread_id: str
    events: list[EventRow]
    last_seq: int
    """The newest number of the thread; more remain while the page ends before it."""


class WatchRequest(Wire):
    """Socket message `watch`: join a thread's room. Acknowledged with an EventPage of what came after `after`."""

    thread_id: str
    after: int = 0


class EventBatch(Wire):
    """Socket message `events`, server to page."""

    thread_id: str
    events: list[EventRow]


class ThreadChanged(Wire):
    """Socket message `thread`, server to every page: a thread was made, deleted, or has another status."""

    thread_id: str
    graph_id: str
    status: ThreadStatus
    deleted: bool = False


class ErrorBody(Wire):
    """Every error answer."""

    error: str
    """A short stable word: `unknown_thread`, `invalid_edit`, ..."""
    reason: str
    """What is wrong, naming the culprit."""
    fix: str
    """What to do about it."""
    problems: list[FieldProblem] = Field(default_factory=list)


class Boot(Wire):
    """The data that the first paint needs, in the page as a JSON block with the id `boot`."""

    version: str
    graphs: list[GraphInfo]
    database: str
    """Absolute path of the database, or `memory`."""
