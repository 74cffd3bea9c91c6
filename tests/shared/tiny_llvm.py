"""A minimal LLVM dialect and its LLVM IR text, to lower a program to PTX."""

from __future__ import annotations

from typing import Self

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, STRING_ATTR
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import ANY_TYPE, exactly
from tilewright.ir.operation import Block, Operation
from tilewright.ir.traits import ISOLATED, TERMINATOR, Effects, SameType
from tilewright.ir.types import F32, I1, I32
from tilewright.ir.values import Value


class PointerType(Type):
    """A pointer to global memory."""

    __slots__ = ()
    mnemonic = "tiny.ptr"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "ptr"


PTR = PointerType()
POINTER = exactly(PTR, "a pointer")


class FuncOp(Operation):
    name = "tiny.func"
    traits = (ISOLATED,)
    sym_name = d.attribute(STRING_ATTR)
    body = d.region(max_blocks=None)


class ConstantOp(Operation):
    name = "tiny.constant"
    effects = Effects.PURE
    value = d.attribute(I64_ATTR)
    result = d.result(ANY_TYPE)


class RegisterOp(Operation):
    """One of the special registers: `tid.x`, `ctaid.x`."""

    name = "tiny.register"
    effects = Effects.PURE
    register = d.attribute(STRING_ATTR)
    result = d.result(exactly(I32, "i32"))


class BinaryOp(Operation):
    """An instruction with two operands of one type."""

    name = "tiny.binary"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"),)
    opcode = d.attribute(STRING_ATTR)
    lhs = d.operand(ANY_TYPE)
    rhs = d.operand(ANY_TYPE)
    result = d.result(ANY_TYPE)


class CompareOp(Operation):
    name = "tiny.icmp"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"),)
    predicate = d.attribute(STRING_ATTR)
    lhs = d.operand(ANY_TYPE)
    rhs = d.operand(ANY_TYPE)
    result = d.result(exactly(I1, "i1"))


class OffsetOp(Operation):
    """A pointer plus a number of floats."""

    name = "tiny.offset"
    effects = Effects.PURE
    base = d.operand(POINTER)
    index = d.operand(exactly(I32, "i32"))
    result = d.result(POINTER)


class LoadOp(Operation):
    name = "tiny.load"
    effects = Effects.READ
    address = d.operand(POINTER)
    result = d.result(ANY_TYPE)


class StoreOp(Operation):
    name = "tiny.store"
    effects = Effects.WRITE
    value = d.operand(ANY_TYPE)
    address = d.operand(POINTER)


class BranchOp(Operation):
    """Branch to the only successor, with arguments."""

    name = "tiny.br"
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class CondBranchOp(Operation):
    """Branch to the first successor if the condition holds, else to the second."""

    name = "tiny.cond_br"
    traits = (TERMINATOR,)
    condition = d.operand(exactly(I1, "i1"))


class ReturnOp(Operation):
    name = "tiny.return"
    traits = (TERMINATOR,)


def llvm_ir(module: Operation) -> str:
    """The text of all functions in a module."""
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    registers = {op.register for op in module.walk() if isinstance(op, RegisterOp)}
    lines = ['target triple = "nvptx64-nvidia-cuda"']
    lines += [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}()" for name in sorted(registers)]
    for function in functions:
        lines += _Emitter(function).lines
    return "\n".join(lines) + "\n"


def _type(type: Type) -> str:
    names: dict[Type, str] = {PTR: "ptr addrspace(1)", F32: "float"}
    return names.get(type, str(type))


class _Emitter:
    """Writes one function; values and blocks are numbered in order."""

    def __init__(self, function: FuncOp) -> None:
        blocks = function.body.blocks
        values: list[Value] = [arg for block in blocks for arg in block.args]
        values += [result for op in function.walk() for result in op.results]
        self.names = {value: f"%v{n}" for n, value in enumerate(values)}
        self.labels = {block: f"b{n}" for n, block in enumerate(blocks)}
        arguments = ", ".join(f"{_type(a.type)} {self.names[a]}" for a in blocks[0].args)
        self.lines = [f"define ptx_kernel void @{function.sym_name}({arguments}) {{"]
        for block in blocks:
            self.lines.append(f"{self.labels[block]}:")
            if block is not blocks[0]:
                self.phis(block)
            for op in block:
                self.emit(op)
        self.lines.append("}")

    def phis(self, block: Block) -> None:
        for argument in block.args:
            sources = [
                f"[ {self.names[before.last.operands[argument.index]]}, %{self.labels[before]} ]"
                for before in block.predecessors()
                if before.last is not None
            ]
            phi = f"phi {_type(argument.type)} {', '.join(sources)}"
            self.lines.append(f"  {self.names[argument]} = {phi}")

    def emit(self, op: Operation) -> None:
        text = self.instruction(op)
        target = f"{self.names[op.results[0]]} = " if op.results else ""
        self.lines.append(f"  {target}{text}")

    def instruction(self, op: Operation) -> str:
        of = self.names
        match op:
            case ConstantOp():
                return f"bitcast i32 {op.value} to {_type(op.result.type)}"
            case RegisterOp():
                return f"call i32 @llvm.nvvm.read.ptx.sreg.{op.register}()"
            case BinaryOp():
                return f"{op.opcode} {_type(op.lhs.type)} {of[op.lhs]}, {of[op.rhs]}"
            case CompareOp():
                operands = f"{of[op.lhs]}, {of[op.rhs]}"
                return f"icmp {op.predicate} {_type(op.lhs.type)} {operands}"
            case LoadOp() | StoreOp() | OffsetOp():
                return self.access(op)
            case _:
                return self.jump(op)

    def access(self, op: LoadOp | StoreOp | OffsetOp) -> str:
        of = self.names
        match op:
            case OffsetOp():
                base, index = of[op.base], of[op.index]
                return f"getelementptr float, ptr addrspace(1) {base}, i32 {index}"
            case LoadOp():
                return f"load {_type(op.result.type)}, ptr addrspace(1) {of[op.address]}"
            case StoreOp():
                value = f"{_type(op.value.type)} {of[op.value]}"
                return f"store {value}, ptr addrspace(1) {of[op.address]}"

    def jump(self, op: Operation) -> str:
        targets = ", ".join(f"label %{self.labels[block]}" for block in op.successors)
        if isinstance(op, ReturnOp):
            return "ret void"
        if isinstance(op, BranchOp):
            return f"br {targets}"
        assert isinstance(op, CondBranchOp)
        return f"br i1 {self.names[op.condition]}, {targets}"
