"""structure-early-exits: the resulting form, and that it preserves the behavior."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_arguments import VARIANTS, arguments
from corpus_checks import Module, load_modules
from programs import Run, parse_runs, problems
from random_programs import ARGUMENTS, random_arguments, random_kernel
from repeats import keep_every, keep_first
from tile_interpreter import trace
from tile_programs import kernel, lines, run, same

import tilewright
from tilewright.bytecode.reader import read_bytecode
from tilewright.dialects.cuda_tile.control_flow import LoopOp
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.structured import is_structured, is_view, while_of
from tilewright.reference.arguments import Table
from tilewright.reference.errors import ExecutionError
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Unsupported
from tilewright.support.location import UNKNOWN
from tilewright.support.run_limits import RunLimits

PASS = "structure-early-exits"
MAX_STEPS = 100_000
BYTES = "%a: tile<i8>, %b: tile<i8>, %c: tile<i1>, %d: tile<i1>"
RUNS = Path(__file__).parents[3] / "run"
EXITING = (
    "array_slice_while_loop-566776454d874ae7",
    "break_in_while-92307f953355bcf6",
    "constant_assigned_inside_loop-0bca9d05dd775c9b",
    "continue_in_while-05ec99cfb3b006ef",
    "early_return_inside_loop_kernel-a066b04049053a60",
    "early_return_kernel-61bbee7823b31449",
    "grouped_matmul_kernel-0b6830ba594f3d71",
    "helper_function_early_return_kernel-82e81189583f82b5",
    "kern-07d6f3dc90e8088a",
    "kern-24b20be9950a17c3",
    "kern-8b3393598b752ba3",
    "kern-8f24f276c73b49dc",
    "kern-a67aec862e98c9aa",
    "kern-a731f6c1e00252cc",
    "kernel-494c470bd51b56b6",
    "kernel-9dafaaa9efdc819c",
    "more_nested_control_flow-7e973543c6f1f1e6",
    "nested_cont_break_if-8aa5dc68e973c244",
    "nested_tuple_alias-85eeab0ab3da95ee",
    "plus_n-67aa9c2004988e19",
    "plus_n_skip_2-3965896ecbfdeea7",
    "plus_n_until_2-64f225ff0f343f0d",
    "tiled_view_strided_while_loop-73c370b09bc11b50",
    "tiled_view_while_loop-30e570d94031c06f",
    "while_loop_alias-4133ad8ca6891189",
    "while_loop_kernel-0022e2bfe8364c08",
    "while_loop_load-3527efb8fdb0aac5",
    "while_loop_load_store-16bc52a25029698b",
)


def show(name: str, value: str) -> str:
    return f'print_tko "{name}: %d", {value} : tile<i8> -> token\n'


def structured(body: str, parameters: str = BYTES) -> ModuleOp:
    """Run the pass on a kernel; check the form and the behavior of the result."""
    before = kernel(body, parameters)
    after = run(before.clone(), PASS)
    assert is_structured(after)
    if parameters == BYTES:
        for call in ((a, b, c, d) for a in (0, 3) for b in (1, 7) for c in (0, 1) for d in (0, 1)):
            expected = trace(next(before.entries()), call)
            assert trace(next(after.entries()), call) == expected, call
    return after


SPIN = """
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %t = loop : token {
    %old, %seen = atomic_cas_tko acquire device %p, %zero, %one
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %free = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
    if %free {
      break %seen : token
    }
  }
