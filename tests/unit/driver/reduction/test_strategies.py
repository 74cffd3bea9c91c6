"""Each strategy of the reducer on a small program."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.driver.api import read_level
from tilewright.driver.reduction.attributes import (
    RemoveArguments,
    RemoveAttributes,
    RemoveEntries,
    RemoveLocations,
    RemoveOptionalOperands,
    ZeroConstants,
)
from tilewright.driver.reduction.control_flow import (
    RemoveBlockArguments,
    RemoveCarriedValues,
    SimplifyBranches,
)
from tilewright.driver.reduction.engine import Candidate, Form, Reducer
from tilewright.driver.reduction.operations import DropRegions, InlineRegions, RemoveOperations
from tilewright.driver.reduction.programs import reducer_of
from tilewright.driver.reduction.strategy import Strategy
from tilewright.driver.reduction.types import ShrinkExtents, UnifyElements
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op


def edited(strategy: Strategy[Any], text: str, *chosen: int, cleanup: bool = False) -> list[str]:
    """The lines of a program after edits at the chosen targets, by default at all."""
    module = read_level(text, "text")
    verify(module)
    numbers = chosen or range(strategy.count(module))
    strategy.apply(module, numbers, cleanup=cleanup)
    verify(module)
    lines = [" ".join(line.split()) for line in print_op(module).splitlines()]
    return [line for line in lines if line not in ("}", "return", "module {", "llvm.return")][1:]


CHAIN = """\
cuda_tile.module @kernels {
  entry @k(%x: tile<f32>, %p: tile<ptr<f32>>) {
    %a = exp %x : tile<f32>
    %b = addf %a, %x : tile<f32>
    %t = store_ptr_tko weak %p, %b : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""


def test_results_become_operands() -> None:
    assert edited(RemoveOperations("operands", 2), CHAIN, 0) == [
        "entry @k(%arg0: tile<f32>, %arg1: tile<ptr<f32>>) {",
        "%0 = addf %arg0, %arg0 : tile<f32>",
        "%1 = store_ptr_tko weak %arg1, %0 : tile<ptr<f32>>, tile<f32> -> token",
    ]


def test_results_become_constants_and_dead_operations_are_removed() -> None:
    kept = [
        "entry @k(%arg0: tile<f32>, %arg1: tile<ptr<f32>>) {",
        "%cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>",
        "%0 = store_ptr_tko weak %arg1, %cst_0_f32 : tile<ptr<f32>>, tile<f32> -> token",
    ]
    assert edited(RemoveOperations("constants", 2), CHAIN, 1, cleanup=True) == kept
    lines = edited(RemoveOperations("constants", 2), CHAIN, 1)
    assert len(lines) == 4
    assert lines[1] == "%0 = exp %arg0 : tile<f32>"


def test_results_become_what_they_are_computed_from() -> None:
    text = CHAIN.replace("%b = addf %a, %x : tile<f32>", (
        "%h = ftof %a : tile<f32> -> tile<f16>\n    %b = ftof %h : tile<f16> -> tile<f32>"
    ))  # fmt: skip
    assert edited(RemoveOperations("sources", 2), text, 2, cleanup=True)[1:] == [
        "%0 = exp %arg0 : tile<f32>",
        "%1 = store_ptr_tko weak %arg1, %0 : tile<ptr<f32>>, tile<f32> -> token",
    ]


LOOP = """\
cuda_tile.module @kernels {
  entry @k(%n: tile<i32>, %x: tile<f32>) {
    %r:2 = for %i in (%n to %n, step %n) : tile<i32>
        iter_values(%a = %x, %b = %n) -> (tile<f32>, tile<i32>) {
      %c = exp %a : tile<f32>
      %d = addi %b, %i : tile<i32>
      continue %c, %d : tile<f32>, tile<i32>
    }
    %e = exp %r#0 : tile<f32>
    %f = addi %r#1, %n : tile<i32>
    return
  }
}
"""


def test_loops_become_their_bodies() -> None:
    assert edited(InlineRegions(), LOOP) == [
        "entry @k(%arg0: tile<i32>, %arg1: tile<f32>) {",
        "%0 = exp %arg1 : tile<f32>",
        "%1 = addi %arg0, %arg0 : tile<i32>",
        "%2 = exp %0 : tile<f32>",
        "%3 = addi %1, %arg0 : tile<i32>",
    ]


@pytest.mark.parametrize(("chosen", "kept"), [((0,), "tile<i32>"), ((1,), "tile<f32>"), ((), "")])
def test_loop_carried_values(chosen: tuple[int, ...], kept: str) -> None:
    lines = edited(RemoveCarriedValues(), LOOP, *chosen)
    (head,) = (line for line in lines if " for " in f" {line}")
    assert ("iter_values" in head) == bool(kept)
    assert head.count("tile<f32>") == (kept == "tile<f32>")
    passed = [line for line in lines if line.startswith("continue")]
    assert all(line.endswith(kept) for line in passed)
    # Uses of the result become its initial value.
    assert any(line.endswith("= exp %arg1 : tile<f32>") for line in lines) == (chosen != (1,))


BRANCH = """\
cuda_tile.module @kernels {
  entry @k(%c: tile<i1>, %x: tile<f32>) {
    %r = if %c -> (tile<f32>) {
      %a = exp %x : tile<f32>
      yield %a : tile<f32>
    } else {
      %b = sin %x : tile<f32>
      yield %b : tile<f32>
    }
    if %c {
      %u = exp2 %r : tile<f32>
      yield
    } else {
      %v = cos %r : tile<f32>
      yield
    }
    return
  }
}
"""


def test_branches_of_if() -> None:
    """The first `if` by its else branch, the second one by its then branch."""
    assert edited(InlineRegions(), BRANCH, 1, 2) == [
        "entry @k(%arg0: tile<i1>, %arg1: tile<f32>) {",
        "%0 = sin %arg1 : tile<f32>",
        "%1 = exp2 %0 : tile<f32>",
    ]


def test_else_is_dropped() -> None:
    lines = edited(DropRegions(), BRANCH, 2)
    assert not any("cos" in line for line in lines)
    assert any("exp2" in line for line in lines)
    assert sum("else" in line for line in lines) == 1


GRAPH = """\
module {
  llvm.func @k(%c: i1, %x: i32, %p: !llvm.ptr) {
    %0 = llvm.mlir.constant(7 : i32) : i32
    llvm.cond_br %c, ^bb1(%x, %0 : i32, i32), ^bb2
  ^bb1(%a: i32, %b: i32):
    %1 = llvm.add %a, %b : i32
    llvm.store %1, %p : i32, !llvm.ptr
    llvm.br ^bb2
  ^bb2:
    llvm.return
  }
}
"""


def test_branches_lose_a_successor() -> None:
    assert edited(SimplifyBranches(), GRAPH, 0) == [
        "%0 = llvm.mlir.constant(7 : i32) : i32",
        "%1 = llvm.add %arg1, %0 : i32",
        "llvm.store %1, %arg2 : i32, !llvm.ptr",
    ]
    assert edited(SimplifyBranches(), GRAPH, 1) == ["%0 = llvm.mlir.constant(7 : i32) : i32"]


def test_block_arguments() -> None:
    lines = edited(RemoveBlockArguments(), GRAPH, 0)
    assert "llvm.cond_br %arg0, ^bb1(%0 : i32), ^bb2" in lines
    assert "%2 = llvm.add %0, %1 : i32" in lines
    assert "llvm.cond_br %arg0, ^bb1, ^bb2" in edited(RemoveBlockArguments(), GRAPH)


def test_arguments() -> None:
    text = """\
module {
  llvm.func @k(%a: i32 {llvm.noundef}, %b: i32, %p: !llvm.ptr {llvm.noalias}) {
    llvm.store %b, %p : i32, !llvm.ptr
    llvm.return
  }
}
"""
    module = read_level(text, "text")
    RemoveArguments().apply(module, [1], cleanup=False)
    verify(module)
    printed = print_op(module)
    assert "llvm.func @k(%arg0: i32 {llvm.noundef}, %arg1: !llvm.ptr {llvm.noalias})" in printed
    assert "llvm.store %arg0, %arg1" in printed


HINTS = """\
cuda_tile.module @kernels {
  entry @k() optimization_hints=<
      sm_80 = {occupancy = 1}, sm_90 = {num_cta_in_cga = 2, occupancy = 2}> {
    %x = iota : tile<4xi32>
    %y = addi %x, %x overflow<no_signed_wrap> : tile<4xi32>
    return
  }
}
"""


def test_attributes() -> None:
    assert edited(RemoveAttributes(), HINTS) == [
        "entry @k() {",
        "%0 = iota : tile<4xi32>",
        "%1 = addi %0, %0 : tile<4xi32>",
    ]


def test_entries_of_hints() -> None:
    module = read_level(HINTS, "text")
    heads = [
        edited(RemoveEntries(), HINTS, number)[0] for number in range(RemoveEntries().count(module))
    ]
    assert "entry @k() optimization_hints=<sm_90 = {num_cta_in_cga = 2, occupancy = 2}> {" in heads
    assert (
        "entry @k() optimization_hints=<sm_80 = {occupancy = 1}, sm_90 = {occupancy = 2}> {"
        in heads
    )


def test_optional_operands() -> None:
    text = """\
cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f32>>, %m: tile<i1>, %d: tile<f32>) {
    %x, %t = load_ptr_tko weak %p, %m, %d : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    return
  }
}
"""
    lines = edited(RemoveOptionalOperands(), text)
    assert (
        lines[1]
        == "%result, %result_token = load_ptr_tko weak %arg0 : tile<ptr<f32>> -> tile<f32>, token"
    )


def test_constants() -> None:
    text = """\
cuda_tile.module @kernels {
  entry @k() {
    %a = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %b = constant <f32: 2.5> : tile<f32>
    return
  }
}
"""
    assert edited(ZeroConstants(), text)[1:] == [
        "%cst_0_i32 = constant <i32: 0> : tile<4xi32>",
        "%cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>",
    ]


TYPES = """\
!tensor = !cuda_tile.tensor_view<64x32xf16, strides=[32,1]>
!view = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>
cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f16>>) {
    %v = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : !tensor
    %w = make_partition_view %v : !view
    %c = constant <f16: 1.0> : tile<64x32xf16>
    %z = constant <i32: 0> : tile<i32>
    %t = store_view_tko weak %c, %w[%z, %z] : tile<64x32xf16>, !view, tile<i32> -> token
    return
  }
}
"""


def test_extents() -> None:
    module = read_level(TYPES, "text")
    targets = list(ShrinkExtents().targets(module))
    assert targets == [
        *((32, extent) for extent in (16, 8, 4, 2, 1)),
        *((64, extent) for extent in (32, 16, 8, 4, 2, 1)),
    ]
    text = "\n".join(edited(ShrinkExtents(), TYPES, targets.index((64, 2))))
    assert "partition_view<tile=(2x32), tensor_view<2x32xf16, strides=[32,1]>>" in text
    assert "constant <f16: 1.000000e+00> : tile<2x32xf16>" in text
    assert "64" not in text


def test_element_types() -> None:
    text = "\n".join(edited(UnifyElements(), TYPES))
    assert "f16" not in text
    assert "entry @k(%arg0: tile<ptr<f32>>)" in text
    assert "constant <f32: 0.000000e+00> : tile<64x32xf32>" in text


def test_locations() -> None:
    module = read_level('entry @k() {\n  return loc("a.py":1:2)\n}\n', "text")
    assert "a.py" in print_op(module, debug=True)
    RemoveLocations().apply(module, [0], cleanup=False)
    assert "a.py" not in print_op(module, debug=True)
    assert not RemoveLocations().count(module)


def test_only_valid_programs_are_tested() -> None:
    """A test that calls everything interesting sees programs that read back and verify."""
    seen: list[bytes] = []

    def test(candidate: Candidate) -> bool:
        verify(read_level(candidate.data, "text"))
        verify(candidate.module)
        seen.append(candidate.data)
        return len(seen) % 3 != 0

    for text in (CHAIN, LOOP, BRANCH, GRAPH, TYPES, HINTS):
        before = len(seen)
        reducer = reducer_of(text.encode(), "text", test, lambda _: None)
        assert reducer is not None or len(seen) % 3 == 0
        if reducer is not None:
            reducer.run()
        assert len(set(seen[before:])) == len(seen) - before  # and none twice


def names(module: Operation) -> list[str]:
    return [op.name for op in module.walk()]


def test_dead_code_may_be_what_fails() -> None:
    """An operation that nothing uses stays if the test needs it."""
    reducer = reducer_of(
        LOOP.encode(), "text", lambda each: "cuda_tile.exp" in names(each.module), lambda _: None
    )
    assert reducer is not None
    assert names(reducer.run().module) == [
        "cuda_tile.module", "cuda_tile.entry", "cuda_tile.exp", "cuda_tile.return",
    ]  # fmt: skip


def test_a_program_is_read_once() -> None:
    """Most edits make a program that was tried before."""
    written: list[bytes] = []

    def read(data: bytes) -> Operation:
        written.append(data)
        return read_level(data, "text")

    form = Form(lambda module: print_op(module).encode(), read)
    reducer = Reducer(form, lambda each: "cuda_tile.exp" in names(each.module))
    module = read_level(LOOP, "text")
    assert reducer.start(Candidate(form.write(module), module))
    reducer.run()
    assert len(written) == len(set(written))
