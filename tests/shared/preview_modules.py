"""Bytecode 13.5, encoded by cuTile Python: the one writer of the version that is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from cuda.tile import _bytecode as bc
from cuda.tile._bytecode import attribute as attribute
from cuda.tile._bytecode import encodings as e
from cuda.tile._bytecode import writer as wheel_writer
from cuda.tile._bytecode.type_base import PaddingValue, PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion

Ordering, Scope, Reduction = e.MemoryOrderingSemantics, e.MemoryScope, e.MultimemReductionKind


class Kernel(NamedTuple):
    """The builder of a kernel over 100 elements, its types and its values."""

    builder: Any
    types: Any
    tile: Any
    view: Any
    index: Any


Body = Callable[[Kernel], object]


def module(
    body: Body,
    version: str = "V_13_5",
    *,
    element: str = "F32",
    hints: Any = None,
    arguments: Any = None,
    preview: bool = False,
) -> bytes:
    """Encode a kernel `k(pointer, index)` with debug information; `arguments` are attributes."""
    buf = bytearray()
    chosen = BytecodeVersion[version]
    with bc.write_bytecode(num_functions=1, buf=buf, version=chosen) as writer:
        table, debug = writer.type_table, writer.debug_attr_table
        scalar = table.simple(bc.SimpleType[element])
        tensor = table.tensor_view(scalar, (100,), (1,), PtrAttr.Missing)
        view = table.partition_view((16,), tensor, (0,), PaddingValue.Zero)
        pointer = table.tile(table.pointer(scalar, PtrAttr.Missing), ())
        file = debug.file("kernel.py", "/folder")
        scope = debug.subprogram(file, 1, "k", "k", debug.compile_unit(file), 2)
        line = debug.loc(scope, "kernel.py", 3, 4)
        with pytest.MonkeyPatch.context() as patch:
            if arguments is not None:
                patch.setattr(wheel_writer, "AttributeArray", lambda _: arguments(table))
            function = writer.function(
                "k", [pointer, table.tile(table.I32, ())], [], True, hints or {}, line
            )
            with function as (builder, (base, index)), builder.debug_attr(line):
                whole = e.encode_MakeTensorViewOp(builder, tensor, base, [], [])
                tiled = e.encode_MakePartitionViewOp(builder, view, whole)
                body(Kernel(builder, table, table.tile(scalar, (16,)), tiled, index))
                e.encode_ReturnOp(builder, [])
    if preview:
        bc.patch_header_preview_flag(buf, chosen)
    return bytes(buf)


def load(k: Kernel, reduction: str = "ADD", inbounds: bool = False, token: Any = None) -> Any:
    """A relaxed load and reduction of the whole system."""
    return e.encode_MultimemLoadReduceViewTkoOp(
        k.builder, k.tile, k.types.Token, k.view, [k.index], token,
        Ordering.RELAXED, Scope.SYS, Reduction[reduction], [inbounds],
    )  # fmt: skip


def reduce(k: Kernel, tile: Any, token: Any, reduction: str = "ADD") -> Any:
    """A reduction with release semantics."""
    return e.encode_MultimemReduceViewTkoOp(
        k.builder, k.types.Token, k.view, tile, [k.index], token,
        Ordering.RELEASE, Scope.SYS, Reduction[reduction], [False],
    )  # fmt: skip


def store(k: Kernel, tile: Any, token: Any) -> Any:
    """A weak store without a scope."""
    return e.encode_MultimemStoreViewTkoOp(
        k.builder, k.types.Token, k.view, tile, [k.index], token, Ordering.WEAK, None, [True]
    )


def weak_load(k: Kernel) -> Any:
    """A weak load and reduction, without scope and token."""
    return e.encode_MultimemLoadReduceViewTkoOp(
        k.builder, k.tile, k.types.Token, k.view, [k.index], None,
        Ordering.WEAK, None, Reduction.ADD, [False],
    )  # fmt: skip


def atomic(k: Kernel, tile: Any, inbounds: bool) -> Any:
    """An atomic reduction of a tile; the view must have no padding to be valid."""
    return e.encode_AtomicRedViewTkoOp(
        k.builder, k.types.Token, k.view, [k.index], tile, None,
        Ordering.RELAXED, Scope.DEVICE, e.AtomicRMWMode.ADDF, [inbounds],
    )  # fmt: skip


def foreign_call(k: Kernel) -> Any:
    """A call of a function that another compiler has compiled."""
    return e.encode_PreviewCallOp(k.builder, [k.tile], [k.index], "nvshmem_quiet", [], None, None)


def chained(k: Kernel) -> None:
    """Load, reduce and store, in the order of tokens."""
    tile, token = load(k, inbounds=True)
    store(k, tile, reduce(k, tile, token))
