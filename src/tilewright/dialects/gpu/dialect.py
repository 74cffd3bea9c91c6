"""The gpu dialect: kernels and thread-level operations independent of the vendor."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.gpu import attributes, indices, structure, threads
from tilewright.ir.dialect import Dialect

GPU: Final = Dialect("gpu", attributes, indices, structure, threads)
