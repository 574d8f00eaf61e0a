"""The whole job in a browser, on a graph of our runtime and on the same graph of LangGraph: run, watch, look back, edit,
fork, replay, answer. Each test also says what must not happen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server, running
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace

PORTED = Path(__file__).parent.parent / "debugger" / "fixtures" / "langgraph_graphs.py"
NAMES = ("support_agent", "travel_math", "abc", "joke", "two_questions")


@pytest.fixture(scope="module", params=["runtime", "langgraph"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The gallery on either kind of graph."""
    folder = tmp_path_factory.mktemp("served")
    targets = ["demo"] if request.param == "runtime" else ["serve", *(f"{PORTED}:{name}" for name in NAMES)]
    with running(folder, *targets) as started:
        yield started


@pytest.fixture
def work(page: Page, served: Server) -> Workspace:
    return Workspace(page, served.url)


REFUND = "My order A17 arrived broken. I want a refund."


def test_run_watch_and_look(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages=REFUND)
    expect(page.locator("[data-testid=topology-node][data-state=running]").first).to_be_visible()
    expect(work.node("approval")).to_have_attribute("data-state", "waiting")
    work.stands("interrupted")

    # the timeline: every checkpoint once, the pause not twice
    head = work.rows().first
    expect(head).to_contain_text("head")
    expect(head).to_contain_text("approval")
    rows = work.timeline()
    expect(work.rows()).to_have_count(len(rows))
    assert [row["step"] for row in rows] == list(range(rows[0]["step"], -2, -1))
    assert rows[-1]["source"] == "input"
    assert sum(row["interrupts"] for row in rows) == 1

    # by keyboard
    page.get_by_test_id("timeline").focus()
    page.keyboard.press("ArrowDown")
    expect(work.rows().nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("k")
    expect(head).to_have_attribute("aria-selected", "true")

    # what a checkpoint holds
    work.choose(work.row(2))
    expect(work.tab("changes")).to_contain_text("findings")
    tasks = work.tab("tasks")
    expect(tasks).to_contain_text("research")
    expect(tasks).to_contain_text("ended")
    expect(work.tab("metadata")).to_contain_text("source")
    expect(work.tab("config")).to_contain_text("checkpoint_id")
    expect(work.tab("state").get_by_test_id("chat-message").first).to_contain_text(REFUND)
    page.go_back()
    expect(page.get_by_test_id("tab-config")).to_have_attribute("aria-selected", "true")


def test_subgraphs_open_in_the_drawing_and_have_timelines_of_their_own(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages=REFUND)
    work.stands("interrupted")
    expect(work.node("research:search")).to_have_count(0)
    work.node("research").click()
    work.node("research:search").click()
    expect(work.node("research:search:fetch")).to_be_visible()
    page.locator("[data-testid=topology-node][data-subgraph=open]").first.press("Enter")
    expect(work.node("research:search:fetch")).to_have_count(0)

    root_rows = work.rows().count()
    page.get_by_test_id("child-ns").first.click()
    expect(page.get_by_test_id("ns-switch").locator("option:checked")).to_contain_text("research")
    expect(work.rows().first).to_contain_text("summarise")
    assert work.rows().count() < root_rows
    page.get_by_test_id("child-ns").first.click()
    expect(work.rows().first).to_contain_text("fetch")
    page.get_by_test_id("ns-switch").select_option("")
    expect(work.rows()).to_have_count(root_rows)


def test_a_place_inside_a_subgraph_is_edited_and_replayed(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages=REFUND)
    work.stands("interrupted")
    page.get_by_test_id("child-ns").first.click()
    expect(page.get_by_test_id("ns-switch").locator("option:checked")).to_contain_text("research")
    work.choose(work.rows().filter(has_text="→ summarise"))
    before = work.rows().count()
    page.get_by_test_id("edit-open").click()
    expect(page.get_by_test_id("as-node")).to_have_value("search")
    page.locator("[data-testid=edit-channel][data-channel=category]").click()
    page.get_by_test_id("edit-value").fill('"vip"')
    expect(page.get_by_test_id("edit-preview")).to_contain_text("Runs next: summarise")
    expect(page.get_by_test_id("edit-save-end")).to_be_disabled()
    page.get_by_test_id("edit-save").click()
    expect(work.rows()).to_have_count(before + 1)
    expect(work.rows().first).to_have_attribute("data-source", "update")
    ran = work.starts()

    work.choose(work.row(1).filter(has_text="→ summarise"))
    page.get_by_test_id("replay").click()
    expect(page.locator("[data-testid=timeline-row][data-source=fork]")).to_be_visible()
    work.stands("interrupted")
    assert work.starts()["triage"] == ran["triage"], "nothing before the subgraph ran again"
    assert work.starts()["agent"] > ran["agent"]
    kind = work.ask("/debug/graphs")[0]["kind"]
    inner = [e for e in work.events() if e["mode"] == "tasks" and e["phase"] == "start" and e["node"] == "search"]
    assert len(inner) == (1 if kind == "runtime" else 2), "ours goes on inside; LangGraph starts the subgraph again"


def test_events_are_filtered_and_outlive_a_reload(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages=REFUND)
    work.stands("interrupted")
    modes = {event["mode"] for event in work.events()}
    assert modes == {"run", "values", "updates", "messages", "custom", "checkpoints", "tasks", "debug"}

    expect(page.locator("[data-testid=event-row][data-mode=run]")).to_have_count(1)
    last = page.get_by_test_id("event-row").last.get_attribute("data-seq")
    for mode in modes - {"tasks", "debug"}:
        page.locator(f"[data-testid=event-filter-mode] [data-mode={mode}]").click()
    page.get_by_test_id("event-filter-node").select_option("triage")
    expect(page.get_by_test_id("event-row")).to_have_count(2)
    expect(page.get_by_test_id("event-row").first).to_have_attribute("data-phase", "start")
    expect(page.get_by_test_id("event-row").last).to_have_attribute("data-phase", "result")
    page.get_by_test_id("event-filter-node").select_option("")
    page.get_by_test_id("event-filter-ns").select_option(label="research > search")
    expect(page.get_by_test_id("event-row")).to_have_count(4)
    page.get_by_test_id("event-search").fill("fetch starts")
    expect(page.get_by_test_id("event-row")).to_have_count(1)

    page.reload()
    expect(page.get_by_test_id("event-row").last).to_have_attribute("data-seq", last or "")


def test_what_happened_while_the_page_was_away_is_there_when_it_comes_back(work: Workspace) -> None:
    page = work.page
    work.open("travel_math")
    thread = work.new_thread()
    address = page.url
    page.goto("about:blank")
    origin = work.url.split("/?")[0]
    body = {"assistant_id": "travel_math", "input": {"value": 1}}
    answer = page.request.post(f"{origin}/threads/{thread}/runs/wait", data=body)
    assert answer.json() == {"value": 4}
    page.goto(address)
    expect(page.locator("[data-testid=event-row][data-mode=run]").last).to_contain_text("success")
    expect(work.rows().first).to_contain_text("double")


def test_no_button_takes_the_place_of_another_when_a_checkpoint_is_chosen(work: Workspace) -> None:
    def places() -> list[Any]:
        return [work.page.get_by_test_id(name).bounding_box() for name in ("run-open", "edit-open", "replay")]

    work.open("travel_math")
    work.new_thread()
    work.run(value="1")
    work.stands("idle")
    work.choose(work.row(2))
    at_the_end = places()
    expect(work.page.get_by_test_id("replay")).to_be_disabled()
    work.choose(work.row(1))
    expect(work.page.get_by_test_id("replay")).to_be_enabled()
    assert places() == at_the_end


def test_an_edit_becomes_a_branch_and_runs_only_when_told(work: Workspace) -> None:
    page = work.page
    work.open("travel_math")
    work.new_thread()
    work.run(value="1")
    work.stands("idle")
    old_head = work.timeline()[0]["checkpoint_id"]
    assert work.values_at(old_head) == {"value": 4}

    work.choose(work.row(1))
    page.get_by_test_id("edit-open").click()
    expect(page.get_by_test_id("as-node")).to_have_value("add_one")
    options = page.get_by_test_id("as-node").locator("option").all_inner_texts()
    assert "add_one: then double" in options
    page.locator("[data-testid=edit-channel][data-channel=value]").click()
    page.get_by_test_id("edit-value").fill("10")
    expect(page.get_by_test_id("edit-preview")).to_contain_text("Runs next: double")
    assert work.timeline()[0]["checkpoint_id"] == old_head, "a preview stores nothing"
    page.get_by_test_id("edit-save").click()

    edited = work.row(2, lane=1)
    expect(edited).to_have_attribute("data-source", "update")
    expect(edited).to_have_attribute("aria-selected", "true")
    assert work.starts() == {"add_one": 1, "double": 1}, "saving runs nothing"

    page.get_by_test_id("continue").click()
    expect(work.row(3, lane=1)).to_be_visible()
    assert work.values_at(work.timeline()[0]["checkpoint_id"]) == {"value": 20}
    assert work.values_at(old_head) == {"value": 4}, "the old branch stays"
    assert work.starts() == {"add_one": 1, "double": 2}, "add_one did not run again"


def test_save_and_run_to_the_end_is_one_gesture(work: Workspace) -> None:
    page = work.page
    work.open("joke")
    work.new_thread()
    work.run()
    work.stands("idle")
    work.choose(work.row(1))
    page.get_by_test_id("edit-open").click()
    page.locator("[data-testid=edit-channel][data-channel=topic]").click()
    page.get_by_test_id("edit-value").fill('"chickens"')
    expect(page.get_by_test_id("edit-preview")).to_contain_text("write_joke")
    page.get_by_test_id("edit-save-end").click()
    expect(work.row(3, lane=1)).to_be_visible()
    work.stands("idle")
    values = work.values_at(work.timeline()[0]["checkpoint_id"])
    assert values["topic"] == "chickens"
    assert "chicken" in values["joke"]
    assert work.starts() == {"choose_topic": 1, "write_joke": 2}, "the topic was not chosen again"


def test_a_refused_edit_says_why_beside_its_field_and_stores_nothing(work: Workspace, watch: Watch) -> None:
    page = work.page
    work.open("travel_math")
    work.new_thread()
    work.run(value="1")
    work.stands("idle")
    count = len(work.timeline())
    page.get_by_test_id("edit-open").click()
    page.locator("[data-testid=edit-channel][data-channel=value]").click()
    page.get_by_test_id("edit-value").fill("{1")
    expect(page.get_by_role("alert")).to_contain_text("This is no JSON")
    expect(page.get_by_test_id("edit-save")).to_be_disabled()
    page.get_by_test_id("edit-value").fill('"ten"')
    expect(page.get_by_role("alert").first).to_contain_text("value: Input should be a valid integer")
    watch.allow("status of 422")
    page.get_by_test_id("edit-save").click()
    expect(page.get_by_test_id("toast")).to_contain_text("was not saved")
    assert len(work.timeline()) == count


def test_replay_runs_only_what_comes_after(work: Workspace) -> None:
    page = work.page
    work.open("abc")
    work.new_thread()
    work.run(messages="start")
    work.stands("idle")
    before = work.timeline()
    assert work.starts() == {"a": 1, "b": 1, "c": 1}
    row = work.row(1)
    expect(row).to_contain_text("→ b")
    work.choose(row)
    page.get_by_test_id("replay").click()
    expect(page.locator("[data-testid=timeline-row][data-source=fork]")).to_be_visible()
    expect(work.rows()).to_have_count(len(before) + 3)
    work.stands("idle")
    assert work.starts() == {"a": 1, "b": 2, "c": 2}, "a did not run again"
    kept = {row["checkpoint_id"] for row in work.timeline()}
    assert {row["checkpoint_id"] for row in before} <= kept, "the old branch stays"


def test_a_question_is_answered_and_answered_again_from_the_older_pause(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    work.run(messages=REFUND)
    form = page.get_by_test_id("answer-form")
    expect(form).to_contain_text("Send this reply?")
    paused = work.timeline()[0]["checkpoint_id"]
    form.get_by_role("button", name="approve").click()
    work.stands("idle")
    expect(work.rows().first).to_contain_text("close")
    approved = work.timeline()[0]["checkpoint_id"]
    assert str(work.values_at(approved)["outcome"]).startswith("sent")
    ran = work.starts()
    assert ran["send_reply"] == 1

    work.choose(page.locator(f"[data-checkpoint='{paused}']"))
    expect(page.get_by_role("heading", name="Answer again from here")).to_be_visible()
    form.get_by_role("button", name="refuse").click()
    expect(page.locator("[data-testid=timeline-row][data-source=fork]")).to_be_visible()
    work.stands("idle")
    refused = work.timeline()[0]["checkpoint_id"]
    assert refused != approved
    assert "sent" not in str(work.values_at(refused).get("outcome"))
    assert str(work.values_at(approved)["outcome"]).startswith("sent"), "the old branch stays"
    assert work.starts()["send_reply"] == 1, "the reply was not sent again"
    assert work.starts()["triage"] == ran["triage"], "nothing before the pause ran again"


def test_two_questions_are_answered_each_on_its_own(work: Workspace) -> None:
    page = work.page
    work.open("two_questions")
    work.new_thread()
    work.run(dish="soup")
    forms = page.get_by_test_id("answer-form")
    expect(forms).to_have_count(2)
    forms.filter(has_text="salt").get_by_role("button", name="a pinch").click()
    spice = forms.filter(has_text="spice")
    spice.get_by_test_id("answer-value").fill("cumin")
    spice.get_by_test_id("answer-keep").click()
    page.get_by_test_id("answer-submit").click()
    work.stands("idle")
    steps = work.values_at(work.timeline()[0]["checkpoint_id"])["steps"]
    assert set(steps) >= {"water boils", "salt: a pinch", "spice: cumin"}
    assert work.starts()["boil_water"] == work.starts()["serve"] or work.starts()["serve"] == 1


def test_a_run_can_be_stepped_and_cancelled(work: Workspace) -> None:
    page = work.page
    work.open("support_agent")
    work.new_thread()
    page.get_by_test_id("run-open").click()
    page.locator("[data-field=messages]").fill(REFUND)
    page.get_by_label("Run", exact=True).select_option("step")
    page.get_by_test_id("run-submit").click()
    work.stands("interrupted")
    expect(work.rows().first).to_contain_text("triage")
    assert work.starts() == {"triage": 1}
    page.get_by_test_id("step").click()
    expect(work.row(2)).to_be_visible()
    work.stands("interrupted")
    assert set(work.starts()) == {"triage", "find_order", "find_policy", "read_mood"}

    page.get_by_test_id("continue").click()
    page.get_by_test_id("cancel").click()
    expect(page.locator("[data-testid=event-row][data-phase=cancelled]")).to_be_visible()
    work.stands("interrupted")
    assert "approval" not in work.starts()


def test_mermaid_and_config_are_copied(work: Workspace) -> None:
    page = work.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    work.open("abc")
    work.new_thread()
    work.run(messages="start")
    work.stands("idle")
    page.get_by_test_id("copy-mermaid").click()
    expect(page.get_by_test_id("toast").last).to_contain_text("Mermaid text copied")
    assert "graph TD" in page.evaluate("navigator.clipboard.readText()")
    work.tab("config")
    page.get_by_test_id("copy-config").click()
    expect(page.get_by_test_id("toast").last).to_contain_text("Config copied")
    assert work.thread in page.evaluate("navigator.clipboard.readText()")


def test_the_theme_is_switched_and_kept(work: Workspace) -> None:
    page = work.page
    work.open("abc")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_test_id("theme-toggle").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert after != before
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", re.compile("dark|light"))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after
