"""The page as a person uses it: one method a gesture. Assertions belong to the tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

PATIENCE = 20_000
"""Milliseconds that any expectation has to come true, on a busy machine."""


@dataclass
class Workspace:
    """A page on a running server."""

    page: Page
    url: str

    def open(self, graph: str) -> None:
        """Open the page on a graph."""
        self.page.goto(self.url)
        self.page.locator(f"[data-testid=graph-item][data-graph={graph}]").click()
        expect(self.page.get_by_test_id("connection")).to_have_attribute("data-state", "open")
        expect(self.page.locator("[data-testid=topology-node][data-node=__start__]")).to_be_visible()

    def new_thread(self) -> str:
        """Make a thread; its id."""
        self.page.get_by_test_id("new-thread").click()
        expect(self.page.locator("[data-testid=thread-item][aria-current=true]")).to_be_visible()
        return self.thread

    @property
    def thread(self) -> str:
        """The shown thread's id, from the address."""
        return parse_qs(urlsplit(self.page.url).query)["thread"][0]

    def run(self, **fields: str) -> None:
        """Start a run from the input form, with some of its fields filled in."""
        self.page.get_by_test_id("run-open").click()
        form = self.page.get_by_test_id("run-form")
        for name, text in fields.items():
            form.locator(f"[data-field={name}]").fill(text)
        self.page.get_by_test_id("run-submit").click()
        expect(form).to_have_count(0)

    # -- places ----------------------------------------------------------------------------------------------------------

    def stands(self, status: str) -> None:
        """Wait until the server says that the thread has this status, and the page shows it and the newest checkpoint.

        An idle thread's page says so until it hears that a run began; the server knows from when it took the run.
        """
        waited = 0
        while (found := self.ask(f"/threads/{self.thread}")["status"]) != status:
            assert waited < PATIENCE, f"the thread is {found}, not {status}"
            self.page.wait_for_timeout(50)
            waited += 50
        expect(self.page.get_by_test_id("thread-status")).to_have_text(status)
        newest = self.timeline()[0]["checkpoint_id"]
        expect(self.rows().first).to_have_attribute("data-checkpoint", newest)

    def rows(self) -> Locator:
        """The timeline's rows, newest first."""
        return self.page.get_by_test_id("timeline-row")

    def row(self, step: int, lane: int = 0) -> Locator:
        """The row of a step in a lane."""
        return self.page.locator(f"[data-testid=timeline-row][data-step='{step}'][data-lane='{lane}']")

    def choose(self, row: Locator) -> str:
        """Click a row; its checkpoint's id."""
        row.locator(".step").click()  # beside the buttons that open subgraphs
        expect(row).to_have_attribute("aria-selected", "true")
        checkpoint = row.get_attribute("data-checkpoint")
        assert checkpoint is not None
        return checkpoint

    def tab(self, name: str) -> Locator:
        """Open a tab of the inspector; its content."""
        self.page.get_by_test_id(f"tab-{name}").click()
        return self.page.get_by_role("tabpanel")

    def node(self, name: str) -> Locator:
        """A node of the drawing."""
        return self.page.locator(f"[data-testid=topology-node][data-node='{name}']")

    # -- the server's word -----------------------------------------------------------------------------------------------

    def ask(self, path: str) -> Any:
        """GET, with the page's cookie."""
        answer = self.page.request.get(f"{self.url.split('/?')[0]}{path}")
        assert answer.ok, answer.text()
        return answer.json()

    def events(self) -> list[dict[str, Any]]:
        """All journalled events of the thread."""
        page = self.ask(f"/debug/threads/{self.thread}/events?limit=5000")
        found: list[dict[str, Any]] = page["events"]
        assert [event["seq"] for event in found] == list(range(1, page["last_seq"] + 1)), "numbers without gaps"
        return found

    def starts(self) -> Counter[str]:
        """How often each node of the root graph has started."""
        return Counter(
            event["node"]
            for event in self.events()
            if event["mode"] == "tasks" and event["phase"] == "start" and not event["ns"]
        )

    def timeline(self) -> list[dict[str, Any]]:
        """The rows as the server has them."""
        rows: list[dict[str, Any]] = self.ask(f"/debug/threads/{self.thread}/timeline")["rows"]
        return rows

    def values_at(self, checkpoint: str) -> dict[str, Any]:
        """The state at a checkpoint."""
        values: dict[str, Any] = self.ask(f"/debug/threads/{self.thread}/checkpoints/{checkpoint}")["values"]
        return values
