"""The watch over pages sees what it is for; without this a blind watch would pass every test."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.watch import Watch


def seen(watch: Watch) -> str:
    """What was left, taken away so that this test's own page ends quiet."""
    text = "\n".join(watch.left())
    watch.complaints.clear()
    return text


def test_errors_in_the_console_and_in_scripts_are_seen(page: Page, watch: Watch) -> None:
    with page.expect_event("pageerror"):
        page.evaluate("console.error('broken'); setTimeout(() => { throw new Error('lost') })")
    text = seen(watch)
    assert "console error: broken" in text
    assert "uncaught: lost" in text


def test_a_request_to_another_machine_is_seen(page: Page, watch: Watch) -> None:
    page.route("**/*", lambda route: route.abort())
    page.evaluate("fetch('http://elsewhere.invalid/x').catch(() => null)")
    assert "foreign request: http://elsewhere.invalid/x" in seen(watch)


def test_what_a_test_allows_is_left_out(page: Page, watch: Watch) -> None:
    watch.allow("status of 422")
    page.evaluate("console.error('Failed to load: status of 422'); console.log('harmless')")
    assert seen(watch) == ""
