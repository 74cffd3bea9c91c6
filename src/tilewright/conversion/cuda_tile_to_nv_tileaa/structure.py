"""Part B: modules, kernels and references to globals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import (
    convert_predicate,
    converted,
)
from tilewright.conversion.cuda_tile_to_nv_tileaa.memory import HINTS
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import Renaming
from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.dialects.cuda_tile import control_flow, structure
from tilewright.dialects.cuda_tile.attributes import AssumePredicate
from tilewright.dialects.cuda_tile.hints import hint, worker_warps
from tilewright.dialects.elements import types_of
from tilewright.dialects.gpu.structure import GPUModuleOp
from tilewright.dialects.nv_tileaa import structure as new_structure
from tilewright.dialects.nv_tileaa.attributes import (
    TARGET_SPEC_NAME,
    KernelSpecAttr,
    TargetSpecAttr,
)
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.requests import (
    NUM_CTAS,
    OCCUPANCY,
    WARPS,
    AskedAttr,
    Request,
)
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.attributes import ArrayAttr, DictionaryAttr, TypeAttr
from tilewright.ir.builder import InsertPoint, create_op
from tilewright.ir.conversion import converts
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import FunctionType
from tilewright.support.schedule_keys import ENTRY

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import ConversionPattern, Result
    from tilewright.target.arch import Arch

RENAMED: Final = (
    Renaming(control_flow.ReturnOp, new_structure.ReturnOp),
    Renaming(structure.GetGlobalOp, new_structure.GetGlobalOp, {"name": "symbol"}),
)


@converts(PoisonOp)
def poison(op: PoisonOp, new: PoisonOp, build: ConversionBuilder) -> Result:
    """Convert the type of `ub.poison`."""
    types = build.types.convert(op.result.type)
    if types is None:
        return build.reject("expected a result type that can be converted")
    return build.insert(PoisonOp((), types, op.attributes.copy(), (), op.location))


@converts(UnrealizedConversionCastOp)
def cast(
    op: UnrealizedConversionCastOp, new: UnrealizedConversionCastOp, build: ConversionBuilder
) -> Result:
    """Fold an unrealized cast if its converted types are the same."""
    results = build.types.convert_all(types_of(op.results))
    return new.operands if results == list(types_of(new.operands)) else None


def _module(arch: Arch) -> ConversionPattern:
    spec = TargetSpecAttr(arch.number)

    @converts(structure.ModuleOp)
    def module(op: structure.ModuleOp, new: structure.ModuleOp, build: ConversionBuilder) -> Result:
        """Lower to `gpu.module` with the target GPU."""
        attributes = {**converted(op), TARGET_SPEC_NAME: spec}
        made = build.insert(GPUModuleOp((), (), attributes, [Region()], op.location))
        build.convert_region(op.body, made.body)
        if not made.body.blocks:
            block = Block()
            block.parent = made.body
            made.body.blocks.append(block)
        return made

    return module


def _entry(arch: Arch) -> ConversionPattern:
    @converts(structure.EntryOp)
    def entry(op: structure.EntryOp, new: structure.EntryOp, build: ConversionBuilder) -> Result:
        """Lower to `nv_tileaa.func` with the kernel specification."""
        signature = op.function_type
        assert isinstance(signature, FunctionType)
        inputs = build.types.convert_all(signature.inputs)
        if inputs is None:
            return build.reject("expected arguments that can be converted")
        attributes = converted(op, left_out=(HINTS,))
        attributes["function_type"] = TypeAttr(FunctionType(tuple(inputs)))
        attributes["kernel_spec"] = KernelSpecAttr()
        made = new_structure.FuncOp((), (), attributes, [Region()], op.location)
        made.asked = requests(op, arch.name)
        build.insert(made)
        build.convert_region(op.body, made.body)
        _assume_attributes(op, made)
        return made

    return entry


def _assume_attributes(entry: structure.EntryOp, made: new_structure.FuncOp) -> None:
    """Turn the predicates among the attributes of arguments into operations."""
    predicates = list(entry.assumptions())
    if not predicates:
        return
    block = made.body.block
    for number, predicate in reversed(predicates):
        argument = block.args[number]
        assumed = create_op(
            AssumeOp,
            value=argument,
            predicate=convert_predicate(predicate),
            types=[argument.type],
            location=entry.location,
        )
        argument.replace_all_uses_with(assumed.result)
        assumed.set_operand(0, argument)
        InsertPoint.at_start(block).insert(assumed)
    others = [
        DictionaryAttr(
            {name: value for name, value in each.entries if not isinstance(value, AssumePredicate)}
        )
        for each in entry.arg_attrs or ()
        if isinstance(each, DictionaryAttr)
    ]
    if any(each.entries for each in others):
        made.attributes["arg_attrs"] = ArrayAttr(tuple(others))
    else:
        del made.attributes["arg_attrs"]


def requests(entry: structure.EntryOp, arch: str) -> AskedAttr | None:
    """Return what the hints for one architecture ask for; None if there are none."""
    hints = entry.hints
    values = {
        NUM_CTAS: hint(hints, arch, "num_cta_in_cga"),
        WARPS: worker_warps(entry, hints, arch),
        OCCUPANCY: hint(hints, arch, "occupancy"),
    }
    asked = [Request(key, value, ENTRY) for key, value in values.items() if value is not None]
    return AskedAttr(asked) if asked else None


def patterns(arch: Arch) -> tuple[ConversionPattern, ...]:
    """Return the patterns that are not renamings."""
    return (poison, cast, _module(arch), _entry(arch))
