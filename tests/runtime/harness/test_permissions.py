"""The way of a call: registry, gate, person, tool; every decision on record."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, MessagesState, StateGraph
from runtime.harness import AuditLog, PermissionGate, StructuredOutputError, ToolRegistry, structured_output
from runtime.prebuilt import ToolNode
from runtime.types import Command

RAN: list[tuple[str, Any]] = []
CONFIG: Any = {"configurable": {"thread_id": "t"}}


@tool
def look(path: str) -> str:
    """Read a file."""
    RAN.append(("look", path))
    return f"content of {path}"


@tool
def delete(path: str) -> str:
    """Delete a file."""
    RAN.append(("delete", path))
    return f"deleted {path}"


@tool
def format_disk() -> str:
    """Format the disk."""
    RAN.append(("format_disk", None))
    return "gone"


@pytest.fixture
def registry() -> ToolRegistry:
    RAN.clear()
    found = ToolRegistry()
    found.register(look, permission="allow", tags=["files", "safe"])
    found.register(delete, tags=["files"])
    found.register(format_disk, permission="deny")
    return found


def agent(gate: PermissionGate, *calls: tuple[str, dict[str, Any]]) -> Any:
    made = [{"name": name, "args": args, "id": f"c{n}", "type": "tool_call"} for n, (name, args) in enumerate(calls)]
    tools: Any = [look, delete, format_disk]
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [AIMessage("", tool_calls=made)]})
    builder.add_node("tools", ToolNode(tools, wrap_tool_call=gate.wrap, awrap_tool_call=gate.awrap))
    builder.add_edge(START, "model").add_edge("model", "tools")
    return builder.compile(checkpointer=InMemorySaver())


def results(state: Any) -> list[tuple[str, str]]:
    return [(message.content, message.status) for message in state["messages"] if message.type == "tool"]


def test_the_registry_finds_and_refuses(registry: ToolRegistry) -> None:
    assert [entry.name for entry in registry.find(tags=["files"])] == ["delete", "look"]
    assert [entry.name for entry in registry.find("READ")] == ["look"]
    assert [entry.name for entry in registry.find(permission="ask")] == ["delete"]
    assert registry.tools(tags="safe") == [look]
    assert list(registry.schemas()["look"]["properties"]) == ["path"]
    with pytest.raises(ValueError, match="'look' is registered already"):
        registry.register(look)
    registry.register(look, replace=True)
    assert registry.get("look").permission == "ask"
    with pytest.raises(KeyError, match="No tool named 'nothing'"):
        registry.get("nothing")
    with pytest.raises(ValueError, match="permission is 'maybe'"):
        registry.register(look, permission="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="docstring"):
        registry.register(lambda x: x)
    assert len(registry) == 3


def test_safe_runs_and_denied_answers(registry: ToolRegistry) -> None:
    gate = PermissionGate(registry)
    state = agent(gate, ("look", {"path": "a"}), ("format_disk", {})).invoke({"messages": []}, CONFIG)
    assert results(state) == [("content of a", "success"), ("The tool 'format_disk' may not be used here.", "error")]
    assert RAN == [("look", "a")]
    assert [(e["action"], e["decision"], e["thread_id"]) for e in gate.audit.entries()] == [
        ("look", "allow", "t"),
        ("format_disk", "deny", "t"),
    ]


ANSWERS = [
    (True, "approve", "deleted a", [("delete", "a")]),
    ("approve", "approve", "deleted a", [("delete", "a")]),
    ([{"type": "accept", "args": None}], "approve", "deleted a", [("delete", "a")]),
    (False, "reject", "A person refused this call of 'delete'.", []),
    (
        {"type": "ignore", "actor": "Ann", "reason": "Not today."},
        "reject",
        "A person refused this call of 'delete'. Not today.",
        [],
    ),
    ({"type": "response", "args": "use trash"}, "respond", "use trash", []),
    (
        {"type": "edit", "args": {"action": "delete", "args": {"path": "b"}}},
        "edit",
        "(A person changed the arguments to {'path': 'b'}.)\ndeleted b",
        [("delete", "b")],
    ),
    (
        {"type": "edit", "args": {"path": "b"}},
        "edit",
        "(A person changed the arguments to {'path': 'b'}.)\ndeleted b",
        [("delete", "b")],
    ),
]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("answer", "decision", "result", "ran"), ANSWERS)
def test_dangerous_pauses_until_a_person_decides(
    registry: ToolRegistry, is_async: bool, answer: Any, decision: str, result: str, ran: list[Any]
) -> None:
    def invoke(value: Any) -> Any:
        return asyncio.run(graph.ainvoke(value, CONFIG)) if is_async else graph.invoke(value, CONFIG)

    gate = PermissionGate(registry)
    graph = agent(gate, ("delete", {"path": "a"}))
    paused = invoke({"messages": []})
    (question,) = paused["__interrupt__"]
    assert question.value["action_request"] == {"action": "delete", "args": {"path": "a"}}
    assert (RAN, gate.audit.entries()) == ([], [])
    state = invoke(Command(resume=answer))
    assert results(state)[0][0] == result
    assert ran == RAN
    (entry,) = gate.audit.entries("t")
    assert (entry["decision"], entry["args"]) == (decision, {"path": "a"})
    assert entry["actor"] == ("Ann" if isinstance(answer, dict) and "actor" in answer else "person")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("perhaps", "The answer was {'type': 'perhaps'}. Give {'type': one of"),
        (7, "The answer was 7."),
        ({"type": "edit"}, "The answer was an edit of 'delete' with the args None."),
        ({"type": "edit", "args": "b"}, "with the args 'b'"),
    ],
)
def test_an_answer_that_makes_no_sense_is_asked_for_again(registry: ToolRegistry, wrong: Any, says: str) -> None:
    gate = PermissionGate(registry)
    graph = agent(gate, ("delete", {"path": "a"}))
    graph.invoke({"messages": []}, CONFIG)
    (again,) = graph.invoke(Command(resume=wrong), CONFIG)["__interrupt__"]
    assert says in again.value["description"]
    assert (RAN, gate.audit.entries()) == ([], [])
    graph.invoke(Command(resume=True), CONFIG)
    assert RAN == [("delete", "a")]


def test_two_questions_are_each_on_record_once(registry: ToolRegistry) -> None:
    gate = PermissionGate(registry)
    graph = agent(gate, ("delete", {"path": "a"}), ("delete", {"path": "b"}))
    paused = graph.invoke({"messages": []}, CONFIG)
    for question in paused["__interrupt__"]:
        graph.invoke(Command(resume={question.id: True}), CONFIG)
    for question in graph.get_state(CONFIG).interrupts:
        graph.invoke(Command(resume={question.id: True}), CONFIG)
    assert graph.get_state(CONFIG).next == ()
    assert sorted(entry["args"]["path"] for entry in gate.audit.entries()) == ["a", "b"]


def test_the_arguments_can_decide(registry: ToolRegistry) -> None:
    gate = PermissionGate(registry, decide=lambda name, args, said: "allow" if args.get("path") == "tmp" else said)
    state = agent(gate, ("delete", {"path": "tmp"})).invoke({"messages": []}, CONFIG)
    assert results(state) == [("deleted tmp", "success")]


def test_an_audit_in_a_file_outlives_its_log(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit.jsonl").record("delete", "approve", actor="Ann", reason="old", args={"path": "a"})
    (entry,) = AuditLog(tmp_path / "audit.jsonl").entries()
    assert (entry["actor"], entry["reason"], entry["edited"]) == ("Ann", "old", None)
    with pytest.raises(TypeError, match=r"args\['x'\]"):
        AuditLog().record("delete", "approve", args={"x": {1}})
    with pytest.raises(OSError, match="Not a directory"):
        AuditLog("/dev/null/x/audit.jsonl").record("delete", "approve")


class Model:
    """Knows one protocol, and what it gives by it."""

    def __init__(self, **gives: Any) -> None:
        self.gives = gives

    def with_structured_output(self, schema: Any, *, method: str) -> Any:
        self.method = method
        return self

    def invoke(self, messages: Any) -> Any:
        found = self.gives[self.method]
        value = found.pop(0) if isinstance(found, list) else found
        if isinstance(value, Exception):
            raise value
        return value


def in_range(value: Any) -> None:
    if not 1 <= value["score"] <= 10:
        raise ValueError(f"score is {value['score']}")


def test_the_next_protocol_is_tried_and_every_error_kept() -> None:
    model = Model(json_schema=RuntimeError("no"), function_calling=[{"score": 11}, {"score": 10}], json_mode=None)
    found = structured_output(model, dict, "rate it", check=in_range, attempts=2)
    assert (found.value, found.method) == ({"score": 10}, "function_calling")
    assert found.errors == ("json_schema: RuntimeError: no",) * 2 + ("function_calling: ValueError: score is 11",)
    with pytest.raises(StructuredOutputError, match="json_mode: ValueError: the model gave no value"):
        structured_output(Model(json_mode=None), dict, "rate it", methods=["json_mode"])
