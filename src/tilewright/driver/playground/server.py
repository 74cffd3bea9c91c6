"""The server of the playground: one page, and two actions, for this user on this machine."""

from __future__ import annotations

import hmac
import json
import secrets
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from tilewright.driver.playground.page import policy
from tilewright.driver.playground.protocol import ACTIONS
from tilewright.driver.playground.requests import BadRequest, read_page_request

if TYPE_CHECKING:
    from tilewright.driver.playground.tasks import Tasks

ADDRESS: Final = "127.0.0.1"
"""The only address that the server listens at: programs of others are not compiled."""
TOKEN_HEADER: Final = "X-Tilewright-Token"
"""Has the token in requests of the page. Other sites cannot set it without being allowed to."""
MAX_REQUEST: Final = 4 << 20
SECONDS: Final = 60
"""How long a connection may be silent."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Server(ThreadingHTTPServer):
    """Listens at the loopback address; `url` has the token that every request needs."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, page: str, tasks: Tasks) -> None:
        super().__init__((ADDRESS, port), Handler)
        self.page = page
        self.tasks = tasks
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.server_port}/?token={self.token}"

    @cached_property
    def policy(self) -> str:
        """The content security policy of the page."""
        return policy()

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """How requests may name this server: a name of another site may lead here, too."""
        return tuple(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the browser has closed a connection, as it does on each edit."""


class Handler(BaseHTTPRequestHandler):
    """Answers a request, if it has the token and is made by our page."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS

    @property
    def _owner(self) -> Server:
        return cast("Server", self.server)

    def version_string(self) -> str:
        return "tilewright"

    def do_GET(self) -> None:
        """Send the page."""
        parts = urlsplit(self.path)
        if not self._is_from_here():
            return
        if parts.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND)
        elif self._is_token(parse_qs(parts.query).get("token", [""])[0]):
            headers = {"Content-Security-Policy": self._owner.policy}
            self._send(
                HTTPStatus.OK, "text/html; charset=utf-8", self._owner.page.encode(), headers
            )

    def do_POST(self) -> None:
        """Explain or run a program."""
        if not self._is_from_here() or not self._is_token(self.headers.get(TOKEN_HEADER, "")):
            return
        action = self.path.removeprefix("/")
        if action not in ACTIONS:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        # Requests from a page have an origin; an opaque one is that of a frame with another page.
        origin = self.headers.get("Origin", "")
        if origin not in [f"http://{host}" for host in self._owner.hosts]:
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_REQUEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            page, request = read_page_request(self.rfile.read(int(length)), action)
        except BadRequest as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        answer = json.dumps(self._owner.tasks.answer(page, request)).encode()
        self._send(HTTPStatus.OK, "application/json", answer)

    def _is_from_here(self) -> bool:
        """Whether the request names this server; refuses it otherwise."""
        if self.headers.get_all("Host", []) not in [[host] for host in self._owner.hosts]:
            self._refuse(HTTPStatus.FORBIDDEN)
            return False
        # Browsers say whether another site makes a request; a person may open the page.
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self._refuse(HTTPStatus.FORBIDDEN)
            return False
        return True

    def _is_token(self, token: str) -> bool:
        """Whether a token is right; refuses the request otherwise."""
        is_right = hmac.compare_digest(token.encode(), self._owner.token.encode())
        if not is_right:
            text = "expected the token of the address that `tilewright serve` has printed"
            self._refuse(HTTPStatus.FORBIDDEN, text)
        return is_right

    def _refuse(self, status: HTTPStatus, text: str = "") -> None:
        # What is left of the request is not read.
        self.close_connection = True
        body = (text or status.phrase).encode()
        self._send(status, "text/plain; charset=utf-8", body, {"Connection": "close"})

    def _send(
        self, status: HTTPStatus, kind: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        sent = {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        for name, value in {**sent, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: requests have the token."""
