"""The debugger's own tables (threads, runs, events) and the one class that reads and writes them.

The only module of the debugger that knows SQLModel. Checkpoints are not here: they belong to the runtime's savers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, func
from sqlalchemy.pool import StaticPool
from sqlmodel import Field, Session, SQLModel, col, create_engine, delete, select

from debugger.wire import EventRow, RunStatus, RunView, ThreadRow, ThreadStatus


class ThreadRecord(SQLModel, table=True):
    """A thread, as the thread list shows it."""

    __tablename__ = "debugger_thread"

    thread_id: str = Field(primary_key=True)
    graph_id: str = Field(index=True)
    status: str = "idle"
    created_at: str
    updated_at: str
    notes: str = "{}"
    """Metadata as JSON."""


class RunRecord(SQLModel, table=True):
    """One execution on a thread."""

    __tablename__ = "debugger_run"

    run_id: str = Field(primary_key=True)
    thread_id: str = Field(index=True)
    assistant_id: str
    status: str
    created_at: str
    updated_at: str
    notes: str = "{}"
    multitask_strategy: str = "reject"
    error: str | None = None


class EventRecord(SQLModel, table=True):
    """One journalled event, numbered within its thread."""

    __tablename__ = "debugger_event"

    thread_id: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    ts: str
    run_id: str | None
    mode: str
    ns: str
    node: str | None
    task_id: str | None
    checkpoint_id: str | None
    phase: str | None
    summary: str
    data: str


def now() -> str:
    """This moment in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat()


def open_engine(path: str | None) -> Engine:
    """An engine over a SQLite file, or over memory for None. WAL, so that readers never wait for the writer."""
    if path is None:
        return create_engine("sqlite://", connect_args={"check_same_thread": False}, poolclass=StaticPool)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False, "timeout": 10})

    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


