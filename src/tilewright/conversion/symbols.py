"""Symbols that patterns add to the enclosing module: functions, globals, strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.attributes import Linkage
from tilewright.dialects.llvm.calls import CallOp
from tilewright.dialects.llvm.constants import AddressOfOp
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.llvm.globals import GlobalOp
from tilewright.dialects.llvm.types import VOID, ArrayType, LLVMFunctionType, PointerType
from tilewright.ir.attributes import StringAttr, Type, TypeAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.symbol_table import nearest_symbol_table, symbol_name
from tilewright.ir.traits import SYMBOL_TABLE
from tilewright.ir.types import I8

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

SHARED: Final = 3


class Symbols:
    """The symbol tables around the insertion point, of the source and of the target program."""

    __slots__ = ("_build", "_new", "_old")

    def __init__(self, op: Operation, build: ConversionBuilder) -> None:
        self._build = build
        self._old = self._blocks(op)
        self._new = self._around(build.point.block)

    @staticmethod
    def _blocks(op: Operation) -> Block | None:
        """Return the body of the source module around `op`, or `None`."""
        table = nearest_symbol_table(op)
        return None if table is None else table.regions[0].block

    @staticmethod
    def _around(block: Block) -> Block:
        """Return the body of the target module around a block."""
        while (parent := block.parent_op) is not None and SYMBOL_TABLE not in parent.traits:
            if parent.parent is None:
                break
            block = parent.parent
        return block

    def find(self, name: str) -> Operation | None:
        """Return the symbol of this name in the target module, or `None`."""
        return next((op for op in self._new if symbol_name(op) == name), None)

    def _is_taken(self, name: str) -> bool:
        old = self._old or ()
        return self.find(name) is not None or any(symbol_name(op) == name for op in old)

    def free_name(self, prefix: str) -> str:
        """Return a name that neither program uses."""
        name, number = prefix, 0
        while self._is_taken(name):
            name = f"{prefix}_{number}"
            number += 1
        return name

    @property
    def start(self) -> InsertPoint:
        """The insertion point of new symbols, at the start of the module."""
        return InsertPoint.at_start(self._new)

    def _declare(self, name: str, inputs: tuple[Type, ...], result: Type) -> None:
        """Declare a function, unless the program declares or defines it."""
        if self._is_taken(name):
            return
        type = LLVMFunctionType(inputs, result)
        with self._build.at(self.start):
            self._build.create(FuncOp, sym_name=name, type_attr=TypeAttr(type))

    def call(self, name: str, arguments: list[Value], result: Type = VOID) -> tuple[Value, ...]:
        """Declare and call a function by name."""
        self._declare(name, tuple([value.type for value in arguments]), result)
        types = [] if result is VOID else [result]
        return self._build.create(CallOp, callee=name, args=arguments, types=types).results

    def shared(self, prefix: str, type: Type, alignment: int) -> Value:
        """Create a global in shared memory and return its address."""
        name = self.free_name(prefix)
        with self._build.at(self.start):
            self._build.create(
                GlobalOp,
                sym_name=name,
                type=type,
                linkage=Linkage.INTERNAL,
                address_space=SHARED,
                alignment=alignment,
            )
        return self.address(name, SHARED)

    def text(self, prefix: str, text: str) -> Value:
        """Return the address of a zero-terminated string constant, shared by equal strings."""
        value = StringAttr(text + "\0")
        name = self._find_text(value)
        if name is None:
            name = self.free_name(prefix)
            size = len(value.value.encode("utf-8", "surrogateescape"))
            with self._build.at(self.start):
                self._build.create(
                    GlobalOp,
                    sym_name=name,
                    type=ArrayType(size, I8),
                    value=value,
                    constant=True,
                    linkage=Linkage.INTERNAL,
                )
        return self.address(name, 0)

    def _find_text(self, value: StringAttr) -> str | None:
        globals = (op for op in self._new if isinstance(op, GlobalOp))
        return next((op.sym_name for op in globals if op.value is value and op.constant), None)

    def address(self, name: str, space: int) -> Value:
        """Return the address of a symbol."""
        return self._build.create(AddressOfOp, symbol=name, types=[PointerType(space)]).res
