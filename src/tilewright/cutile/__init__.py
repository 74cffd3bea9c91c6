"""Kernels of cuTile Python without a GPU: run one, or have `ct.launch` run them all."""

from __future__ import annotations

from tilewright.cutile.launching import launch
from tilewright.cutile.switching import disable, enable
from tilewright.cutile.versions import KNOWN_VERSIONS

__all__ = ["KNOWN_VERSIONS", "disable", "enable", "launch"]
