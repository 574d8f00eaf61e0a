"""Names with a meaning, shared by every layer. No behaviour."""

from __future__ import annotations

import sys

START = sys.intern("__start__")
"""The virtual first node: it takes the input."""
END = sys.intern("__end__")
"""The virtual last node: an edge to it ends the path."""
TAG_NOSTREAM = sys.intern("nostream")
"""Tag of a chat model whose tokens stay out of `messages` streams."""
TAG_HIDDEN = sys.intern("langsmith:hidden")
"""Tag of a node that streams and traces leave out."""

# Channels with a fixed meaning.
TASKS = sys.intern("__pregel_tasks")
"""Channel of pending `Send`s."""
INTERRUPT = sys.intern("__interrupt__")
RESUME = sys.intern("__resume__")
ERROR = sys.intern("__error__")
NO_WRITES = sys.intern("__no_writes__")
"""Marks a finished task that wrote nothing."""
INPUT = sys.intern("__input__")
BRANCH_TO = "branch:to:"
"""Prefix of the channel that makes a node run."""
RETURN = sys.intern("__return__")
"""Where a task that a task called writes its result."""
PREVIOUS = sys.intern("__previous__")
"""Channel of what a functional graph keeps for its next run."""
ROOT = sys.intern("__root__")
"""The one key of a state that has none."""
HANDLER = "__error_handler__"
"""Prefix of the name of a node's error handler."""
COPY = sys.intern("__copy__")
"""`as_node` value that forks a checkpoint without a change."""

# First item of a task's path: triggered by a channel, or made by a Send.
PULL = sys.intern("__pregel_pull")
PUSH = sys.intern("__pregel_push")

NS_SEP = "|"
"""Between the levels of a checkpoint namespace."""
NS_END = ":"
"""Between a node's name and its task's id."""
NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"
"""Writes that belong to no task: those of a Command given as input."""

CONF = sys.intern("configurable")
"""Key of a RunnableConfig."""
CONFIG_KEY_CHECKPOINTER = sys.intern("__pregel_checkpointer")
"""LangGraph's name, kept for code that imports it."""
