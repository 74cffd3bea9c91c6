"""The resources of an SM that one CTA may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.target.arch import MAX_REGISTERS

if TYPE_CHECKING:
    from tilewright.target.arch import Arch

NAMED_BARRIERS: Final = 16
"""Named barriers (`bar.sync`) of a CTA; barrier 0 is for all its threads."""
BARRIER_SLOTS: Final = 32
"""mbarriers that tokens of a CTA share; those of pipelines are not among them."""
REALLOCATED: Final = range(24, 256 + 1, 8)
"""The registers of a thread that a warpgroup can change to while it runs."""
MBARRIER_BYTES: Final = 8
"""The size of an mbarrier in shared memory."""


class Resources:
    """The resources of a CTA: those available, or those that a kernel asks for."""

    __slots__ = ("named_barriers", "registers", "shared_memory", "tensor_memory")

    def __init__(
        self, *, registers: int, named_barriers: int, shared_memory: int, tensor_memory: int
    ) -> None:
        self.registers = registers
        """Registers of a thread."""
        self.named_barriers = named_barriers
        self.shared_memory = shared_memory
        """In bytes."""
        self.tensor_memory = tensor_memory
        """In bytes."""

    @staticmethod
    def of(arch: Arch) -> Resources:
        """The resources available to a CTA on a GPU."""
        return Resources(
            registers=MAX_REGISTERS,
            named_barriers=NAMED_BARRIERS,
            shared_memory=arch.static_shared,
            tensor_memory=0 if arch.tensor_memory is None else arch.tensor_memory.per_cta,
        )

    def amounts(self) -> tuple[tuple[str, int], ...]:
        """Each resource with its name in diagnostics, in the order in which they are checked."""
        return (
            ("registers a thread", self.registers),
            ("named barriers", self.named_barriers),
            ("bytes of shared memory", self.shared_memory),
            ("bytes of tensor memory", self.tensor_memory),
        )
