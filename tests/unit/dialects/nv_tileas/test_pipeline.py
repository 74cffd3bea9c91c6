"""Text and verification of buffers, copies, pipelines and agents."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dialect_text import errors, read
from each_case import each_case

from tilewright.text.printer import print_op

PROGRAMS = sorted((Path(__file__).parents[3] / "run" / "low" / "nv_tileas").glob("*.mlir"))
LINE = "#nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>"
ROW = f"tensor<32xf32, {LINE}>"
TWO = (
    "tensor<64xf32, #nv_tileas.layout<[64], register = [], "
    "lane = [[1], [2], [4], [8], [16]], warp = [[32]]>>"
)
POINTER = "!nv_tileaa.ptr<f32>"
TOKEN = "!nv_tileaa.mem_token"
RING = "!nv_tileas.pipeline<2, [tensor<32xf32>]>"
ITERATOR = "!nv_tileas.pipeline_iterator<2>"
PIPE = "nv_tileas.async.pipeline"
CREATE = f"""%p = {PIPE}.create_pipeline : {RING}
%i = {PIPE}.create_iterator %p : {RING} -> {ITERATOR}
"""
ACQUIRE = f"%s = {PIPE}.producer_acquire %p[%i] : {RING}, {ITERATOR}\n"
WAIT = f"%s = {PIPE}.consumer_wait %p[%i] : {RING}, {ITERATOR}\n"
COMMIT = f"{PIPE}.producer_commit %p, %s : {RING}\n"


def problems(body: str, **arguments: str) -> list[str]:
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    return errors(f"nv_tileaa.func @f({signature}) {{ {body}\n nv_tileaa.return }}")


@each_case("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_read_as_they_are_printed(path: Path) -> None:
    op = read(path.read_text())
    once = print_op(op)
    assert print_op(read(once)) == once
    assert print_op(read(print_op(op, generic=True))) == once


@each_case(
    ("type", "message"),
    [
        ("buffer<shared, 0, 32xf32>", "a buffer has one stage or more, got 0"),
        ("buffer<shared, 1, f32>", "the extents of a buffer must be known"),
        (f"buffer<shared, 1, 4x{POINTER}>", "a buffer holds numbers"),
        ("pipeline<0, [f32]>", "a pipeline has one stage or more, got 0"),
    ],
)
def test_types_that_are_none(type: str, message: str) -> None:
    (problem,) = problems("", x=f"!nv_tileas.{type}")
    assert message in problem


def copy_into(buffer: str, source: str = POINTER) -> list[str]:
    text = f"%u = nv_tileas.async.copy %x, %b[%s] token = %t : {source}, {buffer}, {TOKEN}"
    return problems(text, x=source, b=buffer, s="i32", t=TOKEN)


def test_copies_go_to_shared_memory() -> None:
    assert copy_into("!nv_tileas.buffer<shared, 2, 32xf32>") == []
    (problem,) = copy_into("!nv_tileas.buffer<tensor, 2, 32xf32>")
    assert (
        "expected a target in shared memory, got '!nv_tileas.buffer<tensor, 2, 32xf32>'" in problem
    )
    (problem,) = copy_into("!nv_tileas.buffer<shared, 2, 32xf32>", "!nv_tileaa.ptr<f16>")
    assert "expected a source of 'f32', got 'f16'" in problem
    (problem,) = copy_into("!nv_tileas.buffer<shared, 2, 3xf32>")
    assert "expected stages of a multiple of 16 bytes, got 12" in problem


def test_what_is_read_has_the_shape_of_a_stage() -> None:
    def reading(buffer: str) -> list[str]:
        text = f"%v, %u = nv_tileas.read_buffer %b[%s] : {buffer} -> {ROW}"
        return problems(text, b=buffer, s="i32")

    assert reading("!nv_tileas.buffer<shared, 2, 32xf32>") == []
    (problem,) = reading("!nv_tileas.buffer<tensor, 2, 32xf32>")
    assert "expected a source in shared memory" in problem
    (problem,) = reading("!nv_tileas.buffer<shared, 2, 64xf32>")
    assert "expected a tile of shape 64, got 32" in problem


def test_slots_of_tokens_are_few() -> None:
    text = "%t = nv_tileas.async.create_token {{slot = {} : i32}} : !nv_tileas.async.token"
    assert problems(text.format(31)) == []
    (problem,) = problems(text.format(32))
    assert "expected one of 32 slots, got 32" in problem


def test_a_stage_holds_what_the_pipeline_says() -> None:
    write = f"{PIPE}.producer_write %p, %s, %v : {RING}, {{}}\n"
    assert problems(CREATE + ACQUIRE + write.format(ROW) + COMMIT, v=ROW) == []
    (problem,) = problems(CREATE + ACQUIRE + write.format(TWO) + COMMIT, v=TWO)
    assert "expected values of types ('tensor<32xf32>'), got ('tensor<64xf32>')" in problem


def test_tokens_belong_to_one_side_of_one_pipeline() -> None:
    (problem,) = problems(CREATE + WAIT + COMMIT)
    assert "has type !nv_tileas.consumer_token" in problem
    other = f"%o = {PIPE}.create_pipeline : {RING}\n"
    (problem,) = problems(CREATE + other + ACQUIRE + COMMIT.replace("%p", "%o"))
    assert "expected a token of the same pipeline, got one of another" in problem


def test_iterators_are_over_as_many_stages() -> None:
    three = "!nv_tileas.pipeline_iterator<3>"
    (problem,) = problems(f"%i = {PIPE}.create_iterator %p : {RING} -> {three}", p=RING)
    assert f"expected an iterator over 2 stages, got '{three}'" in problem


def test_the_lag_of_a_release_is_below_the_number_of_stages() -> None:
    release = f"{PIPE}.consumer_release %p, %s {{{{lag = {{}} : i32}}}} : {RING}\n"
    assert problems(CREATE + WAIT + release.format(1)) == []
    (problem,) = problems(CREATE + WAIT + release.format(2))
    assert "expected a lag of fewer stages than the 2 there are, got 2" in problem
    counted = WAIT.replace("[%i]", "[%i] {pending = 0 : i32}")
    assert problems(CREATE + counted + release.format(2)) == []


def test_pipelines_come_straight_from_their_creation() -> None:
    text = f"%s = {PIPE}.producer_acquire %p[%i] : {RING}, {ITERATOR}\n{COMMIT}"
    assert any(
        "expected a pipeline straight from its creation" in problem
        for problem in problems(text, p=RING, i=ITERATOR)
    )


BIG: Final = "!nv_tileas.pipeline<2, [tensor<64x32xf16>]>"
FRAGMENTS: Final = (
    "#nv_tileas.layout<[{}, 16], register = [[0, 1], [8, 0], [0, 8]{}], "
    "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>"
)
PART: Final = f"tensor<16x16xf16, {FRAGMENTS.format(16, '')}>"
TALL: Final = f"tensor<32x16xf16, {FRAGMENTS.format(32, ', [16, 0]')}>"
IN_MEMORY: Final = (
    "tensor<16x16xf16, #nv_tileas.layout<[16, 16], "
    "offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>>"
)


def reading(attributes: str, type: str = PART) -> list[str]:
    """The problems of reading a part of a stage of 64x32 elements."""
    read = f"%v = {PIPE}.consumer_read %p, %s {{{attributes}}} : {BIG} -> {type}\n"
    return problems((CREATE + WAIT).replace(RING, BIG) + read)


@each_case("at", ["0, 0", "16, 16", "48, 0", "48, 16"])
def test_a_part_of_a_stage_is_read_from_a_multiple_of_its_extents(at: str) -> None:
    assert reading(f"number = 0 : i32, at = array<i64: {at}>") == []


@each_case(("at", "message"), [
    ("8, 0", "expected a multiple of 16 up to 48 in 'at', got 8"),
    ("64, 0", "expected a multiple of 16 up to 48 in 'at', got 64"),
    ("-16, 0", "expected a multiple of 16 up to 48 in 'at', got -16"),
    ("0, 32", "expected a multiple of 16 up to 16 in 'at', got 32"),
    ("16", "expected 2 coordinates and extents, got 1 and 2"),
    ("0, 0, 0", "expected 2 coordinates and extents, got 3 and 2"),
])  # fmt: skip
def test_a_part_of_a_stage_is_within_its_tile(at: str, message: str) -> None:
    (problem,) = reading(f"number = 0 : i32, at = array<i64: {at}>")
    assert message in problem


def test_a_tall_part_begins_at_its_own_multiples() -> None:
    (problem,) = reading("number = 0 : i32, at = array<i64: 16, 0>", TALL)
    assert "expected a multiple of 32 up to 32 in 'at', got 16" in problem


def test_a_part_of_a_stage_is_of_one_value() -> None:
    (problem,) = reading("at = array<i64: 0, 0>")
    assert "expected the 'number' of the value that is read in part" in problem


def test_a_part_of_a_stage_has_the_elements_of_its_tile() -> None:
    (problem,) = reading("number = 0 : i32, at = array<i64: 0, 0>", PART.replace("f16", "i16"))
    assert "expected a part of 'tensor<64x32xf16>', got 'tensor<16x16xi16" in problem


def test_a_part_without_a_placement_is_not_in_shared_memory() -> None:
    (problem,) = reading("number = 0 : i32, at = array<i64: 0, 0>", IN_MEMORY)
    assert "expected a part with the placement of 'tensor<64x32xf16>', got" in problem


PLACED: Final = (
    "tensor<32x16xf16, #nv_tileas.layout<[32, 16], "
    "offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>"
)
IN_COLUMNS: Final = (
    "tensor<32x8xf16, #nv_tileas.layout<[32, 8], "
    "offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>"
)


@each_case(("type", "at", "count"), [
    (IN_MEMORY, "16, 0", 0),
    # Rows of a part that is half as wide do not follow each other.
    (IN_COLUMNS, "0, 8", 1),
    (IN_MEMORY.replace("[1, 0], [2, 0]", "[2, 0], [1, 0]"), "16, 0", 1),
])  # fmt: skip
def test_a_part_in_shared_memory_has_the_placement_of_a_tile(
    type: str, at: str, count: int
) -> None:
    ring = f"!nv_tileas.pipeline<2, [{PLACED}]>"
    read = (
        f"%v = {PIPE}.consumer_read %p, %s {{number = 0 : i32, at = array<i64: {at}>}} "
        f": {ring} -> {type}\n"
    )
    assert len(problems((CREATE + WAIT).replace(RING, ring) + read)) == count


ADDRESSES: Final = f"tensor<32x{POINTER}, {LINE}>"
OTHER_LINE: Final = LINE.replace("[1], [2]", "[2], [1]")
MASK: Final = f"tensor<32xi1, {LINE}>"
VIEW: Final = (
    "!nv_tileaa.tiled_view<tile = [32], source = !nv_tileaa.memref<1024xf32, strides = [1]>>"
)


def copying(operands: str, types: str, tile: str = f"tile = {ROW}") -> list[str]:
    """The problems of copying 32 elements to a stage: through `%x`, of the view `%v`, from `%q`."""
    copy = f"{PIPE}.producer_copy %p, %s, {operands} {{{tile}}} : {RING}, {types}\n"
    arguments = {"x": ADDRESSES, "m": MASK, "v": VIEW, "j": "i32", "q": POINTER, "c": "i1"}
    return problems(CREATE + ACQUIRE + copy + COMMIT, **arguments)


def test_tiles_of_pointers_are_copied_with_or_without_a_mask() -> None:
    assert copying("%x", ADDRESSES) == []
    assert copying("%x mask = %m", ADDRESSES) == []


def test_pointers_have_the_layout_of_the_copied_tile() -> None:
    (problem,) = copying("%x", ADDRESSES, f"tile = {ROW.replace(LINE, OTHER_LINE)}")
    assert "expected pointers in the layout of the copied tile, got 'tensor<32x!nv_til" in problem


def test_tiles_of_views_are_copied_with_or_without_a_mask() -> None:
    assert copying("%v[%j]", f"{VIEW}, i32") == []
    assert copying("%v[%j] mask = %c", f"{VIEW}, i32") == []


def test_only_tiles_have_a_mask() -> None:
    assert copying("%q", POINTER) == []
    (problem,) = copying("%q mask = %c", POINTER)
    assert "expected a mask only for a tile that threads copy" in problem


def test_tiles_of_pointers_have_no_indices() -> None:
    (problem,) = copying("%x[%j]", f"{ADDRESSES}, i32")
    assert "expected 0 indices, got 1" in problem


def agent(first: int, body: str) -> str:
    attributes = f"{{first = {first} : i32, warps = 1 : i32}}"
    return f"{PIPE}.agent_switch attributes {attributes} {{\n{body}{PIPE}.yield\n}}\n"


def test_one_agent_produces() -> None:
    assert problems(CREATE + agent(0, ACQUIRE + COMMIT) + agent(1, WAIT)) == []
    (problem,) = problems(CREATE + agent(0, ACQUIRE + COMMIT) + agent(1, ACQUIRE + COMMIT))
    assert "expected producers in one agent, got them in 2" in problem


def test_the_producer_of_a_drained_pipeline_acquires_all_stages_at_its_end() -> None:
    create = CREATE.replace("create_pipeline", "create_pipeline {drained}")
    last = "".join(ACQUIRE.replace("%s", f"%last{stage}") for stage in range(2))
    assert problems(create + agent(0, ACQUIRE + COMMIT + last) + agent(1, WAIT)) == []
    (problem,) = problems(create + agent(0, ACQUIRE + COMMIT) + agent(1, WAIT))
    assert "expected one warp to acquire all 2 stages at its end, got 0" in problem


def test_agents_are_not_parts_of_others() -> None:
    (problem,) = problems(agent(0, agent(0, "")))
    assert "expected an agent outside of all others" in problem
    yielding = f"{PIPE}.agent_switch attributes {{warps = 1 : i32}} {{\n{PIPE}.yield %x : i32\n}}\n"
    (problem,) = problems(yielding, x="i32")
    assert "expected the region to yield" in problem
