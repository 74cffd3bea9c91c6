"""Cubins: what ptxas gives, and what is read back from it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from each_case import each_case

from tilewright.emit import cubin as cubin_module
from tilewright.emit import service, toolchain
from tilewright.emit.cubin import assemble
from tilewright.emit.elf import read_kernels
from tilewright.emit.ptx import compile_ptx
from tilewright.support.diagnostics import AssemblerError, InvalidValue, Unsupported, UserError
from tilewright.target.arch import ARCHES

PROGRAM = """
llvm.mlir.global internal @buffer() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1000 x i8>
llvm.func @first(%p: !llvm.ptr<1>, %i: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %s = llvm.mlir.addressof @buffer : !llvm.ptr<3>
  %a = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %i, %a : i32, !llvm.ptr<3>
  nvvm.barrier0
  %c = llvm.load %s : !llvm.ptr<3> -> i32
  llvm.store %c, %p : i32, !llvm.ptr<1>
  llvm.return
}
llvm.func @second(%p: !llvm.ptr<1>, %i: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 64, 2, 1>} {
  %n = llvm.mlir.constant(256 : i32) : i32
  %m = llvm.alloca %n x i8 {alignment = 16 : i64} : (i32) -> !llvm.ptr
  %a = llvm.getelementptr %m[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  llvm.store volatile %i, %a : i32, !llvm.ptr
  %c = llvm.load volatile %m : !llvm.ptr -> i32
  llvm.store %c, %p : i32, !llvm.ptr<1>
  llvm.return
}
"""  # noqa: E501


@pytest.mark.parametrize("name", ["sm_80", "sm_89", "sm_90", "sm_100", "sm_107", "sm_120"])
def test_resources_as_ptxas_prints_them(
    name: str,
    emit,
    ptxas: Path,
    tmp_path: Path,
) -> None:
    arch = ARCHES[name]
    ptx = compile_ptx(emit(PROGRAM, name))
    cubin = assemble(ptx, arch)
    source = tmp_path / "k.ptx"
    source.write_text(ptx)
    command = [ptxas, "-v", f"-arch={arch.assembled_as}", source, "-o", tmp_path / "k.cubin"]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    first, second = cubin.entries["first"], cubin.entries["second"]
    assert f"Used {first.registers} registers, used 1 barriers, 1000 bytes smem" in log
    assert (first.shared, first.stack, first.barriers) == (1000, 0, 1)
    assert first.threads == (128, 1, 1)
    assert f"{second.stack} bytes stack frame, 0 bytes spill stores" in log
    assert second.stack == 256
    assert second.threads == (64, 2, 1)
    assert (second.spill_stores, second.spill_loads) == (0, 0)
    assert first.occupancy == min(arch.limits.ctas, arch.limits.warps // 4)
    assert cubin.warnings == []
    assert cubin.data[:4] == b"\x7fELF"


def spilling(count: int) -> str:
    loads = [
        f"%q{n} = llvm.getelementptr %p[{n}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n"
        f"%v{n} = llvm.load volatile %q{n} : !llvm.ptr<1> -> f32"
        for n in range(count)
    ]
    stores = [f"llvm.store volatile %v{n}, %q{n} : f32, !llvm.ptr<1>" for n in range(count)]
    body = "\n".join([*loads, "nvvm.barrier0", *stores])
    return (
        "llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxnreg = 32 : i32} {\n"
        f"{body}\nllvm.return\n}}"
    )


def test_spills_are_seen(emit) -> None:
    cubin = assemble(compile_ptx(emit(spilling(64))), ARCHES["sm_90"])
    kernel = cubin.entries["k"]
    assert kernel.spill_stores > 0
    assert kernel.spill_loads > 0
    assert kernel.registers <= 32
    assert kernel.occupancy is None


def test_what_ptxas_has_to_say(emit) -> None:
    text = (
        "llvm.func @k() attributes {nvvm.kernel} {\nnvvm.setmaxregister increase 64\nllvm.return\n}"
    )
    (warning,) = assemble(compile_ptx(emit(text)), ARCHES["sm_90"]).warnings
    assert "'setmaxnreg' ignored" in warning
    size = "nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>"
    known = text.replace("{nvvm.kernel}", f"{{nvvm.kernel, {size}}}")
    assert assemble(compile_ptx(emit(known)), ARCHES["sm_90"]).warnings == []


def test_a_kernel_that_is_too_large(emit) -> None:
    text = PROGRAM.replace("<1000 x i8>", "<300000 x i8>")
    with pytest.raises(UserError, match="'first' uses too much shared data"):
        assemble(compile_ptx(emit(text)), ARCHES["sm_90"])


def test_what_ptxas_rejects_is_not_the_fault_of_the_program() -> None:
    text = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { nonsense; }\n"
    with pytest.raises(AssemblerError) as caught:
        assemble(text, ARCHES["sm_90"])
    message, note = caught.value.render().splitlines()
    # ptxas's own text: the number of an error, and the line of the PTX without a temporary folder.
    assert message.startswith("error: ptxas rejects the generated code: ptxas module.ptx, line 4;")
    assert "nonsense" in message
    assert note.startswith("note: the program is not at fault: please report this")


def test_ptxas_that_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text("#!/bin/sh\nkill -SEGV $$\n")
    fake.chmod(0o755)
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(fake))
    with pytest.raises(AssemblerError, match="ptxas ended by signal 11"):
        assemble("", ARCHES["sm_90"])


def test_ptxas_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text("#!/bin/sh\nexec sleep 600\n")
    fake.chmod(0o755)
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(fake))
    started: list[subprocess.Popen[str]] = []
    start = cubin_module._started

    def noted(command: list[str]) -> subprocess.Popen[str]:
        started.append(start(command))
        return started[0]

    monkeypatch.setattr(cubin_module, "_started", noted)
    message = r"ptxas took longer than 0\.01 seconds, the limit of this compilation"
    with pytest.raises(UserError, match=message):
        assemble("", ARCHES["sm_90"], timeout=0.01)
    assert [process.returncode for process in started] == [-signal.SIGKILL]


@pytest.mark.parametrize(
    ("contents", "mode", "reason"),
    [
        (b"\x7fELF for another machine", 0o755, "Exec format error"),
        (b"", 0o644, "Permission denied"),
    ],
)
def test_ptxas_that_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: bytes, mode: int, reason: str
) -> None:
    fake = tmp_path / "ptxas"
    fake.write_bytes(contents)
    fake.chmod(mode)
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(fake))
    with pytest.raises(Unsupported, match=f"ptxas' cannot be started: {reason}"):
        assemble("", ARCHES["sm_90"])


def test_without_space_for_temporary_files(
    emit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = emit(PROGRAM)
    ptx = compile_ptx(module)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    reason = "without a writable folder for temporary files: No such file or directory .*TMPDIR"
    with pytest.raises(Unsupported, match=f"cubins {reason}"):
        assemble(ptx, ARCHES["sm_90"])
    monkeypatch.setattr(service, "_pools", {})
    service.pool().warm()
    with pytest.raises(Unsupported, match=f"PTX {reason}"):
        compile_ptx(module)


def test_without_any_temporary_folder(emit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither TMPDIR nor the folders that Python tries otherwise can be written."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    reason = r"temporary files: No usable temporary directory found in \['/nowhere'\]; set TMPDIR"
    with pytest.raises(Unsupported, match=reason):
        assemble("", ARCHES["sm_90"])


@pytest.mark.parametrize(
    ("script", "what"),
    [("exit 0", "no cubin"), ("while [ $# -gt 1 ]; do shift; done; echo no > $1", "something")],
)
def test_ptxas_that_writes_no_cubin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str
) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(fake))
    with pytest.raises(Unsupported, match=f"ptxas' reports success, but wrote {what}"):
        assemble("", ARCHES["sm_90"])


def test_lines_reach_the_cubin(emit) -> None:
    ptx = compile_ptx(emit(PROGRAM, line_info=True))
    assert b".debug_line" in assemble(ptx, ARCHES["sm_90"], line_info=True).data
    plain = assemble(compile_ptx(emit(PROGRAM)), ARCHES["sm_90"]).data
    assert b".debug_line" not in plain


def test_the_same_every_time(emit) -> None:
    ptx = compile_ptx(emit(PROGRAM))
    assert assemble(ptx, ARCHES["sm_90"]).data == assemble(ptx, ARCHES["sm_90"]).data


@each_case("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(100), b"text" * 50])
def test_files_that_are_no_cubins(data: bytes) -> None:
    with pytest.raises(InvalidValue, match="not a cubin"):
        read_kernels(data)


def test_missing_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "wheel_folders", lambda: iter(()))
    monkeypatch.setattr(toolchain, "toolkit_folders", list)
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in (toolchain.PTXAS_VARIABLE, toolchain.LIBDEVICE_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    toolchain._installed_ptxas.cache_clear()
    toolchain._installed_libdevice.cache_clear()
    with pytest.raises(Unsupported, match="nvidia-cuda-nvcc"):
        toolchain.find_ptxas()
    with pytest.raises(Unsupported, match="nvidia-nvvm"):
        toolchain.find_libdevice()
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(Unsupported, match="there is no such file"):
        toolchain.find_ptxas()
    toolchain._installed_ptxas.cache_clear()
    toolchain._installed_libdevice.cache_clear()


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(toolchain.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert toolchain.cache_folder() == os.path.join("/somewhere", "tilewright")
