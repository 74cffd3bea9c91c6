"""Checks of every module of the corpus; used by `make corpus` and by the tests."""

from __future__ import annotations

import difflib
import importlib.util
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import tilewright
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.assembly import parse_module
from tilewright.driver.disassembly import disassemble
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.location import UNKNOWN, ByteLoc, Location, TextLoc

ROOT: Final = Path(__file__).parent.parent
ARCHIVE: Final = ROOT.parent / "shared" / "corpus" / "cutile-tests.tar.xz"
OPERATIONS: Final = ROOT / "tests" / "unit" / "dialects" / "cuda_tile" / "ops"
PROGRAMS: Final = (ROOT / "tests" / "programs", OPERATIONS / "golden", OPERATIONS / "programs")
"""Folders of programs that complement the corpus: they use features that it lacks."""
EXCEPTIONS: Final = ROOT / "tests" / "corpus" / "exceptions.toml"
SAMPLE: Final = ROOT / "tests" / "corpus" / "sample.txt"
NEWEST: Final = (13, 4)


class Module(NamedTuple):
    """A module of the corpus, as bytecode."""

    name: str
    data: bytes


def load_modules() -> list[Module]:
    """The modules of the archive, in the order of their names."""
    with tarfile.open(ARCHIVE, "r|xz") as archive:
        return sorted(
            Module(Path(member.name).stem, file.read())
            for member in archive
            if (file := archive.extractfile(member)) is not None
        )


def load_programs() -> Iterator[Module]:
    """Our own programs, assembled."""
    paths = [path for folder in PROGRAMS for path in sorted(folder.glob("*.mlir"))]
    for path in paths:
        module = parse_module(path.read_text(), path.name)
        verify(module)
        yield Module(f"{path.parent.name}/{path.stem}", write_bytecode(module, NEWEST))


def read_exceptions() -> dict[str, str]:
    """Modules that may differ, each with the cause."""
    return tomllib.loads(EXCEPTIONS.read_text()).get("modules", {})


@cache
def tileirdisasm() -> Path:
    """NVIDIA's disassembler; a path that does not exist if it is not installed."""
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations if spec is not None else None) or [""]
    paths = [Path(root, "cu13", "bin", "tileirdisasm") for root in roots]
    return next((path for path in paths if path.exists()), paths[0])


def peer_text(data: bytes, *options: str) -> str:
    """Return NVIDIA's disassembly of bytecode, or its error."""
    with tempfile.NamedTemporaryFile(suffix=".tileirbc") as file:
        file.write(data)
        file.flush()
        command = [str(tileirdisasm()), *options, file.name]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else f"exit code {run.returncode}\n{run.stderr}"


def difference(expected: str, actual: str) -> str | None:
    """Return the first lines that differ, or `None`."""
    if expected == actual:
        return None
    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), "expected", "found", n=0, lineterm=""
    )
    return "\n".join(line[:400] for _, line in zip(range(8), lines, strict=False))


def reads_and_verifies(module: Module) -> str | None:
    """The module reads and verifies."""
    try:
        verify(read_bytecode(module.data, module.name))
    except tilewright.Error as error:
        return str(error)
    return None


def prints_as_the_peer(module: Module) -> str | None:
    """The text is NVIDIA's, byte for byte."""
    return difference(peer_text(module.data), disassemble(_read(module)))


def prints_debug_info_as_the_peer(module: Module) -> str | None:
    """The text with locations is NVIDIA's, byte for byte."""
    return difference(peer_text(module.data, "-g"), disassemble(_read(module), debug=True))


def survives_bytecode(module: Module) -> str | None:
    """Read, write, read again gives an equal module, locations included."""
    before = _read(module)
    after = read_bytecode(write_bytecode(before, NEWEST), module.name)
    if not equivalent(before, after):
        return "the module has changed"
    for old, new in zip(before.walk(), after.walk(), strict=True):
        if debug_location(old) != debug_location(new):
            return f"the location of '{old.name}' was {old.location}, is {new.location}"
    return None


def peer_reads_what_we_write(module: Module) -> str | None:
    """NVIDIA's disassembler prints the same for our bytecode as for the original."""
    ours = write_bytecode(_read(module), NEWEST)
    return difference(peer_text(module.data, "-g"), peer_text(ours, "-g"))


def text_is_a_fixed_point(module: Module) -> str | None:
    """Text to module to text changes nothing, in both styles."""
    before = _read(module)
    for style in ("public", "tileiras"):
        text = before.to_text(style=style)
        after = parse_module(text, module.name)
        if not equivalent(before, after):
            return f"{style}: the module has changed"
        problem = difference(text, after.to_text(style=style))
        if problem is not None:
            return f"{style}: {problem}"
    return None


def debug_text_is_a_fixed_point(module: Module) -> str | None:
    """Text with locations gives the module back, and every location that it prints."""
    before = _read(module)
    text = before.to_text(debug=True)
    after = parse_module(text, module.name)
    if not equivalent(before, after):
        return "the module has changed"
    return difference(text, after.to_text(debug=True))


def disassembly_reads_back(module: Module) -> str | None:
    """The output of the disassembler, which has no enclosing module, parses to the same module."""
    before = _read(module)
    after = parse_module(disassemble(before), module.name)
    before.producer = None  # the disassembler has it in a comment
    return None if equivalent(before, after) else "the module has changed"


def _read(module: Module) -> ModuleOp:
    return read_bytecode(module.data, module.name)


def debug_location(op: Operation) -> Location:
    """Return the location that the program states; a position in the file that was read is none."""
    return UNKNOWN if isinstance(op.location, ByteLoc | TextLoc) else op.location


CHECKS: Final[dict[str, Callable[[Module], str | None]]] = {
    function.__name__.replace("_", " "): function
    for function in (
        reads_and_verifies,
        prints_as_the_peer,
        prints_debug_info_as_the_peer,
        survives_bytecode,
        peer_reads_what_we_write,
        text_is_a_fixed_point,
        debug_text_is_a_fixed_point,
        disassembly_reads_back,
    )
}
