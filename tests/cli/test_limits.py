"""`run`, `ptx run` and `compile` with limits, and Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

from tilewright.driver.cli import ptx_run
from tilewright.driver.cli import run as run_command
from tilewright.emit import toolchain
from tilewright.emit.service import Worker

SPIN = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    print_tko "begun\\n" -> token
    %r = loop iter_values(%i = %one) : tile<i32> -> tile<i32> {
      %next = addi %i, %one : tile<i32>
      continue %next : tile<i32>
    }
    return
  }
}
"""
SPIN_PTX = """.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[7] = {98, 101, 103, 117, 110, 10, 0};
.visible .entry k()
{
    .reg .b32 %i; .reg .b64 %t;
    mov.u64 %t, text; cvta.global.u64 %t, %t;
    {
        .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f], %t; st.param.b64 [a], 0;
        call.uni (r), vprintf, (f, a);
    }
    mov.u32 %i, 0;
L:  add.u32 %i, %i, 1;
    bra L;
}
"""


@pytest.fixture
def programs(folder: Path) -> Path:
    (folder / "spin.mlir").write_text(SPIN)
    (folder / "spin.ptx").write_text(SPIN_PTX)
    return folder


COMMANDS = {
    "run": ("run", "spin.mlir", "--arg=out.npy=zeros:1xi32"),
    "ptx run": ("ptx", "run", "spin.ptx"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("option", "limit", "printed"),
    [
        ("--max-steps=1000", "1,000 steps, in ", ("begun\n",)),
        # A slow machine is stopped before the print.
        ("--timeout=0.01", "0.01 seconds", ("begun\n", "")),
    ],
)
def test_a_limit_stops_what_never_ends(
    run: Run, programs: Path, command: str, option: str, limit: str, printed: Sequence[str]
) -> None:
    result = run(*COMMANDS[command], option)
    assert result.code == 1
    assert result.out in printed
    assert f"error: stopped at the limit of {limit}" in result.err
    assert result.err.startswith("spin.")
    assert "note: set another limit with --max-steps or --timeout" in result.err
    assert not Path("out.npy").exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "1e3"])
def test_steps_are_a_positive_number(run: Run, programs: Path, command: str, text: str) -> None:
    result = run(*COMMANDS[command], f"--max-steps={text}")
    assert (result.code, result.out) == (2, "")
    assert f"option '--max-steps': expected a number from 1 on, found '{text}'" in result.err


@pytest.mark.parametrize("command", [*COMMANDS.values(), ("compile", "good.mlir")])
@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_a_time_limit_is_above_zero(
    run: Run, programs: Path, command: tuple[str, ...], text: str
) -> None:
    result = run(*command, f"--timeout={text}")
    assert (result.code, result.out) == (2, "")
    assert f"option '--timeout': expected seconds above 0, found '{text}'" in result.err


@pytest.mark.parametrize(
    ("command", "module", "gist"),
    [
        ("run", run_command, "spin.mlir:3:12: error: interrupted in step 1, in block (0, 0, 0)\n"),
        ("ptx run", ptx_run, "spin.ptx:9:5: error: interrupted in step "),
    ],
)
def test_ctrl_c_says_where_the_program_was(
    run: Run, programs: Path, monkeypatch: pytest.MonkeyPatch, command: str, module: Any, gist: str
) -> None:
    """The first report of progress is interrupted."""

    class Bar:
        def __init__(self, unit: str) -> None:
            pass

        def __call__(self, done: int, count: int) -> None:
            raise KeyboardInterrupt

        def end(self) -> None:
            pass

    monkeypatch.setattr(module, "Bar", Bar)
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    result = run(*COMMANDS[command])
    assert result.code == 130
    assert result.err.startswith(gist)
    assert not Path("out.npy").exists()


def test_the_time_limit_of_a_compilation_stops_ptxas(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = folder / "ptxas"
    fake.write_text("#!/bin/sh\nexec sleep 600\n")
    fake.chmod(0o755)
    monkeypatch.setenv(toolchain.PTXAS_VARIABLE, str(fake))
    # LLVM has the same limit, and may take longer than that.
    monkeypatch.setattr("tilewright.emit.ptx.compile_ptx", lambda *_, **options: "")
    result = run("compile", "good.mlir", "-o", "good.cubin", "--timeout=0.01", "--no-cache")
    assert result.code == 1
    assert (
        result.err == "error: ptxas took longer than 0.01 seconds, the limit of this compilation\n"
    )
    assert not Path("good.cubin").exists()


def test_the_time_limit_of_a_compilation_stops_llvm(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_answer(worker: Worker, _: bytes) -> None:
        worker._process.wait()

    monkeypatch.setattr(Worker, "_exchange", no_answer)
    options = ("--timeout=0.01", "--no-cache", "--emit=ptx")
    result = run("compile", "good.mlir", "-o", "good.ptx", *options)
    assert result.code == 1
    assert "LLVM took longer than 0.01 seconds, the limit of this compilation" in result.err
    assert not Path("good.ptx").exists()
