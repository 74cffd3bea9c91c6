"""Requests to the server of the playground, as its page makes them."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.playground.protocol import EXPLAIN
from tilewright.driver.playground.server import ADDRESS, TOKEN_HEADER

if TYPE_CHECKING:
    from tilewright.driver.playground.server import Server

_DATA: Final = re.compile(r'<script type="application/json" id="playground">(.*?)</script>')


def request_page(server: Server) -> str:
    """The page; raises an `OSError` if the server does not send it."""
    return _answer(server, "GET", f"/?token={server.token}")


def post(server: Server, action: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request of the page."""
    headers = {
        "Content-Type": "application/json",
        "Origin": f"http://{ADDRESS}:{server.server_port}",
        TOKEN_HEADER: server.token,
    }
    return json.loads(_answer(server, "POST", f"/{action}", json.dumps(request), headers))


def _answer(
    server: Server, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
) -> str:
    connection = HTTPConnection(ADDRESS, server.server_port)
    try:
        connection.request(method, path, body or None, headers or {})
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    if response.status != 200:
        raise OSError(f"the server answers with {response.status}: {text}")
    return text


def check(server: Server) -> tuple[str, bool]:
    """Have the program of the page compiled; the outcome as text, and whether it is right."""
    # The end of the server waits for its next look at whether it is to end.
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        match = _DATA.search(request_page(server))
        assert match is not None
        shown = json.loads(match[1])
        program = shown["program"]
        request = {key: shown[key] for key in ("arch", "level", "schedule")}
        request |= {"page": "check", "name": program["name"], "source": program["source"]}
        answer = post(server, EXPLAIN, request)
    finally:
        server.shutdown()
        thread.join()
    errors = [f"line {each['line']}: {each['text']}" for each in answer["errors"]]
    if errors:
        return "\n".join([f"{program['name']} does not compile:", *errors]), False
    kernels: str = ", ".join(each["name"] for each in answer["kernels"])
    size = len(answer["page"]) >> 10
    gist = f"{program['name']} compiles: {kernels or 'no kernel to run'}"
    return f"{gist}, a page of {size} KiB", True
