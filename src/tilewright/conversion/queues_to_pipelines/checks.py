"""The queue operations of a kernel, and the checks that each queue can become a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.queue import CreateQueueOp, QueueGetOp, QueuePutOp
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

_FOLLOWED: Final = (ForOp, IfOp, QueuePutOp, QueueGetOp)
"""The operations through whose regions the state of a pipeline is tracked."""


class QueueUses:
    """The queues of a kernel, and where values are put into them and taken out."""

    __slots__ = ("accesses", "created", "enclosing", "kernel")

    def __init__(self, kernel: FuncOp) -> None:
        self.kernel = kernel
        self.created: dict[Value, CreateQueueOp] = {}
        self.accesses: list[QueuePutOp | QueueGetOp] = []
        self.enclosing: dict[Value, set[Operation]] = {}
        """By queue, all operations inside the kernel whose regions access it."""
        for op in kernel.walk():
            if isinstance(op, CreateQueueOp):
                self.created[op.result] = op
            elif isinstance(op, QueuePutOp | QueueGetOp):
                self.accesses.append(op)
                outer = self.enclosing.setdefault(op.queue, set())
                for ancestor in op.ancestors():
                    if ancestor is kernel:
                        break
                    outer.add(ancestor)

    def __bool__(self) -> bool:
        return bool(self.created or self.accesses)

    def queues_in(self, op: Operation) -> list[Value]:
        """The queues that the regions of an operation access, in the order of their creation."""
        return [queue for queue in self.created if op in self.enclosing.get(queue, ())]


def check_queues(uses: QueueUses) -> None:
    """Reject queues whose pipeline is not known wherever they are accessed."""
    for op in uses.accesses:
        if op.queue not in uses.created:
            fail(
                "expected a queue straight from its creation, to have a pipeline slot", op.location
            )
    for queue, created in uses.created.items():
        if created.parent_op is not uses.kernel:
            fail(
                "expected a queue outside of loops and branches, to have a pipeline",
                created.location,
            )
        for user in queue.users:
            if not isinstance(user, QueuePutOp | QueueGetOp):
                message = f"expected a pipeline slot for what '{user.name}' does to a queue"
                fail(message, user.location)
    for op in uses.accesses:
        _check_enclosing(op, uses.kernel)


def _check_enclosing(access: Operation, kernel: FuncOp) -> None:
    for outer in access.ancestors():
        if outer is kernel:
            return
        if not isinstance(outer, _FOLLOWED):
            message = f"expected a known slot of the pipeline, got one in '{outer.name}'"
            fail(message, outer.location)
