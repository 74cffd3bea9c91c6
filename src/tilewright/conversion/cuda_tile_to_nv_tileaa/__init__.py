"""Lowering of Tile IR to nv_tileaa.

The patterns have three parts: A for arithmetic, shapes and control flow, B for memory, views,
modules and kernels, C for dots, reductions and scans. Eight patterns can be added one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa import (
    arithmetic,
    control_flow,
    memory,
    multimem,
    shapes,
    specialists,
    structure,
    views,
)
from tilewright.conversion.cuda_tile_to_nv_tileaa.adders import ADDERS
from tilewright.conversion.cuda_tile_to_nv_tileaa.hint_remarks import report_unmet_hints
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import PatternSet
from tilewright.conversion.cuda_tile_to_nv_tileaa.types import tileaa_types
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.conversion import Conversion, PatternFinder, convert_all
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.passes import Pass, option
from tilewright.ir.verifier import region_errors
from tilewright.support.diagnostics import Diagnostic, Severity, Sink, note
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch

LEGAL: Final = ("arith", "nv_tileaa", "func", "gpu", "scf", "math")
ILLEGAL: Final = "cuda_tile"
_PREFIX: Final = f"{ILLEGAL}."

NO_CAPABILITY: Final = "invalid or missing --compute-capability option"
NOT_CONVERTED: Final = "failed to convert cuda_tile to nv_tileaa"


def populate_part_a(patterns: PatternSet) -> None:
    """Add the patterns of arithmetic, comparisons, conversions, indexing and control flow."""
    patterns.rename(arithmetic.SAME)
    patterns.add(arithmetic.DIVISION, arithmetic.cmpi, arithmetic.cmpf, arithmetic.mini)
    patterns.add(*arithmetic.FUNCTIONS, arithmetic.ftoi)
    patterns.rename(shapes.SAME)
    patterns.add(*shapes.RENAMED, *shapes.PATTERNS, *control_flow.PATTERNS)


def populate_part_b(patterns: PatternSet, arch: Arch) -> None:
    """Add the patterns of memory, pointers, tokens, views, modules and kernels."""
    patterns.rename(memory.SAME)
    patterns.add(*memory.RENAMED, *memory.patterns(arch.name))
    patterns.rename(views.SAME)
    patterns.add(*views.patterns(arch.name), multimem.pattern(arch.name))
    patterns.add(*structure.RENAMED, *structure.patterns(arch))


def populate_part_c(patterns: PatternSet) -> None:
    """Add the patterns of dots, reductions and scans."""
    patterns.add(*specialists.PATTERNS)


def all_patterns(arch: Arch) -> PatternSet:
    """Return the patterns of all parts, and those of `ADDERS`."""
    patterns = PatternSet()
    populate_part_a(patterns)
    populate_part_b(patterns, arch)
    populate_part_c(patterns)
    for add in ADDERS:
        add(patterns)
    return patterns


def _has_new_type(op: PoisonOp) -> bool:
    return TYPES.is_legal_type(op.result.type)


TYPES: Final = tileaa_types()
TARGET: Final = ConversionTarget(LEGAL, (ILLEGAL,), {PoisonOp: _has_new_type})
"""Legality: no op of Tile IR, and `ub.poison` only with converted types."""


def find_capability(text: str) -> Arch | None:
    """Return the GPU of `sm_90`, `90` or `9.0`, or `None` if it is not known."""
    digits = text.strip().removeprefix("sm_").rstrip("af").replace(".", "", 1)
    return ARCHES.get(f"sm_{digits}")


def leftovers(root: Operation) -> Iterator[Diagnostic]:
    """Report the operations of Tile IR, the values of its types, and mismatched regions.

    Operations that are neither legal nor illegal may have such values, and so may their casts.
    """
    return _leftovers(root.regions)


def _leftovers(regions: Sequence[Region]) -> Iterator[Diagnostic]:
    seen: set[Type] = set()
    names: set[str] = set()
    for argument in _arguments(regions):
        if argument.type.mnemonic.startswith(_PREFIX):
            message = f"a value of type '{argument.type}' was not converted"
            yield Diagnostic(message, argument.location)
    for op in (op for region in regions for op in region.walk()):
        if op.name not in names:
            if op.name.startswith(_PREFIX):
                yield op.error("was not converted")
                continue
            names.add(op.name)
        if op.regions:
            yield from region_errors(op)
        for value in (*op.results, *_arguments(op.regions)) if op.regions else op.results:
            if value.type not in seen and _is_old(value.type, op, seen):
                yield op.error(f"has a value of type '{value.type}', which was not converted")


def _arguments(regions: Sequence[Region]) -> Iterator[Value]:
    return (arg for region in regions for block in region.blocks for arg in block.args)


def _is_old(type: Type, op: Operation, seen: set[Type]) -> bool:
    """Return whether a type should be converted; remember the types that need not be."""
    if not type.mnemonic.startswith(_PREFIX):
        seen.add(type)
        return False
    return op.name.partition(".")[0] in LEGAL


class ConvertCudaTileToTileAA(Pass):
    """Convert every program of Tile IR inside an operation to nv_tileaa."""

    name = "convert-cuda-tile-to-tileaa"
    is_required = True
    compute_capability: str = option(default="", doc="the target GPU, such as sm_90")

    def _expected(self) -> str:
        actual = f"found '{self.compute_capability}'" if self.compute_capability else "found none"
        return (
            f"pass option 'compute-capability': expected one of {', '.join(ARCHES)}, {actual}; "
            f"write --pass '{self.name}{{compute-capability=sm_90}}'"
        )

    def run(self, op: Operation, sink: Sink) -> None:
        arch = find_capability(self.compute_capability)
        if arch is None:
            sink.error(NO_CAPABILITY, op.location, note(self._expected()))
            return
        if not any(isinstance(inner, ModuleOp) for inner in op.walk()):
            return
        if sink.wants_remarks:
            report_unmet_hints(op, arch.name, sink)
        errors = Sink()
        finder = _finder(arch.name)
        conversion = Conversion(op, TARGET, finder, TYPES, partial=True, check=_leftovers)
        convert_all([conversion], errors)
        _report(errors.diagnostics, sink)


@cache
def _finder(arch: str) -> PatternFinder:
    """Return the pattern index of a GPU, cached because building it outweighs small programs."""
    return PatternFinder(all_patterns(ARCHES[arch]).compiled())


def _report(errors: list[Diagnostic], sink: Sink) -> None:
    """Report one error, with the details as notes."""
    if not errors:
        return
    notes = [Diagnostic(each.message, each.location, Severity.NOTE, each.notes) for each in errors]
    sink.error(NOT_CONVERTED, errors[0].location, *notes)
