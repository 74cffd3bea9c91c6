"""Loops that become software pipelines, lowered as far as the passes that decide about them."""

from __future__ import annotations

from typing import Final

from gemm_text import KLoop, Names, extent, kernel, zeros
from integrity import check_integrity
from matrix_programs import View

from tilewright.dialects.nv_tileas.attribute_names import ENGINE, IN_FLIGHT, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import PLAN, level_pipeline, parse_pipeline, passes_to
from tilewright.driver.schedules import parse_schedule
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify

PADDING: Final = "padding_value = zero, "
TOKEN: Final = "%t0 = make_token : token"


def optimized(text: str, opt_level: int = 3) -> Operation:
    """A program after the Tile IR passes of an optimization level."""
    module = read_runnable(text, "kernel.mlir")
    passes = level_pipeline(opt_level)
    assert passes is not None
    passes.run(module)
    return module


def lowered_as_far_as(
    last: str,
    program: str | Operation,
    arch: str = "sm_90",
    opt_level: int = 3,
    schedule: str = "",
    *,
    checked: bool = False,
) -> Operation:
    """Lower a program to nv_tileas as far as the last run of a pass, that pass included."""
    parsed = read_runnable(program, "kernel.mlir") if isinstance(program, str) else program
    module = wrap_in_module(parsed)
    parse_pipeline(passes_to("nv_tileaa", arch, opt_level)).run(module)
    asked = parse_schedule(schedule)
    texts = [
        passes_to(each, arch, opt_level, checked=checked, schedule=asked)
        for each in (PLAN, "nv_tileas")
    ]
    passes = ",".join(texts).split(",")
    names = [each.partition("{")[0] for each in passes]
    if last in names:
        passes = passes[: len(names) - names[::-1].index(last)]
    parse_pipeline(",".join(passes)).run(module)
    check_integrity(module)
    verify(module)
    return module


def scheduled(
    program: str | Operation, arch: str = "sm_90", opt_level: int = 3, schedule: str = ""
) -> Operation:
    """Lower a program as far as `schedule-loops`, that pass included."""
    return lowered_as_far_as("schedule-loops", program, arch, opt_level, schedule)


def materialized(
    program: str | Operation,
    arch: str = "sm_90",
    schedule: str = "",
    replaced: ScheduleAttr | None = None,
) -> Operation:
    """Lower a program as far as `materialize-schedule`; a schedule may replace the chosen one."""
    module = scheduled(program, arch, schedule=schedule)
    for op in module.walk():
        if replaced is not None and SCHEDULE in op.attributes:
            op.attributes[SCHEDULE] = replaced
    parse_pipeline("materialize-schedule").run(module)
    check_integrity(module)
    verify(module)
    return module


def schedule_of(module: Operation) -> ScheduleAttr | None:
    """The schedule of the only loop of a program."""
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    schedule = loop.attributes.get(SCHEDULE)
    assert schedule is None or isinstance(schedule, ScheduleAttr)
    return schedule


def copied_loads(module: Operation) -> int:
    """How many loads are copied early."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    return sum(op.attributes.get(ENGINE) is CopyEngine.CP_ASYNC for op in loads)


def engines(module: Operation) -> list[CopyEngine | None]:
    """What copies the tile of each load early; None: nothing."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp | LoadOp)]
    attributes = [load.attributes.get(ENGINE) for load in loads]
    return [each if isinstance(each, CopyEngine) else None for each in attributes]


def dots_in_flight(module: Operation) -> int:
    """How many dots run beside copies."""
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    return sum(IN_FLIGHT in op.attributes for op in dots)


def copy_loop(
    rows: int = 64,
    padding: str = PADDING,
    token: str = TOKEN,
    after: str = "%t0",
    inside: str = "",
) -> str:
    """A loop that copies tiles of `rows` rows of 128 numbers: 512 bytes each."""
    tensor = "tensor_view<?x128xf32, strides=[128,1]>"
    view = f"partition_view<tile=({rows}x128), {padding}{tensor}>"
    tile = f"tile<{rows}x128xf32>"
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %first, %by, %bz = get_tile_block_id : tile<i32>
          %step, %ny, %nz = get_num_tile_blocks : tile<i32>
          {token}
          %pt = make_tensor_view %p, shape = [%n, 128], strides = [128, 1] : tile<i32> -> {tensor}
          %qt = make_tensor_view %q, shape = [%n, 128], strides = [128, 1] : tile<i32> -> {tensor}
          %pv = make_partition_view %pt : {view}
          %qv = make_partition_view %qt : {view}
          for %i in (%first to %n, step %step) : tile<i32> {{
            {inside}
            %a, %t1 = load_view_tko weak %pv[%i, %zero] token = %t0 : {view}, tile<i32> -> {tile}, token
            %t2 = store_view_tko weak %a, %qv[%i, %zero] token = {after} : {tile}, {view}, tile<i32> -> token
            continue
          }}
          return
        }}
      }}"""  # noqa: E501


MATMUL: Final = Names("%a", "%t1", "%b", "%t2", "%c")
"""The values of an iteration of `matmul`."""


def matmul(
    m: int,
    n: int,
    k: int,
    *,
    element: str = "f16",
    is_read: bool = False,
    occupancy: int = 0,
    divisor: int = 16,
    paddings: tuple[str, str] = ("zero", "zero"),
) -> str:
    """A matmul in a loop over tiles; `is_read`: the loop also adds up the partial results.

    Strides are multiples of a divisor; A and B have paddings.
    """
    extents, strides = ("%n16", "%n16"), ("%n16", 1)
    a = View("p", extents, strides, (m, k), element, paddings[0], "p")
    b = View("q", extents, strides, (k, n), element, paddings[1], "q")
    c = View("r", (m, n), (n, 1), (m, n), "f32", "", "r", aligned=False)
    tile = c.tile_type
    after = f"%s = addf %u, %d : {tile}\ncontinue %d, %s : {tile}, {tile}" if is_read else ""
    loop = KLoop(a, b, tile, MATMUL, carried=("%u", "%u", "%f"), after=after)
    body = f"""{zeros(tile)}
          {loop.text("%e")}
          %g = addf %e, %f : {tile}
          {c.store("%g")}"""
    return kernel(
        [a, b, c],
        body,
        arguments="%n: tile<i32>",
        hints=f"optimization_hints=<sm_90 = {{occupancy = {occupancy}}}>" if occupancy else "",
        before=extent("n16", "n", divisor),
    )
