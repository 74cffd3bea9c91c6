"""`tilewright compile` and `tilewright.compile`: every stage, its options, and errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.bytecode.versions import NEWEST
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.assembly import parse_module
from tilewright.driver.compile import Program
from tilewright.driver.pipelines import STAGES
from tilewright.support.diagnostics import REPORT_ASSEMBLER, Severity

KERNEL = """\
gpu.module @kernels {
  gpu.func @twice(%a: memref<64xf32, 1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<64xf32, 1>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<64xf32, 1>
    gpu.return
  }
}
"""

ASSEMBLY = """\
llvm.func @k() attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "TEXT", "" : () -> ()
  llvm.return
}
"""

STAGE_MARKS = {
    "nvgpu": "gpu.thread_id x",
    "nvvm": "nvvm.read.ptx.sreg.tid.x",
    "llvm": "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
    "ptx": ".target sm_90a",
}


@pytest.fixture(autouse=True)
def kernel(folder: Path) -> None:
    (folder / "kernel.mlir").write_text(KERNEL)


@pytest.mark.parametrize(("stage", "mark"), STAGE_MARKS.items())
def test_emit_stops_at_a_stage(run: Run, stage: str, mark: str) -> None:
    result = run("compile", "kernel.mlir", "--emit", stage)
    assert (result.code, result.err) == (0, "")
    assert mark in result.out


@pytest.mark.parametrize("options", [("--line-info",), ("--device-debug",)])
def test_a_path_that_is_no_utf_8_goes_into_debug_information(
    run: Run, folder: Path, options: tuple[str, ...]
) -> None:
    name = os.fsdecode(b"caf\xe9.mlir")
    (folder / name).write_text(KERNEL)
    assert run("compile", name, *options, "-o", "k.cubin") == (0, "", "")
    assert 'filename: "caf\\E9.mlir"' in run("compile", name, *options, "--emit", "llvm").out


@pytest.mark.parametrize("options", [("--line-info",), ("--device-debug",)])
def test_a_path_with_quotes_goes_into_debug_information(
    run: Run, folder: Path, options: tuple[str, ...]
) -> None:
    (folder / 'a "kernel".mlir').write_text(KERNEL)
    assert run("compile", 'a "kernel".mlir', *options, "-o", "k.cubin") == (0, "", "")
    assert b"a 'kernel'.mlir" in (folder / "k.cubin").read_bytes()


@pytest.mark.parametrize(
    ("name", "start"),
    [("k.cubin", b"\x7fELF"), ("k.ll", b"target triple"), ("k.ptx", b"//"), ("k", b"\x7fELF")],
)
def test_the_suffix_picks_the_stage(run: Run, folder: Path, name: str, start: bytes) -> None:
    assert run("compile", "kernel.mlir", "-o", name) == (0, "", "")
    assert (folder / name).read_bytes().startswith(start)


@pytest.mark.parametrize("stage", ["nvgpu", "nvvm"])
def test_the_text_of_a_stage_compiles_to_the_same(run: Run, stage: str) -> None:
    text = run("compile", "kernel.mlir", "--emit", stage).out
    again = run("compile", "-", "--emit", "ptx", stdin=text.encode())
    assert again == run("compile", "kernel.mlir", "--emit", "ptx")


def test_the_target(run: Run) -> None:
    assert ".target sm_80\n" in run("compile", "kernel.mlir", "--emit=ptx", "--arch=sm_80").out
    wrong = run("compile", "kernel.mlir", "--emit=ptx", "--arch=sm_91")
    assert wrong.code == 2
    assert "expected one of sm_80, " in wrong.err


def test_resources_and_timing(run: Run) -> None:
    result = run("compile", "kernel.mlir", "-ok.cubin", "--resources", "--timing", "-g")
    lines = result.err.splitlines()
    head, row = [line.split() for line in lines[-2:]]
    assert head[:6] == ["kernel", "threads", "registers", "spills", "stack", "shared"]
    assert row[:2] == ["twice", "64x1x1"]
    assert int(row[2]) > 0
    assert row[3:] == ["0+0", "0", "0", "32"]
    assert all(step in result.err for step in ("read", "convert-gpu", "LLVM", "ptxas", "total"))
    assert run("compile", "kernel.mlir", "--emit=ptx", "--resources").code == 2


@pytest.mark.parametrize(("option", "gist"), [
    ("--remarks", "[analysis: kernel-resources]"),
    ("--resources", "twice"),
])  # fmt: skip
def test_reports_on_a_terminal_come_without_the_cubin(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str, gist: str
) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    result = run("compile", "kernel.mlir", option)
    assert (result.code, result.out) == (0, "")
    assert gist in result.err


def test_a_cubin_does_not_go_to_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    result = run("compile", "kernel.mlir")
    assert (result.code, result.out) == (2, "")
    assert "give -o FILE, pipe the output, or ask for --remarks" in result.err


def test_passes_are_watched(run: Run) -> None:
    result = run("compile", "kernel.mlir", "--emit=nvvm", "--print-after-all", "--verify-each")
    assert result.code == 0
    assert "after convert-gpu-nvgpu-to-nvvm" in result.err


def test_opt_takes_the_same_levels(run: Run) -> None:
    result = run("opt", "kernel.mlir", "--pass", "convert-gpu-nvgpu-to-nvvm")
    assert result == run("compile", "kernel.mlir", "--emit", "nvvm")


def test_tile_programs_compile_to_cubins(run: Run, folder: Path) -> None:
    assert "addf" in run("compile", "good.mlir", "--emit", "cuda_tile", "-O0").out
    assert run("compile", "good.mlir", "-o", "out.cubin").code == 0
    assert (folder / "out.cubin").read_bytes().startswith(b"\x7fELF")


def test_no_raising_to_an_earlier_stage(run: Run) -> None:
    result = run("compile", "kernel.mlir", "--emit", "cuda_tile")
    assert result.code == 1
    assert "expected a stage from 'nvgpu' on, where the program is, got 'cuda_tile'" in result.err


@pytest.mark.parametrize(
    ("text", "code", "gist"),
    [
        (KERNEL.replace("addf", "addi"), 1, "arith.addi"),
        (KERNEL.replace("gpu.return", ""), 1, "error:"),
        (ASSEMBLY.replace("TEXT", "frobnicate;"), 1, "ptxas rejects the program"),
        ("", 1, "empty"),
    ],
)
def test_wrong_programs(run: Run, folder: Path, text: str, code: int, gist: str) -> None:
    (folder / "out.cubin").write_bytes(b"old")
    result = run("compile", "-", "-o", "out.cubin", stdin=text.encode())
    assert result.code == code
    assert gist in result.err
    assert "Traceback" not in result.err
    assert (folder / "out.cubin").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("script", "gist"),
    [
        ("echo 'ptxas fatal   : (C7602) Insufficient registers' >&2; exit 255", "(C7602) Insuff"),
        ("kill -SEGV $$", "ptxas ended by signal 11"),
    ],
)
@pytest.mark.parametrize(("tool", "code"), [("tilewright", 3), ("tileiras", 5)])
def test_errors_of_ptxas_are_diagnostics(
    run: Run, folder: Path, script: str, gist: str, tool: str, code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    fake = folder / "ptxas"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(fake))
    program = write_bytecode(parse_module("entry @k() { return }", "k.mlir"), NEWEST)
    (folder / "k.tileirbc").write_bytes(program)
    command = ["compile", "--arch", "sm_90"] if tool == "tilewright" else ["--gpu-name=sm_90"]
    result = run(*command, "k.tileirbc", "-o", "out.cubin", tool=tool)
    assert result.code == code
    error, note = result.err.splitlines()
    assert error.startswith("error: ptxas ")
    assert gist in error
    assert note == "note: " + REPORT_ASSEMBLER
    assert not (folder / "out.cubin").exists()


def test_the_library() -> None:
    module = tilewright.compile(KERNEL, "sm_90", 3)
    assert module.cubin.startswith(b"\x7fELF")
    assert ".entry twice" in module.ptx
    assert list(module.stages) == [*STAGE_MARKS]
    assert all(mark in module.stages[stage] for stage, mark in STAGE_MARKS.items())
    assert module.stages["ptx"] == module.ptx
    assert list(module.entries) == ["twice"]
    assert module.entries["twice"].resources.threads == (64, 1, 1)
    assert module.remarks == []
    with pytest.raises(KeyError):
        module.stages["nv_tileas"]


def test_a_stage_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = tilewright.compile(KERNEL, "sm_90", emit="ptx").stages
    text = stages["nvvm"]
    monkeypatch.delattr(Program, "compilation")
    assert stages["nvvm"] == text
    with pytest.raises(AttributeError):
        stages["llvm"]


def test_the_library_leaves_its_input_alone(folder: Path) -> None:
    module = read_level(KERNEL, "k")
    before = str(module)
    made = tilewright.compile(module, "sm_100")
    assert str(module) == before
    assert made.ptx == tilewright.compile(folder / "kernel.mlir", "sm_100a", emit="ptx").ptx
    assert made.arch == "sm_100"


def test_the_library_without_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "/nowhere/ptxas")
    module = tilewright.compile(KERNEL, emit="ptx")
    assert module.entries == {}
    with pytest.raises(ValueError, match="compiled to a cubin"):
        _ = module.cubin
    with pytest.raises(tilewright.Unsupported, match="TILEWRIGHT_PTXAS"):
        tilewright.compile(KERNEL)


def test_wrong_arguments_of_the_library() -> None:
    with pytest.raises(tilewright.Unsupported, match="the GPU 'sm_75'"):
        tilewright.compile(KERNEL, "sm_75")
    with pytest.raises(ValueError, match="expected an optimization level"):
        tilewright.compile(KERNEL, opt_level=4)
    with pytest.raises(ValueError, match="expected 'ptx' or 'cubin'"):
        tilewright.compile(KERNEL, emit="nvvm")


def test_spills_are_remarks() -> None:
    rows = "\n".join(f"    %x{n} = memref.load %a[%c{n}] : memref<512xf32, 1>" for n in range(300))
    indices = "\n".join(f"    %c{n} = arith.constant {n} : index" for n in range(300))
    stores = "\n".join(
        f"    memref.store %x{n}, %a[%c{299 - n}] : memref<512xf32, 1>" for n in range(300)
    )
    text = f"""
