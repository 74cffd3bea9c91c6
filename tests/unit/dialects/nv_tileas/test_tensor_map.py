"""Tensor maps: their types, which placements TMA writes, and copies through them."""

from __future__ import annotations

from typing import Final

import pytest
from dialect_text import errors
from each_case import each_case

PIPE: Final = "nv_tileas.async.pipeline"
ROWS: Final = (
    "#nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], "
    "[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>"
)
COLUMNS: Final = (
    "#nv_tileas.layout<[64, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], "
    "[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]>"
)
MEMORY: Final = "!nv_tileaa.memref<?x?xf16, strides = [?, 1]>"
RING: Final = f"!nv_tileas.pipeline<2, [tensor<64x32xf16, {ROWS}>]>"
ITERATOR: Final = "!nv_tileas.pipeline_iterator<2>"


def view(source: str = MEMORY, rest: str = "") -> str:
    return f"!nv_tileaa.tiled_view<tile = [64, 32], source = {source}{rest}>"


def map_of(view: str, layout: str = ROWS, element: str = "f16", rest: str = "") -> str:
    return f"!nv_tileas.tensor_map<{view}, tensor<64x32x{element}, {layout}>{rest}>"


def problems(body: str, ctas: int = 1, **arguments: str) -> list[str]:
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    spec = f"kernel_spec = #nv_tileaa.kernel_spec<num_ctas = {ctas}, num_warps = 8>"
    function = f"nv_tileaa.func @f({signature}) attributes {{{spec}}}"
    return errors(f"{function} {{\n{body}\nnv_tileaa.return\n}}")


def agent(body: str, warps: int = 1) -> str:
    attributes = f"{{warps = {warps} : i32}}"
    return f"{PIPE}.agent_switch attributes {attributes} {{\n{body}\n{PIPE}.yield\n}}\n"


def creating(view: str, map: str | None = None) -> str:
    map = map or map_of(view)
    return (
        f"%m = nv_tileas.create_tensor_maps %v : {view} -> {map}\n"
        f"nv_tileas.release_tensor_maps %m : {map}\n"
    )


@each_case(("type", "message"), [
    (f"{MEMORY}, tensor<64x32xf16, {ROWS}>", "expected a tiled view of nv_tileaa"),
    (f"{view()}, f16", "expected a tile with a placement in shared memory, got 'f16'"),
    (f"{view()}, tensor<64x32xf16>", "expected a tile with a placement in shared memory"),
    (f"{view()}, tensor<64x32xbf16, {ROWS}>", "expected a tile of type 'tensor<64x32xf16>'"),
    (f"{view()}, tensor<64x32xf16, {ROWS}>, parts = 3", "expected a power of two of parts, got 3"),
    (f"{view()}, tensor<64x32xf16, {ROWS}>, parts = 0", "expected a power of two of parts, got 0"),
])  # fmt: skip
def test_types_that_are_none(type: str, message: str) -> None:
    (problem,) = problems("", x=f"!nv_tileas.tensor_map<{type}>")
    assert message in problem


@each_case(("source", "rest", "layout"), [
    (MEMORY, "", ROWS),
    (MEMORY, ", padding = zero", ROWS),
    (MEMORY, ", dims = [1, 0]", COLUMNS),
    ("!nv_tileaa.memref<?x?xf16, strides = [1, ?]>", "", COLUMNS),
    ("!nv_tileaa.memref<100x40xf16, strides = [40, 1]>", "", ROWS),
    ("!nv_tileaa.memref<1x40xf16, strides = [1, 1]>", "", ROWS),
])  # fmt: skip
def test_placements_with_contiguous_rows_in_memory(source: str, rest: str, layout: str) -> None:
    type = view(source, rest)
    assert problems(agent(creating(type, map_of(type, layout))), v=type) == []


@each_case(("source", "rest", "layout", "message"), [
    (MEMORY, "", COLUMNS, "expected boxes of rows along dimension 1, swizzled or not, got"),
    (MEMORY, ", dims = [1, 0]", ROWS, "expected boxes of rows along dimension 0"),
    (MEMORY, ", padding = nan", ROWS, "expected zeros as padding, got 'nan'"),
    (MEMORY, ", sparse = 0", ROWS, "expected a view without a sparse dimension"),
    ("!nv_tileaa.memref<?x?xf16, strides = [?, ?]>", "", ROWS, "one dimension with a stride of 1"),
    ("!nv_tileaa.memref<?x?xf16, strides = [1, 1]>", "", ROWS, "one dimension with a stride of 1"),
    (
        "!nv_tileaa.memref<100x36xf16, strides = [36, 1]>", "", ROWS,
        "expected strides that are multiples of 16 bytes, got",
    ),
])  # fmt: skip
def test_views_that_tma_does_not_copy(source: str, rest: str, layout: str, message: str) -> None:
    type = view(source, rest)
    (problem,) = problems(agent(creating(type, map_of(type, layout))), v=type)
    assert message in problem


