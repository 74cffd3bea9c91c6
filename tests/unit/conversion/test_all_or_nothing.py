"""Conversions that fail leave their input untouched, however late they fail."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest
from each_case import each_case
from integrity import check_integrity

from tilewright.driver.compile import add_target_spec, wrap_in_module
from tilewright.driver.pipelines import LOWERING_PIPELINE, parse_pipeline, passes_to
from tilewright.driver.registry import context
from tilewright.ir.conversion import ConversionBuilder, PatternFinder, Result
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.operation import Operation
from tilewright.ir.rules import ByRoot
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

ARCH: Final = "sm_90"

TENSOR: Final = "tensor_view<64x64xf16, strides=[64,1]>"
VIEW: Final = f"partition_view<tile=(64x64), {TENSOR}>"
KERNEL: Final = f"""
  entry @{{name}}(%a: tile<ptr<f16>>, %n: tile<i32>) {{{{
    %va = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : {TENSOR}
    %p = make_partition_view %va : {VIEW}
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %first = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %sum = for %i in (%first to %n, step %one) : tile<i32>
        iter_values(%acc = %zero) -> (tile<64x64xf32>) {{{{
      %t, %k = load_view_tko weak %p[%x, %y] : {VIEW}, tile<i32> -> tile<64x64xf16>, token
      %r = mmaf %t, %t, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %r : tile<64x64xf32>
    }}}}
    %h = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
    %l = store_view_tko weak %h, %p[%x, %y] : tile<64x64xf16>, {VIEW}, tile<i32> -> token
    return
  }}}}
"""
TILE_IR: Final = "cuda_tile.module @m {" + KERNEL.format(name="f") + KERNEL.format(name="g") + "}"
"""Two kernels: the first must stay what it was when the second fails."""

QUEUE: Final = "!nv_tileaa.queue<[i32]>"
QUEUE_KERNEL: Final = f"""
  nv_tileaa.func @{{name}}(%n: i32, %m: i32, %c: i1)
      attributes {{{{kernel_spec = #nv_tileaa.kernel_spec<>}}}} {{{{
    %q = nv_tileaa.create_queue {{{{depth = 2 : i32}}}} : {QUEUE}
    nv_tileaa.queue.put %q : {QUEUE} {{{{ nv_tileaa.queue.yield %n : i32 }}}}
    scf.for %i = %n to %m step %n : i32 {{{{
      scf.if %c {{{{
        nv_tileaa.queue.put %q : {QUEUE} {{{{ nv_tileaa.queue.yield %i : i32 }}}}
        %x = nv_tileaa.queue.get %q : {QUEUE} -> i32 {{{{
        ^bb0(%y: i32):
          nv_tileaa.queue.yield %y : i32
        }}}}
      }}}}
    }}}}
    %r = nv_tileaa.queue.get %q : {QUEUE} -> i32 {{{{
    ^bb0(%y: i32):
      %z = nv_tileaa.addi %y, %n : i32
      nv_tileaa.queue.yield %z : i32
    }}}}
    nv_tileaa.return
  }}}}
"""
QUEUES: Final = (
    "gpu.module @kernels {" + QUEUE_KERNEL.format(name="f") + QUEUE_KERNEL.format(name="g") + "}"
)


def lowered_until(stop: str, text: str) -> Operation:
    """A copy of a program right before a pass of the lowering pipeline."""
    return _lowered_until(stop, text).clone()


@cache
def _lowered_until(stop: str, text: str) -> Operation:
    module = parse_text(text, context())
    verify(module)
    level = "cuda_tile" if text is TILE_IR else "nv_tileaa"
    levels = list(LOWERING_PIPELINE)
    if level == "nv_tileaa":
        add_target_spec(module, ARCHES[ARCH])
    for below in levels[levels.index(level) + 1 :]:
        module = wrap_in_module(module)
        passes = passes_to(below, ARCH).split(",")
        names = [each.partition("{")[0] for each in passes]
        if stop in names:
            head = passes[: names.index(stop)]
            if head:
                parse_pipeline(",".join(head)).run(module)
            return module
        parse_pipeline(",".join(passes)).run(module)
    raise AssertionError(f"no pass '{stop}'")


class Planted(Exception):
    """The planted failure of a pattern that crashes."""


class Plant:
    """Count the applications of patterns in all conversions, and make one of them fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.fails_at = 0
        self.crashes = False
        self._victim: Operation | None = None
        find = ByRoot.__call__

        def planted(finder: PatternFinder, kind: type[Operation]) -> tuple[ConversionPattern, ...]:
            return tuple(self._wrapped(pattern) for pattern in find(finder, kind))

        monkeypatch.setattr(PatternFinder, "__call__", planted)
        # Shortcuts of earlier conversions would go past the planted patterns.
        monkeypatch.setattr(PatternFinder, "shortcuts", lambda finder, target: {})

    def start(self, fails_at: int, *, crashes: bool) -> None:
        """Fail at one application of a pattern, the first being 1; never for 0."""
        self.count, self.fails_at, self.crashes = 0, fails_at, crashes
        self._victim = None

    def _wrapped(self, pattern: ConversionPattern) -> ConversionPattern:
        def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
            # All patterns for the operation must reject it, or another one would convert it.
            result = None if op is self._victim else pattern.apply(op, new, build)
            if result is None:
                return None
            self.count += 1
            if self.count != self.fails_at:
                return result
            if self.crashes:
                raise Planted
            self._victim = op
            return build.reject("planted failure")

        return ConversionPattern(pattern.roots, apply, pattern.name)


