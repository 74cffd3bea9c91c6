"""Dots with layouts: instruction selection, and the fragment layouts of operands."""

from __future__ import annotations

import pytest
from dialect_text import check_round_trip, errors, read
from each_case import each_case

from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.matrix import DotWaitOp, mma_instruction, wgmma_instruction
from tilewright.ir.attributes import Type
from tilewright.ir.types import F8E4M3FN, F16, F32, F64
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import Layout
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.wgmma import left_fragments, operand_smem, wgmma_tile
from tilewright.text.attribute_printer import AttributePrinter
from tilewright.text.printer import print_op

GRID = Grid(down=2, across=2, batch=1, warps=4)
LEFT = fragment_tile(mma_left(16), (32, 64), GRID, rows=True, columns=False)
RIGHT = fragment_tile(mma_right(16), (64, 32), GRID, rows=False, columns=True)
ACCUMULATOR = fragment_tile(mma_accumulator(), (32, 32), GRID, rows=True, columns=True)


def placements(element: Type, *, across: bool = False) -> tuple[Layout, Layout]:
    """A of 128x64 and B of 64x32 in shared memory, K-major, or M- and N-major with `across`."""
    bytes = pointee_bytes(element)
    a = operand_smem((1, 128, 64), bytes, across=across).placement
    b = operand_smem((1, 32, 64), bytes, across=across).placement
    return a.reshape((128, 64)), b.permute((0, 2, 1)).reshape((64, 32))


def problems(
    a: Layout,
    b: Layout,
    c: Layout,
    element: Type = F16,
    atom: str = "mma_sync",
    flags: str = "",
) -> list[str]:
    laid = [laid_out(element, a), laid_out(element, b), laid_out(F32, c)]
    types = [AttributePrinter().type(type) for type in laid]
    arguments = ", ".join(f"%{name}: {type}" for name, type in zip("abc", types, strict=True))
    body = (
        f"%d = nv_tileas.dot %a, %b, %c {{{flags}atom = #nv_tileas.atom<{atom}>, "
        f'input_precision = "ieee"}} : {", ".join(types)}'
    )
    return errors(f"nv_tileaa.func @f({arguments}) {{ {body}\n nv_tileaa.return }}")


def test_fragments_of_one_instruction_fit() -> None:
    assert problems(LEFT, RIGHT, ACCUMULATOR) == []


def test_other_layouts_are_refused() -> None:
    plain = spread((32, 64), 4)
    messages = problems(plain, RIGHT, ACCUMULATOR)
    assert any("expected a in fragments of m16n8k16" in each for each in messages)
    messages = problems(LEFT, RIGHT, spread((32, 32), 4))
    assert any("expected c in fragments of m16n8k16" in each for each in messages)


def test_warps_own_matching_operands_and_accumulators() -> None:
    other = Grid(down=1, across=4, batch=1, warps=4)
    right = fragment_tile(mma_right(16), (64, 32), other, rows=False, columns=True)
    (problem,) = problems(LEFT, right, ACCUMULATOR)
    assert "expected warps to hold the columns of b that c has" in problem
    left = fragment_tile(mma_left(16), (32, 64), other, rows=True, columns=False)
    (problem,) = problems(left, RIGHT, ACCUMULATOR)
    assert "expected warps to hold the rows of a that c has" in problem


def test_types_that_no_instruction_has() -> None:
    (problem,) = problems(LEFT, RIGHT, ACCUMULATOR, F32)
    assert "expected types that mma.sync multiplies, got 'f32'" in problem
    assert problems(LEFT, RIGHT, ACCUMULATOR, F64) != []


@pytest.mark.parametrize("element", [F8E4M3FN, F16])
def test_b_of_wgmma_is_in_shared_memory(element: Type) -> None:
    a, b = placements(element)
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(a, b, accumulator, element, "wgmma") == []
    (problem,) = problems(a, spread((64, 32), 8), accumulator, element, "wgmma")
    assert "expected b in shared memory as wgmma reads it" in problem


