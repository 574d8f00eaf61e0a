"""Who may talk to the server: a token in the opened URL, then a cookie; Host and Origin checked for HTTP and the socket.

The server binds to loopback, but a page of any site can send requests there: so a cookie that other sites cannot use, a
Host that is ours (DNS rebinding), and an Origin that is ours (cross-site calls).
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

COOKIE = "forkpoint"
HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of one start of the server."""

    hosts: frozenset[str] = frozenset()
    """Names under which the server may be called, beside loopback's."""
    any_address: bool = False
    """Listening on all addresses: any address may be called, as a name that someone else controls is none."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def host_allowed(self, host: str | None) -> bool:
        """Whether a Host header names this server: loopback, or the address that --host gave."""
        name = urlsplit(f"//{host or ''}").hostname or ""
        if name == "localhost" or name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address or address.is_loopback

    def origin_allowed(self, origin: str | None, host: str | None) -> bool:
        """Whether a request comes from our own page, or from no page at all."""
        if origin is None:
            return True
        return urlsplit(origin).netloc == (host or "") and self.host_allowed(host)

    def token_fits(self, given: str | None) -> bool:
        """Whether a token is the one of this start."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())


def content_security_policy(nonce: str) -> str:
    """Nothing but our own files; the editor's styles carry the nonce; WebAssembly for the layout."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",
            f"style-src 'self' 'nonce-{nonce}'",
            "worker-src 'self'",
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )
