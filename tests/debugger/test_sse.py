"""Server-sent events: the mission's cases, and real runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, ToolMessage

from debugger.sse import Events, SseModes, frame
from tests.debugger.served import KINDS, Kit, client

CASES = Path(__file__).parent.parent / "seeds"


def case(number: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next(CASES.glob(f"{number}-*.json")).read_text("utf-8"))
    return found


@pytest.mark.parametrize("row", case(77)["table"], ids=lambda row: f"{row['asked'][0]}-{row['part']['mode']}")
def test_a_part_becomes_the_event_of_the_seed(row: dict[str, Any]) -> None:
    part = row["part"]
    data = tuple(part["data"]) if part["mode"] == "messages" else part["data"]
    if part["mode"] == "messages":
        data = (AIMessageChunk("x", id="m"), {"k": 1})
    events = Events(SseModes.of(row["asked"], row.get("subgraphs", False)))
    found = list(events.of((tuple(part["ns"]), part["mode"], data)))
    if row["event"] is None:
        assert found == []
        return
    assert [name for name, _ in found] == [row["event"]]
    if part["mode"] != "messages":
        assert found[0][1] == row["data"]


@pytest.mark.parametrize("row", [case(76), *case(76)["more"]], ids=str)
def test_interrupts_ride_as_values_where_updates_were_not_asked_for(row: dict[str, Any]) -> None:
    asked = row.get("asked") or row["request"]["stream_mode"]
    only = row.get("expect", row)["interrupt_updates_only"]
    events = Events(SseModes.of(asked, subgraphs=False))
    found = [name for name, _ in events.of(((), "updates", {"n": {"v": 1}}))]
    assert found == ([] if only else ["updates"])


def test_mode_messages_adds_up_pieces_and_sends_whole_ones_as_complete() -> None:
    told = case(78)
    events = Events(SseModes.of(told["asked"], subgraphs=False))
    found: list[Any] = []
    for kind, message_id, text, metadata in told["parts"]:
        message = (
            AIMessageChunk(text, id=message_id)
            if kind == "chunk"
            else ToolMessage(text, id=message_id, tool_call_id="c")
        )
        found.extend(events.of(((), "messages", (message, metadata))))
    short = [
        [name, data if name == "messages/metadata" else [{"id": m["id"], "content": m["content"]} for m in data]]
        for name, data in found
    ]
    assert short == told["expect"]


def test_a_frame_is_one_line_of_json_that_is_not_escaped() -> None:
    assert (
        frame("values", {"t": "größe", "l": (1,)}, "5-0") == 'event: values\ndata: {"t":"größe","l":[1]}\nid: 5-0\n\n'
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_streamed_from_metadata_to_end(kind: str) -> None:
    with client({"ask": Kit(kind).line("a", "ask")}) as c:
        c.thread("ask")
        body = {"assistant_id": "ask", "input": {"log": []}, "stream_mode": ["values"]}
        answer = c.send("POST", "/threads/t/runs/stream", body)
        names = re.findall(r"^event: (.+)$", answer.text, re.MULTILINE)
        assert names == ["metadata", "values", "values", "values", "end"]
        datas = [json.loads(text) for text in re.findall(r"^data: (.+)$", answer.text, re.MULTILINE)]
        assert datas[0]["attempt"] == 1
        assert datas[3]["__interrupt__"][0]["value"] == "q?"
        where = answer.headers["Content-Location"]
        assert where == f"/threads/t/runs/{datas[0]['run_id']}"

        again = c.http.get(f"{where}/stream?stream_mode=values", headers=c.headers)
        assert re.findall(r"^event: (.+)$", again.text, re.MULTILINE) == names
        seen = re.findall(r"^id: (.+)$", answer.text, re.MULTILINE)[2]
        rest = c.http.get(f"{where}/stream?stream_mode=values", headers={**c.headers, "Last-Event-ID": seen})
        assert re.findall(r"^event: (.+)$", rest.text, re.MULTILINE) == ["values", "end"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_is_an_event(kind: str) -> None:
    with client({"bad": Kit(kind).line("boom")}) as c:
        c.thread("bad")
        answer = c.send("POST", "/threads/t/runs/stream", {"assistant_id": "bad", "input": {"log": []}})
        assert 'event: error\ndata: {"error":"ValueError","message":"no such file"}' in answer.text
