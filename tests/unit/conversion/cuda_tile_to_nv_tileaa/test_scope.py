"""Legality, options and diagnostics of the conversion to nv_tileaa."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest
from each_case import each_case
from tile_lowering import converted, failures, kernel, lines, parsed, tile_module

from tilewright.conversion.cuda_tile_to_nv_tileaa import (
    LEGAL,
    TARGET,
    TYPES,
    ConvertCudaTileToTileAA,
    all_patterns,
    leftovers,
)
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import PatternSet, Renaming
from tilewright.dialects.cuda_tile.core import IotaOp
from tilewright.dialects.cuda_tile.integer import SubIOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.nv_tileaa.shape import MakeRangeOp
from tilewright.dialects.ub import PoisonOp
from tilewright.driver.pipelines import LOWERING_PIPELINE, parse_pipeline
from tilewright.driver.registry import DIALECTS
from tilewright.ir.builder import create_op
from tilewright.ir.conversion import convert, converts
from tilewright.ir.conversion_builder import ConversionBuilder
from tilewright.ir.conversion_pattern import ConversionPattern, Result
from tilewright.ir.legality import ConversionTarget, Legality
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.ir.types import I32
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Severity, Sink, UserError
from tilewright.target.arch import ARCHES
from tilewright.text.printer import print_op

NOT_CONVERTED = "failed to convert cuda_tile to nv_tileaa"
NO_CAPABILITY = "invalid or missing --compute-capability option"

BODY = """
%x = constant <f32: 1.0> : tile<8xf32>
%zero = constant <i32: 0> : tile<i32>
%one = constant <i32: 1> : tile<i32>
%sum = for %i in (%zero to %one, step %one) : tile<i32> iter_values(%a = %x) -> (tile<8xf32>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
  (%u: tile<f32>, %v: tile<f32>) {
    %w = addf %u, %v : tile<f32>
    yield %w : tile<f32>
  }
  %c = cmpf greater_than ordered %r, %r : tile<f32> -> tile<i1>
  %next = if %c -> (tile<8xf32>) {
    %d = addf %a, %a : tile<8xf32>
    yield %d : tile<8xf32>
  } else {
    yield %a : tile<8xf32>
  }
  continue %next : tile<8xf32>
}
"""


def named(name: str) -> Operation:
    """An operation of which only the name matters."""
    return UnregisteredOp(name)


def dialects(root: Operation) -> set[str]:
    return {op.dialect for op in root.walk() if op is not root}


@pytest.mark.requirement("R0-001")
def test_it_is_the_first_conversion_of_the_lowering_pipeline() -> None:
    passes = [step.text for steps in LOWERING_PIPELINE.values() for step in steps]
    conversions = [name for name in passes if name.startswith("convert-")]
    assert conversions[0].startswith("convert-cuda-tile-to-tileaa")
    assert list(LOWERING_PIPELINE)[:2] == ["cuda_tile", "nv_tileaa"]


@pytest.mark.requirement("R0-002", "R0-010")
def test_only_legal_dialects_are_left() -> None:
    module = converted(tile_module(BODY))
    assert dialects(module) <= set(LEGAL)
    assert {"arith", "nv_tileaa", "gpu", "scf"} == dialects(module)
    assert list(leftovers(module)) == []


@pytest.mark.requirement("R0-003")
def test_operations_of_other_dialects_stay() -> None:
    body = '%a = constant <f32: 1.0> : tile<8xf32>\n"other.op"() {x = 1 : i32} : () -> ()'
    module = parsed(tile_module(body))
    assert failures(module) == []
    (kept,) = [op for op in module.walk() if op.name == "other.op"]
    assert str(kept.attributes["x"]) == "1 : i32"
    assert kept.parent_op is not None
    assert kept.parent_op.name == "nv_tileaa.func"


@pytest.mark.requirement("R0-004", "R1-058")
def test_six_dialects_are_legal() -> None:
    verdicts = {name: TARGET.legality(named(f"{name}.anything")) for name in DIALECTS}
    legal = {name for name, verdict in verdicts.items() if verdict is Legality.LEGAL}
    assert legal == {"arith", "nv_tileaa", "func", "gpu", "scf", "math"}
    illegal = {name for name, verdict in verdicts.items() if verdict is Legality.ILLEGAL}
    assert illegal == {"cuda_tile"}


@pytest.mark.requirement("R0-005")
def test_tile_ir_is_illegal_as_a_dialect() -> None:
    module = parsed(tile_module('"cuda_tile.unheard_of"() : () -> ()'))
    (error,) = failures(module)
    assert error.message == NOT_CONVERTED
    assert "cuda_tile.unheard_of" in error.notes[0].message


@pytest.mark.requirement("R0-006", "R1-058", "R1-059")
def test_poison_types_are_converted() -> None:
    module = parsed(
        tile_module(
            "%p = ub.poison : !cuda_tile.tile<8xf32>\n%q = ub.poison : tensor<4xi32>\n"
            "%s = ub.poison : !cuda_tile.tile<f32>\n%t = ub.poison : !cuda_tile.token"
        )
    )
    assert failures(module) == []
    types = [str(op.results[0].type) for op in module.walk() if isinstance(op, PoisonOp)]
    assert types == ["tensor<8xf32>", "tensor<4xi32>", "f32", "!nv_tileaa.mem_token"]


@pytest.mark.requirement("R0-006")
def test_poison_of_an_unconvertible_type_fails() -> None:
    (error,) = failures(parsed(tile_module("%p = ub.poison : !cuda_tile.string")))
    assert error.message == NOT_CONVERTED


@pytest.mark.requirement("R0-008", "R0-060")
def test_undeclared_attributes_are_kept() -> None:
    (line, *_) = lines('%y = absf %x {note = "mine"} : tile<f32>', "%x: tile<f32>")
    assert line == '%0 = nv_tileaa.absf %arg0 {note = "mine"} : f32'


@pytest.mark.requirement("R0-008", "R0-069")
def test_axis_and_inclusive_are_accepted() -> None:
    body = """
    %s = scan %x {axis = 0 : i32, inclusive = true, identities = [0.0 : f32]}
        : tile<8xf32> -> tile<8xf32> (%a: tile<f32>, %b: tile<f32>) {
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }
    """
    first = lines("%x = constant <f32: 1.0> : tile<8xf32>" + body)[2]
    assert first.startswith("%1 = nv_tileaa.scan %0 {axis = 0 : i32, identities =")
    assert "inclusive = true" in first


@pytest.mark.requirement("R0-009", "R0-017", "R0-080")
@each_case("capability", ["", "abc", "sm_", "sm_abc", "75", "9.x", "-90"])
def test_a_bad_capability_is_rejected_before_any_change(capability: str) -> None:
    module = parsed(tile_module(BODY))
    before = print_op(module)
    (error,) = failures(module, capability)
    assert error.message == NO_CAPABILITY
    assert error.severity is Severity.ERROR
    assert print_op(module) == before


@pytest.mark.requirement("R0-009", kind="behaviour")
def test_no_pattern_is_built_for_a_bad_capability() -> None:
    class Watched(ConvertCudaTileToTileAA):
        @property
        def extra(self) -> Iterator[Renaming]:
            raise AssertionError("asked for patterns")

    sink = Sink()
    Watched(compute_capability="abc").run(parsed(tile_module(BODY)), sink)
    assert [error.message for error in sink.diagnostics] == [NO_CAPABILITY]


@each_case("capability", ["sm_90", "sm_90a", "90", "9.0", "sm_120", "10.0"])
def test_capabilities_in_every_spelling(capability: str) -> None:
    module = converted(tile_module("%a = constant <f32: 1.0> : tile<f32>"), capability)
    (inner,) = module.members()
    number = {"sm_120": 120, "10.0": 100}.get(capability, 90)
    spec = str(inner.attributes["nv_tileaa.target_spec"])
    assert print_op(inner).splitlines()[0].endswith(f"<compute_capability = {number}>}} {{"), spec


@pytest.mark.requirement("R0-016", "R0-080")
def test_unconvertible_ops_fail_and_leave_the_program_unchanged() -> None:
    body = """
    %zero = constant <i32: 0> : tile<i32>
    loop {
      %c = constant <i1: true> : tile<i1>
      if %c {
        return
      }
      continue
    }
    """
    module = parsed(tile_module(body))
    verify(module)
    before = print_op(module)
    (error,) = failures(module)
    assert error.message == NOT_CONVERTED
    assert print_op(module) == before


@pytest.mark.requirement("R0-018")
def test_unconverted_block_arguments_fail_in_the_verifier() -> None:
    module = parsed(
        """
        nv_tileaa.func @f(%x: tensor<8xf32>) -> f32 {
          %r = nv_tileaa.reduce %x {axis = 0 : i32} : tensor<8xf32> -> f32 {
          ^bb0(%a: !cuda_tile.tile<f32>, %b: !cuda_tile.tile<f32>):
            nv_tileaa.yield %a : !cuda_tile.tile<f32>
          }
          nv_tileaa.return %r : f32
        }
        """
    )
    with pytest.raises(UserError) as caught:
        verify(module)
    assert "expected block arguments of types ('f32', 'f32')" in str(caught.value)


@pytest.mark.requirement("R0-019")
@each_case(
    "body",
    [
        '"cuda_tile.unheard_of"() : () -> ()',
        "%p = ub.poison : !cuda_tile.string",
        '%a = constant <f32: 1.0> : tile<8xf32>\n"other.use"(%a) : (!cuda_tile.tile<8xf32>) -> ()',
    ],
)
def test_there_are_two_messages(body: str) -> None:
    errors = failures(parsed(tile_module(body))) + failures(parsed(tile_module(body)), "none")
    assert [error.message for error in errors] == [NOT_CONVERTED, NO_CAPABILITY]


@pytest.mark.requirement("R0-020", kind="behaviour")
def test_the_capability_is_checked_first() -> None:
    module = parsed(tile_module('"cuda_tile.unheard_of"() : () -> ()'))
    assert [error.message for error in failures(module, "none")] == [NO_CAPABILITY]


class Declared(MakeRangeOp):
    """The result of a declared pattern for `iota`."""


class Written(MakeRangeOp):
    """The result of a pattern function for `iota`."""


@converts(IotaOp)
def write_iota(op: IotaOp, new: IotaOp, build: ConversionBuilder) -> Result:
    return build.create(Written, types=build.types.convert(op.result.type))


def iota_becomes(*patterns: ConversionPattern | Renaming) -> type[Operation]:
    """The operation class that a pattern set lowers `iota` to."""
    collected = PatternSet()
    collected.add(*patterns)
    module = parsed(tile_module("%i = iota : tile<8xi32>"))
    target = ConversionTarget(LEGAL, (IotaOp.name,))
    convert(module, target, collected.compiled(), TYPES, partial=True)
    (made,) = [op for op in module.walk() if op.name == MakeRangeOp.name]
    return type(made)


@pytest.mark.requirement("R0-021")
def test_declared_patterns_fire() -> None:
    assert iota_becomes(Renaming(IotaOp, Declared)) is Declared


@pytest.mark.requirement("R0-020")
def test_declared_patterns_are_the_fallback_of_functions() -> None:
    declared = Renaming(IotaOp, Declared)
    assert iota_becomes(declared, write_iota) is Written
    assert iota_becomes(write_iota, declared) is Written


@pytest.mark.requirement("R0-020", "R0-021")
def test_the_pass_compiles_what_its_groups_declare() -> None:
    """Subtraction is declared: the pass converts it without a pattern function."""
    patterns = all_patterns(ARCHES["sm_90"])
    entries = [entry for entry in patterns if SubIOp in entry.roots]
    assert [type(entry) for entry in entries] == [Renaming]
    body = "%a = constant <i32: 1> : tile<8xi32>\n%b = subi %a, %a : tile<8xi32>"
    names = [op.name for op in converted(tile_module(body)).walk()]
    assert names.count("nv_tileaa.subi") == 1


@pytest.mark.requirement("R0-022")
@each_case("count", [0, 1, 3])
def test_all_modules_are_converted(count: int) -> None:
    texts = [tile_module("%i = iota : tile<8xi32>", name=f"m{n}") for n in range(count)]
    nested = " ".join([*texts[:1], *(f"builtin.module {{ {text} }}" for text in texts[1:])])
    module = converted(nested)
    names = [op.name for op in module.walk()]
    assert names.count("gpu.module") == names.count("nv_tileaa.make_range") == count


@pytest.mark.requirement("R0-023", kind="behaviour")
def test_all_groups_share_one_target() -> None:
    body = """
    %t = make_token : token
    %c = constant <f32: 1.0> : tile<4x4xf32>
    %m = mmaf %c, %c, %c : tile<4x4xf32>, tile<4x4xf32>, tile<4x4xf32>
    %n = addf %m, %m : tile<4x4xf32>
    """
    assert list(TARGET.problems(converted(tile_module(body)))) == []


@pytest.mark.requirement("R1-056")
def test_later_passes_do_not_create_tile_ir() -> None:
    module = converted(tile_module(BODY))
    for name in ("canonicalize", "cse", "licm", "dce", "fold", "reconcile-unrealized-casts"):
        parse_pipeline(name).run(module)
        verify(module)
        assert "cuda_tile" not in dialects(module), name


@pytest.mark.requirement("R1-057")
@pytest.mark.parametrize("operation", ["nv_tileaa.message", "nvvm.barrier0"])
def test_programs_contain_only_public_dialects(operation: str) -> None:
    text = {"nv_tileaa.message": 'nv_tileaa.message "x"', "nvvm.barrier0": "nvvm.barrier0"}
    with pytest.raises(UserError, match="is not of a public dialect"):
        verify(parsed(tile_module(text[operation])))
    verify(parsed(tile_module("%a = arith.constant 1 : i32")))


@pytest.mark.requirement("R1-062")
def test_the_final_check_reports_leftover_ops() -> None:
    module = converted(tile_module(BODY))
    block = next(op for op in module.walk() if op.name == "nv_tileaa.func").regions[0].block
    assert block.first is not None
    planted = create_op(IotaOp, types=[TileType((8,), I32)])
    planted.insert_before(block.first)
    messages = [problem.message for problem in leftovers(module)]
    assert messages == ["'cuda_tile.iota' op was not converted"]


@pytest.mark.requirement("R1-062")
def test_the_final_check_reports_leftover_types() -> None:
    text = "nv_tileaa.func @f(%x: !cuda_tile.tile<8xf32>) { nv_tileaa.return }"
    (problem,) = leftovers(parsed(text))
    assert "'!cuda_tile.tile<8xf32>'" in problem.message


@pytest.mark.requirement("R1-064")
@each_case("seed", range(3))
def test_the_order_of_patterns_does_not_matter(seed: int) -> None:
    patterns = list(all_patterns(ARCHES["sm_90"]).compiled())
    random.Random(seed).shuffle(patterns)
    module = parsed(tile_module(BODY))
    assert convert(module, TARGET, patterns, TYPES, partial=True)
    assert print_op(module) == print_op(converted(tile_module(BODY)))


@pytest.mark.requirement("R1-064")
def test_a_tile_of_a_view_is_one_load() -> None:
    body = """
    %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1]
        : tensor_view<64x64xf32, strides=[64,1]>
    %w = make_partition_view %v
        : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    %t, %k = load_view_tko weak %w[%i, %i]
        : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>
        -> tile<8x8xf32>, token
    """
    names = [op.name for op in kernel(body, "%p: tile<ptr<f32>>, %i: tile<i32>").walk()]
    assert names[1:4] == ["nv_tileaa.make_memref", "nv_tileaa.block_tile", "nv_tileaa.tiled_load"]


@pytest.mark.parametrize(
    ("start", "end"), [("if %c {", "}"), ("loop { if %c { break }", "continue }")]
)
def test_deeply_nested_programs_convert_in_deep_call_stacks(start: str, end: str) -> None:
    def deeper(frames: int, text: str) -> Operation:
        return deeper(frames - 1, text) if frames else converted(text)

    body = "\n".join([start] * 100 + [end] * 100)
    limit = sys.getrecursionlimit()
    module = deeper(300, tile_module(body, "%c: tile<i1>"))
    assert sum(op.dialect == "scf" for op in module.walk()) >= 200
    assert sys.getrecursionlimit() == limit
