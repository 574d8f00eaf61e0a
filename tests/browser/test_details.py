"""Every other control that the page shows, used once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server, running
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("served"), "demo") as started:
        yield started


@pytest.fixture
def work(page: Page, served: Server) -> Workspace:
    return Workspace(page, served.url)


def test_the_drawing_is_zoomed_moved_and_fitted(work: Workspace) -> None:
    page = work.page
    work.open("abc")
    svg = page.locator(".canvas svg")

    def transform() -> str:
        return str(svg.evaluate("element => element.style.transform"))

    page.get_by_role("button", name="Zoom in").click()
    assert "scale(1.25)" in transform()
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("button", name="Zoom out").click()
    assert "scale(0.8)" in transform()
    box = svg.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 50, steps=4)
    page.mouse.up()
    assert "translate(40px, 30px)" in transform()
    page.get_by_role("button", name="Fit").click()
    assert transform() == "translate(0px, 0px) scale(1)"


def test_a_thread_is_deleted_after_a_question(work: Workspace) -> None:
    page = work.page
    work.open("abc")
    thread = work.new_thread()
    work.run(messages="start")
    work.stands("idle")
    item = page.locator(f"[data-thread='{thread}']")
    remove = page.get_by_role("button", name=f"Delete thread {thread[:8]}")
    page.once("dialog", lambda dialog: dialog.dismiss())
    remove.click(force=True)
    expect(item).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    remove.click(force=True)
    expect(item).to_have_count(0)
    assert "thread=" not in page.url
    expect(work.rows()).to_have_count(0)


def test_an_input_can_be_raw_json_and_bad_json_is_told(work: Workspace) -> None:
    page = work.page
    work.open("map_reduce")
    work.new_thread()
    page.get_by_test_id("run-open").click()
    page.get_by_role("button", name="tides").click()
    page.get_by_label("raw JSON").check()
    raw = page.get_by_test_id("run-raw")
    assert "tides" in raw.input_value()
    raw.fill('{"subjects": [')
    page.get_by_test_id("run-submit").click()
    expect(page.get_by_role("alert")).to_contain_text("This is no JSON")
    assert work.timeline() == []
    raw.fill('{"subjects": ["moss", "tides"]}')
    page.get_by_test_id("run-submit").click()
    expect(raw).to_have_count(0)  # an idle thread says so until the run has begun
    expect(work.rows()).not_to_have_count(0)
    work.stands("idle")
    assert work.starts()["research"] == 2
    expect(work.tab("changes")).to_contain_text("report")


def test_a_form_field_that_is_no_json_is_named(work: Workspace) -> None:
    page = work.page
    work.open("map_reduce")
    work.new_thread()
    page.get_by_test_id("run-open").click()
    page.locator("[data-field=subjects]").fill("tides")
    page.get_by_test_id("run-submit").click()
    expect(page.get_by_role("alert")).to_contain_text("subjects: this is no JSON")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("run-form")).to_have_count(0)
    assert work.timeline() == []


def test_an_edit_can_replace_past_the_reducer(work: Workspace) -> None:
    page = work.page
    work.open("map_reduce")
    work.new_thread()
    work.run(subjects='["moss"]')
    work.stands("idle")
    page.get_by_test_id("edit-open").click()
    page.locator("[data-testid=edit-channel][data-channel=notes]").click()
    page.get_by_test_id("edit-value").fill('["only this"]')
    preview = page.get_by_test_id("edit-preview")
    expect(preview).to_contain_text('letters, worth a look","only this"')
    page.get_by_label("replace (past operator.add)").check()
    expect(preview.locator("ins").first).to_have_text('["only this"]')
    page.get_by_test_id("edit-save").click()
    expect(work.rows().first).to_have_attribute("data-source", "update")
    assert work.values_at(work.timeline()[0]["checkpoint_id"])["notes"] == ["only this"]


def test_save_and_run_to_the_next_pause(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages="Where is my parcel B42?")
    work.stands("interrupted")
    work.choose(work.row(1))
    page.get_by_test_id("edit-open").click()
    page.locator("[data-testid=edit-channel][data-channel=category]").click()
    page.get_by_test_id("edit-value").fill('"general"')
    expect(page.get_by_test_id("edit-preview")).to_contain_text("find_order")
    page.get_by_test_id("edit-save-pause").click()
    expect(work.row(2, lane=1)).to_have_attribute("data-source", "update")
    expect(page.get_by_test_id("answer-form")).to_be_visible()
    assert work.starts()["triage"] == 1
    assert work.starts()["approval"] == 2


def test_an_answer_can_be_json(work: Workspace) -> None:
    page = work.page
    work.open("two_questions")
    work.new_thread()
    work.run(dish="soup")
    spice = page.get_by_test_id("answer-form").filter(has_text="spice")
    spice.get_by_label("JSON").check()
    spice.get_by_test_id("answer-value").fill("[1")
    spice.get_by_test_id("answer-keep").click()
    expect(spice.get_by_role("alert")).to_contain_text("This is no JSON")
    spice.get_by_test_id("answer-value").fill('{"grams": 2}')
    spice.get_by_test_id("answer-keep").click()
    expect(spice).to_contain_text('Will answer: {"grams":2}')
    page.get_by_test_id("answer-submit").click()
    expect(page.get_by_test_id("answer-form")).to_have_count(1)
    steps = work.ask(f"/threads/{work.thread}/state")["values"]["steps"]
    assert "spice: {'grams': 2}" in steps
    assert not any(step.startswith("salt") for step in steps), "the other question still waits"


def test_a_task_leads_to_its_subgraphs_timeline(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages="Do you ship to Iceland?")
    work.stands("interrupted")
    work.choose(work.row(2))
    work.tab("tasks").get_by_role("button", name="open its timeline").click()
    expect(page.get_by_test_id("ns-switch").locator("option:checked")).to_contain_text("research")
    assert "ns=research" in page.url
    address = page.url
    page.goto(address)
    expect(page.get_by_test_id("ns-switch").locator("option:checked")).to_contain_text("research")


def test_events_open_and_the_drawer_folds(work: Workspace) -> None:
    page = work.page
    work.open("abc")
    work.new_thread()
    work.run(messages="start")
    work.stands("idle")
    event = page.locator("[data-testid=event-row][data-mode=run]").last
    event.click()
    expect(page.locator(".event-data")).to_contain_text('"phase": "success"')
    event.click()
    expect(page.locator(".event-data")).to_have_count(0)
    page.locator("[data-testid=event-filter-mode] [data-mode=debug]").click()
    page.locator(".event-list").evaluate("list => list.scrollTo(0, 0)")
    expect(page.get_by_test_id("event-row").first).to_have_attribute("data-seq", "1")
    page.get_by_role("button", name="Follow").click()
    expect(page.locator("[data-testid=event-row][data-mode=run]").last).to_be_visible()
    page.get_by_role("button", name="Events").click()
    expect(page.get_by_test_id("event-row")).to_have_count(0)
    page.get_by_role("button", name="Events").click()
    expect(page.get_by_test_id("event-row").first).to_be_visible()


def test_values_open_as_a_tree(work: Workspace) -> None:
    page = work.page
    work.open("map_reduce")
    work.new_thread()
    work.run(subjects='["moss"]')
    work.stands("idle")
    tree = page.get_by_test_id("value-tree")
    expect(tree).to_contain_text("list 1")
    tree.get_by_role("button", name="Close subjects").click()
    expect(tree.get_by_role("button", name="Open subjects")).to_be_visible()
    expect(tree).to_contain_text('["moss"]')


def test_a_lost_connection_is_told(page: Page, tmp_path: Path, watch: Watch) -> None:
    with running(tmp_path, "demo") as server:
        work = Workspace(page, server.url)
        work.open("abc")
        watch.allow("ERR_CONNECTION_REFUSED|WebSocket connection|Failed to fetch|status of")
        server.process.terminate()
        expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "lost")
        expect(page.get_by_test_id("connection")).to_contain_text("disconnected")
        page.get_by_test_id("new-thread").click()
        toast = page.get_by_test_id("toast").first
        expect(toast).to_contain_text("The server does not answer. Is forkpoint still running?")
        toast.get_by_role("button", name="Close").click()
        expect(page.get_by_test_id("toast")).to_have_count(0)