@pytest.mark.parametrize("element", ["i1", "i4"])
def test_elements_have_whole_bytes(element: str) -> None:
    type = view(MEMORY.replace("f16", element))
    (problem,) = problems(agent(creating(type, map_of(type, element=element))), v=type)
    assert f"expected elements of 8, 16, 32 or 64 bits, got '{element}'" in problem


def test_one_warp_creates_maps_and_releases_them() -> None:
    create = creating(view())
    assert problems(agent(create), v=view()) == []
    (problem,) = problems(agent(create, warps=4), v=view())
    assert "expected an agent of one warp, got 4" in problem
    (problem,) = problems(create, v=view())
    assert "expected an agent of one warp, got all warps" in problem
    (problem,) = problems(agent(create.splitlines()[0]), v=view())
    assert "expected maps that are released" in problem


def test_each_view_has_a_map() -> None:
    other = view(rest=", padding = zero")
    (problem,) = problems(agent(creating(view(), map_of(other))), v=view())
    assert "expected a map of '!nv_tileaa.tiled_view" in problem
    types = f"{view()} -> {map_of(view())}, {map_of(view())}"
    text = f"%m:2 = nv_tileas.create_tensor_maps %v : {types}"
    assert any("got 1 views and 2 maps" in each for each in problems(agent(text), v=view()))


def test_all_maps_of_a_creation_are_released_together() -> None:
    map = map_of(view())
    create = (
        f"%m:2 = nv_tileas.create_tensor_maps %v, %v : {view()}, {view()} -> {map}, {map}\n"
        "nv_tileas.release_tensor_maps {} : {}\n"
    )
    assert problems(agent(create.format("%m#0, %m#1", f"{map}, {map}")), v=view()) == []
    for maps, types in (("%m#0", map), ("%m#1, %m#0", f"{map}, {map}")):
        (problem,) = problems(agent(create.format(maps, types)), v=view())
        assert "expected all maps of one creation, in order" in problem


def copying(
    copy: str, source: str, wait: str = "", ctas: int = 1, parts: str = "", **arguments: str
) -> list[str]:
    """The problems of a copy to a stage; `%m` is a map of `%v`."""
    ring = f"%p = {PIPE}.create_pipeline : {RING}\n"
    producer = creating(view(), map_of(view(), rest=parts)).replace(
        "nv_tileas.release",
        f"%i = {PIPE}.create_iterator %p : {RING} -> {ITERATOR}\n"
        f"%s = {PIPE}.producer_acquire %p[%i] : {RING}, {ITERATOR}\n"
        f"{PIPE}.producer_copy %p, %s, {copy} : {RING}, {source}\n"
        f"{PIPE}.producer_commit %p, %s : {RING}\n"
        "nv_tileas.release",
    )
    return problems(ring + agent(producer) + wait, ctas, v=view(), j="i32", **arguments)


TMA: Final = "engine = #nv_tileas.engine<tma>"
ONLY_MAPS: Final = "expected the engine 'tma' for tensor maps, and for nothing else, got"


def test_copies_through_maps_are_by_tma() -> None:
    map = map_of(view())
    assert copying(f"%m[%j, %j] {{{TMA}}}", f"{map}, i32, i32") == []
    (problem,) = copying("%m[%j, %j]", f"{map}, i32, i32")
    assert (
        "expected the engine 'tma' for tensor maps, and for nothing else, got 'cp_async'" in problem
    )
    (problem,) = copying(f"%v[%j, %j] {{{TMA}}}", f"{view()}, i32, i32")
    assert f"{ONLY_MAPS} 'tma'" in problem
    (problem,) = copying(f"%q {{{TMA}}}", "!nv_tileaa.ptr<f16>", q="!nv_tileaa.ptr<f16>")
    assert f"{ONLY_MAPS} 'tma'" in problem


