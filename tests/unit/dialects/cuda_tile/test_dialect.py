"""The dialect as a whole: names, text forms, and hardware independence."""

from __future__ import annotations

import re

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text

OPS = sorted(set(CUDA_TILE.ops.values()), key=lambda op: op.name)
HARDWARE = re.compile(r"wgmma|tcgen|tma\b|ptx|atom(?!ic)|layout|swizzle|register|warp|lane|smem")


@pytest.mark.requirement("R1-008")
def test_no_operation_names_hardware() -> None:
    names = [*CUDA_TILE.ops, *CUDA_TILE.types, *CUDA_TILE.attributes]
    names += [spelling for op in OPS for spelling in op.schema.inherent]
    assert len(names) > 150
    assert [name for name in names if HARDWARE.search(name)] == []


@pytest.mark.requirement("R1-008")
@each_case("arch", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_one_text_for_all_targets(arch: str) -> None:
    module = parse_text(
        f"""
        cuda_tile.module @m {{
          entry @k() optimization_hints=<{arch} = {{num_cta_in_cga = 1}}> {{
            %a = constant <f16: 1.0> : tile<16x16xf16>
            %c = constant <f32: 0.0> : tile<16x16xf32>
            %d = mmaf %a, %a, %c : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
            return
          }}
        }}
        """,
        context(),
    )
    verify(module)
    (mma,) = [op for op in module.walk() if op.name == "cuda_tile.mmaf"]
    assert mma.attributes == {}


@pytest.mark.requirement("R4-023", kind="behaviour")
@each_case("op", OPS, ids=lambda op: op.name)
def test_every_operation_has_a_text_form_of_its_own(op: type[Operation]) -> None:
    assert issubclass(op, TileOp)
    assert op.name.partition(".")[0] == "cuda_tile"
    assert op.syntax is not None or hasattr(op, "print")


@pytest.mark.requirement("R4-023", kind="behaviour")
def test_the_dialect_names_itself() -> None:
    module = parse_text("cuda_tile.module @m {}", context())
    assert (CUDA_TILE.name, module.dialect) == ("cuda_tile", "cuda_tile")


def test_other_names_of_operations() -> None:
    named = {name: op.name for name, op in CUDA_TILE.ops.items() if name != op.name}
    assert named == {
        "cuda_tile.pow": "cuda_tile.fpowf",
        "cuda_tile.print": "cuda_tile.print_tko",
        "cuda_tile.token.join": "cuda_tile.join_tokens",
    }