@pytest.mark.parametrize("element", [F8E4M3FN, F16])
def test_a_of_wgmma_may_be_in_fragments(element: Type) -> None:
    _, b = placements(element)
    bits = 8 * pointee_bytes(element)
    left = left_fragments((128, 64), (128, 32), bits, warps=8)
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(left, b, accumulator, element, "wgmma") == []
    messages = problems(spread((128, 64), 8), b, accumulator, element, "wgmma")
    assert "expected a in shared memory, or in fragments of wgmma" in messages[0]


def test_warps_own_the_rows_of_a_and_of_their_accumulators() -> None:
    """If warpgroups split the columns of another accumulator, both have all rows of A."""
    _, b = placements(F16)
    side_by_side = left_fragments((128, 64), (64, 32), 16, warps=8)
    (problem,) = problems(side_by_side, b, wgmma_tile((128, 32), 8), F16, "wgmma")
    assert "expected warps to hold the rows of a that c has" in problem


def test_a_of_an_asynchronous_dot_may_be_in_fragments() -> None:
    """The wait for the dot holds them."""
    _, b = placements(F16)
    left = left_fragments((128, 64), (128, 32), 16, warps=8)
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(left, b, accumulator, F16, "wgmma", flags="asynchronous, ") == []


def wait(rest: str) -> str:
    """A wait for an accumulator `%arg0`; `%arg1` and `%arg2` are tiles in fragments of A."""
    printer = AttributePrinter()
    fragments = printer.type(laid_out(F16, left_fragments((128, 64), (128, 32), 16, warps=8)))
    accumulator = printer.type(laid_out(F32, wgmma_tile((128, 32), 8)))
    body = f"%0 = nv_tileas.dot_wait {rest}".replace("!a", fragments).replace("!c", accumulator)
    arguments = f"%arg0: {accumulator}, %arg1: {fragments}, %arg2: {fragments}"
    return f"nv_tileaa.func @f({arguments}) {{\n  {body}\n  nv_tileaa.return\n}}\n"


@each_case(
    ("rest", "held", "pending", "late"),
    [
        ("%arg0 : !c", 0, 0, False),
        ("%arg0 {pending = 1 : i32} : !c", 0, 1, False),
        ("%arg0 {late} : !c", 0, 0, True),
        ("%arg0 held %arg1 : !c, !a", 1, 0, False),
        ("%arg0 held %arg1, %arg2 {late, pending = 2 : i32} : !c, !a, !a", 2, 2, True),
    ],
)
def test_a_wait_may_hold_tiles(rest: str, held: int, pending: int, late: bool) -> None:
    printed = print_op(read(wait(rest)))
    check_round_trip(printed)
    assert f"nv_tileas.dot_wait {rest.partition(' :')[0]} :" in printed
    (op,) = [each for each in read(wait(rest)).walk() if isinstance(each, DotWaitOp)]
    assert (len(op.held), op.pending, op.late) == (held, pending, late)
    assert op.result.type == op.accumulator.type


@each_case(
    ("rest", "message"),
    [
        ("%arg0 {pending = -1 : i32} : !c", "attribute 'pending'"),
        ("%arg0 held %arg1 : !c", "expected"),
        ("%arg0 held %arg0 : !c, !a", "value '%arg0' has type"),
        ("%arg0 held %c : !c, i32", "operand #1 must be tensor"),
    ],
)
def test_invalid_waits(rest: str, message: str) -> None:
    text = wait(rest).replace("{\n", "{\n  %c = arith.constant 0 : i32\n", 1)
    (problem,) = errors(text)
    assert message in problem


def test_wgmma_operands_are_swizzled() -> None:
    """Row-major without a swizzle is no operand of 64 bytes of K."""
    plain = Layout([("offset", [1 << bit for bit in range(13)])], (128, 64))
    _, b = placements(F8E4M3FN)
    (problem,) = problems(plain, b, wgmma_tile((128, 32), 8), F8E4M3FN, "wgmma")
    assert "expected a in shared memory as wgmma reads it" in problem


def test_only_16_bit_operands_are_m_or_n_major() -> None:
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(*placements(F16, across=True), accumulator, F16, "wgmma") == []
    # Of 8-bit types with the same offsets, A and B are both refused.
    messages = problems(*placements(F16, across=True), accumulator, F8E4M3FN, "wgmma")
    assert len(messages) == 2


