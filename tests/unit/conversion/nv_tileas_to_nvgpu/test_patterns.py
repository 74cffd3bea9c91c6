"""The conversion's table of patterns is complete."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tilewright.conversion import nv_tileas_to_nvgpu
from tilewright.conversion.nv_tileaa_to_nv_tileas.patterns import TILEAS_OPS
from tilewright.driver.registry import context

EXTERNAL = {
    "nv_tileaa.call_elementwise_intrinsic",
    "nv_tileaa.elementwise_inline_asm",
    "nv_tileaa.extern_elementwise",
    "nv_tileaa.inject_ir",
}
"""Operations that run code which is not part of the program; not supported in code for a GPU."""
UNSUPPORTED = {"nv_tileaa.conv_dot", "nv_tileaa.conv_tile", "nv_tileaa.launch_func"}
EARLIER = {
    "nv_tileaa.call",
    "nv_tileaa.create_queue",
    "nv_tileaa.pragma",
    "nv_tileaa.queue.get",
    "nv_tileaa.queue.put",
    "nv_tileaa.queue.yield",
}
"""Operations that `inline-calls` and `convert-queues-to-pipelines` have removed."""
WITH_PARENT = {
    "nv_tileaa.return",
    "nv_tileas.async.pipeline.yield",
    "nv_tileas.yield",
}
"""Operations that the pattern of the operation around them converts."""
WITHOUT = EXTERNAL | UNSUPPORTED | EARLIER | WITH_PARENT


def test_every_pattern_of_every_module_is_in_the_table() -> None:
    modules = pkgutil.walk_packages(nv_tileas_to_nvgpu.__path__, f"{nv_tileas_to_nvgpu.__name__}.")
    tables = [getattr(importlib.import_module(each.name), "PATTERNS", ()) for each in modules]
    patterns = [pattern for table in tables for pattern in table]
    assert len(patterns) > len(list(filter(None, tables))) > 0
    assert set(map(id, patterns)) == set(map(id, nv_tileas_to_nvgpu.PATTERNS))
    assert len(patterns) == len(nv_tileas_to_nvgpu.PATTERNS)


def test_the_pattern_for_any_operation_is_the_last() -> None:
    """A pattern after it would never be tried."""
    assert nv_tileas_to_nvgpu.PATTERNS[-1] is nv_tileas_to_nvgpu.elementwise.unsupported


@pytest.mark.parametrize("name", ["nv_tileaa", "nv_tileas"])
def test_every_operation_has_a_pattern_or_a_reason(name: str) -> None:
    """Operations of nv_tileaa that layout assignment replaces are not in the input."""
    dialect = context().dialect(name)
    assert dialect is not None
    roots = {root for pattern in nv_tileas_to_nvgpu.PATTERNS for root in pattern.roots}
    missing = {op for op, kind in dialect.ops.items() if kind not in {*roots, *TILEAS_OPS}}
    assert missing == {op for op in WITHOUT if op.startswith(f"{name}.")}
