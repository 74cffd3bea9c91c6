"""Cases of `assume`, printing, globals and kernel parameters, against C's formats."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from op_cases.core import exists
from op_cases.kernel import Case, Kernel, deferred, stored, tile
from op_cases.memory import pointers_to
from op_cases.numbers import from_integers, worth
from op_cases.values import INTEGERS, NUMBERS, NUMBERS4, POINTERS, Effort, some_tile
from tilewright.dialects.cuda_tile.types import PtrType
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, I1, I4, I64, TF32, FloatType, IntegerType
from tilewright.reference.tile import Array, to_patterns

COUNTED = (I4, *INTEGERS)


PAIRS = np.arange(8).repeat(2).reshape(4, 4)
"""Numbers of which adjacent pairs in a row are equal."""
ALL = np.arange(16).reshape(4, 4)

Assumption = tuple[str, Any, Any]
"""A predicate, numbers that satisfy it, and numbers that violate it."""


def _assumptions(element: Type) -> Iterator[Assumption]:
    if element is I1:
        yield "div_by<2>", 0 * ALL, ALL % 2
        yield "same_elements<[1, 2]>", PAIRS % 2, ALL % 2
        yield "bounded<0, ?>", 0 * ALL, ALL % 2  # signed, one is minus one
        return
    step = 64 if isinstance(element, PtrType) else 1
    yield f"div_by<{2 * step}>", 2 * PAIRS * step, 2 * PAIRS * step + 1
    yield "same_elements<[1, 2]>", PAIRS * step, ALL * step
    if isinstance(element, IntegerType):
        yield "bounded<-3, 5>", ALL % 9 - 3, ALL % 9 - 4
        yield "bounded<?, 4>", ALL % 9 - 4, ALL % 10 - 4
    size = _size(element.pointee) if isinstance(element, PtrType) else 1
    if element is not I4 and size:
        rising = np.arange(4)[:, np.newaxis] * 32 + np.arange(4) * size
        yield "div_by<32, every 4 along 1>", rising, rising + 1
        yield "div_by<32, every 4 along 1>", rising, rising + np.arange(4)


def _size(element: Type) -> int:
    """How many bytes an element has in memory; none are whole for f4E2M1FN."""
    assert isinstance(element, IntegerType | FloatType)
    if element is F4E2M1FN:
        return 0
    return 4 if element is TF32 else max(element.width // 8, 1)


def assumptions(effort: Effort) -> Iterator[Case]:
    """`assume`: returns the value; a violated assumption aborts the run."""
    for element in (*COUNTED, *POINTERS):
        for predicate, good, bad in _assumptions(element):
            for numbers, holds in ((good, True), (bad, False)):
                yield _assumed(predicate, _held(numbers, element), element, holds)


def _held(numbers: Any, element: Type) -> Array:
    """Numbers as elements."""
    if isinstance(element, PtrType):
        return numbers.astype(np.uint64)
    assert isinstance(element, IntegerType)
    return from_integers(numbers.reshape(-1).tolist(), element).reshape(numbers.shape)


def _assumed(predicate: str, array: Array, element: Type, holds: bool) -> Case:
    kernel = Kernel("assume")
    value = kernel.load(array, element)
    kernel.store(
        kernel.emit(f"assume {predicate}, {value} : {tile(array.shape, element)}"), array, element
    )
    return kernel.case(fails=None if holds else "ASSUMPTION")


def aligned_tensors(effort: Effort) -> Iterator[Case]:
    """`assume` of a tensor: its address."""
    for element in NUMBERS:
        kernel = Kernel("assume")
        memory = some_tile(element, (16,), effort.rng("tensor", element))
        base = kernel.pointer(stored(memory, element), element)
        tensor = f"tensor_view<16x{element}, strides=[1]>"
        whole = kernel.emit(f"make_tensor_view {base}, shape = [16], strides = [1] : {tensor}")
        whole = kernel.emit(f"assume div_by<16>, {whole} : {tensor}")
        view_type = f"partition_view<tile=(16), {tensor}>"
        view = kernel.emit(f"make_partition_view {whole} : {view_type}")
        result = f"{tile((16,), element)}, token"
        kernel.add(
            f"%found, %t = load_view_tko weak {view}[{kernel.zero()}] : {view_type}, tile<i32> "
            f"-> {result}"
        )
        kernel.store("%found", memory, element)
        yield kernel.case()


LIBC = ctypes.CDLL(None)


def printf(format: str, value: int | float) -> str:
    """What C prints."""
    buffer = ctypes.create_string_buffer(400)
    argument = ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)
    LIBC.snprintf(buffer, len(buffer), format.encode(), argument)
    return buffer.value.decode()


def _nested(numbers: Any, format: str) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(_nested(part, format) for part in numbers)}]"
    return printf(format, numbers)


def _printed(array: Array, element: Type, unsigned: bool) -> Any:
    """The elements as Python's numbers."""
    if isinstance(element, FloatType):
        numbers = worth(to_patterns(array, element).reshape(-1), element)
        return numbers.reshape(array.shape).tolist()
    if isinstance(element, PtrType):
        return array.tolist()
    patterns = np.asarray(to_patterns(array, element).astype(object))
    assert isinstance(element, IntegerType)
    half = 1 << (element.width - 1)
    if unsigned or element is I1:
        return patterns.tolist()
    return np.asarray(np.where(patterns >= half, patterns - 2 * half, patterns)).tolist()


