"""Names of packages that are imported when somebody first asks for them."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from importlib import import_module


def imported(name: str, homes: Mapping[str, str], package: MutableMapping[str, object]) -> object:
    """What a package's `__getattr__` gives: a name from the module that is its home, kept there."""
    if name not in homes:
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
    value = package[name] = getattr(import_module(homes[name]), name)
    return value
