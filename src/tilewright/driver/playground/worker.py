"""Child process of the playground: `main` answers one request to explain or run a program."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NamedTuple

from tilewright.driver.api import read_level, read_runnable
from tilewright.driver.array_text import ArgumentError, load_array
from tilewright.driver.cli.counters import line_table, summary
from tilewright.driver.cutile_kernels import Launch, export_launches
from tilewright.driver.emulate import emulate
from tilewright.driver.explanation import explain
from tilewright.driver.files import CUDA, is_bytecode, read_source
from tilewright.driver.playground.arguments import (
    array_table,
    form_of,
    launched_form,
    parse_arguments,
)
from tilewright.driver.playground.languages import PYTHON, suffix_of
from tilewright.driver.playground.protocol import EXPLAIN, read_request
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.signatures import kernels_of, signature_of
from tilewright.explain.html import html_report
from tilewright.ir.verifier import verify
from tilewright.reference.launch import launch as run_reference
from tilewright.reference.tile import is_array
from tilewright.support.diagnostics import Diagnostic, Error, fail
from tilewright.support.interpreter import end_with_caller
from tilewright.support.run_limits import RunLimits
from tilewright.support.source_location import caller_location, source_location
from tilewright.target.arch import ARCHES

MAX_FILE: Final = 1 << 28
"""The size of the largest file that a program may write."""
MEGABYTE: Final = 1 << 20


class Compiled(NamedTuple):
    """A program as Tile IR, or text of a level below it."""

    data: bytes
    name: str
    launches: dict[str, Launch]
    """Those of a program of cuTile Python."""
    chosen: str
    """The launch of which `data` is the kernel."""


def main() -> int:
    """Answer one request, which arrives on standard input; the answer is JSON."""
    source = sys.stdin.buffer
    end_with_caller(source.fileno())
    # What the program and its compilers print is no part of the answer.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    request = read_request(source)
    if request is None:
        return 0
    set_limits(request["memory"], request["timeout"])
    answer = respond(request)
    target.write(json.dumps(answer).encode())
    target.flush()
    sys.stderr.flush()
    # Processes that the compiler keeps for the next compilation end with this one.
    os._exit(0)


def set_limits(megabytes: int, seconds: float) -> None:
    """Limit the memory, the processor time and the files of this process and its children."""
    import resource  # noqa: PLC0415

    # The server ends a program in time; this limit is for those that outlive the server.
    processor = int(seconds * (os.cpu_count() or 1)) + 10
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, processor)]
    limits += [(resource.RLIMIT_FSIZE, MAX_FILE)]
    limits += [(resource.RLIMIT_AS, megabytes * MEGABYTE)] if megabytes else []
    for which, limit in limits:
        # macOS does not limit address space; a lower limit of the caller stays.
        with suppress(ValueError, OSError):
            resource.setrlimit(which, (limit, limit))


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request; what is wrong with the program is a part of it."""
    start = monotonic()
    name = os.path.basename(request["name"])
    answer: dict[str, Any] = {"errors": []}
    try:
        action = _explain if request["action"] == EXPLAIN else _run
        answer |= action(request, start)
    except Error as error:
        answer["errors"] = [_entry(each, name) for each in error.diagnostics]
    except ArgumentError as error:
        answer["errors"] = [{"line": 0, "text": str(error)}]
    except MemoryError as error:
        text = f"out of memory: {error}" if str(error) else "out of memory"
        answer["errors"] = [{"line": 0, "text": f"{text} (limit: {request['memory']} MB)"}]
    except Exception as error:
        traceback.print_exc()
        text = f"a bug in Tilewright, not in the program: {error!r}"
        answer["errors"] = [{"line": 0, "text": text}]
    answer["seconds"] = round(monotonic() - start, 2)
    return answer


def _entry(diagnostic: Diagnostic, name: str) -> dict[str, Any]:
    """A diagnostic with its line in the program; 0 if it has none."""
    line, column = _line(diagnostic, name)
    notes = [str(each) for each in diagnostic.notes]
    text = diagnostic.message if line else diagnostic.headline()
    return {"line": line, "column": column, "text": "\n".join([text, *notes])}


def _line(diagnostic: Diagnostic, name: str) -> tuple[int, int]:
    """The line and the column of a diagnostic in the program.

    The location of an error in inlined code may be in another file, and that of one in generated
    code is a note.
    """
    for location in (diagnostic.location, *(note.location for note in diagnostic.notes)):
        for find in (source_location, caller_location):
            spot = find(location)
            if spot is not None and os.path.basename(spot.file) == name:
                return spot.line, spot.column
    # The emulator names the source line of a PTX instruction in its message.
    match = re.search(rf"\bsource line \S*?{re.escape(name)}:(\d+):(\d+)", diagnostic.message)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _compile(request: dict[str, Any], *, with_arguments: bool = False) -> Compiled:
    """Have the front end of its language compile a program to Tile IR."""
    name, source = request["name"], request["source"]
    suffix = suffix_of(name)
    if suffix not in (PYTHON, CUDA):
        return Compiled(source.encode(), name, {}, "")
    path = os.path.join(os.getcwd(), os.path.basename(name))
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    if suffix == CUDA:
        data, _ = read_source(path, request["arch"])
        return Compiled(data, path, {}, "")
    folder = os.path.join(os.getcwd(), "kernels")
    os.mkdir(folder)
    launches = export_launches(path, folder, with_arguments=with_arguments)
    wanted = request["kernel"]
    chosen = wanted if wanted in launches else next(iter(launches))
    return Compiled(launches[chosen].data, chosen, launches, chosen)


