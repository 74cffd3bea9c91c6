"""Cases of control flow, divergent between the blocks of a grid, against Python's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from op_cases.kernel import Case, Check, Kernel, in_memory, noise, stored, tile
from op_cases.values import EVERYTHING, INTEGERS, Effort, some_tile
from tilewright.ir.attributes import Type
from tilewright.ir.types import I1, I4, I8, I32, IntegerType
from tilewright.reference.tile import Array
from tilewright.testing.compare import EXACT

BLOCKS = 8
SHAPE = (4,)


def store_rows(kernel: Kernel, value: str, expected: Array, element: Type) -> None:
    """Let every block store its tile into a row of its own."""
    shape, kind = expected.shape[1:], in_memory(element)
    if element is I4:
        value = kernel.emit(f"exti {value} signed : {tile(shape, I4)} -> {tile(shape, I8)}")
    elif kind is not element:
        types = f"{tile(shape, element)} -> {tile(shape, kind)}"
        value = kernel.emit(f"ptr_to_int {value} : {types}")
    memory = stored(noise(expected.shape, kind), kind)
    base = kernel.pointer(memory, kind)
    kernel.checks.append(Check(len(kernel.arguments) - 1, element, expected, EXACT))
    row = kernel.emit(f"reshape {value} : {tile(shape, kind)} -> {tile((1, *shape), kind)}")
    count = int(np.prod(shape))
    tensor = f"tensor_view<{len(expected)}x{count}x{kind}, strides=[{count},1]>"
    type = f"partition_view<tile=(1x{count}), {tensor}>"
    lists = f"shape = [{len(expected)}, {count}], strides = [{count}, 1]"
    whole = kernel.emit(f"make_tensor_view {base}, {lists} : {tensor}")
    view = kernel.emit(f"make_partition_view {whole} : {type}")
    types = f"{tile((1, count), kind)}, {type}, tile<i32> -> token"
    kernel.emit(f"store_view_tko weak {row}, {view}[%bx, {kernel.zero()}] : {types}")


def start(op: str) -> Kernel:
    """A kernel whose blocks know their number, and whether it is odd."""
    kernel = Kernel(op)
    kernel.zero()
    kernel.add("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    kernel.add("%one = constant <i32: 1> : tile<i32>")
    kernel.add("%low = andi %bx, %one : tile<i32>")
    kernel.add("%odd = cmpi equal %low, %one, signed : tile<i32> -> tile<i1>")
    return kernel


def _swapped(a: Array, b: Array, counts: Sequence[int]) -> Array:
    """The first of two tiles after each number of exchanges."""
    return np.stack([b if count % 2 else a for count in counts])


def branches(effort: Effort) -> Iterator[Case]:
    """`if`: results of every type, chosen by each block for itself."""
    for element in EVERYTHING:
        rng = effort.rng("if", element)
        a, b = (some_tile(element, SHAPE, rng) for _ in range(2))
        kernel, type = start("if"), tile(SHAPE, element)
        x, y = kernel.load(a, element), kernel.load(b, element)
        kernel.add(
            f"%r = if %odd -> ({type}) {{\nyield {y} : {type}\n}} else {{\nyield {x} : {type}\n}}"
        )
        store_rows(kernel, "%r", _swapped(a, b, range(BLOCKS)), element)
        yield kernel.case(grid=(BLOCKS,), also=("yield",))
    yield _nested_branches()


def _nested_branches() -> Case:
    """Branches without results and without an else, which store or do not."""
    kernel = start("if")
    out = np.zeros(BLOCKS, np.int32)
    base = kernel.pointer(out, I32)
    kernel.add(f"%p = offset {base}, %bx : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
    kernel.add("%four = constant <i32: 4> : tile<i32>")
    kernel.add("%small = cmpi less_than %bx, %four, signed : tile<i32> -> tile<i1>")
    line = "store_ptr_tko weak %p, {} : tile<ptr<i32>>, tile<i32> -> token"
    kernel.add(
        f"if %odd {{\nif %small {{\n%t0 = {line.format('%one')}\n}} else {{\n"
        f"%t1 = {line.format('%four')}\n}}\n}}"
    )
    expected = [0 if block % 2 == 0 else 1 if block < 4 else 4 for block in range(BLOCKS)]
    kernel.expect(out, I32, np.array(expected, np.int32))
    return kernel.case(grid=(BLOCKS,), also=("yield",))


def carried(effort: Effort) -> Iterator[Case]:
    """`for` and `loop`: values of every type, exchanged as often as the block's number says."""
    for element in EVERYTHING:
        rng = effort.rng("for", element)
        a, b = (some_tile(element, SHAPE, rng) for _ in range(2))
        type, rows = tile(SHAPE, element), _swapped(a, b, range(BLOCKS))

        kernel = start("for")
        x, y = kernel.load(a, element), kernel.load(b, element)
        kernel.add(
            f"%r, %s = for %i in (%zero to %bx, step %one) : tile<i32> "
            f"iter_values(%u = {x}, %v = {y}) -> ({type}, {type}) {{\n"
            f"continue %v, %u : {type}, {type}\n}}"
        )
        store_rows(kernel, "%r", rows, element)
        yield kernel.case(grid=(BLOCKS,), also=("continue",))

        kernel = start("loop")
        x, y = kernel.load(a, element), kernel.load(b, element)
        kernel.add(
            f"%r = loop iter_values(%n = %zero, %u = {x}, %v = {y}) : tile<i32>, {type}, {type} "
            f"-> {type} {{\n%done = cmpi equal %n, %bx, signed : tile<i32> -> tile<i1>\n"
            f"if %done {{\nbreak %u : {type}\n}}\n%m = addi %n, %one : tile<i32>\n"
            f"continue %m, %v, %u : tile<i32>, {type}, {type}\n}}"
        )
        store_rows(kernel, "%r", rows, element)
        yield kernel.case(grid=(BLOCKS,), also=("break", "continue"))


def _bounds(element: IntegerType, unsigned: bool) -> list[tuple[int, int, int]]:
    """Lower bounds, upper bounds and steps."""
    if element is I1:
        return [(0, 1, 1), (1, 1, 1), (0, 0, 1)]
    top = 1 << (element.width - (not unsigned))
    bounds = [(0, 5, 1), (3, 3, 1), (7, 2, 1), (1, 20, 7), (top - 9, top - 1, 4)]
    return bounds if unsigned else [*bounds, (-8, 4, 3), (-top, 3 - top, 1)]


def counting(effort: Effort) -> Iterator[Case]:
    """`for`: indices of every type, read either way; each run notes its last index and count."""
    for element in INTEGERS:
        for unsigned in (False, True):
            for low, high, step in _bounds(element, unsigned):
                yield _counted(element, unsigned, low, high, step)


def _counted(element: IntegerType, unsigned: bool, low: int, high: int, step: int) -> Case:
    kernel = Kernel("for")
    kernel.add("%none = constant <i32: 0> : tile<i32>")
    kernel.add("%one = constant <i32: 1> : tile<i32>")
    dtype = np.bool_ if element is I1 else np.dtype(f"i{element.width // 8}")
    words = [
        kernel.load(np.array(n % (1 << element.width)).astype(dtype), element)
        for n in (low, high, step)
    ]
    sign = "unsigned " if unsigned else ""
    kernel.add(
        f"%count, %last = for {sign}%i in ({words[0]} to {words[1]}, step {words[2]}) : "
        f"tile<{element}> iter_values(%c = %none, %l = {words[1]}) -> (tile<i32>, tile<{element}>) "
        f"{{\n%d = addi %c, %one : tile<i32>\ncontinue %d, %i : tile<i32>, tile<{element}>\n}}"
    )
    if element is I1 and not unsigned:  # a step of one is minus one, read as signed
        return kernel.case(fails="UNDEFINED", also=("continue",))
    indices = list(range(low, high, step))
    last = (indices[-1] if indices else high) % (1 << element.width)
    kernel.store("%count", np.array(len(indices), np.int32), I32)
    kernel.store("%last", np.array(last).astype(dtype), element)
    return kernel.case(also=("continue",))


def exits(effort: Effort) -> Iterator[Case]:
    """Early exits: `return`, `continue` and `break` inside of `if`."""
    store = "store_ptr_tko weak %p, {} : tile<ptr<i32>>, tile<i32> -> token"
    bodies = {
        "return": (
            "if %odd {\nreturn\n}\n",
            "%one",
            [7 if block % 2 else 1 for block in range(BLOCKS)],
        ),
        "continue": (
            "%sum = for %i in (%zero to %bx, step %one) : tile<i32> iter_values(%s = %zero) "
            "-> (tile<i32>) {\n%bit = andi %i, %one : tile<i32>\n"
            "%skip = cmpi equal %bit, %one, signed : tile<i32> -> tile<i1>\n"
            "if %skip {\ncontinue %s : tile<i32>\n}\n%t = addi %s, %i : tile<i32>\n"
            "continue %t : tile<i32>\n}\n",
            "%sum",
            [sum(i for i in range(block) if i % 2 == 0) for block in range(BLOCKS)],
        ),
        "break": (
            "%sum = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {\n"
            "%square = muli %i, %i : tile<i32>\n"
            "%end = cmpi greater_than_or_equal %square, %bx, signed : tile<i32> -> tile<i1>\n"
            "if %end {\nbreak %i : tile<i32>\n} else {\n%next = addi %i, %one : tile<i32>\n"
            "continue %next : tile<i32>\n}\ncontinue %i : tile<i32>\n}\n",
            "%sum",
            [int(np.ceil(np.sqrt(block))) for block in range(BLOCKS)],
        ),
        "loop": (
            "loop {\nif %odd {\nreturn\n}\nbreak\n}\n",
            "%one",
            [7 if block % 2 else 1 for block in range(BLOCKS)],
        ),
    }
    for name, (body, result, expected) in bodies.items():
        kernel = start(name)
        out = np.full(BLOCKS, 7, np.int32)
        base = kernel.pointer(out, I32)
        kernel.add(f"%p = offset {base}, %bx : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
        kernel.add(f"{body}%done = {store.format(result)}")
        kernel.expect(out, I32, np.array(expected, np.int32))
        yield kernel.case(grid=(BLOCKS,), also=("return",))


def assertions(effort: Effort) -> Iterator[Case]:
    """`assert`: all elements must hold."""
    for shape in ((), (4,), (2, 8)):
        for holds in (True, False):
            kernel = Kernel("assert")
            condition = np.ones(shape, np.bool_)
            if not holds:
                condition[(-1,) * len(shape)] = False
            value = kernel.load(condition, I1)
            kernel.add(f'assert {value}, "all of them" : {tile(shape, I1)}')
            yield kernel.case(fails=None if holds else "ASSERTION")


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (branches, carried, counting, exits, assertions):
        yield from group(effort)
