"""Remarks on hints that are not used as they are."""

from __future__ import annotations

from each_case import each_case

from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.support.diagnostics import Sink


def remarks(hints: str, arch: str, load_hints: str = "", tile: str = "tile<2xi32>") -> list[str]:
    text = f"""
entry @k(%p: tile<ptr<i32>>) optimization_hints=<{hints}> {{
  %c = constant <{tile[tile.rindex("x") + 1 : -1]}: 0> : {tile}
  %x, %t = load_ptr_tko weak %p optimization_hints=<default = {{{load_hints}}}> : tile<ptr<i32>> -> tile<i32>, token
  return
}}
"""  # noqa: E501
    sink = Sink(remarks=True)
    module = wrap_in_module(read_runnable(text, "k.mlir"))
    parse_pipeline(passes_to("nv_tileaa", arch)).run(module, sink)
    assert {(each.kind, each.function) for each in sink.remarks} <= {("missed", "k")}
    return [each.message for each in sink.remarks]


@each_case(
    ("hints", "arch", "expected"),
    [
        ("default = {num_worker_warps_per_cta = 8, occupancy = 32}", "sm_90", []),
        ("default = {num_worker_warps_per_cta = 32}", "sm_90", []),
        (
            "default = {num_worker_warps_per_cta = 64}",
            "sm_90",
            ["Hint num_worker_warps_per_cta ignored: expected 1 to 32, got 64"],
        ),
        (
            "default = {occupancy = 64}",
            "sm_90",
            ["Hint occupancy ignored: expected 1 to 32, got 64"],
        ),
        (
            "default = {num_cta_in_cga = 2}",
            "sm_80",
            ["Hint num_cta_in_cga ignored: expected 1, got 2"],
        ),
        ("sm_80 = {occupancy = 64}", "sm_90", []),
    ],
)
def test_hints_of_the_kernel(hints: str, arch: str, expected: list[str]) -> None:
    assert remarks(hints, arch) == expected


@each_case(
    ("tile", "warps", "relaxed"),
    [
        # A thread has 255 registers, half of them for its part of the largest tile.
        ("tile<64x64xi32>", 1, 1),
        ("tile<64x128xi32>", 1, 2),
        ("tile<64x128xi16>", 1, 1),
        ("tile<128x128xi32>", 1, 4),
        ("tile<128x128xi32>", 2, 4),
        ("tile<256x256xi32>", 2, 4),
        ("tile<256x256xi32>", 4, 4),
        ("tile<256x256xi32>", 16, 16),
    ],
)
def test_few_warps_must_hold_the_largest_tile(tile: str, warps: int, relaxed: int) -> None:
    messages = remarks(f"default = {{num_worker_warps_per_cta = {warps}}}", "sm_90", tile=tile)
    name = f"Hint num_worker_warps_per_cta {warps} relaxed to {relaxed}: the largest tile has "
    assert [each.startswith(name) for each in messages] == [True] * (relaxed != warps)


def test_hints_of_accesses() -> None:
    assert remarks("default = {}", "sm_90", "latency = 11") == [
        "Hint latency ignored: expected 1 to 10, got 11"
    ]


def test_latency_has_no_effect() -> None:
    assert remarks("default = {}", "sm_90", "latency = 3") == [
        "Hint latency ignored: pipelines choose how early they copy"
    ]
