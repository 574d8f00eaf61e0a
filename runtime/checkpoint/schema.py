"""The tables that checkpoints are stored in, for SQLite and, with the same definition, PostgreSQL.

Small columns for what a timeline shows; values apart, by channel and version; task writes as rows of their own.
"""

from __future__ import annotations

from sqlalchemy import Index
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

VERSION = 1
"""Of this schema; stored in the file, so that a later version can upgrade it."""


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

    __table_args__ = (Index("checkpoint_parent", "thread_id", "checkpoint_ns", "parent_id"),)


class ValueRow(SQLModel, table=True):
    """A channel's value in one version."""

    __tablename__ = "channel_value"

    thread_id: str = Field(primary_key=True)
    checkpoint_ns: str = Field(primary_key=True)
    channel: str = Field(primary_key=True)
    version: str = Field(primary_key=True)
    payload: bytes


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


TABLES = (CheckpointRow, ValueRow, WriteRow)


def sqlite_statements() -> list[str]:
    """The statements that make the tables in a SQLite file that has none."""
    dialect = sqlite.dialect()
    statements = []
    for model in TABLES:
        table = SQLModel.metadata.tables[str(model.__tablename__)]
        create = str(CreateTable(table, if_not_exists=True).compile(dialect=dialect)).strip()
        statements.append(f"{create} WITHOUT ROWID" if model is not ValueRow else create)
        statements.extend(str(CreateIndex(i, if_not_exists=True).compile(dialect=dialect)) for i in table.indexes)
    return statements
