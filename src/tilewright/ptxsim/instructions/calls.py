"""Function calls: parameter passing, recursion, indirect calls, device runtime functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tilewright.ptxsim.frame import Frame
from tilewright.ptxsim.host_functions import HOST_FUNCTIONS, HostFunction
from tilewright.ptxsim.isa import control
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import Space
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.program import Code, Transfer
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array, ScalarType
from tilewright.ptxsim.scheduler import Group, Return, Scheduler
from tilewright.ptxsim.syntax import (
    Address,
    Arguments,
    Name,
    Operand,
    RegisterDeclaration,
    Variable,
)
from tilewright.ptxsim.vectors import distinct

# Copies one value between the frames of caller and callee.
Pass = Callable[[Lanes, Frame], None]
# A GPU thread has a stack of 512 KiB at most, and by default a hundredth of that.
_MAX_CALL_DEPTH: Final = 1024
# Functions of the device runtime that synchronise a grid, or several.
_COOPERATIVE: Final = "cudaCG"


class _Form:
    """The operands of a call: results, callee, arguments; a prototype may follow."""

    def __init__(self, op: Operation) -> None:
        operands = [op.operand(at) for at in range(op.operand_count)]
        self.results = _leading_arguments(operands)
        if not operands:
            op.fail("expected a function")
        self.callee = operands.pop(0)
        self.arguments = _leading_arguments(operands)


def _leading_arguments(operands: list[Operand]) -> tuple[Operand, ...]:
    first = operands[0] if operands else None
    if not isinstance(first, Arguments):
        return ()
    operands.pop(0)
    return first.elements


@control("call")
def call(op: Operation) -> Transfer:
    """`call (results), function, (arguments), prototype`."""
    op.ignore("uni")
    form = _Form(op)
    name = form.callee.text if isinstance(form.callee, Name) else ""
    if op.register(name) is not None:
        return _indirect(op, form)
    code = op.linker.codes.get(name)
    if code is not None:
        return _direct(op, form, code)
    host = HOST_FUNCTIONS.get(name)
    if host is None and name.startswith(_COOPERATIVE):
        op.unsupported(f"call of '{name}', of cooperative launches")
    if host is None:
        op.unsupported(f"call of '{name}', which has no body")
    return _host(op, form, host)


def _direct(op: Operation, form: _Form, code: Code) -> Transfer:
    function = code.function
    for kind, given, wanted in (
        ("arguments", form.arguments, function.parameters),
        ("results", form.results, function.returns),
    ):
        if len(given) != len(wanted):
            op.fail(f"expected {len(wanted)} {kind} of '{function.name}', got {len(given)}")
    passes = [
        _argument(op, operand, code, parameter)
        for operand, parameter in zip(form.arguments, function.parameters, strict=True)
    ]
    returns = [
        _result(op, operand, code, variable)
        for operand, variable in zip(form.results, function.returns, strict=True)
    ]
    site = op.segment

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        lanes = group.lanes
        caller = lanes.frame
        if len(group.stack) == _MAX_CALL_DEPTH:
            text = f"expected at most {_MAX_CALL_DEPTH} nested calls"
            lanes.wave.violation(text, op.site, int(lanes.threads[0]))
        active = [entry.frame for entry in group.stack]
        recursion = sum(frame.layout is code.layout for frame in (*active, caller))
        callee = lanes.wave.frame(code, recursion)
        for pass_value in passes:
            pass_value(lanes, callee)
        assert site is not None
        assert site.next is not None, "a body ends with a return"
        back = Return(site.next, caller, group.order, _ResultPassing(returns, caller))
        inside = Lanes(lanes.wave, callee, lanes.threads)
        return Group(code.first, inside, (*group.stack, back), group.epoch, group.budget)

    return transfer


class _ResultPassing:
    """Passes results to the caller; equal for equal calls, so that groups can reconverge."""

    def __init__(self, returns: Sequence[Pass], caller: Frame) -> None:
        self.returns = returns
        self.caller = caller

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, _ResultPassing)
        return same and other.returns is self.returns and other.caller is self.caller

    def __hash__(self) -> int:
        return hash((id(self.returns), id(self.caller)))

    def __call__(self, lanes: Lanes) -> None:
        outside = Lanes(lanes.wave, self.caller, lanes.threads)
        for pass_value in self.returns:
            pass_value(outside, lanes.frame)


def _variable(op: Operation, operand: Operand) -> Variable | None:
    declared = op.site.scope.find(operand.text) if isinstance(operand, Name) else None
    return declared if isinstance(declared, Variable) and declared.space == "param" else None


def _register(code: Code, variable: Variable) -> RegisterDeclaration:
    declared = code.function.scope.names[variable.name]
    assert isinstance(declared, RegisterDeclaration)
    return declared


def _argument(op: Operation, operand: Operand, code: Code, parameter: Variable) -> Pass:
    """Pass one argument to the callee."""
    type = SCALAR_TYPES[parameter.type]
    parameter_of_caller = _variable(op, operand)
    if parameter.space == "reg":
        slot = code.layout.slot(_register(code, parameter), type.dtype)
        read = op.read(operand, type) if parameter_of_caller is None else _load(op, operand, type)

        def set_register(lanes: Lanes, callee: Frame) -> None:
            callee.cells[slot][lanes.select] = read(lanes)

        return set_register
    target = code.layout.local_offset(parameter)
    if parameter_of_caller is None:
        read = op.read(operand, type)
        return lambda lanes, callee: _store_local(lanes, callee.local_base + target, read(lanes))
    source = op.layout.local_offset(parameter_of_caller)
    size = _common_size(op, parameter_of_caller, parameter)
    return lambda lanes, callee: lanes.wave.memory.copy_local(
        lanes, lanes.frame.local_base + source, callee.local_base + target, size
    )


def _result(op: Operation, operand: Operand, code: Code, variable: Variable) -> Pass:
    """Pass one result to the caller."""
    type = SCALAR_TYPES[variable.type]
    variable_of_caller = _variable(op, operand)
    if variable.space == "reg":
        slot = code.layout.slot(_register(code, variable), type.dtype)
        write = op.write(operand, type)
        return lambda lanes, callee: write(lanes, callee.cells[slot][lanes.select])
    source = code.layout.local_offset(variable)
    if variable_of_caller is None:
        write = op.write(operand, type)
        return lambda lanes, callee: write(
            lanes, _load_local(lanes, callee.local_base + source, type)
        )
    target = op.layout.local_offset(variable_of_caller)
    size = _common_size(op, variable_of_caller, variable)
    return lambda lanes, callee: lanes.wave.memory.copy_local(
        lanes, callee.local_base + source, lanes.frame.local_base + target, size
    )


def _common_size(op: Operation, own: Variable, other: Variable) -> int:
    if own.size != other.size:
        op.fail(f"expected '{own.name}' to have {other.size} bytes, got {own.size}")
    return own.size


def _table(lanes: Lanes) -> tuple[Array, Array]:
    memory = lanes.wave.memory
    used = memory.local_stride * lanes.wave.thread_count
    bytes, shadow = (
        part[:used].reshape(-1, memory.local_stride)
        for part in (memory.local.bytes, memory.local.shadow)
    )
    return bytes, shadow


def _store_local(lanes: Lanes, at: int, values: Array) -> None:
    raw = np.ascontiguousarray(lanes.spread(values))
    size = raw.dtype.itemsize
    bytes, shadow = _table(lanes)
    bytes[lanes.select, at : at + size] = raw.view(np.uint8).reshape(-1, size)
    shadow[lanes.select, at : at + size] = 3


def _load_local(lanes: Lanes, at: int, type: ScalarType) -> Array:
    raw = np.ascontiguousarray(_table(lanes)[0][lanes.select, at : at + type.bytes])
    return raw.reshape(-1).view(type.dtype)


def _load(op: Operation, operand: Operand, type: ScalarType) -> Read:
    assert isinstance(operand, Name)
    address, site = op.address(Address(operand, 0)), op.site

    def read(lanes: Lanes) -> Array:
        memory = lanes.wave.memory
        raw = memory.load(lanes, Space.GENERIC, address(lanes), type.bytes, 1, site)
        return np.ascontiguousarray(raw[:, 0]).view(type.dtype)

    return read


def _indirect(op: Operation, form: _Form) -> Transfer:
    address = op.read(form.callee, SCALAR_TYPES["u64"])
    transfers: dict[int, Transfer] = {}
    # Every function may be the callee, and frames are laid out before execution.
    for code in op.linker.codes.values():
        function = code.function
        fits = len(function.parameters) == len(form.arguments)
        if not function.is_entry and fits and len(function.returns) == len(form.results):
            entry_address = op.linker.address_of(function.name, None)
            assert entry_address is not None
            transfers[entry_address] = _direct(op, form, code)

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        lanes = group.lanes
        addresses = lanes.spread(address(lanes))
        last: Group | None = None
        for target in distinct(addresses):
            at_target: Array = addresses == target
            follow = transfers.get(int(target))
            if follow is None:
                thread = int(lanes.threads[np.argmax(at_target)])
                text = f"no function with these parameters is at address 0x{int(target):x}"
                lanes.wave.violation(text, op.site, thread)
            if last is not None:
                scheduler.add(last)
            last = follow(scheduler, group.part(at_target))
        return last

    return transfer


def _host(op: Operation, form: _Form, host: HostFunction) -> Transfer:
    arguments = [_host_argument(op, each) for each in form.arguments]
    results = [_host_result(op, each) for each in form.results]
    site, segment = op.site, op.segment

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        lanes = group.lanes
        result = host(lanes, [lanes.spread(read(lanes)) for read in arguments], site)
        for write in results:
            write(lanes, result)
        assert segment is not None
        return group.move(segment.next)

    return transfer


def _host_argument(op: Operation, operand: Operand) -> Read:
    variable = _variable(op, operand)
    type = SCALAR_TYPES["b64" if variable is None else variable.type]
    return op.read(operand, type) if variable is None else _load(op, operand, type)


def _host_result(op: Operation, operand: Operand) -> Write:
    variable = _variable(op, operand)
    if variable is None:
        return op.write(operand, SCALAR_TYPES["b32"])
    target, dtype = op.layout.local_offset(variable), SCALAR_TYPES[variable.type].dtype
    return lambda lanes, values: _store_local(
        lanes, lanes.frame.local_base + target, values.astype(dtype)
    )
