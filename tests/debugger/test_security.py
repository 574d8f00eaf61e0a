"""Who may talk to the server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from debugger.security import COOKIE, Guard, content_security_policy
from tests.debugger.served import Client, Kit, client


@pytest.fixture
def c() -> Iterator[Client]:
    with client({"abc": Kit("runtime").line("a")}) as made:
        yield made


def test_nothing_without_the_token(c: Client) -> None:
    for path in ("/debug/graphs", "/threads/search", "/", "/assistants/abc"):
        answer = c.http.get(path)
        assert answer.status_code in (401, 405), path
    assert c.http.get("/debug/graphs").json["error"] == "no_token"  # type: ignore[index]  # JSON it is
    assert c.http.get("/debug/graphs?token=wrong").status_code == 401
    assert c.http.get("/ok").json == {"ok": True}


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(c: Client) -> None:
    token = c.headers["X-Api-Key"]
    answer = c.http.get(f"/?token={token}&graph=abc")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/?graph=abc"
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert c.http.get("/debug/graphs").status_code == 200, "the cookie is enough from now on"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:2026"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
    ],
)
def test_other_names_and_other_pages_are_refused_even_with_the_token(c: Client, headers: dict[str, str]) -> None:
    answer = c.http.get("/debug/graphs", headers={**c.headers, **headers})
    assert answer.status_code == 403
    assert answer.json is not None
    assert answer.json["fix"]


def test_our_own_page_and_programs_are_let_in(c: Client) -> None:
    assert c.http.get("/debug/graphs", headers={**c.headers, "Origin": "http://localhost"}).status_code == 200
    bearer = {"Authorization": f"Bearer {c.headers['X-Api-Key']}"}
    assert c.http.get("/debug/graphs", headers=bearer).status_code == 200


def test_every_answer_carries_a_strict_policy(c: Client) -> None:
    for path in ("/ok", "/debug/graphs", "/nowhere"):
        headers = c.http.get(path, headers=c.headers).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "http" not in policy, "no foreign origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert "'nonce-abc'" in content_security_policy("abc")


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:2026", True),
        ("localhost", True),
        ("[::1]:80", True),
        ("192.168.1.5:2026", False),
        ("localhost.evil.example", False),
        ("", False),
        (None, False),
    ],
)
def test_hosts(host: str | None, allowed: bool) -> None:
    assert Guard().host_allowed(host) is allowed


def test_another_host_is_let_in_where_it_was_asked_for() -> None:
    guard = Guard(hosts=frozenset({"192.168.1.5"}))
    assert guard.host_allowed("192.168.1.5:2026")
    assert not guard.host_allowed("192.168.1.6:2026")


def test_on_all_addresses_the_machine_is_called_by_any_of_them_but_not_by_a_name() -> None:
    guard = Guard(hosts=frozenset({"0.0.0.0", "desk"}), any_address=True)  # noqa: S104 - compared, not bound
    assert guard.host_allowed("192.168.1.5:2026")
    assert guard.host_allowed("desk:2026")
    assert not guard.host_allowed("rebound.evil.example:2026")


def test_only_the_sign_of_life_is_open(c: Client) -> None:
    assert c.http.get("/ok/more").status_code == 401
    assert c.http.get("/okay").status_code == 401


def test_each_start_has_its_own_token() -> None:
    assert Guard().token != Guard().token
    assert not Guard().token_fits(None)
    assert not Guard().token_fits("")
