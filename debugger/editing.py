"""Edits: which node they can be made as, what they would do, and doing them.

A preview is made by the real `update_state` on a copy of the checkpoint in memory that is thrown away, so it cannot be
wrong about reducers and edges, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from debugger.errors import DebuggerError
from debugger.graphs.adapter import ServedGraph
from debugger.inspector import Inspector, config_of
from debugger.values import UnreadableValueError, decode, encode, typed
from debugger.wire import AsNodeChoice, AsNodeChoices, ChannelPreview, EditPreview, FieldProblem, StateEditRequest
from runtime.checkpoint.memory import InMemorySaver

_START, _END = "__start__", "__end__"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an edit is made."""

    thread_id: str
    ns: str
    checkpoint_id: str | None
    """None: the head, whatever it is by then."""


def place_of(thread_id: str, request: StateEditRequest) -> Place:
    """The place that a request names."""
    ref = request.checkpoint
    ns = ref.checkpoint_ns if ref else ""
    return Place(thread_id, ns, request.checkpoint_id or (ref.checkpoint_id if ref else None))


class Editor:
    """Edits the threads of one graph."""

    def __init__(self, served: ServedGraph) -> None:
        self.served = served
        self.inspector = Inspector(served)

    # -- as which node -------------------------------------------------------------------------------------------------

    def choices(self, place: Place) -> AsNodeChoices:
        """The nodes that an edit here can be made as, each with what would run next; and the inferred one, or why none."""
        inferred, reason = self._infer(place)
        choices = []
        for name in self._sensible(place, inferred):
            following = self._next_as(place, name)
            if following is not None:
                choices.append(AsNodeChoice(name=name, next=following))
        return AsNodeChoices(choices=choices, inferred=inferred, reason=reason)

    def _sensible(self, place: Place, inferred: str | None) -> list[str]:
        """Nodes that have run on this line or run next, and the two ends."""
        saved = self._saved(place)
        if saved is None:
            return [_START]
        nodes = self.served.at(place.ns).nodes
        checkpoint = saved.checkpoint
        ran = [n for n in nodes if n in checkpoint["versions_seen"] or n in checkpoint.get("writers", ())]
        pending = self.inspector.snapshot(place.thread_id, place.ns, place.checkpoint_id).next
        names = [*([inferred] if inferred else []), *ran, *(n for n in pending if n in nodes), _START, _END]
        return list(dict.fromkeys(names))

    def _infer(self, place: Place) -> tuple[str | None, str]:
        """What the graph itself takes for the node that wrote last."""
        try:
            overlay, config = self._try(place, {}, None)
        except Exception as error:  # noqa: BLE001 - the graph says why
            return None, str(error)
        made = overlay.saver.get_tuple(config).checkpoint
        writers = made.get("writers") or self._last_writers(place)
        if len(writers) == 1:
            return writers[0], f"'{writers[0]}' wrote last."
        return None, "Nobody can be told to have written last: choose."

    def _last_writers(self, place: Place) -> list[str]:
        """Where checkpoints do not say who wrote them: the nodes that saw the newest version of what triggers them."""
        saved = self._saved(place)
        if saved is None:
            return [_START]
        nodes = {*self.served.at(place.ns).nodes, _START}
        last = {n: max(map(str, v.values())) for n, v in saved.checkpoint["versions_seen"].items() if v and n in nodes}
        return [name for name, version in last.items() if version == max(last.values())]

    def _next_as(self, place: Place, name: str) -> list[str] | None:
        """What would run after an edit in a node's name; None where it cannot be made."""
        try:
            overlay, config = self._try(place, None if name == _END else {}, name)
        except Exception:  # noqa: BLE001 - a node that refuses an empty edit is no choice
            return None
        return list(overlay.graph.get_state(config).next)

    # -- preview and edit ----------------------------------------------------------------------------------------------

    def preview(self, place: Place, request: StateEditRequest) -> EditPreview:
        """What an edit would do. Problems are listed, not raised."""
        before = self._snapshot_or_empty(place)
        try:
            update = self.read_update(place, request)
        except UnreadableValueError as error:
            return EditPreview(as_node=request.as_node, next=[], channels=[], problems=error.problems)
        try:
            overlay, config = self._try(place, update, request.as_node)
            after = overlay.graph.get_state(config)
        except Exception as error:  # noqa: BLE001 - whatever reducers and routers raise is what the person must know
            return EditPreview(
                as_node=request.as_node, next=[], channels=[], problems=[_problem(error, update, request)]
            )
        graph = self.served.at(place.ns)
        names = [*(update or {}), *(k for k in after.values if k not in (update or {}))]
        channels = []
        for name in dict.fromkeys(names):
            old, new = before.get(name), after.values.get(name)
            changed = encode(old) != encode(new)
            if changed or name in (update or {}):
                written = encode((request.values or {}).get(name))
                channels.append(
                    ChannelPreview(
                        name=name,
                        reducer=graph.reducer(name),
                        before=encode(old),
                        update=written,
                        after=encode(new),
                        changed=changed,
                    )
                )
        return EditPreview(as_node=request.as_node, next=list(after.next), channels=channels, problems=[])

    def edit(self, place: Place, request: StateEditRequest) -> dict[str, Any]:
        """Make the edit. Returns the new checkpoint's config.

        Raises:
            DebuggerError: with the problems that the preview would list; nothing is stored.
        """
        self.inspector.require(place.thread_id, place.ns, place.checkpoint_id)
        shown = self.preview(place, request)
        if shown.problems:
            raise DebuggerError(
                "invalid_edit",
                "The edit was not saved: " + " ".join(problem.message for problem in shown.problems),
                shown.problems[0].fix,
                status=422,
                problems=shown.problems,
            )
        head = self.inspector.head(place.thread_id, place.ns)
        past = None if place.checkpoint_id == head else place.checkpoint_id
        config = config_of(place.thread_id, place.ns, past)
        if request.as_node:
            config["metadata"] = {"as_node": request.as_node}
        update = self.read_update(place, request)
        result: dict[str, Any] = self.served.graph.update_state(config, update, as_node=request.as_node)
        return result

    def read_update(self, place: Place, request: StateEditRequest) -> dict[str, Any] | None:
        """The request's values in their channels' types.

        Raises:
            UnreadableValueError: a key that the state lacks, or a value that does not fit.
        """
        if request.values is None:
            return None
        graph = self.served.at(place.ns)
        problems: list[FieldProblem] = []
        update: dict[str, Any] = {}
        for name, value in request.values.items():
            if name not in graph.state_keys:
                problems.append(
                    FieldProblem(
                        path=[name],
                        message=f"The state has no key '{name}'.",
                        fix=f"Its keys are: {', '.join(sorted(graph.state_keys))}.",
                    )
                )
                continue
            try:
                update[name] = self._value(graph, name, value, name in request.overwrite)
            except UnreadableValueError as error:
                problems.extend(error.problems)
            except ValueError as error:
                problems.append(FieldProblem(path=[name], message=f"{name}: {error}", fix="Give a whole value."))
        if problems:
            raise UnreadableValueError(problems)
        return update

    def _value(self, graph: ServedGraph, name: str, value: Any, overwrite: bool) -> Any:
        read = decode(value)
        if graph.reducer(name) is None:
            return typed(name, graph.annotations[name], read)
        try:
            read = typed(name, graph.annotations[name], read)
        except UnreadableValueError:
            if overwrite:
                raise  # without the reducer the value stands as it is, so it must be of the key's type
        return graph.kind.overwrite(read) if overwrite else read

    # -- the overlay ---------------------------------------------------------------------------------------------------

    def _saved(self, place: Place) -> Any:
        return self.served.saver.get_tuple(config_of(place.thread_id, place.ns, place.checkpoint_id))

    def _try(self, place: Place, values: Any, as_node: str | None) -> tuple[ServedGraph, Any]:
        """Make an update on a copy of the one checkpoint, in memory. Returns the graph over it, and the new config."""
        memory = InMemorySaver()
        saved = self._saved(place)
        base: Any = config_of(place.thread_id, place.ns)
        if saved is not None:
            checkpoint = saved.checkpoint
            at = memory.put(base, checkpoint, saved.metadata, dict(checkpoint["channel_versions"]))
            for task_id, writes in _by_task(saved.pending_writes or ()).items():
                memory.put_writes(at, writes, task_id)
            if place.checkpoint_id not in (None, self.inspector.head(place.thread_id, place.ns)):
                base = config_of(place.thread_id, place.ns, checkpoint["id"])  # the past is edited as it was stored
        kind = self.served.kind
        overlay = ServedGraph(self.served.id, kind, kind.with_saver(self.served.graph, memory), memory, "overlay")
        return overlay, overlay.graph.update_state(base, values, as_node=as_node)

    def _snapshot_or_empty(self, place: Place) -> Mapping[str, Any]:
        if place.checkpoint_id is None and self.inspector.head(place.thread_id, place.ns) is None:
            return {}
        found: Mapping[str, Any] = self.inspector.snapshot(place.thread_id, place.ns, place.checkpoint_id).values
        return found


def _by_task(pending: Iterable[tuple[str, str, Any]]) -> dict[str, list[tuple[str, Any]]]:
    grouped: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in pending:
        grouped.setdefault(task_id, []).append((channel, value))
    return grouped


def _problem(error: Exception, update: Mapping[str, Any] | None, request: StateEditRequest) -> FieldProblem:
    """What the graph raised, at the field that caused it."""
    text = str(error) or type(error).__name__
    if "as_node" in text or "mbiguous" in text or "does not exist" in text:
        return FieldProblem(path=["as_node"], message=text, fix="Choose in which node's name the edit is made.")
    named = next((name for name in update or {} if f"'{name}'" in text), None)
    only = next(iter(update or {}), None)
    name = named or only or "values"
    return FieldProblem(
        path=[name],
        message=f"{name}: {type(error).__name__}: {text}",
        fix="Give a value that the key's reducer, and the routers after the node, can take.",
    )
