"""Compile many files in parallel worker processes: `compile_files`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.batch_worker import Answer, Request, read_value, send_request
from tilewright.driver.cache import Cache, key_of
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.files import FileError, read_source
from tilewright.driver.tuning.lookup import Tuned, tuned
from tilewright.support.diagnostics import Error, Unsupported
from tilewright.support.identity import identity
from tilewright.support.interpreter import command_of
from tilewright.support.process_groups import kill_group

if TYPE_CHECKING:
    from tilewright.driver.settings import Settings
    from tilewright.support.diagnostics import Diagnostic

WRONG_PROGRAM: Final = 1
UNREADABLE: Final = 2
NOT_SUPPORTED: Final = 3
CRASHED: Final = 70
"""The exit codes of the command line for these."""


class Outcome(NamedTuple):
    """The result of compiling one file."""

    path: str
    code: int
    """The exit code of the command line."""
    message: str
    """Diagnostics for standard error."""
    made: CompilationResult | None = None
    remarks: Sequence[Diagnostic] = ()
    """On the use of a tuning record."""


class Worker:
    """A process that compiles files, one at a time."""

    __slots__ = ("_closed", "_lock", "_process", "_scratch")

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._lock = Lock()
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Request) -> Answer:
        """Compile one file; restart the process if it crashes."""
        process = self._started()
        if process is None:
            return Answer(CRASHED, "")
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            send_request(process.stdin, request)
        value = read_value(process.stdout)
        if value is not None:
            return Answer(*value)
        code = self._end(process)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return Answer(CRASHED, f"{request.name}: error: the process that compiled it ended {how}")

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._process is None and not self._closed:
                self._process = subprocess.Popen(
                    command_of("tilewright.driver.batch_worker"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "TMPDIR": self._scratch},
                    # Ctrl-C is handled by the parent process.
                    start_new_session=True,
                )
            return self._process

    def close(self) -> None:
        """Kill the process and start no other; a pending `ask` fails."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                # It may have a ptxas, whose files are in our scratch folder.
                kill_group(self._process)

    def finish(self) -> None:
        """Wait for the process to exit."""
        self.close()
        if self._process is not None:
            self._end(self._process)

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        """Reap a process that stopped answering, and return its exit code."""
        with self._lock:
            self._process = None
        for file in (process.stdin, process.stdout):
            assert file is not None
            with suppress(BrokenPipeError):
                file.close()
        return process.wait()


class WorkerPool:
    """Up to `size` workers, each fed by a thread of its own, which serve until `close`."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._scratch = TemporaryDirectory(prefix="tilewright-", ignore_cleanup_errors=True)
        self._requests: SimpleQueue[Request | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Request, Answer] | Exception] = SimpleQueue()
        self._workers: list[Worker] = []
        self._threads: list[Thread] = []

    def answers(self, requests: Sequence[Request]) -> Generator[tuple[Request, Answer]]:
        """Yield answers in completion order; an error, or closing the generator, ends the pool."""
        for each in requests:
            self._requests.put(each)
        for _ in range(len(self._workers), min(self._size, len(requests))):
            self._start()
        try:
            for _ in requests:
                answer = self._answers.get()
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kill the workers, and remove their folder."""
        for worker in self._workers:
            worker.close()
            self._requests.put(None)
        for thread in self._threads:
            thread.join()
        self._scratch.cleanup()

    def _start(self) -> None:
        worker = Worker(self._scratch.name)
        thread = Thread(target=self._serve, args=(worker,), daemon=True)
        self._workers.append(worker)
        thread.start()
        self._threads.append(thread)

    def _serve(self, worker: Worker) -> None:
        try:
            while request := self._requests.get():
                self._answers.put((request, worker.ask(request)))
        except Exception as error:
            # Pass failures such as a failed fork on to the consumer of the answers.
            self._answers.put(error)
        finally:
            worker.finish()


def compile_files(
    paths: Sequence[str],
    settings: Settings,
    emit: str,
    *,
    jobs: int,
    cache: Cache | None = None,
    warn: Callable[[str], object] | None = None,
    use_records: bool = False,
) -> Iterator[Outcome]:
    """Compile files and yield their outcomes in completion order.

    `use_records` compiles each file as a tuning record says, if there is one.

    Cache hits are yielded first and need no worker. Only this process writes the cache, so
    workers may be killed at any time.
    """
    cache = cache or Cache(None)
    requests: list[Request] = []
    choices: dict[str, Tuned] = {}
    for path in paths:
        try:
            data, name = read_source(path, settings.arch.name, device_debug=settings.device_debug)
        except FileError as error:
            yield Outcome(path, UNREADABLE, f"tilewright: {error}")
            continue
        except Error as error:  # of nvcc
            code = NOT_SUPPORTED if isinstance(error, Unsupported) else WRONG_PROGRAM
            yield Outcome(path, code, error.render())
            continue
        choice = tuned(settings, data, name) if use_records else Tuned(settings)
        request = Request(data, name, choice.settings, emit)
        choices[name] = choice
        hit = None if cache.store is None else cache.get(key_of(*request[:4]), emit)
        if hit is None:
            requests.append(request)
        else:
            yield Outcome(path, 0, "", hit, choice.diagnostics)
    while requests:
        failed: list[Request] = []
        for request, answer in _answers(requests, jobs):
            choice = choices[request.name]
            made = CompilationResult.unpack(answer.packed) if answer.packed else None
            if made is None and choice.is_forced:
                plain = choices[request.name] = choice.without_record()
                failed.append(request._replace(settings=plain.settings))
                continue
            if made is not None and answer.maker == identity():
                cache.put(key_of(*request[:4]), made, warn)
            remarks = choice.diagnostics
            yield Outcome(request.name, answer.code, answer.message, made, remarks)
        requests = failed


def _answers(requests: Sequence[Request], jobs: int) -> Iterator[tuple[Request, Answer]]:
    try:
        with closing(WorkerPool(jobs)) as pool:
            yield from pool.answers(requests)
    except OSError as error:
        reason = error.strerror or error
        raise Unsupported(
            f"many files at once without processes and their folder: {reason}"
        ) from error


def processors() -> int:
    """Return the number of processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
