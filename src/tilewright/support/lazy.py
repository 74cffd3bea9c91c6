"""Lazy imports of package attributes."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from importlib import import_module


def imported(name: str, homes: Mapping[str, str], package: MutableMapping[str, object]) -> object:
    """Implement a package's `__getattr__`: import a name from its module and cache it."""
    if name not in homes:
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
    value = package[name] = getattr(import_module(homes[name]), name)
    return value
