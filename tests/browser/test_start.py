"""From the command to the first painted page, and back to the prompt."""

from __future__ import annotations

import http.client
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server, running
from tests.browser.watch import Watch


def test_the_page_opens_at_the_printed_address(page: Page, server: Server) -> None:
    page.goto(server.url)
    expect(page).to_have_title("Forkpoint")
    expect(page.get_by_text("support_agent").first).to_be_visible()
    assert "token" not in page.url


def test_without_the_token_there_is_a_reason_and_no_page(page: Page, server: Server, watch: Watch) -> None:
    watch.allow("status of 401")
    answer = page.goto(server.origin + "/")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("heading")).to_contain_text("token")
    expect(page.locator("#boot")).to_have_count(0)


def test_the_styles_and_scripts_are_the_servers_own(page: Page, server: Server) -> None:
    page.goto(server.url)
    sources = page.eval_on_selector_all(
        "script[src], link[rel=stylesheet]", "all => all.map(one => one.src || one.href)"
    )
    assert sources
    assert all(source.startswith(server.origin) for source in sources)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_within_two_seconds_while_a_page_is_open(
    tmp_path: Path, page: Page, number: signal.Signals
) -> None:
    with running(tmp_path, "demo", end=number) as server:
        page.goto(server.url)
        expect(page.get_by_text("support_agent").first).to_be_visible()


SLEEPER = """
import time
from typing import TypedDict
from runtime.graph import START, StateGraph
class S(TypedDict):
    x: int
builder = StateGraph(S)
builder.add_node("sleep", lambda state: time.sleep(30))
builder.add_edge(START, "sleep")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_in_flight_does_not_keep_the_server_and_is_marked(
    page: Page, tmp_path: Path, number: signal.Signals
) -> None:
    """`running` fails when the command takes 2 s or more to end."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    target = f"{tmp_path / 'sleeper.py'}:builder"
    with running(tmp_path, "serve", target, end=number) as server:
        page.goto(server.url)
        page.request.post(f"{server.origin}/threads", data={"thread_id": "t"})
        body = {"assistant_id": "builder", "input": {"x": 1}}
        assert page.request.post(f"{server.origin}/threads/t/runs", data=body).json()["status"] == "running"
        page.goto("about:blank")
    with running(tmp_path, "serve", target) as again:
        page.goto(again.url)
        run = page.request.get(f"{again.origin}/debug/threads/t/runs").json()[0]
        assert run["status"] == "cancelled"
        assert page.request.get(f"{again.origin}/debug/threads/t").json()["status"] == "interrupted"


@pytest.mark.parametrize(("headers", "status"), [({}, 200), ({"Origin": "http://evil.example"}, 400)])
def test_the_socket_refuses_pages_of_other_sites(server: Server, headers: dict[str, str], status: int) -> None:
    """The real handshake: what a browser sends for a script of another site."""
    call = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=10)
    call.request("GET", "/socket.io/?EIO=4&transport=polling", headers=headers)
    answer = call.getresponse()
    answer.read()
    call.close()
    assert answer.status == status
