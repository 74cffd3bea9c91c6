"""`tilewright serve`: the command, its options, and its end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from command_line import Run

PATIENCE_S = 600
"""Time limit on a busy machine, in seconds."""


def test_check_compiles_an_example(run: Run) -> None:
    code, out, err = run("serve", "--check")
    assert code == 0, err
    assert out.startswith("add.mlir compiles: add, ")


def test_check_compiles_a_file(run: Run) -> None:
    # Bytecode is opened as text.
    code, out, err = run("serve", "good.tileirbc", "--check", "--arch", "sm_80", "-O1")
    assert code == 0, err
    assert out.startswith("good.mlir compiles: add, ")
    code, out, _ = run("serve", "mismatch.mlir", "--check")
    assert code == 1
    assert "mismatch.mlir does not compile:\nline 3: " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.mlir"], "cannot read 'missing.mlir'"),
        (["--port", "x"], "option '--port': expected a number from 0 on, found 'x'"),
        (["--port", "70000"], "option '--port': expected at most 65535"),
        (["--max-steps", "0"], "option '--max-steps': expected a number from 1 on"),
        (["--memory", "-1"], "option '--memory': expected a number from 0 on"),
        (["--timeout", "0"], "option '--timeout': expected seconds above 0"),
        (["--arch", "sm_1"], "option '--arch': expected one of "),
        (["--host", "0.0.0.0"], "unknown option '--host'"),
    ],
)
def test_wrong_options(run: Run, arguments: list[str], message: str) -> None:
    code, _, err = run("serve", "--check", *arguments)
    assert code == 2
    assert message in err


def test_a_wrong_schedule_is_an_error(run: Run) -> None:
    code, _, err = run("serve", "--check", "--schedule", "stages=x")
    assert code == 1
    assert "expected a schedule" in err


def test_a_port_in_use_is_an_error(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--check", "--port", str(port))
    assert code == 2
    assert f"cannot listen at port {port}" in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", "serve"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", url)
        with urllib.request.urlopen(url) as response:
            assert b"Tilewright playground" in response.read()
        end = time.monotonic() + PATIENCE_S
        while not list(tmp_path.iterdir()):  # the folder of the process that waits for a program
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == code
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    assert list(tmp_path.iterdir()) == []
