"""The standard dialects as a whole: lazy loading, type inference, folding inside programs."""

from __future__ import annotations

import subprocess
import sys

from dialect_text import read
from each_case import each_case

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.gpu.threads import ShuffleOp
from tilewright.dialects.memref.access import LoadOp
from tilewright.dialects.vector.elements import ExtractOp
from tilewright.dialects.vector.shapes import ShuffleOp as RowShuffleOp
from tilewright.driver.registry import DIALECTS, context
from tilewright.ir.attributes import Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.passes import Pipeline
from tilewright.ir.types import F32, I1, I32, MemRefType, VectorType
from tilewright.ir.values import Value
from tilewright.text.printer import print_op
from tilewright.transforms.generic.canonicalize import Canonicalize

OURS = [
    "arith",
    "cf",
    "cute_nvgpu",
    "func",
    "gpu",
    "math",
    "memref",
    "nvgpu",
    "scf",
    "ub",
    "vector",
]


def value(type: Type) -> Value:
    return Block([type]).args[0]


def test_registry() -> None:
    assert set(OURS) <= set(DIALECTS)
    for name in OURS:
        dialect = context().dialect(name)
        assert dialect is not None
        assert dialect.name == name
        assert dialect.ops


def test_a_dialect_is_loaded_when_it_is_named() -> None:
    script = (
        "import sys\n"
        "from tilewright.driver.registry import context\n"
        "from tilewright.text.parser import parse_text\n"
        "parse_text('func.func @f(%a: i32) { %0 = arith.addi %a, %a : i32 return }', context())\n"
        "print(*[name for name in sys.modules if name.startswith('tilewright.dialects.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[2] for name in done.stdout.split()}
    assert {"arith", "func", "builtin"} <= loaded
    others = {"cf", "cute_nvgpu", "gpu", "math", "memref", "nvgpu", "scf", "ub", "vector"}
    assert not loaded & {*others, "cuda_tile", "cute", "llvm", "nvvm"}
    assert "tilewright.dialects.arith.folds" not in done.stdout


@each_case(
    ("op", "types"),
    [
        (
            create_op(
                CmpIOp,
                predicate=CmpIPredicate.EQ,
                lhs=value(VectorType((4,), I32)),
                rhs=value(VectorType((4,), I32)),
            ),
            [VectorType((4,), I1)],
        ),
        (create_op(LoadOp, memref=value(MemRefType((), F32)), indices=[]), [F32]),
        (
            create_op(ExtractOp, source=value(VectorType((2, 4), F32)), static_position=(1,)),
            [VectorType((4,), F32)],
        ),
        (
            create_op(
                RowShuffleOp,
                v1=value(VectorType((2,), F32)),
                v2=value(VectorType((2,), F32)),
                mask=(0, 3, 1),
            ),
            [VectorType((3,), F32)],
        ),
        (
            create_op(
                ShuffleOp,
                mode=ShuffleMode.XOR,
                value=value(F32),
                offset=value(I32),
                width=value(I32),
            ),
            [F32, I1],
        ),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_builder_infers_results(op: Operation, types: list[Type]) -> None:
    assert [result.type for result in op.results] == types


def test_programs_fold() -> None:
    module = read("""
        func.func @f(%a: i32, %m: memref<4x8xf32>) -> (i32, f32, index) {
          %c1 = arith.constant 1 : i32
          %c2 = arith.constant 2 : i32
          %0 = arith.addi %c1, %c1 : i32
          %1 = arith.subi %0, %c2 : i32
          %2 = arith.addi %a, %1 : i32
          %half = arith.constant 0.5 : f32
          %v = vector.broadcast %half : f32 to vector<4xf32>
          %s = math.sqrt %v : vector<4xf32>
          %x = arith.mulf %v, %v : vector<4xf32>
          %e = vector.extract %x[2] : f32 from vector<4xf32>
          %one = arith.constant 1 : index
          %d = memref.dim %m, %one : memref<4x8xf32>
          return %2, %e, %d : i32, f32, index
        }""")
    Pipeline(Canonicalize()).run(module)
    assert (
        print_op(module)
        == """\
module {
  func.func @f(%arg0: i32, %arg1: memref<4x8xf32>) -> (i32, f32, index) {
    %c8 = arith.constant 8 : index
    %cst = arith.constant 2.500000e-01 : f32
    return %arg0, %cst, %c8 : i32, f32, index
  }
}
"""
    )
