"""Numbers as people read them, and the figures by which two compilations are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.explain.report import Kernel

KIB: Final = 1024
THOUSAND: Final = 1000


def spell_bytes(count: int) -> str:
    """Bytes, in KiB where that is exact or long.

    >>> spell_bytes(512), spell_bytes(98304), spell_bytes(115040)
    ('512 B', '96 KiB', '112.3 KiB')
    """
    if count < KIB:
        return f"{count} B"
    return f"{count // KIB} KiB" if count % KIB == 0 else f"{count / KIB:.1f} KiB"


def spell_number(count: int) -> str:
    """A count with a decimal prefix.

    >>> spell_number(0), spell_number(452), spell_number(2097152)
    ('0', '452', '2.1 M')
    """
    value, prefix = float(count), ""
    for name in ("k", "M", "G", "T"):
        if value < THOUSAND:
            break
        value, prefix = value / THOUSAND, name
    return f"{value:.1f} {prefix}" if prefix else str(count)


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "warp"), counted(8, "warp")
    ('1 warp', '8 warps')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def repeated(times: int, what: str) -> str:
    """What there is several times, with the number.

    >>> repeated(1, "512 B"), repeated(3, "512 B")
    ('512 B', '3 x 512 B')
    """
    return what if times == 1 else f"{times} x {what}"


def kernel_figures(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """The figures of a kernel, by name."""
    used = kernel.resources
    if used is not None:
        yield "threads", "x".join(map(str, used.threads)) or "any"
        yield "registers", str(used.registers)
        yield "spill stores, bytes", str(used.spill_stores)
        yield "spill loads, bytes", str(used.spill_loads)
        yield "stack, bytes", str(used.stack)
        yield "shared memory, bytes", str(used.shared)
        yield "barriers", str(used.barriers)
    if kernel.occupancy is not None:
        yield "CTAs an SM", str(kernel.occupancy.ctas)
        yield "occupancy limited by", kernel.occupancy.limit
    yield "cluster", str(kernel.cluster)
    yield (
        "agents",
        "; ".join(f"{counted(each.warps, 'warp')}: {each.role}" for each in kernel.agents),
    )
    for number, each in enumerate(kernel.pipelines):
        stages = f"{counted(each.stages, 'stage')} of {spell_bytes(each.stage_bytes)}"
        yield f"pipeline {number}", f"{stages}, {', '.join(each.engines)}"
    dots = dict.fromkeys(each.instruction for each in kernel.dots)
    yield "dots", ", ".join(dots)
    accesses = dict.fromkeys(
        f"{each.instruction} {each.vector_bytes} B" if each.vector_bytes else each.instruction
        for each in kernel.accesses
    )
    yield "accesses", ", ".join(accesses)
    yield "layouts", str(len(kernel.layouts))
    if kernel.pressure:
        yield "live registers, about", str(max(each.registers for each in kernel.pressure))
