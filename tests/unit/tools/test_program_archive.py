"""The archive of the programs of the benchmarks: it reads and verifies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from repeats import keep_first

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from program_archive import ARCHIVE, Program, packed, unpacked

import tilewright
from tilewright.support.diagnostics import UserError
from tilewright.support.location import ByteLoc, UnknownLoc

PROGRAMS = unpacked(ARCHIVE.read_bytes())


def kernel_of(name: str) -> str:
    """The part of a name before the sizes and types."""
    return name.partition("-")[0]


@pytest.mark.parametrize("key", keep_first([kernel_of, str]), ids=["kernels", "all"])
def test_each_program_is_valid_and_names_no_file(key: Callable[[str], str]) -> None:
    """One program of each kernel, or all."""
    chosen = {key(name): (name, code) for name, code in PROGRAMS.items()}
    for code, name in {code: name for name, code in chosen.values()}.items():
        module = tilewright.read(code, name=name)
        # Without debug information the location of an operation is an offset into the bytecode.
        assert {type(op.location) for op in module.walk()} <= {ByteLoc, UnknownLoc}, name
        assert b".py" not in code, name


def test_every_benchmark_of_cutile_has_programs() -> None:
    rows = {name.removeprefix("rows/") for name in PROGRAMS if name.startswith("rows/")}
    assert {name.partition("-")[0] for name in rows} == {
        "batch_matmul", "fft", "fmha", "layer_norm", "matmul", "matmul_split_k", "moe",
        "persistent_matmul", "reduce_rows", "rms_norm", "split_gemm", "swizzled_scaled_matmul",
        "transpose", "vec_add",
    }  # fmt: skip


def test_an_archive_is_the_same_for_the_same_programs() -> None:
    programs = [Program("a/one", b"first"), Program("a/two", b"second"), Program("b/one", b"first")]
    data = packed(programs)
    assert data == packed(programs)
    assert list(unpacked(data).items()) == programs


def test_two_programs_of_one_name_are_an_error() -> None:
    with pytest.raises(UserError, match="expected one program of each name, found two of 'a'"):
        packed([Program("a", b"1"), Program("a", b"2")])
