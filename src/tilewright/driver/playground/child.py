"""Child processes of the playground: each answers one request, under limits, and ends."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NamedTuple

from tilewright.driver.playground.log_errors import log_errors
from tilewright.driver.playground.protocol import write_request
from tilewright.support.interpreter import command_of

WORKER: Final = "tilewright.driver.playground.worker"
GRACE: Final = 2.0
"""Seconds that a child has after its time is over, to say where the program was."""
MAX_LOG: Final = 1 << 18
"""The bytes that a program and its compilers may print."""
MAX_ANSWER: Final = 1 << 27
CHUNK: Final = 1 << 16


class Limits(NamedTuple):
    """What a program may take."""

    timeout: float = 30.0
    """Seconds."""
    max_steps: int = 50_000_000
    memory: int = 8192
    """Megabytes of address space; 0 for no limit."""


class _Exceeded(Exception):
    """A limit that ended a child."""


class Child:
    """A process that waits for its request, in a temporary folder of its own."""

    def __init__(self, modules: str = "") -> None:
        self.folder = tempfile.mkdtemp(prefix="tilewright-serve-")
        self.is_cancelled = False
        environment = {**os.environ, "TMPDIR": self.folder}
        if modules:
            # Last, so that modules beside a program hide no others.
            paths = [*filter(None, [os.environ.get("PYTHONPATH")]), modules]
            environment["PYTHONPATH"] = os.pathsep.join(paths)
        # A session of its own: compilers that the child starts end with it.
        self._process = subprocess.Popen(
            command_of(WORKER), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.folder, env=environment, start_new_session=True,
        )  # fmt: skip

    def ask(self, request: dict[str, Any], limits: Limits) -> dict[str, Any]:
        """Send the request and return the answer; the process ends."""
        sent = {**request, "timeout": limits.timeout, "max_steps": limits.max_steps}
        try:
            answer, log = self._exchange({**sent, "memory": limits.memory}, limits)
        except _Exceeded as error:
            return {"errors": [{"line": 0, "text": str(error)}], "log": ""}
        finally:
            self.close()
        if self.is_cancelled:
            return {"superseded": True}
        return _read_answer(answer, log, request["name"], self._process.returncode)

    def _exchange(self, request: dict[str, Any], limits: Limits) -> tuple[bytes, str]:
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        source, target, errors = pipes
        assert source is not None
        assert target is not None
        assert errors is not None
        deadline = monotonic() + limits.timeout + GRACE
        with suppress(BrokenPipeError):  # it has ended, or was cancelled
            write_request(source, request)
        texts = {target.fileno(): bytearray(), errors.fileno(): bytearray()}
        with selectors.DefaultSelector() as selector:
            for descriptor in texts:
                selector.register(descriptor, selectors.EVENT_READ)
            # A process that a program leaves may keep the log open, but not the answer.
            while target.fileno() in selector.get_map():
                left = deadline - monotonic()
                if left <= 0:
                    raise _Exceeded(f"took longer than {limits.timeout:g} seconds")
                for key, _ in selector.select(left):
                    _read(selector, key.fd, texts[key.fd])
                if len(texts[errors.fileno()]) > MAX_LOG:
                    raise _Exceeded(f"printed more than {MAX_LOG >> 10} KiB")
                if len(texts[target.fileno()]) > MAX_ANSWER:
                    raise _Exceeded(f"has results of more than {MAX_ANSWER >> 20} MiB")
            while errors.fileno() in selector.get_map() and selector.select(0):
                _read(selector, errors.fileno(), texts[errors.fileno()])
        log = bytes(texts[errors.fileno()])[:MAX_LOG].decode("utf-8", "replace")
        # Names of files are those of the page, and pages are shared.
        answer = bytes(texts[target.fileno()])
        for name, shown in ((self.folder + os.sep, ""), (self.folder, os.curdir)):
            answer, log = answer.replace(name.encode(), shown.encode()), log.replace(name, shown)
        return answer, log

    def cancel(self) -> None:
        """End the process because its answer is no longer wanted."""
        self.is_cancelled = True
        self.kill()

    def kill(self) -> None:
        """End the process and those that it has started."""
        if self._process.returncode is not None:
            return  # another process may have its number by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process, and remove its folder."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):  # an unsent request
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(selector: selectors.BaseSelector, descriptor: int, text: bytearray) -> None:
    data = os.read(descriptor, CHUNK)
    if data:
        text += data
    else:
        selector.unregister(descriptor)


def _read_answer(data: bytes, log: str, name: str, code: int) -> dict[str, Any]:
    """The answer of a child; an error if it ended without one."""
    try:
        answer = json.loads(data)
    except ValueError:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        answer = {"errors": [{"line": 0, "text": f"the compiler ended with {how}"}]}
    if answer["errors"] and not any(each["line"] for each in answer["errors"]):
        # Those of other compilers are in the log.
        answer["errors"] = log_errors(log, name) or answer["errors"]
    return {**answer, "log": log}
