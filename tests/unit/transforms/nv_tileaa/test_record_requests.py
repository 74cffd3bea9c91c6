"""record-requests: what is asked of kernels, and which of it is followed."""

from __future__ import annotations

import numpy as np
import pytest
from scheduled_loops import matmul

import tilewright
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import parse_any
from tilewright.driver.emulate import run_ptx
from tilewright.driver.pipelines import parse_pipeline
from tilewright.support.diagnostics import Sink, UserError


@pytest.mark.parametrize("warps", [4, 8, 16])
def test_blocks_have_the_warps_that_are_forced(warps: int) -> None:
    ptx = tilewright.compile(matmul(64, 64, 32), emit="ptx", schedule=f"warps={warps},agents=0").ptx
    assert f".reqntid {32 * warps}" in ptx


def test_zero_leaves_the_choice_to_the_compiler() -> None:
    source = matmul(64, 64, 32)
    chosen, zero = (
        tilewright.compile(source, emit="ptx", schedule=text).ptx for text in ("", "warps=0")
    )
    assert zero == chosen


@pytest.mark.parametrize("warps", [8, 16])
def test_results_do_not_depend_on_the_warps(warps: int) -> None:
    text = """
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>) {
    %offsets = iota : tile<512xi32>
    %one = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %all = broadcast %one : tile<1xptr<f32>> -> tile<512xptr<f32>>
    %at = offset %all, %offsets : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
    %v, %t = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
    %two = addf %v, %v rounding<nearest_even> : tile<512xf32>
    %t2 = store_ptr_tko weak %at, %two : tile<512xptr<f32>>, tile<512xf32> -> token
    return
  }
}
"""
    ptx = tilewright.compile(text, emit="ptx", schedule=f"warps={warps}").ptx
    values = np.arange(512, dtype=np.float32)
    run_ptx(ptx, read_runnable(text, "scale.mlir"), "scale", 1, [values], check=True)
    assert np.array_equal(values, 2 * np.arange(512, dtype=np.float32))


def recorded(asked: str, options: str) -> FuncOp:
    """A kernel of which something is asked, after the pass."""
    text = f"""
gpu.module @m {{
  nv_tileaa.func @k() attributes {{
    kernel_spec = #nv_tileaa.kernel_spec<>,
    nv_tileaa.asked = #nv_tileaa.asked<{asked}>
  }} {{ nv_tileaa.return }}
}}"""
    module = parse_any(text, "kernel.mlir")
    parse_pipeline(f"record-requests{{{options}}}" if options else "record-requests").run(module)
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return kernel


@pytest.mark.parametrize(("options", "winner", "refusals"), [
    # Sources in falling precedence; what is equal is followed either way.
    ("warps=8 source=schedule", (8, "schedule"), ["4 of record: overridden by schedule"]),
    ("warps=8 source=environment", (8, "environment"), ["4 of record: overridden by environment"]),
    ("warps=8 source=entry", (4, "record"), ["8 of entry: overridden by record"]),
    ("warps=8 source=record", (8, "record"), ["4 of record: overridden by record"]),
    ("warps=4 source=schedule", (4, "schedule"), []),
    ("warps=0 source=schedule", (4, "record"), []),
])  # fmt: skip
def test_the_first_source_wins(options: str, winner: tuple[int, str], refusals: list[str]) -> None:
    kernel = recorded("warps = <4, record>", options)
    assert kernel.asked is not None
    assert kernel.asked.requests == (("warps", *winner),)
    refused = () if kernel.refused is None else kernel.refused.refusals
    assert refused == tuple(("warps", reason) for reason in refusals)


@pytest.mark.parametrize(("asked", "options", "expected"), [
    ("warps = <4, entry>", "level=1", {"warps": 4, "level": 1}),
    ("level = <0, options>", "level=1 sanitize=1", {"level": 0, "sanitize": 1}),
    ("level = <1, options>", "level=0", {"level": 0}),
    ("level = <1, options>", "", {"level": 1}),
])  # fmt: skip
def test_no_option_lifts_a_restriction(asked: str, options: str, expected: dict[str, int]) -> None:
    kernel = recorded(asked, options)
    assert kernel.asked is not None
    assert {key: value for key, value, _ in kernel.asked.requests} == expected


@pytest.mark.parametrize(("asked", "options", "refused", "left"), [
    ("stages = <4, schedule>", "level=1", {"stages": "4 of schedule"}, {"level"}),
    ("stages = <4, record>", "sanitize=1", {"stages": "4 of record"}, {"sanitize"}),
    ("agents = <0, schedule>, warps = <4, entry>", "level=0", {}, {"agents", "warps", "level"}),
    ("level = <1, options>, rotate = <1, schedule>", "", {"rotate": "1 of schedule"}, {"level"}),
])  # fmt: skip
def test_restrictions_refuse_the_schedule_of_the_text(
    asked: str, options: str, refused: dict[str, str], left: set[str]
) -> None:
    """Hints, and requests to do nothing, stay."""
    kernel = recorded(asked, options)
    reasons = {} if kernel.refused is None else dict(kernel.refused.refusals)
    assert {key: reason.partition(":")[0] for key, reason in reasons.items()} == refused
    assert kernel.asked is not None
    assert {request.key for request in kernel.asked.requests} == left


@pytest.mark.parametrize(("option", "message"), [
    ("warps=3", "expected one of 0, 1, 2, 4, 8, 16"),
    ("agents=2", "expected one of 0, 1"),
    ("source=guess", "expected one of options, schedule, environment, record, entry"),
    ("level=2", "expected one of 0, 1"),
    ("sanitize=0", "expected one of 1"),
])  # fmt: skip
def test_other_options_are_errors(option: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_pipeline(f"record-requests{{{option}}}")


def test_the_former_name_sets_warps() -> None:
    sink = Sink()
    pipeline = parse_pipeline("override-warps{warps=8}", sink)
    assert str(pipeline) == "record-requests{warps=8}"
    (warning,) = sink.diagnostics
    assert warning.message == "pass 'override-warps' is deprecated: use 'record-requests'"
