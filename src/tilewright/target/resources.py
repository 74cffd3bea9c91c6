"""What one CTA may take of a multiprocessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.target.arch import KIB, MAX_REGISTERS
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.target.arch import Arch

NAMED_BARRIERS: Final = 16
"""Barriers that a CTA has besides those in memory; the first one is for all its threads."""
TENSOR_MEMORY: Final = 256 * KIB
"""Bytes of tensor memory, 512 columns of 128 words, where there is any."""
BARRIER_SLOTS: Final = 32
"""Barriers in shared memory that tokens of a CTA may be kept in."""


class Resources:
    """The shares of a CTA: what there is of everything, or what somebody asks for."""

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
        """All that a CTA may have on a GPU."""
        return Resources(
            registers=MAX_REGISTERS,
            named_barriers=NAMED_BARRIERS,
            shared_memory=arch.static_shared,
            tensor_memory=TENSOR_MEMORY if Feature.TENSOR_MEMORY in arch else 0,
        )

    def amounts(self) -> tuple[tuple[str, int], ...]:
        """What each share is called in messages, in the order in which they are checked."""
        return (
            ("registers a thread", self.registers),
            ("named barriers", self.named_barriers),
            ("bytes of shared memory", self.shared_memory),
            ("bytes of tensor memory", self.tensor_memory),
        )
