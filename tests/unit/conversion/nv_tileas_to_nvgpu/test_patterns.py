"""The conversion's table of patterns is complete."""

from __future__ import annotations

import importlib
import pkgutil

from tilewright.conversion import nv_tileas_to_nvgpu


def test_every_pattern_of_every_module_is_in_the_table() -> None:
    modules = pkgutil.walk_packages(nv_tileas_to_nvgpu.__path__, f"{nv_tileas_to_nvgpu.__name__}.")
    tables = [getattr(importlib.import_module(each.name), "PATTERNS", ()) for each in modules]
    patterns = [pattern for table in tables for pattern in table]
    assert len(patterns) > len(list(filter(None, tables))) > 0
    assert set(map(id, patterns)) == set(map(id, nv_tileas_to_nvgpu.PATTERNS))
    assert len(patterns) == len(nv_tileas_to_nvgpu.PATTERNS)


def test_the_pattern_for_any_operation_is_the_last() -> None:
    """Whatever stands after it would never be tried."""
    assert nv_tileas_to_nvgpu.PATTERNS[-1] is nv_tileas_to_nvgpu.elementwise.unsupported
