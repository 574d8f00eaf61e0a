"""Programs about ready-made agents: the loop, its hooks, its limits, and what people and tools do within it."""

import importlib
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import BaseModel
from twins import Player, program, thread


class Score(BaseModel):
    """What a structured response is."""

    score: int


class Model(BaseChatModel):
    """Says what it is told to, and remembers what it saw."""

    answers: list[Any]
    seen: list[Any]

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.seen.append(("bound", [each if isinstance(each, dict) else each.name for each in tools], options))
        return self.bind(tools=[{"name": each["type"] if isinstance(each, dict) else each.name} for each in tools])

    def with_structured_output(self, schema: Any, **options: Any) -> Any:
        def give(messages: Any) -> Any:
            self.seen.append(("structured", [(m.type, m.content) for m in messages]))
            return Score(score=7) if schema is Score else {"score": 7}

        return RunnableLambda(give)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        self.seen.append(([(m.type, m.content) for m in messages], sorted(options)))
        answer = self.answers.pop(0)
        return ChatResult(generations=[ChatGeneration(message=answer.model_copy())])


def call(*named: tuple[str, dict[str, Any]], text: str = "", number: int = 0) -> AIMessage:
    calls = [
        {"name": name, "args": args, "id": f"c{number}.{at}", "type": "tool_call"}
        for at, (name, args) in enumerate(named)
    ]
    return AIMessage(text, tool_calls=calls, id=f"ai{number}")


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


@tool(return_direct=True)
def final(text: str) -> str:
    """The last word."""
    return f"final {text}"


ADD = ("add", {"a": 1, "b": 2})
ASK = {"messages": [HumanMessage("hi", id="h")]}


def answers() -> list[AIMessage]:
    return [call(ADD), AIMessage("It is 3.", id="end")]


def agent(lib: Any, model: Any, tools: Any = (add,), **options: Any) -> Any:
    make = importlib.import_module(f"{lib.name}.prebuilt").create_react_agent
    return make(model, list(tools) if isinstance(tools, tuple) else tools, checkpointer=lib.InMemorySaver(), **options)


def play_agent(
    lib: Any,
    it: Player,
    said: list[AIMessage] | None = None,
    *,
    value: Any = ASK,
    config: dict[str, Any] | None = None,
    tools: Any = (add,),
    choose: Callable[[Model], Any] | None = None,
    **options: Any,
) -> Any:
    """One run of an agent, what its model saw, and how it looks."""
    model = Model(answers=answers() if said is None else said, seen=[])
    graph = agent(lib, model if choose is None else choose(model), tools, **options)
    it.run(graph, value, {**thread(), **(config or {})})
    it.note("seen", model.seen)
    it.state(graph, thread())
    it.note("drawn", sorted((e.source, e.target, e.conditional) for e in graph.get_graph().edges))
    return graph


def simple(called: str, /, **options: Any) -> None:
    """A program that is one run with these options; a callable under `lib_...` is given the library."""

    def play(lib: Any, it: Player) -> None:
        ready = {k: v for k, v in options.items() if not k.startswith("lib_")}
        ready |= {k[4:]: v(lib) for k, v in options.items() if k.startswith("lib_")}
        if "said" in ready:
            ready["said"] = ready["said"]()
        play_agent(lib, it, **ready)

    play.__name__ = play.__qualname__ = called
    program()(play)


def shown(state: Any) -> Any:
    return {"llm_input_messages": [SystemMessage("short", id="s"), state["messages"][-1]]}


def forget(state: Any) -> Any:
    return {"messages": [RemoveMessage(id=m.id) for m in state["messages"][:-2]]}


def sign(state: Any) -> Any:
    last = state["messages"][-1]
    return {} if last.tool_calls else {"messages": [AIMessage(f"{last.content} (checked)", id=last.id)]}


def answer_a_call(state: Any) -> Any:
    last = state["messages"][-1]
    return {"messages": [ToolMessage("by the hook", tool_call_id=c["id"], id="hooked") for c in last.tool_calls[:1]]}


