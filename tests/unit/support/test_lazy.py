"""Tests of names that are imported on first use."""

from __future__ import annotations

import pytest

import tilewright
from tilewright import cutile
from tilewright.support.lazy import imported


def test_a_name_is_imported_once() -> None:
    package: dict[str, object] = {"__name__": "shop"}
    value = imported("OrderedDict", {"OrderedDict": "collections"}, package)
    assert value.__module__ == "collections"
    assert package["OrderedDict"] is value


def test_other_names_are_missing() -> None:
    with pytest.raises(AttributeError, match="module 'shop' has no attribute 'deque'"):
        imported("deque", {"OrderedDict": "collections"}, {"__name__": "shop"})


@pytest.mark.parametrize("package", [tilewright, cutile], ids=lambda package: package.__name__)
def test_packages_have_what_they_list(package: object) -> None:
    names: list[str] = getattr(package, "__all__")  # noqa: B009
    assert all(hasattr(package, name) for name in names)
    assert set(names) <= set(dir(package))
    assert not hasattr(package, "nothing_of_that_name")
