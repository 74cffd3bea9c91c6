"""Tile IR programs whose operations exchange much between warps, through shared memory."""

from __future__ import annotations

from math import prod

from matrix_programs import View


def kernel(views: list[View], compute: str, results: list[str]) -> str:
    """A kernel that loads the first views as `%x0` and so on, and stores results to the last."""
    inputs, outputs = views[: -len(results)], views[-len(results) :]
    lines = ["%zero = constant <i32: 0> : tile<i32>", *[each.text() for each in views]]
    for number, each in enumerate(inputs):
        at = ", ".join(["%zero"] * len(each.tile))
        type = f"!cuda_tile.{each.type}, tile<i32> -> {each.tile_type}, token"
        lines.append(f"%x{number}, %t{number} = load_view_tko weak %{each.name}v[{at}] : {type}")
    lines.append(compute)
    for value, each in zip(results, outputs, strict=True):
        at = ", ".join(["%zero"] * len(each.tile))
        type = f"{each.tile_type}, !cuda_tile.{each.type}, tile<i32> -> token"
        lines.append(f"%s_{each.name} = store_view_tko weak {value}, %{each.name}v[{at}] : {type}")
    parameters = ", ".join(f"%{each.name}p: tile<ptr<{each.element}>>" for each in views)
    return f"cuda_tile.module @m {{ entry @k({parameters}) {{ {chr(10).join(lines)} return }} }}"


def whole(name: str, shape: tuple[int, ...], element: str) -> View:
    """A view whose tensor is one tile."""
    strides = tuple([prod(shape[n + 1 :]) for n in range(len(shape))])
    return View(name, shape, strides, shape, element)


def aggregated(op: str, elements: list[str], shape: tuple[int, ...]) -> str:
    """Several tiles, added up by one `reduce` or `scan` along their first dimension."""
    result = shape if op == "scan" else shape[1:]
    views = [whole(f"a{n}", shape, each) for n, each in enumerate(elements)]
    outputs = [whole(f"b{n}", result, each) for n, each in enumerate(elements)]
    sources = ", ".join(f"%x{n}" for n in range(len(elements)))
    zeros = ", ".join(f"{'0.0' if each.startswith('f') else '0'} : {each}" for each in elements)
    tiles, reduced = (", ".join(each.tile_type for each in some) for some in (views, outputs))
    arguments = ", ".join(
        f"%l{n}: tile<{each}>, %r{n}: tile<{each}>" for n, each in enumerate(elements)
    )
    body = " ".join(
        f"%sum{n} = {'addf' if each.startswith('f') else 'addi'} %l{n}, %r{n} : tile<{each}>"
        for n, each in enumerate(elements)
    )
    types = ", ".join(f"tile<{each}>" for each in elements)
    yielded = f"{', '.join(f'%sum{n}' for n in range(len(elements)))} : {types}"
    results = [f"%y{n}" for n in range(len(elements))]
    how = " reverse=false" if op == "scan" else ""
    compute = f"""{", ".join(results)} = {op} {sources} dim=0{how} identities=[{zeros}]
      : {tiles} -> {reduced} ({arguments}) {{ {body} yield {yielded} }}"""
    return kernel([*views, *outputs], compute, results)