for _version in ("v1", "v2"):
    _v: dict[str, Any] = {"version": _version}
    simple(f"agent_{_version}", **_v)
    simple(f"agent_{_version}_with_a_hook_that_forgets", pre_model_hook=forget, **_v)
    simple(
        f"agent_{_version}_ends_with_a_tool", said=lambda: [call(("final", {"text": "x"}))], tools=(add, final), **_v
    )
    simple(f"agent_{_version}_runs_out_of_steps", config={"recursion_limit": 2}, **_v)
    simple(f"agent_{_version}_with_a_structured_response", response_format=Score, **_v)
simple("agent_with_a_hook_that_signs", post_model_hook=sign)
simple("agent_whose_hook_answers_a_call", post_model_hook=answer_a_call)
simple("agent_at_its_last_step", config={"recursion_limit": 3})
simple("agent_with_a_prompt", prompt="Be kind.")
simple("agent_with_a_system_message", prompt=SystemMessage("Be kind.", id="sys"))
simple("agent_with_a_prompt_function", prompt=lambda state: [SystemMessage("n", id="n"), *state["messages"]])
simple("agent_with_a_prompt_runnable", prompt=RunnableLambda(lambda state: state["messages"][-1:]))
simple("agent_with_a_name", name="Ann")
simple("agent_with_a_prompted_response", response_format=("Rate it.", Score))
simple("agent_with_a_response_of_a_json_schema", response_format={"title": "Score", "type": "object"})
simple("agent_with_all_of_it", pre_model_hook=forget, post_model_hook=sign, response_format=Score, prompt="Be kind.")
simple("agent_without_tools", tools=(), said=lambda: [AIMessage("no", id="end")])
simple("agent_without_tools_with_all_of_it", tools=(), said=answers, post_model_hook=sign, response_format=Score)
simple("agent_with_a_tool_of_the_provider", tools=({"type": "web"}, add))
simple("agent_whose_tools_are_the_providers", tools=({"type": "web"},), said=lambda: [AIMessage("no", id="end")])
simple("agent_with_a_tool_that_fails", tools=(add, fail), said=lambda: [call(("fail", {"text": "no"}))])
simple("agent_with_bad_arguments", said=lambda: [call(("add", {"a": "x"})), AIMessage("sorry", id="end")])
simple("agent_with_an_unknown_tool", said=lambda: [call(("nothing", {})), AIMessage("sorry", id="end")])
simple("agent_with_a_history_that_lacks_a_result", value={"messages": [HumanMessage("hi", id="h"), call(ADD)]})
simple("agent_with_no_messages", value={"messages": []})
simple("agent_with_a_model_for_each_turn", choose=lambda model: lambda state, runtime: model.bind_tools([add]))
simple("agent_whose_model_has_its_tools", choose=lambda model: model.bind_tools([add]))
simple("agent_that_stops_before_tools", interrupt_before=["tools"])
simple("agent_that_stops_after_its_model", interrupt_after=["agent"])
simple("agent_with_a_schema_of_models", lib_state_schema=lambda lib: schemas(lib).AgentStatePydantic)
simple("agent_with_a_tool_node", lib_tools=lambda lib: lib.ToolNode([add, fail], handle_tool_errors="told"))


def schemas(lib: Any) -> Any:
    return importlib.import_module(f"{lib.name}.prebuilt.chat_agent_executor")


@program()
def agent_with_a_hook_that_shows_other_messages(lib: Any, it: Player) -> None:
    """Without the inputs of tasks: the peer's show what the hook gave in place of what is stored."""
    model = Model(answers=answers(), seen=[])
    graph = agent(lib, model, pre_model_hook=shown)
    it.run(graph, ASK, thread(), without=("tasks", "debug"))
    it.note("seen", model.seen)
    it.history(graph, thread())


@program(parallel=True)
def agent_with_calls_side_by_side(lib: Any, it: Player) -> None:
    said = [call(ADD, ("add", {"a": 3, "b": 4}), ("final", {"text": "x"})), AIMessage("end", id="end")]
    play_agent(lib, it, said, tools=(add, final))