def _settings(request: dict[str, Any]) -> Settings:
    arch = ARCHES.get(request["arch"])
    if arch is None:
        fail(f"expected one of {', '.join(ARCHES)}, found '{request['arch']}'")
    schedule = parse_schedule(request["schedule"])
    level = int(request["level"])
    return Settings(arch, level, schedule=schedule, timeout=request["timeout"])


def _explain(request: dict[str, Any], start: float) -> dict[str, Any]:
    """The page of the program, and a form for each of its kernels."""
    settings = _settings(request)
    compiled = _compile(request, with_arguments=True)
    if not is_bytecode(compiled.data):
        # Explaining stops at the first error.
        verify(read_level(compiled.data, compiled.name, every_error=True))
    title = os.path.basename(request["name"])
    if compiled.chosen:
        title = f"{title}: {compiled.chosen}"
    report = explain(compiled.data, compiled.name, settings, title=title, folders=[os.getcwd()])
    name = os.path.basename(request["name"])
    remarks: list[dict[str, Any]] = []
    for remark in report.remarks:
        at = report.positions[remark.position] if remark.position >= 0 else None
        if at is not None and os.path.basename(at.file) == name:
            remarks.append({"line": at.line, "kind": remark.kind, "text": remark.text})
    return {
        "page": html_report(report),
        "remarks": remarks,
        "kernels": _forms(compiled, request["source"]),
        "chosen": compiled.chosen,
    }


def _forms(compiled: Compiled, source: str) -> list[dict[str, Any]]:
    """The form of each kernel; none where no executor runs the program."""
    forms: list[dict[str, Any]] = []
    # An error is about a level below those that are run, or arguments that no launch can pass.
    with suppress(Error):
        for name, launch in compiled.launches.items():
            signature = signature_of(read_runnable(launch.data, name), None)
            values = _values(launch)
            forms.append(launched_form(name, signature, launch.grid, launch.names, values))
        if not compiled.launches:
            program = read_runnable(compiled.data, compiled.name)
            for kernel in kernels_of(program):
                forms.append(form_of(signature_of(program, kernel.sym_name), source))
    return forms


def _values(launch: Launch) -> list[Any]:
    return [load_array(each) if isinstance(each, str) else each for each in launch.arguments]


def _run(request: dict[str, Any], start: float) -> dict[str, Any]:
    """Run a kernel; the arrays that it writes, what it prints, and the counters."""
    settings = _settings(request)
    compiled = _compile(request, with_arguments=True)
    program = read_runnable(compiled.data, compiled.name)
    verify(program)
    entry = None if compiled.launches else request["kernel"] or None
    signature = signature_of(program, entry)
    launched = _values(compiled.launches[compiled.chosen]) if compiled.launches else []
    texts: list[str] = request["arguments"]
    values = parse_arguments(texts, launched)
    labels: list[str] = request["labels"]
    labels = labels if len(labels) == len(values) else [f"argument {n}" for n in range(len(values))]
    printed: list[str] = []
    left = max(0.1, request["timeout"] - (monotonic() - start))
    grid = _grid(request["grid"])
    counters = None
    if request["on"] == "emulator":
        counters = emulate(
            program, signature.name, grid, values,
            arch=settings.arch.name, opt_level=settings.opt_level, schedule=settings.schedule,
            check=request["check"], write=printed.append, max_steps=request["max_steps"],
            timeout=left, names=labels, profile=True,
        )  # fmt: skip
    else:
        run_reference(
            program, signature.name, grid, values,
            check=request["check"], write=printed.append, names=labels,
            limits=RunLimits(request["max_steps"], left),
        )  # fmt: skip
    parameters = signature.parameters
    tables = [
        array_table(label, value, parameter.element)
        for label, value, parameter in zip(labels, values, parameters, strict=True)
        if is_array(value) and parameter.is_written
    ]
    answer: dict[str, Any] = {"printed": "".join(printed), "arrays": tables}
    if counters is not None:
        answer |= {"counters": summary(counters), "lines": line_table(counters)}
    return answer


def _grid(text: str) -> list[int]:
    parts = text.replace(",", "x").split("x")
    extents = [int(part) for part in parts if part.strip().isdecimal()]
    if len(extents) != len(parts):
        fail(f"expected a grid such as 4x2, found '{text}'")
    return extents
