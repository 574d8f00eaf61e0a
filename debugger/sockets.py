"""The socket: a room per thread, events in batches, and who may connect."""

from __future__ import annotations

from typing import Any

from flask import request
from flask_socketio import SocketIO, join_room, leave_room
from pydantic import ValidationError

from debugger.errors import DebuggerError
from debugger.security import COOKIE, Guard
from debugger.service import Service
from debugger.wire import ErrorBody, EventBatch, EventRow, ThreadChanged, ThreadRow, WatchRequest

_PAGE = 2000
"""Missed events that a watch is answered with; the rest comes by GET /debug/threads/{id}/events."""


def connect_sockets(sockets: SocketIO, service: Service, guard: Guard) -> None:
    """Hook the service's news to the socket, and the page's wishes to the service."""

    def show_events(thread_id: str, rows: list[EventRow]) -> None:
        batch = EventBatch(thread_id=thread_id, events=rows)
        sockets.emit("events", batch.model_dump(), to=thread_id)

    def show_thread(row: ThreadRow, deleted: bool) -> None:
        changed = ThreadChanged(thread_id=row.thread_id, graph_id=row.graph_id, status=row.status, deleted=deleted)
        sockets.emit("thread", changed.model_dump())

    service.on_events = show_events
    service.on_thread = show_thread

    @sockets.on("connect")
    def connect(auth: Any = None) -> bool:
        keys = (request.cookies.get(COOKIE), (auth or {}).get("token") if isinstance(auth, dict) else None)
        return guard.host_allowed(request.host) and any(guard.token_fits(key) for key in keys)

    @sockets.on("watch")
    def watch(data: Any) -> dict[str, Any]:
        """Join a thread's room first, then read what was missed: so nothing falls between."""
        try:
            wanted = WatchRequest.model_validate(data)
            service.thread(wanted.thread_id)
        except ValidationError as error:
            return ErrorBody(
                error="invalid_watch", reason=str(error), fix="Send {thread_id, after}.", problems=[]
            ).model_dump()
        except DebuggerError as error:
            return error.body().model_dump()
        try:
            join_room(wanted.thread_id)
        except ValueError:  # the page has left meanwhile: nobody is there to answer
            return {}
        return service.journal.page(wanted.thread_id, wanted.after, _PAGE).model_dump()

    @sockets.on("unwatch")
    def unwatch(data: Any) -> None:
        if isinstance(data, dict) and isinstance(data.get("thread_id"), str):
            leave_room(data["thread_id"])
