"""The tool registry: what tools there are, what they take, what they are for, and what leave they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

Permission = Literal["allow", "ask", "deny"]
"""A tool runs freely, after a person agreed, or not at all."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A registered tool."""

    tool: BaseTool
    permission: Permission
    tags: frozenset[str]

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments that a model gives; injected ones are not among them."""
        found: Any = self.tool.tool_call_schema
        return found if isinstance(found, dict) else found.model_json_schema()


class ToolRegistry:
    """Tools by name. A name is given once."""

    def __init__(self) -> None:
        self._entries: dict[str, ToolEntry] = {}

    def register(
        self,
        tool: BaseTool | Callable[..., Any],
        *,
        permission: Permission = "ask",
        tags: Iterable[str] = (),
        replace: bool = False,
    ) -> ToolEntry:
        """Add a tool.

        Args:
            tool: a LangChain tool, or a function with a docstring.
            permission: "ask" unless said otherwise: a tool that nobody has judged does not run by itself.
            replace: take the place of a tool of the same name.

        Raises ValueError for a name that is taken, an unknown permission, or a function without a docstring.
        """
        from langchain_core.tools import BaseTool
        from langchain_core.tools import tool as make_tool

        if permission not in get_args(Permission):
            raise ValueError(f"permission is {permission!r}. Give one of {list(get_args(Permission))}.")
        if isinstance(tags, str):
            raise ValueError(f"tags is the text {tags!r}. Give a list of texts.")
        known = tool if isinstance(tool, BaseTool) else make_tool(tool)
        if known.name in self._entries and not replace:
            raise ValueError(
                f"A tool named '{known.name}' is registered already. Name this one otherwise, or pass replace=True."
            )
        entry = self._entries[known.name] = ToolEntry(known, permission, frozenset(tags))
        return entry

    def get(self, name: str) -> ToolEntry:
        """Raises KeyError with the names there are."""
        try:
            return self._entries[name]
        except KeyError:
            raise KeyError(f"No tool named '{name}'. Registered are {sorted(self._entries)}.") from None

    def find(
        self, text: str = "", *, tags: Iterable[str] = (), permission: Permission | None = None
    ) -> list[ToolEntry]:
        """The tools that have all the tags, that permission, and the text in their name or description, in order of names."""
        wanted = frozenset([tags] if isinstance(tags, str) else tags)
        return [
            entry
            for _, entry in sorted(self._entries.items())
            if wanted <= entry.tags
            and permission in (None, entry.permission)
            and text.lower() in f"{entry.name}\n{entry.description}".lower()
        ]

    def tools(self, **how: Any) -> list[BaseTool]:
        """What `find` finds, as a model's `bind_tools` and a `ToolNode` take it."""
        return [entry.tool for entry in self.find(**how)]

    def schemas(self) -> dict[str, dict[str, Any]]:
        """JSON schemas of the arguments, by name."""
        return {entry.name: entry.schema for entry in self.find()}

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __len__(self) -> int:
        return len(self._entries)
