"""The device that programs ask about: the numbers of a GPU that is emulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.target.arch import MAX_THREADS, REGISTERS_PER_SM, TYPICAL_SMS, WARP_SIZE

if TYPE_CHECKING:
    from tilewright.target.arch import Arch

MEMORY_BYTES: Final = 80 << 30
"""The result of `torch.cuda.mem_get_info`; the emulator has the memory of the host."""
_CLOCK_KHZ: Final = 1_500_000
_BUS_BITS: Final = 5120


def processors(gpu: Arch) -> int:
    """The multiprocessors of a GPU, over which persistent kernels distribute their work."""
    return TYPICAL_SMS if gpu.board is None else gpu.board.sms


def device_name(gpu: Arch) -> str:
    """The name of the device for people."""
    return f"Tilewright's PTX emulator ({gpu.name})"


def triton_properties(gpu: Arch) -> Mapping[str, int]:
    """The properties under the names of Triton's driver."""
    clock = _CLOCK_KHZ if gpu.board is None else int(gpu.board.clock * 1e6)
    return {
        "max_shared_mem": gpu.shared.per_cta,
        "max_num_regs": REGISTERS_PER_SM,
        "multiprocessor_count": processors(gpu),
        "warpSize": WARP_SIZE,
        "sm_clock_rate": clock,
        "mem_clock_rate": clock,
        "mem_bus_width": _BUS_BITS,
    }


class DeviceProperties:
    """The properties under the names of `torch.cuda.get_device_properties`."""

    def __init__(self, gpu: Arch, capability: tuple[int, int]) -> None:
        self.name = device_name(gpu)
        self.major, self.minor = capability
        self.total_memory = MEMORY_BYTES
        self.multi_processor_count = processors(gpu)
        self.warp_size = WARP_SIZE
        self.regs_per_multiprocessor = REGISTERS_PER_SM
        self.max_threads_per_block = MAX_THREADS
        self.max_threads_per_multi_processor = WARP_SIZE * gpu.limits.warps
        self.shared_memory_per_block = 48 << 10
        self.shared_memory_per_block_optin = gpu.shared.per_cta
        self.shared_memory_per_multiprocessor = gpu.shared.per_sm
        self.L2_cache_size = 50 << 20
        self.is_integrated = 0
        self.is_multi_gpu_board = 0
        self.gcnArchName = gpu.name

    def __repr__(self) -> str:
        numbers = f"name='{self.name}', major={self.major}, minor={self.minor}"
        return (
            f"{type(self).__name__}({numbers}, multi_processor_count={self.multi_processor_count})"
        )
