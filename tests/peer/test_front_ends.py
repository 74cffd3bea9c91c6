"""Modules of other front ends: NVIDIA's tools and ours accept the same."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from command_line import Result, Run
from corpus_checks import peer_text
from front_ends import COLUMN_MAJOR, HEADER, REGIONS, Part, assembled, julia, parts, rust
from repeats import keep

import tilewright
from tilewright import tileirdisasm
from tilewright.bytecode.opcodes import Section
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.disassembly import disassemble
from tilewright.emit.elf import read_kernels
from tilewright.emit.note import own_note, read_note
from tilewright.tileiras import run as tileiras

pytestmark = pytest.mark.peer

VERSIONS = ("13.1", "13.2", "13.3", "13.4")
HINTS = {"13.1": "sm_90", "13.2": "sm_90", "13.3": "default", "13.4": "default"}


class FrontEnd(NamedTuple):
    """How a front end writes modules, and how it calls the compiler."""

    write: Callable[[ModuleOp, str], bytes]
    name: str
    command: Callable[[str, str], list[str]]


JULIA = FrontEnd(
    julia,
    "vadd_x21_",
    lambda source, target: [source, "-o", target, "--gpu-name", "sm_90", "-O3", "--lineinfo"],
)
RUST = FrontEnd(
    rust,
    "_ZN7kernels3add17h0123456789abcdefE",
    lambda source, target: ["--gpu-name", "sm_90", "--opt-level", "3", "-o", target, source],
)
FRONT_ENDS = {"cuTile.jl": JULIA, "cutile-rs": RUST}
TEXTS = {"column_major": COLUMN_MAJOR, "regions": REGIONS}


def module(
    text: str, front_end: FrontEnd, version: str, hints: str = "{occupancy = 2}"
) -> ModuleOp:
    name = front_end.name
    return tilewright.read(text.format(name=name, hints=f"{HINTS[version]} = {hints}"))


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a tool of ours in this process."""
    mains = {"tileiras": tileiras.main, "tileirdisasm": tileirdisasm.main}

    def run(*arguments: str, tool: str = "tileiras", stdin: bytes = b"") -> Result:
        code = mains[tool](arguments)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture(params=FRONT_ENDS)
def front_end(request: pytest.FixtureRequest) -> FrontEnd:
    return FRONT_ENDS[request.param]


