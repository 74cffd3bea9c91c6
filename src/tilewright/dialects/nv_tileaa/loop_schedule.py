"""The stages and orders of a pipelined loop: what is filled in, and what crosses stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.early_execution import is_repeatable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class Instance(NamedTuple):
    """An operation in an iteration of the pipelined loop."""

    op: Operation
    stage: int
    order: int


class Slot(NamedTuple):
    """A value that an iteration of the pipelined loop passes on to the next one.

    It is the value of the loop as written for the iteration that `stage` executes there.
    """

    value: Value
    stage: int


class LoopSchedule:
    """The operations of a loop's body by stage and order, and the values that cross stages."""

    __slots__ = ("_homes", "_orders", "_yielded", "instances", "loop", "slots")

    def __init__(self, loop: ForOp) -> None:
        """Read the attributes of the operations of a loop, and fill in the missing ones."""
        self.loop = loop
        body = loop.body.block
        ops = [op for op in body if op is not body.last]
        end = body.last
        yielded = () if end is None else end.operands
        self._yielded: dict[Value, Value] = dict(zip(loop.carried, yielded, strict=False))
        self._orders = _orders(ops)
        instances = [
            Instance(op, stage, order) for op in ops for stage, order in self._orders[op].items()
        ]
        self.instances = sorted(instances, key=lambda each: each.order)
        self._homes: dict[Value, int] = {
            carried: self._home(carried, len(self._yielded)) for carried in loop.carried
        }
        self.slots = self._slots()

    @property
    def stages(self) -> list[int]:
        """The stages of operations, and stage 0."""
        return sorted({0, *[each.stage for each in self.instances]})

    def home(self, carried: Value) -> int:
        """The stage that computes what a carried value is in the next iteration."""
        return self._homes[carried]

    def yielded(self, carried: Value) -> Value:
        """What a carried value is in the next iteration of the loop as written."""
        return self._yielded[carried]

    def of_stage(self, stage: int) -> list[Operation]:
        """The operations of a stage, in order."""
        return [each.op for each in self.instances if each.stage == stage]

    def source(self, value: Value, stage: int) -> Slot:
        """What a value is that a stage uses, in an iteration of the pipelined loop.

        For a carried value that an earlier iteration of a later stage computes, it is that result.
        """
        slot = Slot(value, stage)
        while (nearer := self.forwarded(slot)) is not None:
            slot = nearer
        return slot

    def forwarded(self, slot: Slot) -> Slot | None:
        """What is yielded for a carried value in the iteration before; None if it was passed on."""
        value, stage = slot
        if stage >= self._homes.get(value, stage):
            return None
        return Slot(self._yielded[value], stage + 1)

    def is_passed(self, slot: Slot) -> bool:
        """Whether a value is of an earlier iteration of the pipelined loop."""
        orders = self.orders(slot.value)
        if not orders:
            return slot.value in self._homes
        return slot.stage > min(orders) and slot.stage not in orders

    def orders(self, value: Value) -> Mapping[int, int]:
        """The orders of the operation that computes a value in the loop, by stage."""
        op = value.defining_op()
        return {} if op is None else self._orders.get(op, {})

    def _home(self, carried: Value, limit: int) -> int:
        """The stage of what is yielded for a carried value; 0 if that is no result of the loop."""
        value = self._yielded.get(carried, carried)
        if orders := self.orders(value):
            return max(0, min(orders))
        if limit and value in self._yielded:
            return max(0, self._home(value, limit - 1) - 1)
        return 0

    def _slots(self) -> dict[Slot, None]:
        """The values that iterations pass on: carried ones, early loads, and others by use."""
        slots: dict[Slot, None] = {}
        results = zip(self.loop.carried, self.loop.results, strict=False)
        unused = {each for each, result in results if not result.is_used and self._is_early(each)}
        homes = {each: home for each, home in self._homes.items() if each not in unused}
        for carried, home in homes.items():
            if home == 0:
                slots[Slot(carried, 0)] = None
        used = [
            (value, stage)
            for op, orders in self._orders.items()
            for stage in sorted(orders)
            for value in used_values(op)
        ]
        used += [(value, homes[each]) for each, value in self._yielded.items() if each in homes]
        later = {value for value, stage in used if stage >= 0}
        early = [op for op, orders in self._orders.items() if min(orders) < 0]
        for result in [result for op in early for result in op.results if result in later]:
            self._pass_on(result, 0, slots)
        for value, stage in used:
            self._pass_on(value, stage, slots)
        return slots

    def _is_early(self, carried: Value) -> bool:
        """Whether only negative stages of a loop compute and use a carried value."""
        users = [each.stage for each in self.instances if carried in used_values(each.op)]
        stages = [*users, *self.orders(self._yielded.get(carried, carried))]
        return carried not in self._yielded.values() and max(stages, default=0) < 0

    def _pass_on(self, value: Value, stage: int, slots: dict[Slot, None]) -> None:
        """Add the slots that a use of a value needs."""
        slot = self.source(value, stage)
        if slot in slots or not self.is_passed(slot):
            return
        slots[slot] = None
        if self._homes.get(slot.value) == slot.stage:
            self._pass_on(self._yielded[slot.value], slot.stage, slots)
        else:
            self._pass_on(slot.value, slot.stage - 1, slots)


def is_pipelined(loop: ForOp) -> bool:
    """Whether operations of a loop have a stage and an order."""
    return any(AT in op.attributes for op in loop.body.block)


def used_values(op: Operation) -> list[Value]:
    """The operands of an operation and of those inside of it, each once."""
    return list(dict.fromkeys(value for inner in op.walk() for value in inner.operands))


def _orders(ops: list[Operation]) -> dict[Operation, dict[int, int]]:
    """The order of each operation by the stages that execute it.

    An operation without an attribute that may be repeated is executed by each stage that uses it,
    before its first use there. Others are executed at the end of the last stage.
    """
    points = {op: point for op in ops if isinstance(point := op.attributes.get(AT), AtAttr)}
    last = max([0, *[point.stage for point in points.values()]])
    end = max([0, *[point.order + 1 for point in points.values()]])
    orders: dict[Operation, dict[int, int]] = {}
    for op in reversed(ops):
        orders[op] = {}
        if (point := points.get(op)) is not None:
            orders[op][point.stage] = point.order
            continue
        users = _users(op) if is_repeatable(op) else ()
        for stage, order in [pair for user in users for pair in orders.get(user, {}).items()]:
            orders[op][stage] = min(orders[op].get(stage, order), order)
        orders[op] = orders[op] or {last: end}
    return {op: orders[op] for op in ops}


def _users(op: Operation) -> Iterator[Operation]:
    """The operations of a block that use the results of one of them, or contain uses."""
    for user in [user for result in op.results for user in result.users]:
        yield next(each for each in (user, *user.ancestors()) if each.parent is op.parent)