def test_only_wgmma_is_asynchronous() -> None:
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(*placements(F16), accumulator, F16, "wgmma", flags="asynchronous, ") == []
    (problem,) = problems(LEFT, RIGHT, ACCUMULATOR, flags="asynchronous, ")
    assert "expected wgmma for an asynchronous dot, got mma_sync" in problem


def test_wgmma_accumulators_have_fragment_layouts() -> None:
    a, b = placements(F8E4M3FN)
    grid = Grid(down=2, across=4, batch=1, warps=8)
    warps = fragment_tile(mma_accumulator(), (128, 32), grid, rows=True, columns=True)
    for other in (spread((128, 32), 8), warps):
        (problem,) = problems(a, b, other, F8E4M3FN, "wgmma")
        assert "expected c in fragments of wgmma" in problem


def test_dots_without_wgmma() -> None:
    small = spread((32, 64), 4), spread((64, 32), 4), spread((32, 32), 4)
    (problem,) = problems(*small, F8E4M3FN, "wgmma")
    assert "expected a dot that wgmma supports, got tensor<32x64xf8E4M3FN>" in problem
    large = spread((64, 64), 4), spread((64, 32), 4), wgmma_tile((64, 32), 4)
    (problem,) = problems(*large, F32, "wgmma")
    assert "expected a dot that wgmma supports" in problem


@each_case(
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
    accumulator = "f64" if element == "f64" else "f32"
    types = f"tensor<{m}x{k}x{element}>, tensor<{k}x{n}x{element}>, tensor<{m}x{n}x{accumulator}>"
    a, b, c = types.split(", ")
    module = read(
        f"nv_tileaa.func @f(%a: {a}, %b: {b}, %c: {c}) {{ "
        f'%d = nv_tileaa.dot %a, %b, %c {{input_precision = "ieee"}} : {types}\n'
        " nv_tileaa.return }"
    )
    (dot,) = [op for op in module.walk() if isinstance(op, DotOp)]
    instruction = wgmma_instruction(dot)
    assert (None if instruction is None else instruction.shape) == expected


@each_case(
    ("element", "accumulator", "signs", "k", "expected"),
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
    element: str, accumulator: str, signs: str, k: int, expected: tuple[object, ...] | None
) -> None:
    """The shapes are those of the PTX manual for these types."""
    types = f"tensor<16x{k}x{element}>, tensor<{k}x8x{element}>, tensor<16x8x{accumulator}>"
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
    instruction = mma_instruction(dot)
    assert (None if instruction is None else instruction[:3]) == expected


def test_a_promoted_dot_is_by_wgmma_and_complete() -> None:
    a, b = placements(F16)
    accumulator = wgmma_tile((128, 32), 8)
    assert problems(a, b, accumulator, atom="wgmma", flags="promoted, ") == []
    messages = problems(a, b, accumulator, atom="wgmma", flags="promoted, asynchronous, ")
    assert any("either promoted or asynchronous" in each for each in messages)
    messages = problems(LEFT, RIGHT, ACCUMULATOR, flags="promoted, ")
    assert any("expected wgmma of floats for a promoted dot" in each for each in messages)


def test_only_fma_takes_one_matrix_for_a_batch() -> None:
    a, b, c = (spread(shape, 4) for shape in ((1, 8, 4), (2, 4, 16), (2, 8, 16)))
    assert problems(a, b, c, F32, "fma") == []
    assert problems(spread((2, 8, 4), 4), spread((1, 4, 16), 4), c, F32, "fma") == []
    (problem,) = problems(a, b, spread((4, 8, 16), 4), F32, "fma")
    assert "expected c of shape 2x8x16, got 4x8x16" in problem
    (problem,) = problems(a, spread((2, 8, 16), 4), c, F32, "fma")
    assert "expected b of shape 2x4x16, got 2x8x16" in problem
    assert any("expected b of shape 1x4x16" in each for each in problems(a, b, c, F16))