"""


def test_a_loop_that_only_tests_and_breaks_stays_as_it_is() -> None:
    module = kernel(SPIN, "%p: tile<ptr<i32>>")
    text = str(module)
    assert is_structured(module)
    assert str(run(module, PASS)) == text


def test_an_inverse_test_is_negated() -> None:
    body = """
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {
        %go = cmpi less_than %x, %b, signed : tile<i8> -> tile<i1>
        if %go { } else { break %x : tile<i8> }
        %y = addi %x, %b : tile<i8>
        continue %y : tile<i8>
      }
    """
    expected = """
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {
        %go = cmpi less_than %x, %b, signed : tile<i8> -> tile<i1>
        %true = constant <i1: true> : tile<i1>
        %stop = xori %go, %true : tile<i1>
        if %stop { break %x : tile<i8> }
        %y = addi %x, %b : tile<i8>
        continue %y : tile<i8>
      }
    """
    assert same(body, expected, BYTES, PASS)


def test_the_other_branch_of_a_test_follows_it() -> None:
    body = f"""
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {{
        %stop = cmpi greater_than %x, %b, signed : tile<i8> -> tile<i1>
        %v = if %stop -> (tile<i8>) {{ break %x : tile<i8> }} else {{
          %t = {show("on", "%x")}
          yield %b : tile<i8>
        }}
        %y = addi %x, %v : tile<i8>
        continue %y : tile<i8>
      }}
    """
    expected = f"""
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {{
        %stop = cmpi greater_than %x, %b, signed : tile<i8> -> tile<i1>
        if %stop {{ break %x : tile<i8> }}
        %t = {show("on", "%x")}
        %y = addi %x, %b : tile<i8>
        continue %y : tile<i8>
      }}
    """
    assert lines(structured(body)) == lines(kernel(expected, BYTES))


def test_effects_before_a_break_happen_only_then() -> None:
    module = structured(f"""
      %one = constant <i8: 1> : tile<i8>
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {{
        %stop = cmpi greater_than_or_equal %x, %b, signed : tile<i8> -> tile<i1>
        if %stop {{
          %t = {show("last", "%x")}
          %z = addi %x, %x : tile<i8>
          break %z : tile<i8>
        }}
        %y = addi %x, %one : tile<i8>
        continue %y : tile<i8>
      }}
      %t = {show("result", "%r")}
    """)
    # The condition itself is the flag.
    assert sum("constant <i1" in line for line in lines(module)) == 0


def test_a_return_out_of_nested_loops_skips_all_that_follows() -> None:
    module = structured(f"""
      %one = constant <i8: 1> : tile<i8>
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {{
        %s = loop iter_values(%y = %x) : tile<i8> -> tile<i8> {{
          %gone = cmpi equal %y, %b, signed : tile<i8> -> tile<i1>
          if %gone {{ return }}
          %t = {show("inner", "%y")}
          if %c {{ break %y : tile<i8> }}
          %z = addi %y, %one : tile<i8>
          continue %z : tile<i8>
        }}
        %t = {show("outer", "%s")}
        if %d {{ break %s : tile<i8> }}
        %n = addi %s, %one : tile<i8>
        continue %n : tile<i8>
      }}
      %t = {show("after", "%r")}
    """)
    assert [line for line in lines(module) if line == "return"] == []


def test_nothing_is_left_after_a_loop_that_only_returns() -> None:
    module = structured(f"""
      %one = constant <i8: 1> : tile<i8>
      %r = loop iter_values(%x = %a) : tile<i8> -> tile<i8> {{
        %gone = cmpi equal %x, %b, signed : tile<i8> -> tile<i1>
        if %gone {{ return }}
        %y = addi %x, %one : tile<i8>
        continue %y : tile<i8>
      }}
      %t = {show("never", "%r")}
    """)
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    assert loop.results == ()
    assert not any("never" in line for line in lines(module))


def test_a_branch_that_may_exit_in_part_leaves_a_flag() -> None:
    module = structured(f"""
      %v = if %c -> (tile<i8>) {{
        if %d {{ return }}
        %t = {show("on", "%a")}
        yield %a : tile<i8>
      }} else {{
        yield %b : tile<i8>
      }}
      %t = {show("after", "%v")}
    """)
    assert sum("constant <i1: true>" in line for line in lines(module)) == 1


def test_pointers_tokens_and_small_integers_can_leave_a_loop() -> None:
    structured(
        """
        %t0 = make_token : token
        %long = constant <i64: 0> : tile<4xi64>
        %short = constant <i8: 1> : tile<2xi8>
        %p:3 = loop : tile<4xptr<f32>>, token, tile<2xi4> {
          if %c {
            if %d { return }
          } else {
            %q = int_to_ptr %long : tile<4xi64> -> tile<4xptr<f32>>
            %i = trunci %short : tile<2xi8> -> tile<2xi4>
            break %q, %t0, %i : tile<4xptr<f32>>, token, tile<2xi4>
          }
        }
        """,
        "%c: tile<i1>, %d: tile<i1>",
    )


VIEW = "tensor_view<64xf32, strides=[1]>"


def test_views_are_created_again_after_the_test() -> None:
    module = structured(
        f"""
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {{
          %tv = make_tensor_view %p, shape = [64], strides = [1] : {VIEW}
          %v = make_partition_view %tv : partition_view<tile=(8), {VIEW}>
          %n = get_index_space_shape %v : partition_view<tile=(8), {VIEW}> -> tile<i32>
          %stop = cmpi equal %i, %n, signed : tile<i32> -> tile<i1>
          if %stop {{ break %i : tile<i32> }}
          %x, %t = load_view_tko weak %v[%i]
            : partition_view<tile=(8), {VIEW}>, tile<i32> -> tile<8xf32>, token
          %next = addi %i, %one : tile<i32>
          continue %next : tile<i32>
        }}
        """,
        "%p: tile<ptr<f32>>",
    )
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    parts = while_of(loop)
    assert parts is not None
    assert parts.captured() == [loop.carried[0]]
    assert sum(is_view(result) for op in parts.after() for result in op.results) == 2


NEAR_MISSES = {
    "a second break after the test": """
      loop {
        if %c { break }
        if %d { break }
      }""",
    "something in front of the break": f"""
      loop {{
        if %c {{
          %t = {show("x", "%a")}
          break
        }}
      }}""",
    "a test with an else branch": "loop { if %c { break } else { } }",
    "a break at the end": "loop { break }",
    "no way out": "loop { }",
    "a return": "if %c { return }",
    "a continue in a branch": """
      %one = constant <i8: 1> : tile<i8>
      for %i in (%a to %b, step %one) : tile<i8> { if %c { continue } }""",
}


@pytest.mark.parametrize("body", NEAR_MISSES.values(), ids=list(NEAR_MISSES))
def test_loops_that_are_not_of_the_form(body: str) -> None:
    module = kernel(body, BYTES)
    assert not is_structured(module)
    assert is_structured(run(module, PASS))


def test_every_operation_has_a_location() -> None:
    for seed in range(60):
        module = run(kernel(random_kernel(seed), ARGUMENTS), PASS)
        entry = next(module.entries())
        assert all(op.location is not UNKNOWN for op in entry.walk())


def test_a_long_row_of_exits_is_unsupported() -> None:
    exits = "if %c { return }\n" * 200
    with pytest.raises(Unsupported, match="early exits"):
        run(kernel(exits, BYTES), PASS)


@pytest.mark.parametrize("first", keep_first(range(1000, 1150, 25)))
def test_random_programs_do_the_same(first: int) -> None:
    changed = 0
    for seed in range(first, first + 25):
        before = kernel(random_kernel(seed), ARGUMENTS)
        after = run(before.clone(), PASS)
        changed += not is_structured(before)
        assert is_structured(after)
        text = str(after)
        assert str(run(after, PASS)) == text
        for call in random_arguments(seed):
            expected, actual = (trace(next(m.entries()), call) for m in (before, after))
            if expected is None:
                continue
            assert actual is not None
            assert [event[:2] for event in actual] == [event[:2] for event in expected]
            assert not any(a[2] - b[2] for a, b in zip(expected, actual, strict=True))
    assert changed > 5


def exiting_runs() -> Iterator[tuple[str, Run, str]]:
    """The runs of test programs whose kernels have early exits: the text, the run, its name."""
    for path in sorted(RUNS.rglob("*.mlir")):
        if "cuda_tile" not in (text := path.read_text()):
            continue
        module = tilewright.read(text, name=path.name)
        for number, each in enumerate(parse_runs(text)):
            entries = [e for e in module.entries() if each.entry in (None, e.sym_name)]
            if each.failure is None and not is_structured(entries[0]):
                yield text, each, f"{path.stem}-{number}"


def test_test_programs_do_the_same() -> None:
    """One test: finding these programs takes as long as running them."""
    names: list[str] = []
    for text, each, name in exiting_runs():
        module = tilewright.read(text)
        assert isinstance(module, ModuleOp)
        run(module, PASS)
        for check in (False, True):
            before = each.values()
            after = copy.deepcopy(before)
            printed: list[str] = []
            given = list(after.values())
            tilewright.execute(
                module, each.entry, each.grid, given, check=check, write=printed.append
            )
            assert list(problems(each, before, after)) == [], name
            assert sorted("".join(printed).splitlines()) == sorted(each.prints), name
        names.append(name)
    assert len(names) > 3


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


def contents(given: list[Any]) -> Iterator[Any]:
    """All bytes of all arrays, those in tables too."""
    for argument in given:
        if isinstance(argument, Table):
            yield from contents(argument.arrays())
        elif isinstance(argument, np.ndarray):
            yield np.ascontiguousarray(argument).view(np.uint8)


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(EXITING, 7))
@pytest.mark.sampled(1)
def test_modules_of_the_corpus_do_the_same(name: str) -> None:
    before = read_bytecode(corpus()[name].data, name)
    assert not is_structured(before)
    after = run(before.clone(), PASS)
    assert is_structured(after)
    ran = 0
    for entry in before.entries():
        for variant in VARIANTS:
            given = arguments(entry, variant)
            twins = copy.deepcopy(given)
            try:
                launch(before, entry.sym_name, variant.grid, given, limits=RunLimits(MAX_STEPS))
            except ExecutionError:
                continue
            launch(after, entry.sym_name, variant.grid, twins, limits=RunLimits(MAX_STEPS))
            arrays = zip(contents(given), contents(twins), strict=True)
            assert all(np.array_equal(a, b) for a, b in arrays)
            ran += 1
    assert ran
