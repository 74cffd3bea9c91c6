"""The stable tags of the format: sections, types, attributes, records, operations.

Plain constants: creating `Enum` classes takes longer than reading a module.
"""

from __future__ import annotations

from typing import Final

MAGIC: Final = b"\x7fTileIR\0"
MLIR_MAGIC: Final = b"ML\xefR"
PADDING: Final = 0xCB


class Section:
    """Section kinds."""

    END: Final = 0
    STRING: Final = 1
    FUNC: Final = 2
    DEBUG: Final = 3
    CONSTANT: Final = 4
    TYPE: Final = 5
    GLOBAL: Final = 6
    PRODUCER: Final = 7


TITLES: Final = {
    Section.STRING: "String section",
    Section.FUNC: "Func section",
    Section.DEBUG: "Debug section",
    Section.CONSTANT: "Constant section",
    Section.TYPE: "Type section",
    Section.GLOBAL: "Global section",
    Section.PRODUCER: "Producer section",
}
"""Section names in diagnostics."""

ALIGNMENT: Final = {
    Section.STRING: 4,
    Section.FUNC: 8,
    Section.DEBUG: 8,
    Section.CONSTANT: 8,
    Section.TYPE: 4,
}
"""The minimum alignment of sections; others have none."""

ALIGNED: Final = 0x80
"""The bit of a section id that says that an alignment follows."""


class FunctionFlag:
    """Function flags."""

    PRIVATE: Final = 1
    KERNEL: Final = 2
    HINTS: Final = 4
    """Before 13.5: optimization hints follow."""


class TypeTag:
    """Tags of type records."""

    I1: Final = 0
    I8: Final = 1
    I16: Final = 2
    I32: Final = 3
    I64: Final = 4
    F16: Final = 5
    BF16: Final = 6
    F32: Final = 7
    TF32: Final = 8
    F64: Final = 9
    F8E4M3FN: Final = 10
    F8E5M2: Final = 11
    POINTER: Final = 12
    TILE: Final = 13
    TENSOR_VIEW: Final = 14
    PARTITION_VIEW: Final = 15
    FUNCTION: Final = 16
    TOKEN: Final = 17
    F8E8M0FNU: Final = 18
    F4E2M1FN: Final = 19
    GATHER_SCATTER_VIEW: Final = 20
    STRIDED_VIEW: Final = 21
    I4: Final = 22
    FNV8E5M3FNU: Final = 130


class AttributeTag:
    """Tags of self-describing attributes."""

    INTEGER: Final = 1
    FLOAT: Final = 2
    BOOL: Final = 3
    TYPE: Final = 4
    STRING: Final = 5
    ARRAY: Final = 6
    DENSE_ELEMENTS: Final = 7
    DIV_BY: Final = 8
    SAME_ELEMENTS: Final = 9
    DICTIONARY: Final = 10
    OPTIMIZATION_HINTS: Final = 11
    BOUNDED: Final = 12


class DebugTag:
    """Tags of debug records."""

    UNKNOWN: Final = 0
    COMPILE_UNIT: Final = 1
    FILE: Final = 2
    LEXICAL_BLOCK: Final = 3
    LOCATION: Final = 4
    SUBPROGRAM: Final = 5
    CALL_SITE: Final = 6


