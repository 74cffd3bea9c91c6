"""Layout assignment knows every operation of nv_tileaa.

An operation is element-wise, or an operation of nv_tileas replaces it, or its tiles, if it has any,
need no common layout. One that lacks the trait `ELEMENTWISE` by mistake still compiles if its
operands and results happen to get the same layout.
"""

from __future__ import annotations

from tilewright.conversion.nv_tileaa_to_nv_tileas.patterns import QUEUE_OPS, TILEAS_OPS
from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.ir.traits import ELEMENTWISE

WITHOUT_TILES = {
    "alloca", "block_tile", "cancel_next_program_id", "conv_tile", "create_mem_token",
    "fence_alias", "func", "get_cta_rank", "get_dim_size", "get_global", "get_num_programs",
    "get_program_id",
    "global", "is_valid_program_id", "join_mem_token", "launch_dependents", "launch_func",
    "make_memref", "message", "plugin", "return", "wait_on_dependencies",
}  # fmt: skip
"""Operations on scalars, views and tokens."""
UNIFORM = {"addptr", "assume"}
"""Element-wise operations without the trait: `extract` of them is not sunk into their operands."""
ANY_LAYOUT = {"mark_for_reuse", "optimization_barrier"}
"""Operations that pass each value on in its own layout."""
EARLIER = {"call", "pragma", "queue.yield"}
"""Operations that earlier passes remove, or that their parent converts."""
UNSUPPORTED = {"conv_dot", "inject_ir"}


def test_every_operation_has_a_kind() -> None:
    replaced = {*TILEAS_OPS, *QUEUE_OPS}
    ops = NV_TILEAA.ops.items()
    rest = {op for op, kind in ops if kind not in replaced and ELEMENTWISE not in kind.traits}
    expected = WITHOUT_TILES | UNIFORM | ANY_LAYOUT | EARLIER | UNSUPPORTED
    assert {op.removeprefix("nv_tileaa.") for op in rest} == expected