def test_copies_through_maps_have_an_index_per_dimension_and_no_layout() -> None:
    map = map_of(view())
    (problem,) = copying(f"%m[%j] {{{TMA}}}", f"{map}, i32")
    assert "expected 2 indices, got 1" in problem
    (problem,) = copying(f"%m[%j, %j] mask = %c {{{TMA}}}", f"{map}, i32, i32", c="i1")
    assert "expected a mask only for a tile that threads copy" in problem
    tile = f"tile = tensor<64x32xf16, {ROWS}>"
    (problem,) = copying(f"%m[%j, %j] {{{TMA}, {tile}}}", f"{map}, i32, i32")
    assert "expected no 'tile' for a copy by TMA" in problem


def test_a_map_is_for_the_placement_of_the_stage() -> None:
    transposed = view(rest=", dims = [1, 0]")
    other = map_of(transposed, COLUMNS)
    (problem,) = copying(f"%n[%j, %j] {{{TMA}}}", f"{other}, i32, i32", n=other)
    assert "expected a tensor map for 'tensor<64x32xf16" in problem


def test_threads_do_not_count_copies_by_tma() -> None:
    map = map_of(view())
    wait = (
        f"%k = {PIPE}.create_iterator %p : {RING} -> {ITERATOR}\n"
        f"%w = {PIPE}.consumer_wait %p[%k] {{pending = 0 : i32}} : {RING}, {ITERATOR}\n"
    )
    (problem,) = copying(f"%m[%j, %j] {{{TMA}}}", f"{map}, i32, i32", wait)
    assert "expected a pipeline with mbarriers for a copy by TMA" in problem


@pytest.mark.parametrize(("warps", "message"), [(1, ""), (2, "expected an agent of one warp")])
def test_prefetches_by_one_warp(warps: int, message: str) -> None:
    map = map_of(view())
    reported = problems(agent(f"nv_tileas.prefetch_tensor_maps %m : {map}", warps), m=map)
    assert [message in each for each in reported] == [True] * bool(message)


def test_only_parameters_are_prefetched() -> None:
    map = map_of(view())
    body = creating(view()).replace(
        "nv_tileas.rel", f"nv_tileas.prefetch_tensor_maps %m : {map}\nnv_tileas.rel"
    )
    (problem,) = problems(agent(body), v=view())
    assert "expected maps that are parameters of the kernel" in problem


def test_a_map_has_boxes_for_each_part() -> None:
    """The tile has 4096 bytes, and a box at least 128."""
    for parts in (2, 32):
        map = map_of(view(), rest=f", parts = {parts}")
        assert problems(agent(creating(view(), map)), v=view()) == []
    map = map_of(view(), rest=", parts = 64")
    (problem,) = problems(agent(creating(view(), map)), v=view())
    assert "expected 64 boxes or more of rows along dimension 1" in problem


@each_case(("ctas", "parts", "mask", "message"), [
    (2, 2, 1, None),
    (4, 2, 2, None),
    (4, 4, 3, None),
    (1, 2, 1, "expected a mask of ranks in a cluster of 1 CTAs, got 1"),
    (2, 2, 2, "expected a mask of ranks in a cluster of 2 CTAs, got 2"),
    (3, 2, 1, "expected a mask of ranks in a cluster of 3 CTAs, got 1"),
    (4, 2, 3, "expected a tensor map with a part for each of 4 CTAs, got 2"),
    (4, 4, 1, "expected a tensor map with a part for each of 2 CTAs, got 4"),
])  # fmt: skip
def test_each_cta_multicasts_a_part(ctas: int, parts: int, mask: int, message: str | None) -> None:
    rest = f", parts = {parts}"
    copy = f"%m[%j, %j] {{{TMA}, multicast = {mask} : i32}}"
    reported = copying(copy, f"{map_of(view(), rest=rest)}, i32, i32", ctas=ctas, parts=rest)
    assert len(reported) == (message is not None)
    assert all(message in problem for problem in reported if message)


def test_threads_do_not_multicast() -> None:
    (problem,) = copying(
        "%q {multicast = 1 : i32}", "!nv_tileaa.ptr<f16>", ctas=2, q="!nv_tileaa.ptr<f16>"
    )
    assert "expected a multicast by TMA, got 'cp_async'" in problem


def test_bulk_copies_have_no_eviction_priority() -> None:
    (problem,) = copying("%q {evict_first}", "!nv_tileaa.ptr<f16>", q="!nv_tileaa.ptr<f16>")
    assert "expected 'evict_first' only for the copy of a tile, got an address" in problem
