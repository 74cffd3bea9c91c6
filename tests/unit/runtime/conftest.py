"""A machine with a GPU, as far as these tests can tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stand_in_gpu import StandIn, forget, install


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """The driver of that machine."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    stand_in = StandIn()
    install(monkeypatch, stand_in)
    yield stand_in
    forget()