INTEGER_FORMATS = tuple("%lld %8lld %-6lld %+lld %05lld %.3lli %llu %llx %#llX %llo %#llo".split())
FLOAT_FORMATS = tuple("%f %.3f %10.2e %g %G %+.1E %-12.4f %a %24A".split())


def prints(effort: Effort) -> Iterator[Case]:
    """`print_tko`: every conversion, of scalars and of tiles, against `snprintf`."""
    for element in (*NUMBERS4, *POINTERS):
        rng = effort.rng("print", element)
        formats = FLOAT_FORMATS if isinstance(element, FloatType) else INTEGER_FORMATS
        for format in ("0x%llx",) if isinstance(element, PtrType) else formats:
            for shape in ((), (2,), (2, 4)):
                if not exists(element, shape):
                    continue
                array = some_tile(element, shape, rng)
                if isinstance(element, FloatType):
                    array = _finite(array, element)
                yield _print(array, element, format)
    yield _words()


def _finite(array: Array, element: FloatType) -> Array:
    """NaNs print differently everywhere: zeros instead."""
    numbers = worth(to_patterns(array, element).reshape(-1), element).reshape(array.shape)
    return np.where(np.isnan(numbers), np.zeros((), array.dtype), array)


def _print(array: Array, element: Type, format: str) -> Case:
    kernel = Kernel("print_tko")
    value = kernel.load(array, element)
    if format == "0x%llx":
        written, unsigned = "%p", True
    else:
        written, unsigned = format, format[-1] in "uxXo"
    text = _nested(_printed(array, element, unsigned), format)
    kernel.emit(
        f'print_tko "a {written} 100%%\\0A", {value} : {tile(array.shape, element)} -> token'
    )
    return kernel.case(printed=f"a {text} 100%\n")


def _words() -> Case:
    kernel = Kernel("print_tko")
    first = kernel.emit('print_tko "one, " -> token')
    kernel.emit(f'print_tko "two\\0A" token={first} -> token')
    return kernel.case(printed="one, two\n")


def globals_(effort: Effort) -> Iterator[Case]:
    """`global` and `get_global`: initial values, alignment and mutability."""
    for element in NUMBERS:
        for words in ("", "private ", "constant ", "private constant "):
            for alignment in (0, 64):
                for writes in (False, True):
                    yield _global(effort, element, words, alignment, writes)


@deferred
def _global(effort: Effort, element: Type, words: str, alignment: int, writes: bool) -> Case:
    rng = effort.rng("global", element, words, alignment)
    values = some_tile(element, (8,), rng)
    kernel = Kernel("global")
    literals = ", ".join(_literals(values, element))
    alignment_text = f" alignment = {alignment}" if alignment else ""
    kernel.head.append(
        f"global {words}@table{alignment_text} <{element}: [{literals}]> : {tile((8,), element)}"
    )
    base = kernel.emit(f"get_global @table : tile<ptr<{element}>>")
    pointers = pointers_to(kernel, base, np.arange(8), element)
    types, result = tile((8,), PtrType(element)), tile((8,), element)
    order = ""
    if writes:
        values = some_tile(element, (8,), rng)
        new = kernel.load(values, element)
        token = kernel.emit(f"store_ptr_tko weak {pointers}, {new} : {types}, {result} -> token")
        order = f" token={token}"
    kernel.add(f"%found, %t = load_ptr_tko weak {pointers}{order} : {types} -> {result}, token")
    kernel.store("%found", values, element)
    fails = "READ_ONLY" if writes and "constant" in words else None
    return kernel.case(fails=fails, also=("get_global", "module"))


def _literals(values: Array, element: Type) -> list[str]:
    if element is I1:
        return ["true" if value else "false" for value in values]
    if isinstance(element, IntegerType):
        return [str(value) for value in values.tolist()]
    return [hex(pattern) for pattern in to_patterns(values, element).tolist()]


def parameters(effort: Effort) -> Iterator[Case]:
    """`entry`: numbers of every type as arguments."""
    for element in NUMBERS:
        if element is F4E2M1FN:
            continue
        kernel = Kernel("entry")
        value = some_tile(element, (), effort.rng("entry", element))
        if isinstance(element, IntegerType):
            argument: Any = int(value)
        else:
            value = _finite(value, element)
            argument = float(worth(to_patterns(value, element).reshape(-1), element)[0])
        name = kernel.parameter(f"tile<{element}>", argument)
        kernel.store(name, np.array(value), element)
        yield kernel.case(also=("module", "return"))


def pointer_parameters(effort: Effort) -> Iterator[Case]:
    """`entry`: arrays of every type as arguments, and null."""
    for element in NUMBERS:
        kernel = Kernel("entry")
        memory = some_tile(element, (4,), effort.rng("entry", element))
        here = kernel.pointer(stored(memory, element), element)
        nowhere = kernel.parameter(f"tile<ptr<{element}>>", None)
        types = f"tile<ptr<{element}>> -> tile<i64>"
        addresses = [kernel.emit(f"ptr_to_int {name} : {types}") for name in (here, nowhere)]
        null = kernel.constant(0, I64)
        for address, is_null in zip(addresses, (False, True), strict=True):
            same = kernel.emit(f"cmpi equal {address}, {null}, signed : tile<i64> -> tile<i1>")
            kernel.store(same, np.array(is_null), I1)
        yield kernel.case(also=("module", "return"))


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (assumptions, aligned_tensors, prints, globals_, parameters, pointer_parameters):
        yield from group(effort)
