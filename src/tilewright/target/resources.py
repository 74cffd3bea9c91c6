"""The resources of an SM that one CTA may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.target.arch import KIB, MAX_REGISTERS
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.target.arch import Arch

NAMED_BARRIERS: Final = 16
"""Named barriers (`bar.sync`) of a CTA; barrier 0 is for all its threads."""
TENSOR_MEMORY: Final = 256 * KIB
"""Bytes of tensor memory, 512 columns of 128 words, where there is any."""
BARRIER_SLOTS: Final = 32
"""mbarriers that tokens of a CTA share; those of pipelines are not among them."""
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
            tensor_memory=TENSOR_MEMORY if Feature.TENSOR_MEMORY in arch else 0,
        )

    def amounts(self) -> tuple[tuple[str, int], ...]:
        """Each resource with its name in diagnostics, in the order in which they are checked."""
        return (
            ("registers a thread", self.registers),
            ("named barriers", self.named_barriers),
            ("bytes of shared memory", self.shared_memory),
            ("bytes of tensor memory", self.tensor_memory),
        )
