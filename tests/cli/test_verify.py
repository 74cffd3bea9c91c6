"""`tilewright verify`: every level, and every error."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run

ADD = Path(__file__).parents[2] / "examples" / "add.mlir"

LEVELS = ["cuda_tile", "nv_tileaa", "nv_tileas", "nvgpu", "nvvm"]


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_is_verified(run: Run, folder: Path, level: str) -> None:
    text = run("compile", str(ADD), "--emit", level).out
    (folder / "level.mlir").write_text(text)
    assert run("verify", "level.mlir") == (0, "", "")
    # A second terminator at the end of the kernel.
    lines = text.splitlines(keepends=True)
    last = max(index for index, line in enumerate(lines) if line.strip().endswith("return"))
    (folder / "twice.mlir").write_text("".join([*lines[: last + 1], *lines[last:]]))
    code, out, err = run("verify", "twice.mlir")
    assert (code, out) == (1, "")
    assert err.startswith(f"twice.mlir:{last + 1}:")
    assert "return' op must be the last operation in its block" in err


def headlines(run: Run, folder: Path, text: str) -> list[str]:
    (folder / "wrong.mlir").write_text(text)
    result = run("verify", "wrong.mlir")
    assert result.code == 1
    return [line for line in result.err.splitlines() if ": error: " in line]


def test_errors_in_the_body_of_a_kernel_with_a_wrong_signature(run: Run, folder: Path) -> None:
    text = """\
cuda_tile.module @kernels {
  entry @f(%a: tile<4xf32>, %n: tile<i32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      %l = addf %i, %i : tile<i32>
      continue
    }
    return
  }
  entry @g(%b: tile<2xf32>) {
    %k = addi %b, %b : tile<2xf32>
    return
  }
}
"""
    argument = "'cuda_tile.entry' op argument #0 must be a scalar tile, got"
    assert headlines(run, folder, text) == [
        f"wrong.mlir:2:3: error: {argument} '!cuda_tile.tile<4xf32>'",
        "wrong.mlir:4:12: error: 'cuda_tile.addf' op operand #0 must be tile of f16, bf16, f32 or "
        "f64, but got '!cuda_tile.tile<i32>'",
        f"wrong.mlir:9:3: error: {argument} '!cuda_tile.tile<2xf32>'",
        "wrong.mlir:10:10: error: 'cuda_tile.addi' op operand #0 must be tile of i1, i8, i16, i32 "
        "or i64, but got '!cuda_tile.tile<2xf32>'",
    ]


def test_errors_of_syntax_after_the_first(run: Run, folder: Path) -> None:
    text = """\
entry @f(%a: tile<f99>) {
  %b = frobnicate %a
  return
}
entry @g() {
  nope
  return
}
"""
    assert headlines(run, folder, text) == [
        "wrong.mlir:1:19: error: expected a type, got 'f99'",
        "wrong.mlir:2:8: error: unknown operation 'frobnicate'",
        "wrong.mlir:6:3: error: unknown operation 'nope'",
    ]


def test_features_of_later_versions_at_a_lower_level_are_none(run: Run, folder: Path) -> None:
    text = run("compile", str(ADD), "--emit", "nv_tileaa").out
    (folder / "level.mlir").write_text(text)
    assert run("verify", "level.mlir", "--tile-version", "13.1") == (0, "", "")
