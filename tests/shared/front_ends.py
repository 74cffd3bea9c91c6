"""Bytecode as front ends other than cuTile Python write it.

cuTile.jl writes every section, also those that are empty, and an empty debug record where there
are none; its arrays have their first dimension contiguous, its blocks count from 1.
cutile-rs leaves debug information out, writes every constant anew, and collects names of attributes
and types before it writes anything, so that tables are in another order and have unused entries.
"""

from __future__ import annotations

from struct import pack
from typing import NamedTuple
from unittest.mock import patch

from tilewright.bytecode import writer
from tilewright.bytecode.attribute_writer import Pools
from tilewright.bytecode.opcodes import ALIGNED, MAGIC, Section
from tilewright.bytecode.tables import ConstantPool
from tilewright.bytecode.varint import Buffer, Cursor
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.types import TOKEN, TileType
from tilewright.driver.api import write_bytecode
from tilewright.ir.types import F16, F32, I8, I64

HEADER = len(MAGIC) + 4
EMPTY_TABLE = b"\0"


class Part(NamedTuple):
    """A section of a file."""

    number: int
    alignment: int
    data: bytes


def parts(file: bytes) -> list[Part]:
    """The sections of a file in their order."""
    sections: list[Part] = []
    cursor = Cursor(file, 0, "file", "file")
    cursor.at = HEADER
    while (number := cursor.byte()) != Section.END:
        length = cursor.varint()
        alignment = cursor.varint() if number & ALIGNED else 1
        cursor.align(alignment)
        sections.append(Part(number & ~ALIGNED, alignment, bytes(cursor.take(length))))
    return sections


def assembled(header: bytes, sections: list[Part]) -> bytes:
    """A file of some sections."""
    file = Buffer()
    file.out += header
    for part in sections:
        file.out.append(part.number | (ALIGNED if part.alignment > 1 else 0))
        file.varint(len(part.data))
        if part.alignment > 1:
            file.varint(part.alignment)
            file.align(part.alignment)
        file.out += part.data
    file.out.append(Section.END)
    return bytes(file.out)


class RepeatedConstants(ConstantPool):
    """Every constant has a record of its own."""

    __slots__ = ()

    def index(self, blob: bytes) -> int:
        """Append a constant and return its index."""
        self.indices.pop(blob, None)
        return super().index(blob)


class CollectedPools(Pools):
    """Tables that begin with the collected entries, used or not."""

    def __init__(self, version: tuple[int, int]) -> None:
        super().__init__(version)
        for text in ("sym_name", "function_type", "value", "", "operandSegmentSizes", "kernels"):
            self.strings.index(text)
        for type in (TOKEN, TileType((128, 64), F16), TileType((), I64), I8, F32):
            self.types.index(type)
        self.constants = RepeatedConstants()


def rust(module: ModuleOp, version: str) -> bytes:
    """A module as cutile-rs writes it."""
    with patch.object(writer, "Pools", CollectedPools):
        file = write_bytecode(module, version)
    return assembled(
        file[:HEADER], [part for part in parts(file) if part.number != Section.PRODUCER]
    )


def julia(module: ModuleOp, version: str) -> bytes:
    """A module as cuTile.jl writes it."""
    file = write_bytecode(module, version)
    by_number = {part.number: part for part in parts(file)}
    for number, alignment in ((Section.CONSTANT, 8), (Section.TYPE, 4), (Section.STRING, 4)):
        by_number.setdefault(number, Part(number, alignment, EMPTY_TABLE))
    by_number.setdefault(Section.DEBUG, Part(Section.DEBUG, 8, _no_debug_information()))
    order = (Section.FUNC, Section.GLOBAL, Section.CONSTANT, Section.DEBUG, Section.TYPE)
    return assembled(
        file[:HEADER], [by_number[each] for each in (*order, Section.STRING) if each in by_number]
    )


def _no_debug_information() -> bytes:
    """No functions, no locations, and one record of an unknown kind."""
    section = Buffer()
    section.varint(0)
    section.align(4)
    section.varint(0)
    section.align(8)
    section.varint(1)
    section.align(4)
    section.out += pack("<I", 0) + b"\0"
    return bytes(section.out)


COLUMN_MAJOR = """
cuda_tile.module @kernels {{
  entry @{name}(
      %a: tile<ptr<f32>>, %a_rows: tile<i32>, %a_columns: tile<i32>, %a_one: tile<i32>,
      %a_pitch: tile<i32>,
      %b: tile<ptr<f32>>, %b_rows: tile<i32>, %b_columns: tile<i32>, %b_one: tile<i32>,
      %b_pitch: tile<i32>, %seed: tile<i32>) optimization_hints=<{hints}> {{
    %one = constant <i32: 1> : tile<i32>
    %from = assume div_by<16>, %a : tile<ptr<f32>>
    %to = assume div_by<16>, %b : tile<ptr<f32>>
    %m = assume bounded<0, ?>, %a_rows : tile<i32>
    %n = assume bounded<0, ?>, %a_columns : tile<i32>
    %p = assume div_by<4>, %a_pitch : tile<i32>
    %q = assume div_by<4>, %b_pitch : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %row = addi %x, %one : tile<i32>
    %column = addi %y, %one : tile<i32>
    %i = subi %row, %one : tile<i32>
    %j = subi %column, %one : tile<i32>
    %token = make_token : token
    %av = make_tensor_view %from, shape=[%n, %m], strides=[%p, 1]
        : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %bv = make_tensor_view %to, shape=[%n, %m], strides=[%q, 1]
        : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %ap = make_partition_view %av
        : partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>
    %bp = make_partition_view %bv
        : partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %read = load_view_tko weak %ap[%j, %i] token=%token
        : partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
        -> tile<8x16xf32>, token
    %sum = addf %tile, %tile rounding<nearest_even> : tile<8x16xf32>
    %written = store_view_tko weak %sum, %bp[%j, %i] token=%read
        : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>,
        tile<i32> -> token
    return
  }}
}}
"""
"""Doubles a matrix whose columns are contiguous: as a view it has them as rows."""

REGIONS = """
cuda_tile.module @kernels {{
  entry @probe_entry(%p: tile<ptr<f32>>) {{
    %token = make_token : token
    %view = make_tensor_view %p, shape=[128], strides=[1] : tensor_view<128xf32, strides=[1]>
    %tiles = make_partition_view %view
        : partition_view<tile=(16), tensor_view<128xf32, strides=[1]>>
    %zero = constant <i32: 0> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %half = constant <f32: 0.5> : tile<16xf32>
    for %i in (%zero to %eight, step %step) : tile<i32> {{
      %x, %read = load_view_tko weak %tiles[%i] token=%token
          : partition_view<tile=(16), tensor_view<128xf32, strides=[1]>>, tile<i32>
          -> tile<16xf32>, token
      %again = constant <f32: 0.5> : tile<16xf32>
      %y = fma %x, %half, %again rounding<nearest_even> : tile<16xf32>
      %written = store_view_tko weak %y, %tiles[%i] token=%read
          : tile<16xf32>, partition_view<tile=(16), tensor_view<128xf32, strides=[1]>>,
          tile<i32> -> token
      continue
    }}
    return
  }}
  entry @{name}(%p: tile<ptr<i32>>) optimization_hints=<{hints}> {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    %at = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %step = constant <i32: 1> : tile<i32>
    %next = addi %x, %step : tile<i32>
    %written = store_ptr_tko weak %at, %next : tile<ptr<i32>>, tile<i32> -> token
    return
  }}
}}
"""
"""Two kernels: a loop over a view, and blocks that write their indices."""
