"""The server of the playground answers its own page, and nothing else."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from http.client import HTTPConnection, HTTPResponse
from threading import Thread
from typing import Any

import pytest

from tilewright.driver.playground.languages import Language, Program
from tilewright.driver.playground.page import Opened, playground_page
from tilewright.driver.playground.server import MAX_REQUEST, Server
from tilewright.driver.playground.tasks import Tasks
from tilewright.explain.page import page

HOSTILE = '</script><img src=x onerror=alert(1)>&"'


class Recorder(Tasks):
    """Tasks that start no process."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def answer(self, page: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((page, request))
        return {"errors": []}


@pytest.fixture
def server() -> Iterator[Server]:
    program = Program("add.mlir", "add", f"// {HOSTILE}\n")
    opened = Opened(program, "sm_90", "3", "")
    text = playground_page(opened, [Language(".mlir", "Tile IR")], [program])
    made = Server(0, text, Recorder())
    thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def send(
    server: Server, method: str, path: str, body: Any = None, **headers: str
) -> tuple[HTTPResponse, str]:
    """Send a request; names of headers have underscores, and a header of None is left out."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=600)
    sent = {name.replace("_", "-"): value for name, value in headers.items() if value}
    connection.request(method, path, body, sent)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


def post(server: Server, path: str = "/explain", body: Any = None, **changes: str) -> int:
    """Send a request as the page does, but for some headers; return the status."""
    headers = {
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "X_Tilewright_Token": server.token,
        "Content_Type": "application/json",
        "Sec_Fetch_Site": "same-origin",
    }
    data = json.dumps({"name": "add.mlir", "source": "x"}) if body is None else body
    return send(server, "POST", path, data, **{**headers, **changes})[0].status


def asked(server: Server) -> list[tuple[str, dict[str, Any]]]:
    assert isinstance(server.tasks, Recorder)
    return server.tasks.asked


def test_it_listens_at_the_loopback_address_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_needs_the_token(server: Server) -> None:
    assert len(server.token) >= 32
    assert send(server, "GET", f"/?token={server.token}")[0].status == 200
    for path in ("/", "/?token=", f"/?token={server.token}x", f"/?token={server.token[:-1]}"):
        response, text = send(server, "GET", path)
        assert response.status == 403, path
        assert "<html" not in text
    assert send(server, "GET", f"/other?token={server.token}")[0].status == 404


def test_each_server_has_another_token(server: Server) -> None:
    other = Server(0, "", Recorder())
    other.server_close()
    assert other.token != server.token


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "[::1]:{port}", "127.0.0.1:1",
     "localhost.evil.example:{port}"],
)  # fmt: skip
def test_names_of_other_sites_are_refused(server: Server, host: str) -> None:
    """A name of another site that leads here (DNS rebinding) does not get the page."""
    named = host.format(port=server.server_port)
    response, _ = send(server, "GET", f"/?token={server.token}", Host=named)
    assert response.status == 403
    assert post(server, Host=named) == 403
    assert asked(server) == []


def test_localhost_is_a_name_of_the_server(server: Server) -> None:
    named = f"localhost:{server.server_port}"
    assert send(server, "GET", f"/?token={server.token}", Host=named)[0].status == 200


def test_a_request_of_the_page_is_answered(server: Server) -> None:
    body = {"page": "p", "name": "add.mlir", "source": "x", "arguments": ["1"], "check": True}
    assert post(server, body=json.dumps(body)) == 200
    [(page, request)] = asked(server)
    assert page == "p"
    assert request["action"] == "explain"
    assert request["arguments"] == ["1"]
    assert request["check"] is True


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"X_Tilewright_Token": ""}, 403),
        ({"X_Tilewright_Token": "wrong"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"path": "/other"}, 404),
        ({"path": "/../explain"}, 404),
        ({"body": "{"}, 400),
        ({"body": "[]"}, 400),
        ({"body": "[" * 100_000}, 400),
        ({"body": '{"name": "../add.mlir"}'}, 400),
        ({"body": '{"name": "/etc/passwd"}'}, 400),
        ({"body": '{"name": "-o"}'}, 400),
        ({"body": '{"name": ".."}'}, 400),
        ({"body": '{"name": "add.mlir", "source": 3}'}, 400),
        ({"body": '{"name": "add.mlir", "source": "\\ud800"}'}, 400),
        ({"body": '{"name": "add.mlir", "arch": "sm_1"}'}, 400),
        ({"body": '{"name": "add.mlir", "arguments": [1]}'}, 400),
        ({"body": '{"name": "add.mlir", "on": "gpu"}'}, 400),
        ({"Content_Length": str(MAX_REQUEST + 1)}, 413),
        ({"Content_Length": "x"}, 413),
    ],
)
def test_other_requests_are_refused(server: Server, changes: dict[str, str], status: int) -> None:
    assert post(server, **changes) == status
    assert asked(server) == []


def test_other_sites_are_not_allowed_to_send_the_token(server: Server) -> None:
    """A browser asks first, and the answer does not allow it."""
    response, _ = send(
        server, "OPTIONS", "/explain", Origin="http://evil.example",
        Access_Control_Request_Method="POST", Access_Control_Request_Headers="x-tilewright-token",
    )  # fmt: skip
    assert response.status == 501
    assert not any(name.startswith("Access-Control") for name, _ in response.getheaders())


def test_only_our_scripts_run(server: Server) -> None:
    response, text = send(server, "GET", f"/?token={server.token}")
    policy = str(response.getheader("Content-Security-Policy"))
    assert policy.startswith("default-src 'none'; ")
    allowed = set(re.findall(r"'(sha256-[^']+)'", policy))
    scripts = re.findall(r"<script>(.*?)</script>", text + page("", [], {}), re.DOTALL)
    made = [base64.b64encode(sha256(each.encode()).digest()).decode() for each in scripts]
    assert len(made) == 2
    assert allowed == {f"sha256-{each}" for each in made}
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert response.getheader("Referrer-Policy") == "no-referrer"
    assert response.getheader("X-Frame-Options") == "DENY"


def test_programs_are_escaped_and_nothing_is_loaded(server: Server) -> None:
    _, text = send(server, "GET", f"/?token={server.token}")
    assert "<img" not in text
    assert not re.search(r"""(?:src|href)=["']""", text.partition("<script>")[0])
    assert not re.search(r"https?:|url\(|@import|import\(|WebSocket", text)
    assert server.token not in text
