"""How the dots of `operand_paths.mlir` get their operands: from which memory, in which slices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from scheduled_loops import engines, lowered_as_far_as, scheduled

import tilewright
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import (
    Atom,
    CopyEngine,
    in_shared_memory,
    layout_of,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import GatherLoadOp, LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp, ProducerCopyOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.signatures import isolate_kernel
from tilewright.ir.operation import Operation

PROGRAM: Final = Path(__file__).parent / "kernels" / "operand_paths.mlir"
KEYS_ARE_VALUES: Final = PROGRAM.with_name("keys_are_values.mlir")
ARCHES: Final = ("sm_90", "sm_80")
REGISTERS: Final = re.compile(r"wgmma\.mma_async\S* \{[^}]*\}, \{[^}]*\}, %rd")
"""wgmma with A in registers: two register lists and a descriptor."""
DESCRIPTORS: Final = re.compile(r"wgmma\.mma_async\S* \{[^}]*\}, %rd\d+, %rd")


class Operands(NamedTuple):
    """How an iteration gets the operands of its dots."""

    wgmma: bool
    a_in_registers: bool
    dots: int
    """How many slices of K a tile is multiplied in."""
    converted: int
    """Layout conversions besides the reads of the stage."""
    loaded: int = 0
    """Loads that the pipeline does not copy, or that pass through registers."""


IN_FRAGMENTS: Final = Operands(wgmma=True, a_in_registers=True, dots=1, converted=0)
IN_STAGES: Final = Operands(wgmma=True, a_in_registers=False, dots=1, converted=0)
SLICED: Final = Operands(wgmma=False, a_in_registers=True, dots=4, converted=0)
"""Four slices of 16 out of 64."""
WHOLE: Final = Operands(wgmma=False, a_in_registers=True, dots=1, converted=0)
EXPECTED: Final = {
    "scaled_a": (IN_FRAGMENTS, SLICED),
    # The scales are converted before the loop.
    "scaled_rows": (IN_FRAGMENTS, WHOLE),
    # The row of scales is read from its stage, and then converted.
    "scaled_columns": (
        IN_FRAGMENTS._replace(converted=1, loaded=1),
        WHOLE._replace(converted=1, loaded=1),
    ),
    "m_major": (IN_FRAGMENTS, SLICED),
    # wgmma takes B from shared memory only.
    "scaled_b": (IN_STAGES._replace(converted=1), SLICED),
    # A lane has two neighbours along K: 2 bytes of int8.
    "dequantized_a": (IN_FRAGMENTS, SLICED),
    "dequantized_b": (IN_STAGES._replace(converted=1), WHOLE._replace(converted=1)),
    # Eight slices of 8 out of 64. On sm_80 rounding takes six instructions, which warps that share
    # an operand do not repeat.
    "tf32": (SLICED._replace(dots=8), WHOLE._replace(converted=2)),
    "gathered": (IN_STAGES, SLICED),
    "gathered_view": (IN_STAGES, SLICED),
    # Two slices of 16 out of 32.
    "overwrites_a": (IN_STAGES, SLICED._replace(dots=2)),
    # What passes through registers is loaded for a later iteration.
    "unaligned_a": (IN_STAGES._replace(loaded=1), SLICED._replace(loaded=1)),
    "unaligned": (IN_STAGES._replace(loaded=2), SLICED._replace(loaded=2)),
    "padded": (IN_STAGES._replace(loaded=2), SLICED._replace(loaded=2)),
}
"""The operands of each kernel, on each of the GPUs."""


def loop_of(entry: str, arch: str) -> ForOp:
    """The loop of a kernel after `slice-dots`."""
    kernel = isolate_kernel(read_runnable(PROGRAM.read_text(), PROGRAM.name), entry)
    module = lowered_as_far_as("slice-dots", kernel, arch)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return loop


def operands(loop: ForOp) -> Operands:
    body: list[Operation] = list(loop.body.walk())
    dots = [op for op in body if isinstance(op, DotOp)]
    return Operands(
        dots[0].atom is Atom.WGMMA,
        not in_shared_memory(dots[0].a),
        len(dots),
        sum(isinstance(op, ConvertLayoutOp) for op in body),
        sum(isinstance(op, TiledLoadOp | GatherLoadOp | LoadOp) for op in body),
    )


def test_all_kernels_are_listed() -> None:
    assert re.findall(r"entry @(\w+)", PROGRAM.read_text()) == list(EXPECTED)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("entry", EXPECTED)
def test_operands(entry: str, arch: str) -> None:
    loop = loop_of(entry, arch)
    expected = EXPECTED[entry][ARCHES.index(arch)]
    assert operands(loop) == expected
    reads = [op for op in loop.body.walk() if isinstance(op, ConsumerReadOp)]
    assert all((read.at is not None) == (expected.dots > 1) for read in reads)


@pytest.mark.parametrize("arch", ARCHES)
def test_two_dots_read_a_stage_in_their_own_layouts(arch: str) -> None:
    """The only conversion is that of the accumulator of one dot, which is A of the other."""
    kernel = read_runnable(KEYS_ARE_VALUES.read_text(), KEYS_ARE_VALUES.name)
    module = lowered_as_far_as("slice-dots", kernel, arch)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    body = list(loop.body.walk())
    reads = [op for op in body if isinstance(op, ConsumerReadOp)]
    assert len({layout_of(read.values[0]) for read in reads}) == 2
    (convert,) = (op for op in body if isinstance(op, ConvertLayoutOp))
    assert shape(convert.result.type) == (16, 64)


@pytest.mark.parametrize("arch", ARCHES)
def test_a_gather_is_copied_with_its_mask(arch: str) -> None:
    copies = [op for op in loop_of("gathered", arch).body.walk() if isinstance(op, ProducerCopyOp)]
    assert [copy.mask is not None for copy in copies] == [True, False]
    assert all(copy.is_tiled for copy in copies)


@pytest.mark.parametrize(("padding", "engine"), [
    ("0.0", CopyEngine.CP_ASYNC), ("-0.0", CopyEngine.REGISTERS), ("2.0", CopyEngine.REGISTERS)
])  # fmt: skip
def test_the_padding_of_a_gather_decides_what_copies_it(padding: str, engine: CopyEngine) -> None:
    text = PROGRAM.read_text().replace(
        "%none = constant <f16: 0.0>", f"%none = constant <f16: {padding}>"
    )
    kernel = isolate_kernel(read_runnable(text, PROGRAM.name), "gathered")
    assert engines(scheduled(kernel)) == [None, engine, CopyEngine.CP_ASYNC]


@pytest.mark.parametrize(
    ("entry", "pattern"), [("scaled_a", REGISTERS), ("scaled_b", DESCRIPTORS)], ids=["a", "b"]
)
def test_wgmma_of_ptx(entry: str, pattern: re.Pattern[str]) -> None:
    """Four instructions of K = 16 multiply a tile."""
    kernel = isolate_kernel(read_runnable(PROGRAM.read_text(), PROGRAM.name), entry)
    ptx = tilewright.compile(kernel, "sm_90", emit="ptx").ptx
    assert len(pattern.findall(ptx)) == ptx.count("wgmma.mma_async") == 4
