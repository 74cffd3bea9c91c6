"""Error bounds of approximate functions, from the PTX ISA manual.

Titles are those of its sections. Errors in ulps are relative to the ulp of the exact result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from ptx_probes import Probe, emulate

Array = np.ndarray[Any, np.dtype[Any]]


class Format(NamedTuple):
    """Bits of the fraction, and the least and greatest exponents of normal numbers."""

    fraction: int
    least: int
    greatest: int


FORMATS = {
    "f16": Format(10, -14, 15), "bf16": Format(7, -126, 127),
    "f32": Format(23, -126, 127), "f64": Format(52, -1022, 1023),
}  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sin": np.sin, "cos": np.cos, "lg2": np.log2, "ex2": np.exp2, "tanh": np.tanh,
    "sqrt": np.sqrt, "rcp": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x), "div": np.divide,
}  # fmt: skip

TEXTS = {
    # "Floating Point Instructions: sin", "… cos": absolute, by the range of the angle.
    "sin.f32": "2^-20.5 to 2π, 2^-14.7 to 100π", "cos.f32": "2^-20.5 to 2π, 2^-14.7 to 100π",
    # "… lg2": absolute if the operand is in (0.5, 2), otherwise relative.
    "lg2.f32": "2^-22 absolute in (0.5, 2), otherwise of the result",
    # "… ex2", from the correctly rounded result, "… rcp", "… div" (`.approx` and `.full`).
    "ex2.f32": "2 ulps", "rcp.f32": "1 ulp", "div.f32": "2 ulps",
    # "… sqrt", "… rsqrt", "… tanh": relative.
    "sqrt.f32": "2^-23 of the result", "rsqrt.f32": "2^-22.9 of the result",
    "tanh.f32": "2^-11 of the result",
    # "… rcp.approx.ftz.f64", "… rsqrt.approx.ftz.f64" give no error, but a format of 20 bits.
    "rcp.ftz.f64": "1 ulp of the upper word", "rsqrt.ftz.f64": "1 ulp of the upper word",
    # "… rsqrt" gives none for f64; CUDA's programming guide does for the function.
    "rsqrt.f64": "1 ulp",
    # "Half Precision Floating Point Instructions: tanh", absolute, and "… ex2", relative.
    "tanh.f16": "2^-10.987", "tanh.bf16": "2^-8",
    "ex2.f16": "2^-9.9 of the result", "ex2.bf16": "2^-7 of the result",
}  # fmt: skip

RELATIVE = {
    "sqrt.f32": 2.0**-23, "rsqrt.f32": 2.0**-22.9, "tanh.f32": 2.0**-11, "lg2.f32": 2.0**-22,
    "ex2.f16": 2.0**-9.9, "ex2.bf16": 2.0**-7,
}  # fmt: skip
ABSOLUTE = {"tanh.f16": 2.0**-10.987, "tanh.bf16": 2.0**-8}
ULPS = {"ex2.f32": 2, "rcp.f32": 1, "div.f32": 2, "rsqrt.f64": 1}


def key(opcode: str) -> str:
    """Return the key of an instruction in the tables."""
    first, *modifiers, type = opcode.split(".")
    upper = ".ftz" if type == "f64" and "ftz" in modifiers else ""
    return f"{first}{upper}.{type.removesuffix('x2')}"


def numbers(opcode: str, bits: Array) -> Array:
    """Operands or results as float64."""
    type = opcode.split(".")[-1].removesuffix("x2")
    raw = np.ascontiguousarray(bits)
    # NumPy warns of NaNs that are not quiet.
    with np.errstate(invalid="ignore"):
        if type == "bf16":
            wide = raw.view(np.uint16).astype(np.uint32) << np.uint32(16)
            return wide.view(np.float32).astype(np.float64)
        return raw.view(np.dtype(f"f{int(type[1:]) // 8}")).astype(np.float64)


def operands_of(probe: Probe) -> list[Array]:
    """Return the operands of a probe's instruction as float64: two per thread if packed."""
    return [numbers(probe.name, source) for source in probe.buffers()[0]]


def results_of(probe: Probe) -> Array:
    """Return the emulator's results as float64."""
    return numbers(probe.name, emulate(probe)[0])


