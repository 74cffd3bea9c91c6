"""A stand-in for the CUDA driver of a machine with a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stand_in_gpu import StandIn, forget, install


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Replace the CUDA driver by the stand-in."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    stand_in = StandIn()
    install(monkeypatch, stand_in)
    yield stand_in
    forget()