OPCODES: Final = {
    "cuda_tile.absf": 0x00,
    "cuda_tile.absi": 0x01,
    "cuda_tile.addf": 0x02,
    "cuda_tile.addi": 0x03,
    "cuda_tile.andi": 0x04,
    "cuda_tile.assert": 0x05,
    "cuda_tile.assume": 0x06,
    "cuda_tile.atomic_cas_tko": 0x07,
    "cuda_tile.atomic_rmw_tko": 0x08,
    "cuda_tile.bitcast": 0x09,
    "cuda_tile.break": 0x0A,
    "cuda_tile.broadcast": 0x0B,
    "cuda_tile.cat": 0x0C,
    "cuda_tile.ceil": 0x0D,
    "cuda_tile.cmpf": 0x0E,
    "cuda_tile.cmpi": 0x0F,
    "cuda_tile.constant": 0x10,
    "cuda_tile.continue": 0x11,
    "cuda_tile.cos": 0x12,
    "cuda_tile.cosh": 0x13,
    "cuda_tile.divf": 0x14,
    "cuda_tile.divi": 0x15,
    "cuda_tile.entry": 0x16,
    "cuda_tile.exp": 0x17,
    "cuda_tile.exp2": 0x18,
    "cuda_tile.exti": 0x25,
    "cuda_tile.extract": 0x26,
    "cuda_tile.floor": 0x27,
    "cuda_tile.fma": 0x28,
    "cuda_tile.for": 0x29,
    "cuda_tile.ftof": 0x2A,
    "cuda_tile.ftoi": 0x2B,
    "cuda_tile.get_global": 0x2C,
    "cuda_tile.get_index_space_shape": 0x2D,
    "cuda_tile.get_num_tile_blocks": 0x2E,
    "cuda_tile.get_tensor_shape": 0x2F,
    "cuda_tile.get_tile_block_id": 0x30,
    "cuda_tile.global": 0x31,
    "cuda_tile.if": 0x32,
    "cuda_tile.int_to_ptr": 0x33,
    "cuda_tile.iota": 0x3A,
    "cuda_tile.itof": 0x3B,
    "cuda_tile.join_tokens": 0x3C,
    "cuda_tile.load_ptr_tko": 0x3D,
    "cuda_tile.load_view_tko": 0x3E,
    "cuda_tile.log": 0x3F,
    "cuda_tile.log2": 0x40,
    "cuda_tile.loop": 0x41,
    "cuda_tile.make_partition_view": 0x42,
    "cuda_tile.make_tensor_view": 0x43,
    "cuda_tile.make_token": 0x44,
    "cuda_tile.maxf": 0x45,
    "cuda_tile.maxi": 0x46,
    "cuda_tile.minf": 0x47,
    "cuda_tile.mini": 0x48,
    "cuda_tile.mmaf": 0x49,
    "cuda_tile.mmai": 0x4A,
    "cuda_tile.module": 0x4B,
    "cuda_tile.mulf": 0x4C,
    "cuda_tile.mulhii": 0x4D,
    "cuda_tile.muli": 0x4E,
    "cuda_tile.negf": 0x4F,
    "cuda_tile.negi": 0x50,
    "cuda_tile.offset": 0x51,
    "cuda_tile.ori": 0x52,
    "cuda_tile.permute": 0x53,
    "cuda_tile.fpowf": 0x54,
    "cuda_tile.print_tko": 0x55,
    "cuda_tile.ptr_to_int": 0x56,
    "cuda_tile.ptr_to_ptr": 0x57,
    "cuda_tile.reduce": 0x58,
    "cuda_tile.remf": 0x59,
    "cuda_tile.remi": 0x5A,
    "cuda_tile.reshape": 0x5B,
    "cuda_tile.return": 0x5C,
    "cuda_tile.rsqrt": 0x5D,
    "cuda_tile.scan": 0x5E,
    "cuda_tile.select": 0x5F,
    "cuda_tile.shli": 0x60,
    "cuda_tile.shri": 0x61,
    "cuda_tile.sin": 0x62,
    "cuda_tile.sinh": 0x63,
    "cuda_tile.sqrt": 0x64,
    "cuda_tile.store_ptr_tko": 0x65,
    "cuda_tile.store_view_tko": 0x66,
    "cuda_tile.subf": 0x67,
    "cuda_tile.subi": 0x68,
    "cuda_tile.tan": 0x69,
    "cuda_tile.tanh": 0x6A,
    "cuda_tile.trunci": 0x6B,
    "cuda_tile.xori": 0x6C,
    "cuda_tile.yield": 0x6D,
    "cuda_tile.atan2": 0x6E,
    "cuda_tile.pack": 0x6F,
    "cuda_tile.unpack": 0x70,
    "cuda_tile.alloca": 0x71,
    "cuda_tile.mmaf_scaled": 0x72,
    "cuda_tile.make_gather_scatter_view": 0x73,
    "cuda_tile.make_strided_view": 0x74,
    "cuda_tile.atomic_red_view_tko": 0x75,
    "cuda_tile.insert": 0x76,
    "cuda_tile.gdc_launch_dependents_tko": 0x77,
    "cuda_tile.gdc_wait_tko": 0x78,
    "cuda_tile.fpowi": 0x79,
    "cuda_tile.memory_fence_alias_tko": 0x7A,
    "cuda_tile.multimem_load_reduce_view_tko": 0x7B,
    "cuda_tile.multimem_reduce_view_tko": 0x7C,
    "cuda_tile.multimem_store_view_tko": 0x7D,
}
"""Opcodes. `module`, `entry` and `global` have opcodes, but are encoded as sections."""

FOREIGN_CALL: Final = 0x4002
"""The call of a function of another language; front ends pass `--preview=simt` with it."""

OP_NAMES: Final = {opcode: name for name, opcode in OPCODES.items()}
