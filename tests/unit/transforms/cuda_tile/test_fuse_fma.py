"""Fusion of multiplications and additions."""

from __future__ import annotations

import pytest
from tile_programs import kernel, run, same

from tilewright.dialects.cuda_tile.floating import FmaOp
from tilewright.driver.compile import compile
from tilewright.ir.operation import Operation
from tilewright.support.location import FileLoc, FusedLoc

ARGUMENTS = "%a: tile<f32>, %b: tile<f32>, %c: tile<f32>, %p: tile<ptr<f32>>"


def store(value: str, name: str = "t") -> str:
    return f"%{name} = store_ptr_tko weak %p, %{value} : tile<ptr<f32>>, tile<f32> -> token\n"


def mul(modifiers: str = "") -> str:
    return f"%m = mulf %a, %b {modifiers} : tile<f32>\n"


def fuses(body: str, expected: str) -> bool:
    return same(body, expected, ARGUMENTS, "fuse-fma")


@pytest.mark.parametrize("modifiers", ["", "rounding<zero>", "flush_to_zero"])
@pytest.mark.parametrize("operands", ["%m, %c", "%c, %m"])
def test_mul_and_add(operands: str, modifiers: str) -> None:
    body = mul(modifiers) + f"%s = addf {operands} {modifiers} : tile<f32>\n"
    expected = f"%s = fma %a, %b, %c {modifiers} : tile<f32>\n"
    assert fuses(body + store("s"), expected + store("s"))


def test_mul_and_sub() -> None:
    body = mul() + "%s = subf %m, %c : tile<f32>\n"
    expected = "%n = negf %c : tile<f32>\n%s = fma %a, %b, %n : tile<f32>\n"
    assert fuses(body + store("s"), expected + store("s"))


def test_a_subtracted_mul_stays() -> None:
    body = mul() + "%s = subf %c, %m : tile<f32>\n" + store("s")
    assert fuses(body, body)


@pytest.mark.parametrize("modifiers", ["rounding<zero>", "flush_to_zero"])
def test_different_rounding_stays(modifiers: str) -> None:
    body = mul() + f"%s = addf %m, %c {modifiers} : tile<f32>\n" + store("s")
    assert fuses(body, body)


def test_a_mul_with_other_uses_stays() -> None:
    body = mul() + "%s = addf %m, %c : tile<f32>\n" + store("s") + store("m", "u")
    assert fuses(body, body)
    twice = mul() + "%s = addf %m, %m : tile<f32>\n" + store("s")
    assert fuses(twice, twice)


def test_the_location_of_the_fma_is_fused() -> None:
    module = kernel(mul() + "%s = addf %m, %c : tile<f32>\n" + store("s"), ARGUMENTS)
    ops: dict[str, Operation] = {op.name: op for op in module.walk()}
    ops["cuda_tile.mulf"].location = FileLoc("k.py", 1, 1)
    ops["cuda_tile.addf"].location = FileLoc("k.py", 2, 1)
    run(module, "fuse-fma")
    (fused,) = [op for op in module.walk() if isinstance(op, FmaOp)]
    assert fused.location == FusedLoc((FileLoc("k.py", 2, 1), FileLoc("k.py", 1, 1)))


CONTRACTED = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %a, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %b = mulf %a, %a FIRST : tile<f32>
    %c = addf %b, %a SECOND : tile<f32>
    %u = store_ptr_tko weak %p, %c token=%t : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}"""
FLAG = "{fastmath = #arith.fastmath<contract>}"


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize(("first", "second"), [("", ""), (FLAG, ""), ("", FLAG), (FLAG, FLAG)])
def test_only_the_flag_contract_fuses_without_this_pass(
    first: str, second: str, opt_level: int
) -> None:
    text = CONTRACTED.replace("FIRST", first).replace("SECOND", second)
    ptx = compile(text, opt_level=opt_level, emit="ptx").ptx
    assert ("fma.rn.f32" in ptx) == bool(first and second)
