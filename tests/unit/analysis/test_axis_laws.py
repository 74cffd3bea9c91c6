"""Each transfer function of the axis analysis, checked on tiles with known elements."""

from __future__ import annotations

from random import Random

import pytest
from concrete_tiles import Run, contradiction, outside, width
from dialect_text import read

from tilewright.analysis.axis import AxisFacts

EXTENT = 16
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
SIGNS = ("signed", "unsigned")
BINARY = (
    *(f"nv_tileaa.{name} {{}}, {{}}" for name in ("addi", "subi", "muli", "andi", "ori", "xori")),
    *(f"nv_tileaa.cmpi {predicate}, {{}}, {{}}" for predicate in PREDICATES),
    *(f"nv_tileaa.{name} {{}}, {{}} {sign}" for name in ("divi", "remi", "shri") for sign in SIGNS),
    "nv_tileaa.divi {}, {} signed rounding<negative_inf>",
    "nv_tileaa.divi {}, {} signed rounding<positive_inf>",
    "nv_tileaa.divi {}, {} unsigned rounding<positive_inf>",
    "nv_tileaa.shli {}, {}",
    *(f"arith.{name} {{}}, {{}}" for name in ("maxsi", "minsi", "maxui", "minui")),
)


def elements(random: Random) -> list[int]:
    """Return runs that increase, decrease, or repeat, often from round numbers."""
    length = random.choice((1, 2, 4, 8, 16))
    step = random.choice((0, 0, 1, 1, 1, -1, 2))
    numbers: list[int] = []
    base = random.choice((0, 1, 8, -8, 120, 124, -16, 64, random.randrange(256)))
    between = random.choice((0, length, 16, 32, -length, random.randrange(256)))
    for number in range(EXTENT // length):
        start = base + number * between
        numbers += [(start + step * index + 128) % 256 - 128 for index in range(length)]
    return numbers


def divisors(random: Random) -> list[int]:
    """Numbers to divide by, to shift by and to compare with."""
    if random.random() < 0.3:
        return elements(random)
    return [random.choice((1, 2, 3, 4, 5, 6, 7, 8, 12, 16, -4, -8, -1, 64, -128, 124))] * EXTENT


def program(operation: str, pairs: list[tuple[list[int], list[int]]]) -> str:
    """A function that applies an operation to constants."""
    lines: list[str] = []
    for number, pair in enumerate(pairs):
        for name, numbers in zip("ab", pair, strict=True):
            lines.append(f"%{name}{number} = arith.constant dense<{numbers}> : tensor<16xi8>")
        text = operation.format(f"%a{number}", f"%b{number}")
        lines.append(f"%r{number} = {text} : tensor<16xi8>")
    return "nv_tileaa.func @f() {\n" + "\n".join(lines) + "\nnv_tileaa.return\n}"


def check(text: str) -> set[tuple[int, int]]:
    """Check the facts of all results; return their contiguities and constancies."""
    module = read(text)
    function = module.regions[0].block.first
    assert function is not None
    facts = AxisFacts(function)
    run = Run(function, [])
    claimed: set[tuple[int, int]] = set()
    for value, tiles in run.seen.items():
        claim = facts.of(value)
        problem = contradiction(claim, tiles[0], width(value))
        assert problem is None, f"{value}: {claim}: {problem}"
        problem = outside(facts.ranges.of(value), tiles[0])
        assert problem is None, problem
        run_length, _, repeats = claim.dims[0]
        claimed.add((run_length, repeats))
    return claimed


@pytest.mark.parametrize("operation", BINARY)
def test_binary(operation: str) -> None:
    random = Random(operation)
    said: set[tuple[int, int]] = set()
    for _ in range(30):
        # One pair a program: the first that is undefined ends it.
        said |= check(program(operation, [(elements(random), divisors(random))]))
    assert any(contiguity > 1 or constancy > 1 for contiguity, constancy in said)


@pytest.mark.parametrize(
    "operation",
    [
        "nv_tileaa.exti {} signed : tensor<16xi8> to tensor<16xi32>",
        "nv_tileaa.exti {} unsigned : tensor<16xi8> to tensor<16xi32>",
        "nv_tileaa.trunci {} : tensor<16xi8> to tensor<16xi4>",
        "nv_tileaa.negi {} : tensor<16xi8>",
        "nv_tileaa.absi {} : tensor<16xi8>",
        "nv_tileaa.view {} : tensor<16xi8> -> tensor<4x4xi8>",
        "nv_tileaa.view {} : tensor<16xi8> -> tensor<2x1x8xi8>",
    ],
)
def test_unary(operation: str) -> None:
    random = Random(operation)
    for _ in range(50):
        numbers = elements(random)
        text = operation.format("%a")
        constant = f"%a = arith.constant dense<{numbers}> : tensor<16xi8>"
        check(f"nv_tileaa.func @f() {{\n{constant}\n%r = {text}\nnv_tileaa.return\n}}")


@pytest.mark.parametrize("target", ["4x8", "32", "8x4", "2x2x8", "4x2x4", "1x4x8"])
def test_every_reshape(target: str) -> None:
    random = Random(target)
    for _ in range(30):
        numbers = [*elements(random), *elements(random)]
        source = random.choice(("4x8", "32", "2x16", "8x2x2"))
        rows = source.split("x")[0]
        width = 32 // int(rows)
        flat = [numbers[i * width : (i + 1) * width] for i in range(int(rows))]
        nested = [[row[:2], row[2:]] for row in flat] if source == "8x2x2" else flat
        text = str(numbers if source == "32" else nested)
        check(
            f"nv_tileaa.func @f() {{\n%a = arith.constant dense<{text}> : tensor<{source}xi8>\n"
            f"%r = nv_tileaa.view %a : tensor<{source}xi8> -> tensor<{target}xi8>\n"
            "nv_tileaa.return\n}"
        )
