"""Invalid programs and the diagnostics of the verifier: shared definitions."""

from __future__ import annotations

from typing import NamedTuple

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.registry import context
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.text.parser import parse_text

TV = "tensor_view<?x64xf32, strides=[64,1]>"
PV = f"partition_view<tile=(8x64), {TV}>"
GV = f"gather_scatter_view<tile=(8x64), {TV}, sparse_dim=0>"
PADDED = f"partition_view<tile=(8x64), padding_value = zero, {TV}>"

PRELUDE = f"""
    %t = make_token : token
    %i = iota : tile<16xi32>
    %f = constant <f32: 1.0> : tile<16xf32>
    %m = constant <i1: true> : tile<16xi1>
    %w = constant <f32: 1.0> : tile<8x64xf32>
    %0 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ps = broadcast %0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
    %qs = broadcast %1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %h = broadcast %2 : tile<1xptr<f16>> -> tile<16xptr<f16>>
    %tv = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> {TV}
    %v = make_partition_view %tv : {PV}
    %g = make_gather_scatter_view %tv : {GV}
    %pad = make_partition_view %tv : {PADDED}
""".replace("    %h = ", "    %2 = reshape %o : tile<ptr<f16>> -> tile<1xptr<f16>>\n    %h = ")

PARAMETERS = ", ".join(
    [
        "%p: tile<ptr<f32>>",
        "%q: tile<ptr<i32>>",
        "%o: tile<ptr<f16>>",
        "%n: tile<i32>",
        "%l: tile<i64>",
        "%x: tile<f32>",
        "%c: tile<i1>",
    ]
)

TILE = "!cuda_tile.tile"
TOKEN = "!cuda_tile.token"


class Case(NamedTuple):
    """An invalid program, and the diagnostic of the verifier."""

    body: str
    message: str
    ours: bool = False
    """Whether NVIDIA's tools accept the program."""


def module(body: str) -> ModuleOp:
    text = f"""
cuda_tile.module @program {{
  global @array <i32: 0> : tile<2xi32>
  entry @kernel({PARAMETERS}) {{
    {PRELUDE}
    {body}
  }}
}}"""
    parsed = parse_text(text, context())
    assert isinstance(parsed, ModuleOp)
    return parsed


def complaints(op: ModuleOp) -> list[str]:
    sink = Sink()
    verify(op, sink)
    return [error.message for error in sink.errors]
