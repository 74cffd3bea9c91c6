"""Decode with keys and values that are evicted from L2 first: the same results, and the PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest
from decode_programs import Decode
from repeats import EXHAUSTIVE

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

POLICY = re.compile(r"createpolicy\.fractional\.L2::evict_first\.b64 (%rd\d+), 1\.0;")
HINTED = re.compile(
    r"min\.u32 (%\w+), \1, 0xfffffff; "
    r"cp\.async\.cg\.shared\.global\.L2::cache_hint \[\1\+\d+\], \[%rd\d+\], 16, "
    r"(?:%r\d+, )?(%rd\d+);"
)
WIDE = Decode(rows=64, tile=(64, 32), keys=64, heads=1)
"""A whole tile of queries, so that dots are by wgmma and a producer can copy by TMA."""


def compiled(decode: Decode, schedule: str, arch: str = "sm_90") -> str:
    return tilewright.compile(decode.program, arch, emit="ptx", schedule=schedule).ptx


def check(decode: Decode, ptx: str) -> None:
    """Run a kernel on the emulator, and compare its result with NumPy's."""
    arguments = decode.arguments()
    program = read_runnable(decode.program, "decode.mlir")
    run_ptx(ptx, program, "k", decode.grid, [*arguments, 1], check=True)
    *inputs, out = arguments
    np.testing.assert_allclose(out, decode.expected(*inputs), atol=2e-3)


@pytest.mark.parametrize("arch", ["sm_90", pytest.param("sm_80", marks=EXHAUSTIVE)])
def test_copies_of_threads(arch: str) -> None:
    decode = Decode(keys=64)
    ptx = compiled(decode, "evict-first=1", arch)
    copies = HINTED.findall(ptx)
    assert len(copies) == ptx.count("cp.async.cg") > 2
    assert {policy for _, policy in copies} <= set(POLICY.findall(ptx))
    check(decode, ptx)


def test_tiles_of_several_blocks_have_no_hints() -> None:
    ptx = compiled(Decode(group=2), "evict-first=1")
    assert "cp.async.cg.shared.global [" in ptx
    assert "L2::" not in ptx


def test_copies_by_tma() -> None:
    ptx = compiled(WIDE, "evict-first=1,agents=1,rotate=0")
    copies = [line for line in ptx.splitlines() if "cp.async.bulk.tensor" in line]
    policies = tuple(f"{policy};" for policy in POLICY.findall(ptx))
    assert copies
    assert all("L2::cache_hint" in line and line.endswith(policies) for line in copies)
    check(WIDE, ptx)
