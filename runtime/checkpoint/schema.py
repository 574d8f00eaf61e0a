"""The tables that checkpoints are stored in, for SQLite and, with the same definition, PostgreSQL; and their versions.

Small columns for what a timeline shows; values apart, by channel and version; task writes as rows of their own. Refuses:
connections (sqlite_file.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Index, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

VERSION = 3
"""Of this schema; stored in the database, so that a later version can upgrade it."""


class CheckpointRow(SQLModel, table=True):
    """A checkpoint without its values."""

    __tablename__ = "checkpoint"

    thread_id: str = Field(primary_key=True)
    checkpoint_ns: str = Field(primary_key=True)
    checkpoint_id: str = Field(primary_key=True)
    parent_id: str | None
    step: int
    source: str
    ts: str
    writers: str
    """Node names, as JSON."""
    next_nodes: str
    """Node names, as JSON."""
    metadata_: bytes
    versions: bytes
    """Channel to version, and which channels have a value."""
    rest: bytes
    """What else the checkpoint holds (versions seen, ...)."""


class ValueRow(SQLModel, table=True):
    """A channel's value in one version."""

    __tablename__ = "channel_value"

    thread_id: str = Field(primary_key=True)
    checkpoint_ns: str = Field(primary_key=True)
    channel: str = Field(primary_key=True)
    version: str = Field(primary_key=True)
    payload: bytes
    """The value; or, of a list with a `base`, the items between those that are kept of it."""
    base: str | None = None
    """A version of the same channel."""
    head: int | None = None
    """Items of the base that are kept from its start."""
    tail: int | None = None
    """Items of the base that are kept from its end."""


class WriteRow(SQLModel, table=True):
    """One write of a task."""

    __tablename__ = "task_write"

    thread_id: str = Field(primary_key=True)
    checkpoint_ns: str = Field(primary_key=True)
    checkpoint_id: str = Field(primary_key=True)
    task_id: str = Field(primary_key=True)
    idx: int = Field(primary_key=True)
    channel: str
    payload: bytes
    task_path: str

    __table_args__ = (
        Index(
            "task_write_note",
            *("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx"),
            sqlite_where=text("idx < 0"),
            postgresql_where=text("idx < 0"),
        ),
    )


class SchemaRow(SQLModel, table=True):
    """The version of the tables: one row."""

    __tablename__ = "checkpoint_schema"

    version: int = Field(primary_key=True)


TABLES = (CheckpointRow, ValueRow, WriteRow)
MIGRATIONS: Mapping[int, Sequence[str]] = {
    1: (
        """CREATE INDEX IF NOT EXISTS task_write_note
 ON task_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) WHERE idx < 0""",
    ),
    2: (
        "ALTER TABLE channel_value ADD COLUMN base VARCHAR",
        "ALTER TABLE channel_value ADD COLUMN head INTEGER",
        "ALTER TABLE channel_value ADD COLUMN tail INTEGER",
        "DROP INDEX IF EXISTS checkpoint_parent",
    ),
}
"""A version to the statements that make the next one of it. Version 1 had no `checkpoint_schema`."""


def sqlite_statements() -> list[str]:
    """The statements that make the tables in a SQLite file that has none."""
    dialect = sqlite.dialect()
    statements = []
    for model in (*TABLES, SchemaRow):
        table = SQLModel.metadata.tables[str(model.__tablename__)]
        create = str(CreateTable(table, if_not_exists=True).compile(dialect=dialect)).strip()
        # A checkpoint's row is small and read in order of its key; those of values and writes may be large.
        statements.append(f"{create} WITHOUT ROWID" if model is CheckpointRow else create)
        statements.extend(str(CreateIndex(i, if_not_exists=True).compile(dialect=dialect)) for i in table.indexes)
    return statements
