"""cf to LLVM: branches, and assertions that call CUDA's function."""

from __future__ import annotations

import pytest
from lowering import convert, kernel, lowered, symbols

from tilewright.dialects.llvm.control_flow import CondBrOp
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.text.printer import print_op


@pytest.mark.requirement("R3-008", "R3-037", "R3-038", "R3-039", "R3-040")
def test_a_failed_assertion_calls_assertfail() -> None:
    body, arguments = 'cf.assert %c, "must hold"', "%c: i1"
    lines = [line.split("  //")[0] for line in lowered(body, arguments)]
    assert lines == [
        "llvm.cond_br %arg0, ^bb2, ^bb1",
        "^bb1:",
        '%0 = llvm.mlir.addressof @".assert_msg" : !llvm.ptr',
        '%1 = llvm.mlir.addressof @".assert_file" : !llvm.ptr',
        "%2 = llvm.mlir.constant(4 : i32) : i32",
        '%3 = llvm.mlir.addressof @".assert_func" : !llvm.ptr',
        "%4 = llvm.mlir.constant(1 : i64) : i64",
        "llvm.call @__assertfail(%0, %1, %2, %3, %4) "
        ": (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> ()",
        "llvm.br ^bb2",
        "^bb2:",
    ]
    assert symbols(body, arguments) == [
        "llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)",
        'llvm.mlir.global internal constant @".assert_file"("program.mlir\\00")',
        'llvm.mlir.global internal constant @".assert_func"("k\\00")',
        'llvm.mlir.global internal constant @".assert_msg"("must hold\\00")',
    ]


def test_two_assertions_share_equal_strings() -> None:
    body = 'cf.assert %c, "a"\ncf.assert %c, "b"'
    names = sorted(line.split('"')[1] for line in symbols(body, "%c: i1") if "global" in line)
    assert names == [".assert_file", ".assert_func", ".assert_msg", ".assert_msg_0"]


def test_branches_pass_all_converted_values() -> None:
    text = """
    builtin.module {
      func.func @f(%c: i1, %m: memref<?xf32>, %n: memref<?xf32>, %i: i32) -> f32 {
        cf.cond_br %c, ^a(%m : memref<?xf32>), ^a(%n : memref<?xf32>)
      ^a(%x: memref<?xf32>):
        cf.switch %i : i32, [default: ^b(%x : memref<?xf32>), 4: ^b(%m : memref<?xf32>)]
      ^b(%y: memref<?xf32>):
        %z = arith.constant 0 : index
        %r = memref.load %y[%z] : memref<?xf32>
        cf.br ^c(%r : f32)
      ^c(%s: f32):
        return %s : f32
      }
    }
    """
    module = convert(text)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    assert [str(type) for type in function.function_type.inputs] == [
        "i1", "!llvm.ptr", "i64", "!llvm.ptr", "i64", "i32",
    ]  # fmt: skip
    (branch,) = [op for op in module.walk() if isinstance(op, CondBrOp)]
    assert len(branch.true_operands) == len(branch.false_operands) == 2
    assert "4: ^bb2(%arg1, %arg2 : !llvm.ptr, i64)" in print_op(module)


def test_a_kernel_with_an_assertion_in_a_loop_is_sound() -> None:
    text = kernel(
        """
        %a = arith.constant 0 : index
        %b = arith.constant 4 : index
        scf.for %i = %a to %b step %b {
          cf.assert %c, "round"
        }
        """,
        "%c: i1",
    )
    module = convert(text, "convert-scf-to-cf,convert-gpu-nvgpu-to-nvvm")
    assert print_op(module).count("llvm.call @__assertfail") == 1