@program()
def agent_that_goes_on_in_a_thread(lib: Any, it: Player) -> None:
    model = Model(answers=[*answers(), AIMessage("again", id="again")], seen=[])
    graph = agent(lib, model)
    it.run(graph, ASK, thread())
    it.run(graph, {"messages": [HumanMessage("and?", id="h2")]}, thread())
    it.note("seen", model.seen)
    it.history(graph, thread())


@program()
def agent_whose_tool_asks(lib: Any, it: Player) -> None:
    @tool
    def book(place: str) -> str:
        """Book it."""
        answer = lib.interrupt({"action": "book", "place": place})
        return f"booked {answer}"

    graph = agent(lib, Model(answers=[call(("book", {"place": "inn"})), AIMessage("ok", id="end")], seen=[]), (book,))
    it.run(graph, ASK, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="barn"), thread())
    it.history(graph, thread())


@program()
def agent_whose_call_a_person_edits(lib: Any, it: Player) -> None:
    model = Model(answers=answers(), seen=[])
    graph = agent(lib, model, interrupt_before=["tools"], version="v1")
    it.run(graph, ASK, thread())
    it.update(graph, thread(), {"messages": [call(("add", {"a": 40, "b": 2}))]})
    it.run(graph, None, thread())
    it.note("seen", model.seen)
    it.state(graph, thread())


@program()
def agent_whose_tool_writes_the_state(lib: Any, it: Player) -> None:
    class State(schemas(lib).AgentState):  # type: ignore[misc]  # of the library
        user: str

    @tool
    def rename(to: str, state: Annotated[Any, lib.InjectedState]) -> Any:
        """Rename the user."""
        told = ToolMessage(f"was {state.get('user')}", tool_call_id="c0.0", id="t")
        return lib.Command(update={"user": to, "messages": [told]})

    model = Model(answers=[call(("rename", {"to": "Ann"})), AIMessage("done", id="end")], seen=[])
    graph = agent(lib, model, (rename,), state_schema=State)
    it.run(graph, {**ASK, "user": "Bob"}, thread())
    it.state(graph, thread())


@program()
def agent_within_a_graph(lib: Any, it: Player) -> None:
    inner = importlib.import_module(f"{lib.name}.prebuilt").create_react_agent(Model(answers=answers(), seen=[]), [add])
    builder = lib.StateGraph(lib.MessagesState)
    builder.add_node("worker", inner).add_edge(lib.START, "worker")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, ASK, thread())
    it.state(graph, thread())
    it.note("drawn", sorted(graph.get_graph(xray=True).nodes))


@program()
def agents_that_cannot_be(lib: Any, it: Player) -> None:
    class Bare(BaseModel):
        x: int

    for options in (
        {"version": "v3"},
        {"prompt": 5},
        {"state_schema": Bare},
        {"state_schema": schemas(lib).AgentState, "response_format": Score},
        {"foo": 1},
        {"tools": (lambda x: x,)},
        {"choose": lambda model: model.bind_tools([fail])},
        {"choose": lambda model: model.bind_tools([add, fail])},
    ):
        try:
            play_agent(lib, it, **options)  # type: ignore[arg-type]  # that is the point
        except (ValueError, TypeError) as error:
            it.note("refused", error)


@program()
def arguments_are_checked(lib: Any, it: Player) -> None:
    node = importlib.import_module(f"{lib.name}.prebuilt").ValidationNode([Score, add])
    said = call(("Score", {"score": 1}), ("Score", {"score": "x"}), ("add", {"a": 1, "b": 2}), ("add", {}))
    for value in ([said], {"messages": [said]}):
        found = node.invoke(value)
        messages = found if isinstance(found, list) else found["messages"]
        it.note("answers", [(m.name, m.tool_call_id, m.additional_kwargs) for m in messages])
    for value in ([HumanMessage("x")], {"other": 1}):
        try:
            node.invoke(value)
        except ValueError as error:
            it.note("refused", error)