gpu.module @kernels {{
  gpu.func @k(%a: memref<512xf32, 1>) kernel attributes {{known_block_size = array<i32: 1024, 1, 1>}} {{
{indices}
{rows}
    gpu.barrier
{stores}
    gpu.return
  }}
}}
"""  # noqa: E501
    remarks = tilewright.compile(text).remarks
    assert [remark.severity for remark in remarks] == [Severity.REMARK]
    assert "'k' spills registers" in remarks[0].message


def test_stages_are_in_order() -> None:
    assert STAGES == (
        "cuda_tile", "nv_tileaa", "nv_tileas", "nvgpu", "nvvm", "llvm", "ptx", "cubin", "sass",
    )  # fmt: skip


STORE = """\
cuda_tile.module @kernels {
  entry @store(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %m = addi %n, %n : tile<i32>
    %t = store_ptr_tko weak %x, %m : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


def test_options_for_finding_mistakes(run: Run, folder: Path) -> None:
    (folder / "store.mlir").write_text(STORE)
    texts = {
        option: run("compile", "store.mlir", "--emit", "ptx", *option.split()).out
        for option in ("", "--sanitize=memcheck", "--device-debug")
    }
    assert ["__assertfail" in text for text in texts.values()] == [False, True, False]
    assert [".debug_info" in text for text in texts.values()] == [False, False, True]


def test_both_options_make_a_cubin(run: Run, folder: Path) -> None:
    (folder / "store.mlir").write_text(STORE)
    options = ("--sanitize=memcheck", "--device-debug", "-o", "store.cubin")
    assert run("compile", "store.mlir", *options) == (0, "", "")
    data = (folder / "store.cubin").read_bytes()
    assert b".debug_info" in data
    assert b"store_ptr_tko at a null or misaligned address" in data


def test_accesses_without_views_cannot_be_checked(run: Run) -> None:
    result = run("compile", "kernel.mlir", "--emit", "ptx", "--sanitize=memcheck")
    assert (result.code, result.out) == (3, "")
    assert "unsupported: checks of accesses at the level of 'nvgpu'" in result.err


@pytest.mark.parametrize(("body", "loops"), [("", False), ('print_tko "x" -> token\n', True)])
def test_loops_without_effects_are_deleted_at_every_level(
    run: Run, folder: Path, body: str, loops: bool
) -> None:
    """Endless ones, too, as docs/optimization-levels.md says."""
    (folder / "loop.mlir").write_text(f"entry @k() {{ loop {{ {body}continue }}\n return }}")
    for level in ("-O0", "-O3"):
        text = run("compile", "loop.mlir", "--emit", "nvvm", level, "--no-cache").out
        assert "llvm.return" in text
        assert ("llvm.br" in text) == loops
