"""Every operation of a level that the executor runs has an evaluator, or a reason to have none."""

from __future__ import annotations

import pytest
from each_case import each_case

import tilewright
from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.constraints import FLOAT_TILE
from tilewright.driver.assembly import parse_any
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.reference import executor
from tilewright.reference.evaluators import EVALUATORS
from tilewright.reference.launch import launch
from tilewright.reference.numerics import functions

EXTERNAL = {
    "nv_tileaa.call_elementwise_intrinsic",
    "nv_tileaa.elementwise_inline_asm",
    "nv_tileaa.execute",
    "nv_tileaa.extern_elementwise",
    "nv_tileaa.inject_ir",
}
"""Operations that run code which is not part of the program."""
UNDEFINED = {"nv_tileaa.conv_dot", "nv_tileaa.conv_tile", "nv_tileaa.launch_func"}
"""Operations without semantics at this level."""
DECLARATIONS = {"nv_tileaa.func", "nv_tileaa.plugin"}
LOWER_LEVELS = {
    "arith.addui_extended",
    "arith.index_cast",
    "arith.index_castui",
    "arith.mulsi_extended",
    "arith.mului_extended",
    "math.clampf",
    "math.ctlz",
    "math.ctpop",
    "math.cttz",
    "math.erf",
    "math.erfc",
    "math.ipowi",
    "math.isnormal",
    "math.round",
    "math.sincos",
}
"""Operations that no pass up to nv_tileaa builds: programs of lower levels run on the emulator."""
WITHOUT = EXTERNAL | UNDEFINED | DECLARATIONS | LOWER_LEVELS


def evaluated(dialect: str) -> set[str]:
    assert executor is not None
    return {kind.name for kind in EVALUATORS if kind.name.startswith(f"{dialect}.")}


def test_every_operation_of_tile_ir_has_an_evaluator() -> None:
    assert evaluated("cuda_tile") == set(OPCODES)


@each_case("name", ["nv_tileaa", "arith", "math", "scf"])
def test_every_operation_has_an_evaluator_or_a_reason(name: str) -> None:
    dialect = context().dialect(name)
    assert dialect is not None
    assert set(dialect.ops) - evaluated(name) == {op for op in WITHOUT if op.startswith(f"{name}.")}


def test_an_operation_without_an_evaluator_is_rejected_at_its_location() -> None:
    text = (
        "module {\n  nv_tileaa.func @f() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {\n"
        "    %x = arith.constant 1.0 : f32\n    %y = math.erf %x : f32\n"
        "    nv_tileaa.return\n  }\n}\n"
    )
    module = parse_any(text, "k.mlir")
    with pytest.raises(tilewright.Unsupported, match=r"running 'math.erf'") as error:
        launch(module, "f", 1, [])
    assert "k.mlir:4:" in str(error.value)


def is_uniform(kind: type[Operation]) -> bool:
    """Whether all operands and the result of an operation have one float type."""
    fields = [*kind.schema.operands, *kind.schema.results]
    return len(fields) > 1 and all(field.constraint is FLOAT_TILE for field in fields)


def test_every_function_of_tile_ir_runs_in_f64_without_a_longer_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Platforms whose `long double` is a double compute in decimals, which need a formula each."""
    monkeypatch.setattr(functions, "LONG_DOUBLE_IS_LONGER", False)
    names = sorted(op for op, kind in CUDA_TILE.ops.items() if is_uniform(kind))
    assert {"cuda_tile.atan2", "cuda_tile.exp", "cuda_tile.fma"} <= set(names)
    arguments = {op: ", ".join(["%x"] * len(CUDA_TILE.ops[op].schema.operands)) for op in names}
    lines = [f"%r{n} = {op} {arguments[op]} : tile<f64>" for n, op in enumerate(names)]
    body = "\n".join(["%x = constant <f64: 1.25> : tile<f64>", *lines, "return"])
    launch(tilewright.read(f"cuda_tile.module @m {{ entry @f() {{ {body} }} }}"), "f", 1, [])
