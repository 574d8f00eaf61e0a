"""Messages for a user interface: components that a node shows beside the chat, by name and properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

from typing_extensions import TypedDict

from runtime.config import get_config, get_stream_writer
from runtime.context import current_context

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage


class UIMessage(TypedDict):
    """A component to show."""

    type: Literal["ui"]
    id: str
    name: str
    """Of the component."""
    props: dict[str, Any]
    metadata: dict[str, Any]
    """`merge`, `run_id`, `tags`, `name`, `message_id` of the message that it belongs to, and the author's own."""


class RemoveUIMessage(TypedDict):
    """A component to take away."""

    type: Literal["remove-ui"]
    id: str


AnyUIMessage = UIMessage | RemoveUIMessage


def push_ui_message(
    name: str,
    props: dict[str, Any],
    *,
    id: str | None = None,  # noqa: A002 - LangGraph's name
    metadata: dict[str, Any] | None = None,
    message: AnyMessage | None = None,
    state_key: str | None = "ui",
    merge: bool = False,
) -> UIMessage:
    """Show a component: sent in stream mode `custom`, and written to the state.

    Args:
        id: of a component to replace; a new one without it.
        message: that it belongs to.
        state_key: of the list with reducer `ui_message_reducer`; None to send it only.
        merge: add the properties to those of the component in the state.

    Raises RuntimeError outside a node.
    """
    config = get_config()
    about = {
        "merge": merge,
        "run_id": config.get("run_id"),
        "tags": config.get("tags") or None,
        "name": config.get("run_name"),
        **(metadata or {}),
        **({"message_id": message.id} if message is not None else {}),
    }
    shown: UIMessage = {"type": "ui", "id": id or str(uuid4()), "name": name, "props": props, "metadata": about}
    get_stream_writer()(shown)
    if state_key is not None:
        current_context().scratchpad.write(state_key, shown)
    return shown


def delete_ui_message(id: str, *, state_key: str = "ui") -> RemoveUIMessage:  # noqa: A002 - LangGraph's name
    """Take a component away: sent in stream mode `custom`, and written to the state. Raises RuntimeError outside a node."""
    gone: RemoveUIMessage = {"type": "remove-ui", "id": id}
    get_stream_writer()(gone)
    current_context().scratchpad.write(state_key, gone)
    return gone


def ui_message_reducer(
    left: list[AnyUIMessage] | AnyUIMessage, right: list[AnyUIMessage] | AnyUIMessage
) -> list[AnyUIMessage]:
    """The reducer of a list of components: by id, one replaces another, joins its properties (`merge`), or removes it.

    Raises ValueError for the removal of one that is not there.
    """
    shown = {each["id"]: each for each in (left if isinstance(left, list) else [left])}
    for each in right if isinstance(right, list) else [right]:
        before = shown.get(each["id"])
        if each["type"] == "remove-ui":
            if before is None:
                raise ValueError(f"Attempting to delete an UI message with an ID that doesn't exist ('{each['id']}')")
            del shown[each["id"]]
            continue
        if before is not None and each.get("metadata", {}).get("merge"):
            each = cast(AnyUIMessage, {**each, "props": {**cast(UIMessage, before)["props"], **each["props"]}})  # noqa: PLW2901 - the same, joined
        shown[each["id"]] = each
    return list(shown.values())


__all__ = ("AnyUIMessage", "RemoveUIMessage", "UIMessage", "delete_ui_message", "push_ui_message", "ui_message_reducer")
