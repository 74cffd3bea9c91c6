"""Small kernels around a few PTX instructions, the same for the emulator and for a GPU.

A probe has the initial registers of every thread, the instructions, and the registers to return.
 `ptx_hardware.py` runs probes on a GPU, `emulate` on the CPU.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_WIDTHS = {
    1: {"pred"},
    2: {"b16", "u16", "s16", "f16"},
    4: {"b32", "u32", "s32", "f32"},
    8: {"b64", "u64", "s64", "f64"},
}


def width_of(type: str) -> int:
    """Return the size in bytes of a register type in memory."""
    return next(width for width, types in _WIDTHS.items() if type in types)


@dataclass(frozen=True)
class Probe:
    """Threads with registers `%i0`, `%i1`, … that compute `%o0`, `%o1`, …

    `inputs` are vectors over all threads. `image` is copied to shared memory, whose address is in
    `%smem`, before the body; with `dump` shared memory is the last result.
    """

    name: str
    body: str
    inputs: Sequence[tuple[str, Array]] = ()
    outputs: Sequence[str] = ()
    threads: int = 32
    blocks: int = 1
    image: Array | None = None
    dump: bool = False
    target: str = "sm_90a"
    version: str = "9.0"
    declarations: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def image_size(self) -> int:
        """The size of shared memory: a multiple of 16."""
        return 0 if self.image is None else self.image.nbytes

    def ptx(self) -> str:
        """The kernel, named `probe`."""
        inputs = [type for type, _ in self.inputs]
        lines = [
            f".version {self.version}", f".target {self.target}", ".address_size 64",
            ".extern .shared .align 1024 .b8 dynamic[];", "",
            f".visible .entry probe({self._parameters()})", "{",
            ".reg .b64 %p<4>; .reg .b32 %t<8>; .reg .b32 %smem; .reg .pred %loop;",
            ".reg .b64 %where; .reg .b128 %chunk; .reg .b32 %w<4>; .reg .b16 %bool;",
            *(f".reg .{type} %i{at};" for at, type in enumerate(inputs)),
            *(f".reg .{type} %o{at};" for at, type in enumerate(self.outputs)),
            self.declarations,
            "mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x;",
            "mad.lo.u32 %t3, %t0, %t1, %t2; mov.u32 %smem, dynamic;",
        ]  # fmt: skip
        lines += self._fill()
        for at, type in enumerate(inputs):
            lines += _load(at, type)
        lines.append(self.body)
        for at, type in enumerate(self.outputs):
            lines += _store(at, type)
        lines += self._dump()
        return "\n".join([*lines, "ret;", "}", ""])

    def _parameters(self) -> str:
        names = [f"in{at}" for at in range(len(self.inputs))]
        names += [f"out{at}" for at in range(len(self.outputs))]
        names += ["image", "dump"] if self.image is not None else []
        return ", ".join(f".param .u64 {name}" for name in names)

    def _fill(self) -> list[str]:
        if self.image is None:
            return []
        return [
            "ld.param.u64 %p0, [image]; cvta.to.global.u64 %p0, %p0; mov.u32 %t4, %t2;",
            f"fill: setp.ge.u32 %loop, %t4, {self.image_size // 16}; @%loop bra filled;",
            "mul.wide.u32 %where, %t4, 16; add.s64 %where, %where, %p0;",
            "ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%where];",
            "shl.b32 %t5, %t4, 4; add.s32 %t5, %t5, %smem;",
            "st.shared.v4.b32 [%t5], {%w0, %w1, %w2, %w3};",
            "add.s32 %t4, %t4, %t1; bra fill;",
            "filled: fence.proxy.async.shared::cta; bar.sync 0;",
        ]

    def _dump(self) -> list[str]:
        if not self.dump:
            return []
        return [
            "bar.sync 0; ld.param.u64 %p0, [dump]; cvta.to.global.u64 %p0, %p0; mov.u32 %t4, %t2;",
            f"save: setp.ge.u32 %loop, %t4, {self.image_size // 16}; @%loop bra saved;",
            "mul.wide.u32 %where, %t4, 16; add.s64 %where, %where, %p0;",
            "shl.b32 %t5, %t4, 4; add.s32 %t5, %t5, %smem;",
            "ld.shared.v4.b32 {%w0, %w1, %w2, %w3}, [%t5];",
            "st.global.v4.b32 [%where], {%w0, %w1, %w2, %w3};",
            "add.s32 %t4, %t4, %t1; bra save;",
            "saved:",
        ]

    def buffers(self) -> tuple[list[Array], list[Array]]:
        """Return arrays for the parameters: inputs, and outputs (image last)."""
        count = self.threads * self.blocks
        sources = [np.array(np.broadcast_to(values, count)) for _, values in self.inputs]
        results = [np.zeros(count * width_of(type), np.uint8) for type in self.outputs]
        if self.image is not None:
            image = self.image.flatten().view(np.uint8)
            sources.append(image)
            results.append(np.zeros(len(image), np.uint8))
        return sources, results

    def fingerprint(self) -> int:
        """A number that changes when the kernel or its inputs do."""
        sources, _ = self.buffers()
        return zlib.crc32(b"".join([self.ptx().encode(), *(each.tobytes() for each in sources)]))

    def order(self, sources: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Parameters in the order in which the kernel has them."""
        if self.image is None:
            return [*sources, *results]
        return [*sources[:-1], *results[:-1], sources[-1], results[-1]]


def _load(at: int, type: str) -> list[str]:
    width = width_of(type)
    address = (
        f"ld.param.u64 %p1, [in{at}]; cvta.to.global.u64 %p1, %p1;"
        f" mul.wide.u32 %p2, %t3, {width}; add.s64 %p1, %p1, %p2;"
    )
    if type == "pred":
        return [address, f"ld.global.u8 %bool, [%p1]; setp.ne.u16 %i{at}, %bool, 0;"]
    return [address, f"ld.global.b{8 * width} %i{at}, [%p1];"]


def _store(at: int, type: str) -> list[str]:
    width = width_of(type)
    address = (
        f"ld.param.u64 %p1, [out{at}]; cvta.to.global.u64 %p1, %p1;"
        f" mul.wide.u32 %p2, %t3, {width}; add.s64 %p1, %p1, %p2;"
    )
    if type == "pred":
        return [address, f"selp.u16 %bool, 1, 0, %o{at}; st.global.u8 [%p1], %bool;"]
    return [address, f"st.global.b{8 * width} [%p1], %o{at};"]


def digest(results: Sequence[Array]) -> str:
    """A short name for results, equal only if all their bits are."""
    return hashlib.sha256(b"".join(each.tobytes() for each in results)).hexdigest()[:16]


def emulate(probe: Probe, **options: Any) -> list[Array]:
    """The results of a probe on the emulator, as bytes."""
    from tilewright.ptxsim import Module  # noqa: PLC0415 - a GPU machine may lack the package

    sources, results = probe.buffers()
    args = probe.order(sources, results)
    size = probe.image_size
    Module(probe.ptx()).launch("probe", probe.blocks, probe.threads, args, shared=size, **options)
    return results