def sample(probe: Probe, values: Array, count: int) -> Array:
    """Return the values of every n-th thread, as the GPU's results are recorded."""
    threads = values.reshape(probe.threads * probe.blocks, -1)
    return threads[:: values.size // count].reshape(-1)


def exact(opcode: str, operands: Sequence[Array]) -> Array:
    """Return the exact function of operands, flushed or truncated as the instruction does."""
    name, format = opcode.split(".")[0], _format(opcode)
    if key(opcode).endswith(".ftz.f64"):
        operands = [_upper(operand) for operand in operands]
    if ".ftz" in opcode:
        operands = [_flush(operand, format) for operand in operands]
    with np.errstate(all="ignore"):
        result = FUNCTIONS[name](*operands)
        if opcode.startswith("div.approx"):
            # The division multiplies by the reciprocal, which is zero for large divisors.
            large = np.abs(operands[1]) > 2.0**126
            result = np.where(large, operands[0] * np.copysign(0.0, operands[1]), result)
    return _flush(result, format) if ".ftz" in opcode else result


def allowed(opcode: str, operands: Sequence[Array], result: Array) -> Array:
    """Return the error bound of each result; infinite if the manual gives none."""
    name, format = key(opcode), _format(opcode)
    size = np.where(np.isnan(result), 0.0, np.abs(result))
    if name in ("sin.f32", "cos.f32"):
        angle = np.abs(operands[0])
        beyond = np.where(angle <= 100 * np.pi, 2.0**-14.7, np.inf)
        return np.where(angle <= 2 * np.pi, 2.0**-20.5, beyond)
    step = ulp(result, format._replace(fraction=20) if name.endswith(".ftz.f64") else format)
    bound = ULPS.get(name, 1 if name.endswith(".ftz.f64") else 0) * step
    bound = np.maximum(bound, RELATIVE.get(name, 0.0) * size)
    if name == "lg2.f32":
        inside = (operands[0] > 0.5) & (operands[0] < 2)
        bound = np.where(inside, 2.0**-22, bound)
    if name == "div.f32" and ".approx" in opcode:
        bounded = np.abs(operands[1]) >= 2.0**-126
        bound = np.where(bounded, bound, np.inf)
    # Among subnormal numbers no error can be smaller than a step; flushed ones are all zeros.
    least = 2.0**format.least if ".ftz" in opcode else 2.0 ** (format.least - format.fraction)
    bound = np.where(size < 2.0**format.least, np.maximum(bound, least), bound)
    return np.maximum(bound, ABSOLUTE.get(name, 0.0))


def errors(opcode: str, results: Array, operands: Sequence[Array]) -> Array:
    """Return the errors of results, as fractions of their bounds.

    Infinite for a NaN against a number. A result that overflows is one step above the largest.
    """
    wanted = exact(opcode, operands)
    with np.errstate(over="ignore", invalid="ignore"):
        bound = allowed(opcode, operands, wanted)
    limit = 2.0 ** (_format(opcode).greatest + 1) if _format(opcode).greatest < 1023 else np.inf
    a, b = np.clip(results, -limit, limit), np.clip(wanted, -limit, limit)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(a == b, 0.0, np.abs(a - b) / bound)
    apart = np.where(np.isposinf(bound), 0.0, apart)
    nans = np.isnan(a) & np.isnan(b)
    return np.where(nans, 0.0, np.where(np.isnan(apart), np.inf, apart))


def ulp(values: Array, format: Format) -> Array:
    """Return the ulp of numbers."""
    _, exponents = np.frexp(np.where(np.isfinite(values), values, 1.0))
    return np.ldexp(1.0, np.maximum(exponents - 1, format.least) - format.fraction)


def _format(opcode: str) -> Format:
    return FORMATS[opcode.split(".")[-1].removesuffix("x2")]


def _flush(values: Array, format: Format) -> Array:
    small = np.abs(values) < 2.0**format.least
    return np.where(small, np.copysign(0.0, values), values)


def _upper(values: Array) -> Array:
    bits = np.ascontiguousarray(values).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
    return bits.view(np.float64)
