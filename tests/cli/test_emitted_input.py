"""`tilewright compile` of LLVM IR and PTX."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.support.diagnostics import Unsupported, UserError

ADD = Path(__file__).parents[2] / "examples" / "add.mlir"
ELF = b"\x7fELF"

# Written by hand, without the triple and the layout that our files have.
STORE_LL = """\
declare float @__nv_expf(float)

define ptx_kernel void @store(ptr addrspace(1) %p, float %x) {
  %y = call float @__nv_expf(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
}
"""

STORE_PTX = """\
// A kernel that stores its argument.
/* for any GPU */
.version 8.0
.target sm_80
.address_size 64

.visible .entry store(.param .u64 p, .param .f32 x) {
  .reg .b64 %a;
  .reg .f32 %f;
  ld.param.u64 %a, [p];
  ld.param.f32 %f, [x];
  st.global.f32 [%a], %f;
  ret;
}
"""


@pytest.mark.parametrize("stage", ["llvm", "ptx"])
def test_our_own_stages_give_the_same_result(run: Run, folder: Path, stage: str) -> None:
    suffix = {"llvm": "ll", "ptx": "ptx"}[stage]
    assert run("compile", str(ADD), "-o", f"add.{suffix}").code == 0
    assert run("compile", str(ADD), "-o", "direct.ptx").code == 0
    assert run("compile", f"add.{suffix}", "-o", "again.ptx") == (0, "", "")
    assert (folder / "again.ptx").read_text() == (folder / "direct.ptx").read_text()
    assert run("compile", f"add.{suffix}", "-o", "add.cubin").code == 0
    assert (folder / "add.cubin").read_bytes().startswith(ELF)


@pytest.mark.parametrize("name", ["store.txt", "store.ll", "-"])
def test_llvm_ir_is_known_by_its_beginning_and_its_suffix(
    run: Run, folder: Path, name: str
) -> None:
    (folder / "store.txt").write_text(STORE_LL)
    # LLVM IR and MLIR may both begin with a type: only the suffix distinguishes them.
    (folder / "store.ll").write_text("%pair = type { i32, i32 }\n" + STORE_LL)
    result = run("compile", name, "--emit=ptx", stdin=STORE_LL.encode())
    assert (result.code, result.err) == (0, "")
    assert ".entry store(" in result.out
    assert "ex2" in result.out


@pytest.mark.parametrize("name", ["store.txt", "store.ll"])
def test_ptx_is_known_by_its_beginning(run: Run, folder: Path, name: str) -> None:
    (folder / name).write_text(STORE_PTX)
    result = run("compile", name, "-o", "store.cubin", "--resources")
    assert result.code == 0
    assert result.err.splitlines()[1].split()[0] == "store"
    assert (folder / "store.cubin").read_bytes().startswith(ELF)
    assert run("compile", name, "--emit=ptx").out == STORE_PTX


@pytest.mark.parametrize(
    ("text", "stage", "level"),
    [
        (STORE_LL, "nvvm", "llvm"),
        (STORE_LL, "cuda_tile", "llvm"),
        (STORE_PTX, "llvm", "ptx"),
        (STORE_PTX, "nv_tileas", "ptx"),
    ],
)
def test_stages_before_the_program_are_an_error(
    run: Run, folder: Path, text: str, stage: str, level: str
) -> None:
    (folder / "store").write_text(text)
    code, out, err = run("compile", "store", "--emit", stage)
    assert (code, out) == (1, "")
    message = f"expected a stage from '{level}' on, where the program is, got '{stage}'"
    assert err == f"store:1:1: error: {message}\n"


def test_options_of_the_levels_above(run: Run, folder: Path) -> None:
    (folder / "store.ptx").write_text(STORE_PTX)
    code, _, err = run("compile", "store.ptx", "-o", "store.cubin", "--sanitize=memcheck")
    assert (code, err) == (3, "store.ptx:1:1: error: unsupported: checks of accesses in PTX\n")
    code, _, err = run("compile", "store.ptx", "-o", "store.cubin", "--schedule=stages=2")
    assert code == 1
    assert "expected a program of tiles to force a schedule, got PTX" in err


def test_errors_of_llvm_and_ptxas_are_about_the_program(run: Run, folder: Path) -> None:
    (folder / "wrong.ll").write_text(STORE_LL.replace("float %y, ptr", "double %y, ptr"))
    code, _, err = run("compile", "wrong.ll", "-o", "wrong.ptx")
    assert code == 1
    assert "error: LLVM rejects the program: " in err
    assert "'%y' defined with type 'float' but expected 'double'" in err
    (folder / "wrong.ptx").write_text(STORE_PTX.replace("st.global.f32", "st.global.f31"))
    code, _, err = run("compile", "wrong.ptx", "-o", "wrong.cubin")
    assert code == 1
    assert "error: ptxas rejects the program: " in err


def test_several_files(run: Run, folder: Path) -> None:
    (folder / "a.ll").write_text(STORE_LL)
    (folder / "b.ptx").write_text(STORE_PTX)
    assert run("compile", "a.ll", "b.ptx", "good.mlir", "-o", "cubins/").code == 0
    files = sorted((folder / "cubins").iterdir())
    assert [file.name for file in files] == ["a.cubin", "b.cubin", "good.cubin"]


def test_the_api(tmp_path: Path) -> None:
    made = tilewright.compile(STORE_LL)
    assert list(made.entries) == ["store"]
    assert list(made.stages) == ["llvm", "ptx"]
    assert made.stages["llvm"] == STORE_LL
    path = tmp_path / "store.ptx"
    path.write_text(STORE_PTX)
    assert list(tilewright.compile(path).entries) == ["store"]
    assert tilewright.compile(path, emit="ptx").ptx == STORE_PTX
    with pytest.raises(UserError, match="expected a program with operations, got PTX"):
        _ = tilewright.compile(path).program
    with pytest.raises(Unsupported, match="checks of accesses in LLVM IR"):
        tilewright.compile(STORE_LL, sanitize=True)