class Records:
    """Reads and writes the tables. Safe from any thread: writes take turns."""

    def __init__(self, path: str | None) -> None:
        self._engine = open_engine(path)
        self._lock = threading.RLock()
        SQLModel.metadata.create_all(
            self._engine,
            tables=[SQLModel.metadata.tables[t.__tablename__] for t in (ThreadRecord, RunRecord, EventRecord)],
        )

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    # -- threads -------------------------------------------------------------------------------------------------------

    def add_thread(self, thread_id: str, graph_id: str, metadata: dict[str, Any]) -> ThreadRow:
        """Store a new thread."""
        stamp = now()
        record = ThreadRecord(
            thread_id=thread_id, graph_id=graph_id, created_at=stamp, updated_at=stamp, notes=json.dumps(metadata)
        )
        with self._lock, Session(self._engine) as session:
            session.add(record)
            session.commit()
            return _thread(record)

    def thread(self, thread_id: str) -> ThreadRow | None:
        """A thread, None if there is none."""
        with self._lock, Session(self._engine) as session:
            record = session.get(ThreadRecord, thread_id)
            return _thread(record) if record else None

    def threads(self, graph_id: str | None = None) -> list[ThreadRow]:
        """Threads, the one that changed last first."""
        query = select(ThreadRecord).order_by(col(ThreadRecord.updated_at).desc())
        if graph_id is not None:
            query = query.where(ThreadRecord.graph_id == graph_id)
        with self._lock, Session(self._engine) as session:
            return [_thread(record) for record in session.exec(query)]

    def change_thread(
        self, thread_id: str, *, status: ThreadStatus | None = None, metadata: dict[str, Any] | None = None
    ) -> ThreadRow | None:
        """Set a thread's status, or add to its metadata."""
        with self._lock, Session(self._engine) as session:
            record = session.get(ThreadRecord, thread_id)
            if record is None:
                return None
            record.status = status or record.status
            record.notes = json.dumps({**json.loads(record.notes), **(metadata or {})})
            record.updated_at = now()
            session.add(record)
            session.commit()
            return _thread(record)

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with its runs and events."""
        with self._lock, Session(self._engine) as session:
            for table in (ThreadRecord, RunRecord, EventRecord):
                session.exec(delete(table).where(col(table.thread_id) == thread_id))
            session.commit()

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add_run(self, run: RunView) -> None:
        """Store a new run."""
        with self._lock, Session(self._engine) as session:
            session.add(RunRecord(notes=json.dumps(run.metadata), **run.model_dump(exclude={"metadata"})))
            session.commit()

    def end_run(self, run_id: str, status: RunStatus, error: str | None = None) -> None:
        """Set how a run stands."""
        with self._lock, Session(self._engine) as session:
            record = session.get(RunRecord, run_id)
            if record is not None:
                record.status, record.error, record.updated_at = status, error, now()
                session.add(record)
                session.commit()

    def run(self, run_id: str) -> RunView | None:
        """A run, None if there is none."""
        with self._lock, Session(self._engine) as session:
            record = session.get(RunRecord, run_id)
            return _run(record) if record else None

    def runs(self, thread_id: str) -> list[RunView]:
        """The runs of a thread, newest first."""
        query = select(RunRecord).where(RunRecord.thread_id == thread_id).order_by(col(RunRecord.created_at).desc())
        with self._lock, Session(self._engine) as session:
            return [_run(record) for record in session.exec(query)]

    def delete_run(self, run_id: str) -> None:
        """Remove a run; its events stay in the journal."""
        with self._lock, Session(self._engine) as session:
            session.exec(delete(RunRecord).where(col(RunRecord.run_id) == run_id))
            session.commit()

    def end_left_over(self) -> None:
        """Runs that were in flight when the server was killed have ended: say so."""
        with self._lock, Session(self._engine) as session:
            for run in session.exec(select(RunRecord).where(col(RunRecord.status).in_(("pending", "running")))):
                run.status, run.error, run.updated_at = "cancelled", "The server stopped during this run.", now()
                session.add(run)
            for thread in session.exec(select(ThreadRecord).where(ThreadRecord.status == "busy")):
                thread.status = "interrupted"
                session.add(thread)
            session.commit()

    # -- events --------------------------------------------------------------------------------------------------------

    def add_events(self, rows: Iterable[EventRow]) -> None:
        """Store a batch in one transaction."""
        records = [_event_values(row) for row in rows]
        with self._lock, self._engine.begin() as connection:
            connection.execute(SQLModel.metadata.tables["debugger_event"].insert(), records)

    def last_seq(self, thread_id: str) -> int:
        """The newest number of a thread, 0 when it has none."""
        with self._lock, Session(self._engine) as session:
            found = session.exec(select(func.max(EventRecord.seq)).where(EventRecord.thread_id == thread_id)).one()
            return int(found or 0)

    def events(self, thread_id: str, after: int, limit: int) -> list[EventRow]:
        """Events with numbers above `after`, oldest first."""
        query = (
            select(EventRecord)
            .where(EventRecord.thread_id == thread_id, EventRecord.seq > after)
            .order_by(col(EventRecord.seq))
            .limit(limit)
        )
        with self._lock, Session(self._engine) as session:
            return [_event(record) for record in session.exec(query)]


def _thread(record: ThreadRecord) -> ThreadRow:
    return ThreadRow(
        thread_id=record.thread_id,
        graph_id=record.graph_id,
        status=record.status,  # type: ignore[arg-type]  # Pydantic checks it
        created_at=record.created_at,
        updated_at=record.updated_at,
        metadata=json.loads(record.notes),
    )


def _run(record: RunRecord) -> RunView:
    return RunView(metadata=json.loads(record.notes), **record.model_dump(exclude={"notes"}))


def _event_values(row: EventRow) -> dict[str, Any]:
    values = row.model_dump()
    values["ns"] = "|".join(row.ns)
    values["data"] = json.dumps(row.data)
    return values


def _event(record: EventRecord) -> EventRow:
    values: dict[str, Any] = record.model_dump()
    values["ns"] = record.ns.split("|") if record.ns else []
    values["data"] = json.loads(record.data)
    return EventRow(**values)


__all__: Sequence[str] = ("Records", "now")