@pytest.mark.parametrize("version", keep(VERSIONS, VERSIONS[-1].__eq__))
@pytest.mark.parametrize("text", TEXTS)
def test_modules_compile(
    text: str, version: str, front_end: FrontEnd, nvidia_tools: Path, run: Run, tmp_path: Path
) -> None:
    program = module(TEXTS[text], front_end, version)
    data = front_end.write(program, version)
    plain = tilewright.write_bytecode(program, version)
    assert data != plain
    assert peer_text(data) == peer_text(plain) == disassemble(tilewright.read(data))
    source, peer, made = (str(tmp_path / name) for name in ("in.tile", "peer.cubin", "our.cubin"))
    Path(source).write_bytes(data)
    command = [str(nvidia_tools / "tileiras"), *front_end.command(source, peer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = run(*front_end.command(source, made))
    assert result.code == 0, result.err
    cubin = Path(made).read_bytes()
    assert read_note(cubin) == own_note()
    assert set(read_kernels(cubin)) == set(read_kernels(Path(peer).read_bytes()))
    assert front_end.name in read_kernels(cubin)


@pytest.mark.parametrize("on", ["cpu", "emulator"])
def test_contiguous_columns(on: str) -> None:
    data = julia(module(COLUMN_MAJOR, JULIA, "13.1"), "13.1")
    a = np.asfortranarray(np.arange(40 * 20, dtype=np.float32).reshape(40, 20))
    b = np.zeros_like(a, order="F")
    sizes = (40, 20, 1, 40)
    tilewright.execute(
        data, JULIA.name, (3, 3), [a.T.reshape(-1), *sizes, b.T.reshape(-1), *sizes, 0], on=on
    )
    np.testing.assert_array_equal(b, 2 * a)


@pytest.mark.parametrize("on", ["cpu", "emulator"])
def test_the_probe_of_cutile_rs_runs(on: str) -> None:
    data = rust(module(REGIONS, RUST, "13.3"), "13.3")
    x = np.arange(128, dtype=np.float32)
    tilewright.execute(data, "probe_entry", 1, [x], on=on)
    np.testing.assert_array_equal(x, np.arange(128, dtype=np.float32) * 0.5 + 0.5)
    y = np.zeros(5, np.int32)
    tilewright.execute(data, RUST.name, 5, [y], on=on)
    assert y.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("gpu", ["sm_100", "sm_120"])
def test_empty_modules_that_probe_the_newest_version(
    gpu: str, version: str, nvidia_tools: Path, run: Run, tmp_path: Path
) -> None:
    source, target = tmp_path / "probe.tile", tmp_path / "probe.cubin"
    source.write_bytes(julia(tilewright.read("cuda_tile.module @m {}"), version))
    words = [str(source), "-o", str(target), "--gpu-name", gpu]
    done = subprocess.run([str(nvidia_tools / "tileiras"), *words], check=False)
    assert run(*words).code == done.returncode == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_the_probe_of_cutile_rs_compiles(version: str, run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "probe.bc", tmp_path / "probe.cubin"
    source.write_bytes(rust(module(REGIONS, RUST, version, "{}"), version))
    words = ["--gpu-name", "sm_120", "-o", str(target), str(source)]
    result = run(*words)
    assert result.code == 0, result.err
    assert "probe_entry" in read_kernels(target.read_bytes())


def sections_of_an_example() -> tuple[bytes, list[Part]]:
    data = tilewright.write_bytecode(module(REGIONS, RUST, "13.4"), "13.4")
    return data[:HEADER], parts(data)


VARIANTS = {
    "backwards": lambda sections: sections[::-1],
    "strings first": lambda sections: sorted(sections, key=lambda part: part.number),
    "more alignment": lambda sections: [part._replace(alignment=16) for part in sections],
    "a section of an unknown kind": lambda sections: [*sections, Part(9, 1, b"words")],
    "a section twice": lambda sections: [*sections, sections[-1]],
    "a producer": lambda sections: [*sections, Part(Section.PRODUCER, 1, b"\0")],
    "an empty global section": lambda sections: [Part(Section.GLOBAL, 1, b"\0"), *sections],
    "no constants": lambda sections: [part for part in sections if part.number != Section.CONSTANT],
    "no types": lambda sections: [part for part in sections if part.number != Section.TYPE],
}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.sampled(2)
def test_other_section_layouts(name: str, nvidia_tools: Path, run: Run, tmp_path: Path) -> None:
    header, sections = sections_of_an_example()
    source, target = tmp_path / "in.tile", tmp_path / "out.cubin"
    source.write_bytes(assembled(header, VARIANTS[name](sections)))
    words = [str(source), "-o", str(target), "--gpu-name", "sm_90"]
    command = [str(nvidia_tools / "tileiras"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = run(*words)
    assert result.code == done.returncode, (result.err, done.stderr)


@pytest.mark.parametrize(
    "name", ["plain", "_ZN4core3ops3addE", "a$b", "kernel.f32", "vadd!", "1st", "αβ", "a b", "_"]
)
@pytest.mark.sampled(4)
def test_names_of_kernels(name: str, nvidia_tools: Path, run: Run, tmp_path: Path) -> None:
    front_end = JULIA._replace(name=f'"{name}"')
    source, target = tmp_path / "in.tile", tmp_path / "out.cubin"
    source.write_bytes(tilewright.write_bytecode(module(REGIONS, front_end, "13.4")))
    words = [str(source), "-o", str(target), "--gpu-name", "sm_90"]
    command = [str(nvidia_tools / "tileiras"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = run(*words)
    assert result.code == done.returncode, (result.err, done.stderr)
    if result.code:
        assert f"letters, digits, _ and $ in the name of a kernel, got '@{name}'" in result.err
    else:
        assert name in read_kernels(target.read_bytes())


GLOBAL = """
cuda_tile.module @kernels {{
  global @"{name}" <i32: [1, 2, 3, 4]> : tile<4xi32>
  entry @first(%out: tile<ptr<i32>>) {{
    %from = get_global @"{name}" : tile<ptr<i32>>
    %value, %read = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
    %written = store_ptr_tko weak %out, %value token=%read : tile<ptr<i32>>, tile<i32> -> token
    return
  }}
}}
"""


@pytest.mark.parametrize("name", ["table", "_ZN5table1aE", "table.0", "table!", "0table", "τ"])
def test_names_of_globals(name: str, nvidia_tools: Path, run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "in.tile", tmp_path / "out.cubin"
    source.write_bytes(tilewright.write_bytecode(tilewright.read(GLOBAL.format(name=name))))
    words = [str(source), "-o", str(target), "--gpu-name", "sm_90"]
    command = [str(nvidia_tools / "tileiras"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = run(*words)
    assert result.code == done.returncode, (result.err, done.stderr)
    if result.code:
        assert f"letters, digits, _ and $ in the name of a global, got '@{name}'" in result.err


@pytest.mark.parametrize("tool", ["tileiras", "tileirdisasm"])
def test_version_output_has_the_number_that_front_ends_parse(tool: str, run: Run) -> None:
    """cuTile.jl reads a version of Tile IR out of both, and wants remarks from 13.4 on."""
    assert "V13.4.0" in run("--version", tool=tool).out.split()
