"""No input does anything but read or fail at a byte: mutations of real files, by a fixed seed."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import KNOWN
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import parse_module
from tilewright.support.diagnostics import UserError
from tilewright.support.location import ByteLoc

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").glob("*.mlir"))
MUTATIONS = 250
BYTES = (0, 1, 2, 0x7F, 0x80, 0xFF)


def mutated(data: bytes, random: Random) -> bytes:
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at = random.randrange(8, len(out))
        match random.randrange(4):
            case 0:
                out[at:at] = out[random.randrange(len(out)) :][: random.randrange(20)]
            case 1:
                del out[at : at + random.randrange(1, 6)]
            case 2:
                out[at] = random.choice(BYTES)
            case _:
                out[at] = random.randrange(256)
        if len(out) < 12:
            break
    return bytes(out)


def problem_of(data: bytes) -> UserError | None:
    """What is wrong with a file; one that can be read can also be written and read again."""
    try:
        module = read_bytecode(data, "k")
    except UserError as error:
        return error
    read_bytecode(write_bytecode(module))
    return None


def is_located(problem: UserError, data: bytes) -> bool:
    offset_location = problem.location
    return isinstance(offset_location, ByteLoc) and 0 <= offset_location.offset <= len(data)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_mutations_read_or_fail_at_a_byte(path: Path) -> None:
    data = write_bytecode(parse_module(path.read_text(), path.name))
    random = Random(path.stem)
    broken = [mutated(data, random) for _ in range(MUTATIONS)]
    problems = [problem_of(file) for file in broken]
    assert None in problems
    wrong = [(p, file) for p, file in zip(problems, broken, strict=True) if p is not None]
    assert wrong
    assert all(is_located(problem, file) for problem, file in wrong)


@each_case("version", KNOWN)
def test_any_version_byte_on_any_body(version) -> None:
    for path in PROGRAMS:
        data = bytearray(write_bytecode(parse_module(path.read_text(), path.name)))
        data[9] = version[1]
        problem = problem_of(bytes(data))
        assert problem is None or is_located(problem, bytes(data))
