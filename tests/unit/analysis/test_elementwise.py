"""Tiles whose elements a reduction takes as they are computed, and those that registers hold."""

from __future__ import annotations

from dialect_text import read
from each_case import each_case

from tilewright.analysis.elementwise import is_streamed

SUM = """{axis = 0 : i32, identities = [0.0 : f32]} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = nv_tileaa.addf %a, %b : f32
    nv_tileaa.yield %s : f32
  }"""
HEAD = """
nv_tileaa.func @f(%tile: tensor<64xf32>, %n: i32) {
  %x = nv_tileaa.negf %tile : tensor<64xf32>
"""
TAIL = """
  nv_tileaa.return
}
"""


@each_case(("body", "streamed"), [
    (f"%r = nv_tileaa.reduce %x {SUM}", True),
    (f"%y = nv_tileaa.mulf %x, %x : tensor<64xf32>  %r = nv_tileaa.reduce %y {SUM}", True),
    ("%y = nv_tileaa.negf %x : tensor<64xf32>", False),  # nothing takes its elements
    # The second reduction needs what the first one has taken.
    (f"%r = nv_tileaa.reduce %x {SUM} %y = nv_tileaa.negf %x : tensor<64xf32> "
     f"%t = nv_tileaa.reduce %y {SUM}", False),
    # Each iteration needs all of the tile.
    (f"%c0 = arith.constant 0 : i32 scf.for %i = %c0 to %n step %n : i32 {{ "
     f"%r = nv_tileaa.reduce %x {SUM} scf.yield }}", False),
])  # fmt: skip
def test_one_reduction_takes_the_elements(body: str, streamed: bool) -> None:
    root = read(HEAD + body + TAIL)
    op = next(op for op in root.walk() if op.name == "nv_tileaa.negf")
    assert is_streamed(op.results[0]) is streamed


def test_an_argument_is_held() -> None:
    root = read(HEAD + TAIL)
    op = next(op for op in root.walk() if op.name == "nv_tileaa.negf")
    assert not is_streamed(op.operands[0])
