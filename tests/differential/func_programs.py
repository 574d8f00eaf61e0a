"""Programs about the functional API: entrypoints, the tasks they call, and what of them is kept."""

import operator
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from policy_programs import ONE, SYNC, feature, names, soon
from twins import Manner, Player, thread
from typing_extensions import TypedDict


def updates_of_v2(manner: Manner) -> str | None:
    """See `test_better.test_the_updates_of_a_paused_entrypoint_name_its_question`."""
    told = manner.streams and manner.version == "v2"
    return "our `updates` part of a paused entrypoint names the question; the peer's is empty" if told else None


@feature()
def an_entrypoint_without_tasks(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.entrypoint()
    def double(value: int) -> int:
        return value * 2

    it.run(double, 21)


@feature()
def an_entrypoint_that_remembers(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def count(value: int, *, previous: Any) -> int:
        return (previous or 0) + value

    for value in (1, 10, 100):
        it.run(count, value, thread())
    it.state(count, thread())
    it.history(count, thread())


@feature()
def an_entrypoint_that_keeps_other_than_it_returns(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def count(value: int, *, previous: Any) -> Any:
        return func.entrypoint.final(value=f"was {previous}", save=value)

    for value in (1, 2):
        it.run(count, value, thread())
    it.state(count, thread())


@feature(manners=SYNC)
def tasks_in_turn_and_at_once(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.task
    def square(value: int) -> int:
        return value * value

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def squares(values: list[int]) -> list[int]:
        first = square(values[0]).result()
        return [first, *(square(value).result() for value in values[1:])]

    it.run(squares, [1, 2, 3], thread())
    it.history(squares, thread())


@feature(differs=updates_of_v2)
def a_question_in_an_entrypoint_keeps_the_tasks_before_it(lib: Any, it: Player) -> None:
    func = names(lib, "func")
    calls: list[str] = []

    @func.task
    def draft(topic: str) -> str:
        calls.append(topic)
        return f"about {topic}"

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def write(topic: str) -> dict[str, Any]:
        text = draft(topic).result()
        return {"text": text, "answer": lib.interrupt({"review": text})}

    it.run(write, "tea", thread())
    it.state(write, thread())
    it.run(write, lib.Command(resume="good"), thread())
    it.note("calls", list(calls))
    it.state(write, thread())


@feature(differs=updates_of_v2)
def a_question_in_a_task(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.task
    def ask(what: str) -> str:
        return f"{what}: {lib.interrupt(what)}"

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def both(_: Any) -> list[str]:
        return [ask("first").result(), ask("second").result()]

    it.run(both, "go", thread())
    it.run(both, lib.Command(resume=1), thread())
    it.run(both, lib.Command(resume=2), thread())
    it.state(both, thread())


@feature(manners=SYNC)
def a_task_that_is_tried_again(lib: Any, it: Player) -> None:
    func = names(lib, "func")
    tries: list[int] = []

    @func.task(retry_policy=soon(lib, max_attempts=3, retry_on=ValueError))
    def shaky(value: int) -> int:
        tries.append(value)
        if len(tries) < 3:
            raise ValueError("not yet")
        return value

    @func.entrypoint()
    def once(value: int) -> int:
        return int(shaky(value).result())

    it.run(once, 7)
    it.note("tries", list(tries))


@feature(manners=SYNC)
def a_task_that_fails_is_seen_by_its_caller(lib: Any, it: Player) -> None:
    func = names(lib, "func")

    @func.task
    def fail(value: int) -> int:
        raise ValueError(f"no {value}")

    @func.entrypoint(checkpointer=lib.InMemorySaver())
    def careful(value: int) -> str:
        try:
            fail(value).result()
        except ValueError as error:
            return f"caught {error}"
        return "nothing"

    it.run(careful, 3, thread())
    it.state(careful, thread())


@feature(manners=ONE)
def a_batch_of_inputs(lib: Any, it: Player) -> None:
    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    builder = lib.StateGraph(State)
    builder.add_node("say", lambda state: {"log": [f"{state['log'][0]}!"]})
    builder.add_edge(lib.START, "say")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.note("batch", graph.batch([{"log": ["a"]}, {"log": ["b"]}], [thread("1"), thread("2")]))
    it.state(graph, thread("2"))


@feature(manners=ONE)
def a_config_that_stays_with_the_graph(lib: Any, it: Player) -> None:
    class State(TypedDict):
        tags: list[str]
        name: str

    def look(_: State, config: RunnableConfig) -> dict[str, Any]:
        return {"tags": sorted(config["tags"]), "name": config["metadata"].get("who", "nobody")}

    builder = lib.StateGraph(State)
    builder.add_node("look", look)
    builder.add_edge(lib.START, "look")
    graph = builder.compile().with_config(tags=["ours"], metadata={"who": "we"})
    it.run(graph, {"tags": []}, {"tags": ["theirs"]})