CONVERSIONS: Final = [
    ("convert-cuda-tile-to-tileaa", "{compute-capability=sm_90}", TILE_IR, None),
    ("convert-queues-to-pipelines", "", QUEUES, None),
    ("convert-tileaa-to-tileas", "", TILE_IR, None),
    ("convert-tileas-to-nvgpu", "", TILE_IR, None),
    ("convert-scf-to-cf", "", TILE_IR, "convert-gpu-nvgpu-to-nvvm"),
    ("convert-gpu-nvgpu-to-nvvm", "", TILE_IR, None),
]
"""The passes, their options, a program, and the pass in front of which it is converted."""


@pytest.mark.parametrize("crashes", [False, True], ids=["rejects", "crashes"])
@pytest.mark.parametrize(
    ("name", "options", "text", "stop"), CONVERSIONS, ids=[case[0] for case in CONVERSIONS]
)
def test_a_failure_at_the_last_pattern_leaves_the_input_untouched(
    name: str,
    options: str,
    text: str,
    stop: str | None,
    crashes: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = lowered_until(stop or name, text)
    before = print_op(module, debug=True)
    conversion = parse_pipeline(name + options)
    plant = Plant(monkeypatch)
    whole = module.clone()
    conversion.run(whole)
    assert print_op(whole, debug=True) != before
    last = plant.count
    assert last > 0
    plant.start(last, crashes=crashes)
    with pytest.raises(Planted if crashes else UserError):
        conversion.run(module)
    assert plant.count >= last
    assert print_op(module, debug=True) == before
    check_integrity(module)
    # Nothing of the failed attempt is in the way of another one.
    plant.start(0, crashes=False)
    conversion.run(module)
    assert print_op(module, debug=True) == print_op(whole, debug=True)


@pytest.mark.parametrize("crashes", [False, True], ids=["rejects", "crashes"])
def test_a_failure_at_any_pattern_of_layout_assignment_leaves_the_input_untouched(
    crashes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later operations take tiles that failed to convert: that must not hide the diagnostic."""
    module = lowered_until("convert-tileaa-to-tileas", TILE_IR)
    before = print_op(module, debug=True)
    conversion = parse_pipeline("convert-tileaa-to-tileas")
    plant = Plant(monkeypatch)
    conversion.run(module.clone())
    for number in range(1, plant.count + 1):
        plant.start(number, crashes=crashes)
        with pytest.raises(Planted if crashes else UserError):
            conversion.run(module)
        assert print_op(module, debug=True) == before
        check_integrity(module)


def test_types_of_tile_ir_that_are_left_leave_the_input_untouched() -> None:
    """The check for leftover types runs before the new program is installed."""
    rest = "nv_tileaa.func @rest(%x: !cuda_tile.tile<8xf32>) { nv_tileaa.return }"
    module = parse_text(f"builtin.module {{ {TILE_IR}\n{rest} }}", context())
    before = print_op(module, debug=True)
    with pytest.raises(UserError) as caught:
        parse_pipeline("convert-cuda-tile-to-tileaa{compute-capability=sm_90}").run(module)
    (error,) = caught.value.diagnostics
    assert any("which was not converted" in note.message for note in error.notes)
    assert print_op(module, debug=True) == before
    check_integrity(module)


GET: Final = f"""%x = nv_tileaa.queue.get %q : {QUEUE} -> i32 {{
    ^bb0(%y: i32):
      nv_tileaa.queue.yield %y : i32
    }}"""
PUT: Final = f"nv_tileaa.queue.put %q : {QUEUE} {{ nv_tileaa.queue.yield %n : i32 }}"


@each_case(
    "body",
    [
        f"{PUT}\n{GET}\n{GET.replace('%x', '%z')}",
        f"{PUT}\n{PUT}",
        f"scf.if %c {{\n{PUT}\n}}",
        f"scf.for %i = %n to %n step %n : i32 {{\n{PUT}\n}}",
        f"""{PUT}
        %w = scf.while (%a = %n) : (i32) -> i32 {{
          {GET}
          scf.condition(%c) %x : i32
        }} do {{
        ^bb0(%b: i32):
          scf.yield %b : i32
        }}""",
    ],
    ids=["get from an empty queue", "put into a full queue", "branch", "loop", "while"],
)
def test_queues_without_a_pipeline_slot_leave_the_input_untouched(body: str) -> None:
    kernel = f"""nv_tileaa.func @last(%n: i32, %c: i1)
        attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
      %q = nv_tileaa.create_queue : {QUEUE}
      {body}
      nv_tileaa.return
    }}"""
    module = parse_text(f"{QUEUES[:-1]}{kernel} }}", context())
    verify(module)
    before = print_op(module, debug=True)
    with pytest.raises(UserError, match="slot"):
        parse_pipeline("convert-queues-to-pipelines").run(module)
    assert print_op(module, debug=True) == before
    check_integrity(module)
