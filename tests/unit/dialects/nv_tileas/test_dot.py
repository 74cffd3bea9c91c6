"""Tests of products with layouts: the instruction, and who must hold which fragments."""

from __future__ import annotations

import pytest
from dialect_text import errors, read

from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.matrix import mma_instruction, wgmma_instruction
from tilewright.ir.attributes import Type
from tilewright.ir.types import F8E4M3FN, F16, F32, F64
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import Layout
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.wgmma import wgmma_tile
from tilewright.text.attribute_printer import AttributePrinter

GRID = Grid(down=2, across=2, batch=1, warps=4)
LEFT = fragment_tile(mma_left(16), (32, 64), GRID, rows=True, columns=False)
RIGHT = fragment_tile(mma_right(16), (64, 32), GRID, rows=False, columns=True)
TOTAL = fragment_tile(mma_accumulator(), (32, 32), GRID, rows=True, columns=True)


def problems(
    a: Layout, b: Layout, c: Layout, element: Type = F16, atom: str = "mma_sync"
) -> list[str]:
    laid = [laid_out(element, a), laid_out(element, b), laid_out(F32, c)]
    types = [AttributePrinter().type(type) for type in laid]
    arguments = ", ".join(f"%{name}: {type}" for name, type in zip("abc", types, strict=True))
    body = (
        f"%d = nv_tileas.dot %a, %b, %c {{atom = #nv_tileas.atom<{atom}>, "
        f'input_precision = "ieee"}} : {", ".join(types)}'
    )
    return errors(f"nv_tileaa.func @f({arguments}) {{ {body}\n nv_tileaa.return }}")


def test_fragments_of_one_instruction_fit() -> None:
    assert problems(LEFT, RIGHT, TOTAL) == []


def test_other_layouts_are_refused() -> None:
    plain = spread((32, 64), 4)
    found = problems(plain, RIGHT, TOTAL)
    assert any("expected a in fragments of m16n8k16" in each for each in found)
    found = problems(LEFT, RIGHT, spread((32, 32), 4))
    assert any("expected c in fragments of m16n8k16" in each for each in found)


def test_warps_hold_the_factors_of_their_sums() -> None:
    other = Grid(down=1, across=4, batch=1, warps=4)
    right = fragment_tile(mma_right(16), (64, 32), other, rows=False, columns=True)
    (found,) = problems(LEFT, right, TOTAL)
    assert "expected warps to hold the columns of b that c has" in found
    left = fragment_tile(mma_left(16), (32, 64), other, rows=True, columns=False)
    (found,) = problems(left, RIGHT, TOTAL)
    assert "expected warps to hold the rows of a that c has" in found


def test_types_that_no_instruction_has() -> None:
    (found,) = problems(LEFT, RIGHT, TOTAL, F32)
    assert "expected types that mma.sync multiplies, got 'f32'" in found
    assert problems(LEFT, RIGHT, TOTAL, F64) != []


def test_warpgroups_take_factors_from_anywhere() -> None:
    a, b = spread((128, 64), 8), spread((64, 32), 8, vector=2)
    total = wgmma_tile((128, 32), 8)
    assert problems(a, b, total, F8E4M3FN, "wgmma") == []


def test_warpgroups_hold_sums_of_their_instruction() -> None:
    a, b = spread((128, 64), 8), spread((64, 32), 8)
    grid = Grid(down=2, across=4, batch=1, warps=8)
    warps = fragment_tile(mma_accumulator(), (128, 32), grid, rows=True, columns=True)
    for other in (spread((128, 32), 8), warps):
        (found,) = problems(a, b, other, F8E4M3FN, "wgmma")
        assert "expected c in fragments of wgmma" in found


def test_products_that_warpgroups_do_not_have() -> None:
    small = spread((32, 64), 4), spread((64, 32), 4), spread((32, 32), 4)
    (found,) = problems(*small, F8E4M3FN, "wgmma")
    assert "expected a dot that wgmma supports, got tensor<32x64xf8E4M3FN>" in found
    large = spread((64, 64), 4), spread((64, 32), 4), wgmma_tile((64, 32), 4)
    (found,) = problems(*large, F32, "wgmma")
    assert "expected a dot that wgmma supports" in found


@pytest.mark.parametrize(
    ("shape", "element", "expected"),
    [
        ((64, 8, 32), "f8E4M3FN", (64, 8, 32)),
        ((128, 512, 64), "f8E5M2", (64, 256, 32)),
        ((64, 64, 16), "f16", (64, 64, 16)),
        ((64, 64, 8), "tf32", (64, 64, 8)),
        ((64, 64, 16), "f8E5M2", None),
        ((32, 64, 32), "f8E5M2", None),
        ((64, 4, 32), "f8E5M2", None),
        ((64, 64, 64), "f64", None),
    ],
)
def test_warpgroups_have_whole_instructions_alone(
    shape: tuple[int, int, int], element: str, expected: tuple[int, ...] | None
) -> None:
    """The shapes are those of the PTX manual for these types."""
    m, n, k = shape
    total = "f64" if element == "f64" else "f32"
    types = f"tensor<{m}x{k}x{element}>, tensor<{k}x{n}x{element}>, tensor<{m}x{n}x{total}>"
    a, b, c = types.split(", ")
    module = read(
        f"nv_tileaa.func @f(%a: {a}, %b: {b}, %c: {c}) {{ "
        f'%d = nv_tileaa.dot %a, %b, %c {{input_precision = "ieee"}} : {types}\n'
        " nv_tileaa.return }"
    )
    (dot,) = [op for op in module.walk() if isinstance(op, DotOp)]
    found = wgmma_instruction(dot)
    assert (None if found is None else found.shape) == expected


@pytest.mark.parametrize(
    ("element", "total", "signs", "depth", "expected"),
    [
        ("f16", "f32", "", 64, ("f16", "f16", (16, 8, 16))),
        ("f16", "f16", "", 8, ("f16", "f16", (16, 8, 8))),
        ("bf16", "f32", "", 1, ("bf16", "bf16", (16, 8, 8))),
        ("tf32", "f32", "", 4, ("tf32", "tf32", (16, 8, 4))),
        ("f64", "f64", "", 64, ("f64", "f64", (8, 8, 4))),
        ("f8E5M2", "f16", "", 16, ("e5m2", "e5m2", (16, 8, 32))),
        ("i8", "i32", "su", 16, ("s8", "u8", (16, 8, 16))),
        ("i8", "i32", "uu", 64, ("u8", "u8", (16, 8, 32))),
        ("f32", "f32", "", 64, None),
    ],
)
def test_the_instruction_is_no_deeper_than_it_must_be(
    element: str, total: str, signs: str, depth: int, expected: tuple[object, ...] | None
) -> None:
    """The shapes are those of the PTX manual for these types."""
    types = f"tensor<16x{depth}x{element}>, tensor<{depth}x8x{element}>, tensor<16x8x{total}>"
    words = {"s": "signed", "u": "unsigned"}
    sides = zip("ab", signs, strict=bool(signs))
    how = [f"signedness_{side} = #nv_tileaa.signedness<{words[sign]}>" for side, sign in sides]
    given = ", ".join(how or ['input_precision = "ieee"'])
    a, b, c = types.split(", ")
    module = read(
        f"nv_tileaa.func @f(%a: {a}, %b: {b}, %c: {c}) {{ "
        f"%d = nv_tileaa.dot %a, %b, %c {{{given}}} : {types}\n nv_tileaa.return }}"
    )
    (dot,) = [op for op in module.walk() if isinstance(op, DotOp)]
    found = mma_instruction(dot)
    assert (None if found is None else found[:3]) == expected
