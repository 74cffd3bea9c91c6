"""Print attributes of functions and parameters in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.llvm import attribute_names as llvm
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.nvvm import attribute_names as nvvm
from tilewright.emit.llvm.constants import escaped
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
)
from tilewright.support.bits import is_power_of_two
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.target.arch import MAX_THREADS
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.emit.llvm.types import TypeTexts
    from tilewright.ir.attributes import DictionaryAttr
    from tilewright.target.arch import Arch

_FLAGS: Final = frozenset(
    ("noalias", "nonnull", "noundef", "readnone", "readonly", "writeonly", "signext", "zeroext")
)


def parameter_text(given: DictionaryAttr, types: TypeTexts) -> str:
    """Print the attributes of a parameter."""
    return "".join([f" {_parameter(name, value, types)}" for name, value in given.entries])


def _parameter(name: str, value: Attribute, types: TypeTexts) -> str:
    dialect, _, word = name.partition(".")
    if name == nvvm.GRID_CONSTANT:
        return f'"{name}"'
    if dialect == "llvm" and word in _FLAGS:
        return word
    if name == llvm.NOCAPTURE:
        return "captures(none)"
    match name, value:
        case llvm.ALIGN, IntegerAttr() if not is_power_of_two(value.value):
            fail(f"expected an alignment that is a power of two, got {value.value}")
        case llvm.ALIGN, IntegerAttr():
            return f"align {value.value}"
        case llvm.DEREFERENCEABLE, IntegerAttr():
            return f"dereferenceable({value.value})"
        case llvm.BYVAL, TypeAttr():
            return f"byval({types[value.type]})"
        case _:
            raise Unsupported(f"the attribute '{name}' of a parameter")


def _listed(value: Any) -> str:
    return ",".join(map(str, value.values))


def _number(value: Any) -> str:
    return str(value.value)


_KERNEL: Final[Mapping[str, tuple[str, Callable[[Any], str], type[Attribute]]]] = {
    nvvm.REQNTID: ("nvvm.reqntid", _listed, DenseArrayAttr),
    nvvm.MAXNTID: ("nvvm.maxntid", _listed, DenseArrayAttr),
    nvvm.CLUSTER_DIM: ("nvvm.cluster_dim", _listed, DenseArrayAttr),
    nvvm.CLUSTER_MAX_BLOCKS: ("nvvm.maxclusterrank", _number, IntegerAttr),
    nvvm.MINCTASM: ("nvvm.minctasm", _number, IntegerAttr),
    nvvm.MAXNREG: ("nvvm.maxnreg", _number, IntegerAttr),
}
"""Launch bounds of a kernel: LLVM's attribute, and the printer of its value."""


def check_launch(function: FuncOp, arch: Arch) -> None:
    """Reject launch bounds that exceed the limits of the target."""
    for name in (nvvm.REQNTID, nvvm.MAXNTID):
        _check_count(function, name, MAX_THREADS, "threads in a block")
    if nvvm.CLUSTER_DIM in function.attributes and Feature.CLUSTER not in arch:
        what = Feature.CLUSTER.value
        raise Unsupported(f"'{nvvm.CLUSTER_DIM}' on {arch.name}: needs {what}", function.location)
    _check_count(function, nvvm.CLUSTER_DIM, arch.max_cluster, "blocks in a cluster")


def _check_count(function: FuncOp, name: str, limit: int, what: str) -> None:
    value = function.attributes.get(name)
    if not isinstance(value, DenseArrayAttr):
        return
    extents = [int(extent) for extent in value.values]
    count = prod(extents)
    if not 1 <= len(extents) <= 3 or min(extents) < 1 or count > limit:
        text = " x ".join(map(str, extents)) or "none"
        fail(f"expected at most {limit} {what} in '{name}', got {text}", function.location)


def function_text(function: FuncOp) -> str:
    """Print the attributes of a function."""
    words = ["nounwind"]
    if not _is_library(function.sym_name):
        # A function may synchronize; LLVM infers where it does not.
        words.append("convergent")
    words += ["alwaysinline"] if function.always_inline else []
    words += ["noinline"] if function.no_inline else []
    for name, value in function.attributes.items():
        if name in _KERNEL:
            spelling, spell, kind = _KERNEL[name]
            if not isinstance(value, kind):
                raise Unsupported(f"this value of '{name}'", function.location)
            words.append(f'"{spelling}"="{spell(value)}"')
        elif name == nvvm.BLOCKS_ARE_CLUSTERS:
            words.append(f'"{name}"')
    words += [_passed_through(each, function) for each in function.passthrough or ()]
    return "".join([f" {word}" for word in words])


def _is_library(name: str) -> bool:
    """Whether a function is from libdevice, which has its own attributes."""
    return name.startswith("__nv_")


def _passed_through(given: Attribute, function: FuncOp) -> str:
    match given:
        case StringAttr():
            return given.value
        case ArrayAttr(elements=(StringAttr() as key, StringAttr() as value)):
            name, text = escaped(key.value), escaped(value.value)
            return f'"{name}"="{text}"'
        case _:
            raise Unsupported("this attribute in 'passthrough'", function.location)


def flushes_denormals(function: FuncOp) -> bool:
    """Whether a function flushes f32 denormals to zero."""
    return any(
        isinstance(each, ArrayAttr)
        and each.elements[:1] == (StringAttr("denormal-fp-math-f32"),)
        and StringAttr("preserve-sign,preserve-sign") in each.elements
        for each in function.passthrough or ()
    )
