"""Lowering of tile accesses with a mask to accesses through pointers."""

from __future__ import annotations

import pytest
from tile_lowering import lines

TENSOR = "tensor_view<?xf32, strides=[1]>"
VIEW = f"partition_view<tile=(8), padding_value = nan, {TENSOR}>"
PRELUDE = f"""
%tv = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {TENSOR}
%v = make_partition_view %tv : {VIEW}
"""
ARGUMENTS = "%p: tile<ptr<f32>>, %n: tile<i32>"
SOME = "%m = constant <i1: [1, 1, 1, 0, 1, 1, 1, 1]> : tile<8xi1>\n"
LOAD = f"%x, %t = load_view_tko acquire device %v[%n], %m : {VIEW} -> tile<8xf32>, token"
STORE = f"%t = store_view_tko weak %w, %v[%n], %m : tile<8xf32>, {VIEW} -> token"


def lowered(access: str, mask: str = SOME) -> list[str]:
    """The lines of a kernel with one access."""
    return lines(f"{mask}{PRELUDE}{access}", ARGUMENTS)


@pytest.mark.requirement("R4-011")
def test_a_masked_load_reads_through_pointers() -> None:
    text = lowered(LOAD)
    (load,) = [line for line in text if "nv_tileaa.load" in line]
    assert "load acquire gpu" in load
    assert "mask = " in load
    assert "other = " in load
    assert any("dense<0x7FC00000> : tensor<8xf32>" in line for line in text)
    (compared,) = [line for line in text if "nv_tileaa.cmpi ult" in line]
    assert compared.endswith(": tensor<8xi64>")
    assert not any("tiled_load" in line for line in text)


@pytest.mark.requirement("R4-011")
def test_an_assertion_of_bounds_leaves_the_mask_alone() -> None:
    text = lowered(LOAD.replace(f": {VIEW}", f"inbounds = [true] : {VIEW}"))
    (load,) = [line for line in text if "nv_tileaa.load" in line]
    (mask,) = [line.partition(" ")[0] for line in text if "tensor<8xi1>" in line]
    assert f"mask = {mask} " in load
    assert "in_bounds" not in load


@pytest.mark.requirement("R4-011")
@pytest.mark.parametrize(("access", "name"), [(LOAD, "tiled_load"), (STORE, "tiled_store")])
def test_a_mask_that_is_true_costs_nothing(access: str, name: str) -> None:
    true = "%m = constant <i1: true> : tile<8xi1>\n%w = constant <f32: 1.0> : tile<8xf32>\n"
    text = lowered(access, true)
    (tiled,) = [line for line in text if "token" in line or name in line][-1:]
    assert name in tiled
    assert not any("addptr" in line for line in text)
