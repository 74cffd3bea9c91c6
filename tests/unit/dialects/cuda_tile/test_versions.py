"""The operations of each Tile IR version, against the published tables."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.bytecode.versions import KNOWN, spell
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.versions import op_name, roster, version_problems
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.text.parser import parse_text

MODES = {spell(version): version for version in KNOWN}
OPS = list(dict.fromkeys(CUDA_TILE.ops.values()))


@pytest.mark.requirement("R1-020")
@each_case(
    ("mode", "count"), [("13.1", 92), ("13.2", 93), ("13.3", 100), ("13.4", 105), ("13.5", 108)]
)
def test_how_many_operations_a_version_has(mode: str, count: int) -> None:
    assert len(roster(OPS, MODES[mode])) == count


@pytest.mark.requirement("R1-017", "R1-018", "R1-020")
def test_names_of_the_first_version() -> None:
    first, last = (set(roster(OPS, MODES[mode])) for mode in ("13.1", "13.4"))
    assert {"cuda_tile.print", "cuda_tile.pow"} <= first
    assert not {"cuda_tile.print_tko", "cuda_tile.fpowf", "cuda_tile.atan2"} & first
    assert {"cuda_tile.print_tko", "cuda_tile.fpowf", "cuda_tile.atan2"} <= last
    assert "cuda_tile.print" not in last


@pytest.mark.requirement("R1-020")
def test_every_operation_is_declared_once() -> None:
    assert len({op.name for op in OPS}) == len(OPS)
    assert all(CUDA_TILE.ops[op.name] is op for op in OPS)


@pytest.mark.requirement("R1-017")
def test_old_names_are_read() -> None:
    op = CUDA_TILE.ops["cuda_tile.print"]
    assert op is CUDA_TILE.ops["cuda_tile.print_tko"]
    assert op_name(op, (13, 1)) == "cuda_tile.print"
    assert op_name(op, (13, 2)) == "cuda_tile.print_tko"


def read(body: str, arguments: str = "") -> Operation:
    return parse_text(
        f"cuda_tile.module @m {{ entry @k({arguments}) {{ {body} return }} }}", context()
    )


def problems(module: Operation, mode: str) -> list[str]:
    return [problem.message for problem in version_problems(module, MODES[mode])]


TAN = "%0 = atan2 %x, %x : tile<4xf32>"
X = "%c = constant <f32: 1.0> : tile<4xf32>"

# Each with the version that the published tables name.
NEWER = [
    ("%0 = constant <f8E8M0FNU: 1.0> : tile<f8E8M0FNU>", "13.2", "'f8E8M0FNU'"),
    ("%0 = constant <f4E2M1FN: 1.0> : tile<2xf4E2M1FN>", "13.3", "'f4E2M1FN'"),
    ("%0 = constant <fnv8E5M3FNU: 1.0> : tile<fnv8E5M3FNU>", "13.4", "'fnv8E5M3FNU'"),
    (f"{X} %0 = atan2 %c, %c : tile<4xf32>", "13.2", "'cuda_tile.atan2' op"),
    (f"{X} %0 = tanh %c rounding<approx> : tile<4xf32>", "13.2", "'rounding_mode'"),
    (
        "%0 = constant <f32: 1.0> : tile<f32>"
        " %1 = ftof %0 rounding<nearest_away> : tile<f32> -> tile<tf32>",
        "13.4",
        "'nearest_away'",
    ),
    ("%0 = constant <i32: 1> : tile<i32> %1 = trunci %0 : tile<i32> -> tile<i4>", "13.3", "'i4'"),
]


@pytest.mark.requirement("R1-007", "R1-018")
@each_case(("body", "since", "named"), NEWER)
def test_newer_features_are_reported(body: str, since: str, named: str) -> None:
    module = read(body)
    modes = list(MODES)
    for mode in modes:
        actual = problems(module, mode)
        if modes.index(mode) < modes.index(since):
            assert any(named in text for text in actual)
            assert any(text.endswith(f"needs version {since}, got {mode}") for text in actual)
        else:
            assert actual == []


def test_arguments_and_views() -> None:
    module = read("", "%p: tile<ptr<f32, <none>>>")
    assert problems(module, "13.4") == []
    actual = problems(module, "13.3")
    assert actual == ["'cuda_tile.entry' op 'ptr_attr' needs version 13.4, got 13.3"]


def test_attributes_of_arguments() -> None:
    module = read("", "%n: tile<i32> {cuda_tile.div_by = #cuda_tile.div_by<4>}")
    assert problems(module, "13.5") == []
    actual = problems(module, "13.4")
    assert actual == ["'cuda_tile.entry' op 'arg_attrs' needs version 13.5, got 13.4"]


def test_an_old_program_has_no_problems() -> None:
    module = read(f"{X} %0 = addf %c, %c : tile<4xf32> %1 = tanh %0 : tile<4xf32>")
    assert problems(module, "13.1") == []
