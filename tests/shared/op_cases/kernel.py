"""Kernels around single operations: tiles in, tiles out, and what is expected of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec

import numpy as np

import tilewright
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.types import PtrType
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN, I1, I4, I8, I64
from tilewright.reference.errors import ExecutionError
from tilewright.reference.tile import DTYPES, Array, from_memory, from_patterns, to_patterns
from tilewright.testing.compare import EXACT, Difference, Tolerance, difference


class Check:
    """What an argument must hold afterwards."""

    def __init__(self, argument: int, element: Type, expected: Array, tolerance: Tolerance) -> None:
        self.argument = argument
        self.element = element
        self.expected = expected
        self.tolerance = tolerance

    def problem(self, arguments: Sequence[Any]) -> Difference | None:
        """Where the argument is something else."""
        actual = loaded(arguments[self.argument], self.element, self.expected.shape)
        return difference(actual, self.expected, self.element, self.tolerance)


class Case:
    """A kernel that uses an operation, with its arguments and what must come of it."""

    def __init__(
        self,
        op: str,
        text: str,
        arguments: Sequence[Any],
        checks: Sequence[Check],
        grid: tuple[int, ...] = (1,),
        printed: str = "",
        fails: str | None = None,
        also: Sequence[str] = (),
    ) -> None:
        self.op = op
        self.also = also
        """Further operations that the kernel tries."""
        self.text = text
        self.arguments = arguments
        self.checks = checks
        self.grid = grid
        self.printed = printed
        self.fails = fails
        """The fault that the kernel ends in, where that is what it must do."""

    @property
    def values(self) -> int:
        """How many elements are compared."""
        return sum(check.expected.size for check in self.checks) or 1

    def read(self) -> ModuleOp:
        """The kernel, verified."""
        module = tilewright.read(self.text, name=f"{self.op}.mlir")
        assert isinstance(module, ModuleOp)
        return module

    def problem(self, module: Operation, *, check: bool = False) -> str | None:
        """What is wrong after a run, if anything is."""
        printed: list[str] = []
        try:
            tilewright.execute(
                module, None, self.grid, self.arguments, check=check, write=printed.append
            )
        except ExecutionError as error:
            return None if error.fault.name == self.fails else error.render()
        if self.fails is not None:
            return f"expected {self.fails}, but the kernel ran to its end"
        if "".join(printed) != self.printed:
            return f"expected to print {self.printed!r}, got {''.join(printed)!r}"
        differences = (wrong.problem(self.arguments) for wrong in self.checks)
        return next((f"{wrong}\n{self.text}" for wrong in differences if wrong), None)


class DeferredCase(Case):
    """A case that is made when something looks at it: samples skip most cases."""

    def __init__(self, make: Callable[[], Case]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        # What is missing: nothing exists before but `_make`, and what was assigned.
        self.__dict__ = {**self._make().__dict__, **self.__dict__}
        return object.__getattribute__(self, name)


P = ParamSpec("P")


def deferred(make: Callable[P, Case]) -> Callable[P, Case]:
    """Let a function make its case when something looks at it."""

    @wraps(make)
    def later(*args: P.args, **kwargs: P.kwargs) -> Case:
        return DeferredCase(partial(make, *args, **kwargs))

    return later


def stored(elements: Array, element: Type) -> Array:
    """A tile as it lies in memory: f4E2M1FN two to a byte, i4 in bytes of its own."""
    flat = np.ascontiguousarray(elements).reshape(-1)
    if element is F4E2M1FN:
        nibbles = flat.view(np.uint8) & np.uint8(15)
        nibbles = np.append(nibbles, np.zeros(len(nibbles) % 2, np.uint8))
        return nibbles[0::2] | nibbles[1::2] << np.uint8(4)
    if isinstance(element, PtrType):
        return flat.view(np.int64).copy()
    return flat.view(np.uint8).copy() if element is I1 else flat.copy()


def loaded(memory: Array, element: Type, shape: tuple[int, ...]) -> Array:
    """What `stored` came from."""
    if element is F4E2M1FN:
        nibbles = np.stack([memory & np.uint8(15), memory >> np.uint8(4)], axis=1).reshape(-1)
        count = int(np.prod(shape))
        return nibbles[:count].view(DTYPES[F4E2M1FN]).reshape(shape)
    if isinstance(element, PtrType):
        return memory.view(np.uint64).reshape(shape)
    return from_memory(memory, element).reshape(shape)


def in_memory(element: Type) -> Type:
    """The type as which elements are stored: what memory cannot hold, as integers."""
    if element is I4:
        return I8
    return I64 if isinstance(element, PtrType) else element


def spell(element: Type) -> str:
    """An element type inside a tile."""
    return element.spell() if isinstance(element, PtrType) else str(element)


def tile(shape: Sequence[int], element: Type) -> str:
    """The text of a tile type."""
    return f"tile<{''.join(f'{extent}x' for extent in shape)}{spell(element)}>"


def view_types(shape: Sequence[int], element: Type) -> tuple[str, str]:
    """The texts of a dense tensor, and of its view as a single tile."""
    strides = [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]
    extents = "".join(f"{extent}x" for extent in shape)
    tensor = f"tensor_view<{extents}{element}, strides=[{','.join(map(str, strides))}]>"
    return tensor, f"partition_view<tile=({'x'.join(map(str, shape))}), {tensor}>"


class Kernel:
    """A kernel while it is written, line by line."""

    def __init__(self, op: str) -> None:
        self.op = op
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.arguments: list[Any] = []
        self.checks: list[Check] = []
        self.head: list[str] = []
        """What stands in the module before the kernel."""
        self._count = 0
        self._zero: str | None = None

    def name(self) -> str:
        """A new name for a value."""
        self._count += 1
        return f"%v{self._count}"

    def emit(self, text: str) -> str:
        """Add an operation with one result; gives its name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def add(self, text: str) -> None:
        """Add an operation without a result, or with results that the text names."""
        self.lines.append(text)

    def parameter(self, type: str, argument: Any) -> str:
        """Add a parameter; gives its name."""
        name = f"%arg{len(self.parameters)}"
        self.parameters.append(f"{name}: {type}")
        self.arguments.append(argument)
        return name

    def pointer(self, memory: Array, element: Type) -> str:
        """Add a parameter that points to an array."""
        return self.parameter(f"tile<ptr<{element}>>", memory)

    def constant(self, value: object, element: Type) -> str:
        """Add a scalar."""
        return self.emit(f"constant <{element}: {value}> : tile<{element}>")

    def zero(self) -> str:
        """The scalar 0 of i32."""
        if self._zero is None:
            self._zero = "%zero"
            self.lines.insert(0, "%zero = constant <i32: 0> : tile<i32>")
        return self._zero

    def load(self, elements: Array, element: Type) -> str:
        """Bring a tile in, as a value of its type."""
        kind = in_memory(element)
        value = self._load(stored(elements, element), elements.shape, kind)
        if kind is element:
            return value
        cast = "trunci" if element is I4 else "int_to_ptr"
        shape = elements.shape
        return self.emit(f"{cast} {value} : {tile(shape, kind)} -> {tile(shape, element)}")

    def _load(self, memory: Array, shape: tuple[int, ...], kind: Type) -> str:
        base, value, token = self.pointer(memory, kind), self.name(), self.name()
        result = f"{tile(shape, kind)}, token"
        if not shape:
            line = f"load_ptr_tko weak {base} : {tile((), PtrType(kind))} -> {result}"
        else:
            view, type = self._view(base, shape, kind)
            indices = ", ".join([self.zero()] * len(shape))
            line = f"load_view_tko weak {view}[{indices}] : {type}, tile<i32> -> {result}"
        self.add(f"{value}, {token} = {line}")
        return value

    def _view(self, base: str, shape: tuple[int, ...], kind: Type) -> tuple[str, str]:
        tensor, type = view_types(shape, kind)
        strides = tensor.partition("strides=")[2].rstrip(">")
        extents = ", ".join(map(str, shape))
        whole = self.emit(
            f"make_tensor_view {base}, shape = [{extents}], strides = {strides} : {tensor}"
        )
        return self.emit(f"make_partition_view {whole} : {type}"), type

    def store(
        self, value: str, expected: Array, element: Type, tolerance: Tolerance = EXACT,
        *, shape: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        """Bring a tile out, and say what it must be; `expected` may be of a wider type."""
        shape = expected.shape if shape is None else shape
        kind = in_memory(element)
        if element is I4:
            value = self.emit(f"exti {value} signed : {tile(shape, I4)} -> {tile(shape, I8)}")
        elif kind is not element:
            types = f"{tile(shape, element)} -> {tile(shape, kind)}"
            value = self.emit(f"ptr_to_int {value} : {types}")
        memory = stored(noise(shape, kind), kind)
        self.checks.append(Check(len(self.arguments), element, expected, tolerance))
        self._store(value, memory, shape, kind)

    def _store(self, value: str, memory: Array, shape: tuple[int, ...], kind: Type) -> None:
        base, token, type = self.pointer(memory, kind), self.name(), tile(shape, kind)
        if not shape:
            pointer = tile((), PtrType(kind))
            self.add(f"{token} = store_ptr_tko weak {base}, {value} : {pointer}, {type} -> token")
            return
        view, view_type = self._view(base, shape, kind)
        indices = ", ".join([self.zero()] * len(shape))
        types = f"{type}, {view_type}, tile<i32> -> token"
        self.add(f"{token} = store_view_tko weak {value}, {view}[{indices}] : {types}")

    def expect(
        self, memory: Array, element: Type, expected: Array, tolerance: Tolerance = EXACT
    ) -> None:
        """Say what an array among the arguments must hold in the end."""
        index = next(i for i, argument in enumerate(self.arguments) if argument is memory)
        self.checks.append(Check(index, element, expected, tolerance))

    def case(self, **rest: Any) -> Case:
        """The kernel as it is now."""
        body = "\n".join(f"    {line}" for line in [*self.lines, "return"])
        head = "".join(f"  {line}\n" for line in self.head)
        text = f"  entry @kernel({', '.join(self.parameters)}) {{\n{body}\n  }}"
        module = f"cuda_tile.module @m {{\n{head}{text}\n}}\n"
        return Case(self.op, module, self.arguments, self.checks, **rest)


def noise(shape: tuple[int, ...], element: Type) -> Array:
    """Elements that a result must replace."""
    count = int(np.prod(shape))
    size = DTYPES[element].itemsize
    patterns = np.resize(np.array([0x5A, 0xC3, 0x17], np.uint8), count * size)
    if element is I1:
        return (patterns & 1 != 0).reshape(shape)
    return patterns.view(DTYPES[element]).reshape(shape)


def elementwise(
    op: str,
    write: Callable[..., str],
    operands: Sequence[tuple[Array, Type]],
    expected: Array,
    result: Type,
    tolerance: Tolerance = EXACT,
) -> Case:
    """A case of an operation on tiles of patterns; `write` makes its line out of value names."""
    kernel = Kernel(op)
    names = [kernel.load(from_patterns(patterns, type), type) for patterns, type in operands]
    kernel.store(kernel.emit(write(*names)), expected, result, tolerance)
    return kernel.case()


__all__ = ["Case", "Check", "Kernel", "elementwise", "from_patterns", "tile", "to_patterns"]
