"""Test programs of the levels below Tile IR: which GPUs they are for, and a run on the emulator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from programs import ProgramError, Run, extents, parse_labels, parse_runs, problems

import tilewright
from tilewright.driver.api import read_level
from tilewright.ptxsim import Buffer, Module
from tilewright.ptxsim.syntax import Function
from tilewright.ptxsim.tensor_map import TensorMap
from tilewright.target.arch import ARCHES, Arch
from tilewright.target.features import Feature

HOME = "sm_90"
"""The GPU to emulate, if a program supports it."""

MAP_TYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "uint8": "u8",
    "int8": "u8",
    "uint16": "u16",
    "int16": "u16",
    "uint32": "u32",
    "int32": "s32",
    "uint64": "u64",
    "int64": "s64",
}
"""Element types of tensor maps by dtype; other one-byte types are u8."""


@dataclass
class Outcome:
    """The outcome of a run."""

    arrays: dict[str, Any]
    printed: str
    failure: str | None = None


class Wrong(Exception):
    """A run that contradicts the program's expectations."""


def targets(text: str) -> list[Arch]:
    """The GPUs that a program is compiled for: all that one of its runs names."""
    wanted = {name for run in parse_runs(text) for name in arch_names(run)}
    return [arch for name, arch in ARCHES.items() if name in wanted]


def arch_names(run: Run) -> list[str]:
    """`sm_80,sm_90`, or every GPU that has the features of `tma+fp8`."""
    parts = run.arch.split(",")
    if all(part in ARCHES for part in parts):
        return parts
    try:
        features = [Feature[part.upper()] for part in run.arch.split("+")]
    except KeyError as error:
        raise ProgramError(f"line {run.line}: expected GPUs or features, got {error}") from None
    return [name for name, arch in ARCHES.items() if all(each in arch for each in features)]


def home(run: Run) -> str:
    """The GPU whose code the emulator runs."""
    names = arch_names(run)
    return HOME if HOME in names else names[0]


@cache
def ptx_of(text: str, name: str, arch: str) -> str:
    """Compile a program to PTX through the driver."""
    module = read_level(text, name)
    return tilewright.compile(module, arch, emit="ptx").ptx


def entry_of(run: Run, module: Module) -> Function:
    """The kernel that a run starts: the one it names, or the only one."""
    entries = module.syntax.entries()
    matching = [entry for entry in entries if run.entry in (None, entry.name)]
    if len(matching) != 1:
        raise ProgramError(f"line {run.line}: expected one kernel, got {len(matching)}")
    return matching[0]


def tensor_map(run: Run, name: str, array: Any, address: int) -> TensorMap:
    """The tensor map that a MAP directive describes; it is written outermost first."""
    options = dict(run.maps[name])
    del options["array"]
    dims = _sizes(run, options.pop("dims", None)) or array.shape[::-1]
    strides = _sizes(run, options.pop("strides", None)) or array.strides[-2::-1]
    made = TensorMap(
        address,
        options.pop("type", None) or MAP_TYPES.get(array.dtype.name, "u8"),
        dims,
        tuple(strides),
        _sizes(run, options.pop("box", None)) or dims,
        _sizes(run, options.pop("steps", None)) or (),
        swizzle=int(options.pop("swizzle", 0)),
        interleave=int(options.pop("interleave", 0)),
        nan=options.pop("fill", "zero") == "nan",
    )
    if options:
        raise ProgramError(f"line {run.line}: map {name}: unknown options {', '.join(options)}")
    return made


def _sizes(run: Run, text: str | None) -> tuple[int, ...] | None:
    return None if text is None else extents(text, run.line)[::-1]


def emulate(run: Run, text: str, name: str, seed: int, arch: str | None = None) -> Outcome:
    """Run a program on the emulator, with all checks."""
    module = Module(ptx_of(text, name, arch or home(run)))
    entry = entry_of(run, module)
    values = run.values()
    there = {
        name: module.upload(np.ascontiguousarray(value), name)
        for name, value in values.items()
        if isinstance(value, np.ndarray)
    }
    arguments: list[Any] = []
    for argument in (name for name in run.arguments if name not in run.data):
        if argument in run.maps:
            array = run.maps[argument]["array"]
            map = bytes(tensor_map(run, argument, values[array], int(there[array])))
            arguments.append(_map_argument(module, entry, len(arguments), map))
        else:
            arguments.append(there.get(argument, values[argument]))
    try:
        counters = module.launch(
            entry.name,
            run.grid,
            run.block,
            arguments,
            cluster=run.cluster,
            shared=run.shared,
            seed=seed,
        )
    except tilewright.UserError as error:
        return Outcome({}, "", error.render())
    arrays = {
        name: buffer.download().view(values[name].dtype).reshape(values[name].shape)
        for name, buffer in there.items()
    }
    return Outcome({**values, **arrays}, "".join(counters.output))


def _map_argument(module: Module, entry: Function, at: int, map: bytes) -> bytes | Buffer:
    """A map as the kernel takes it: by value, or by its address."""
    if entry.parameters[at].size == len(map):
        return map
    return module.alloc(len(map), "map").upload(map)


def check(run: Run, text: str, name: str, outcome: Outcome) -> None:
    """Raise `Wrong` if a run contradicts its expectations."""
    if outcome.failure is not None or run.failure is not None:
        _check_failure(run, text, name, outcome)
        return
    if sorted(outcome.printed.splitlines()) != sorted(run.prints):
        raise Wrong(f"expected to print {run.prints}, got {outcome.printed.splitlines()}")
    wrong = list(problems(run, run.values(), outcome.arrays))
    if wrong:
        raise Wrong("\n".join(wrong))


def _check_failure(run: Run, text: str, name: str, outcome: Outcome) -> None:
    if run.failure is None:
        raise Wrong(outcome.failure)
    if outcome.failure is None:
        raise Wrong(f"expected {run.failure.fault}, but the kernel ran to its end")
    labels = parse_labels(text)
    lines = [labels[label].partition(":")[0] for label in run.failure.labels]
    if not any(f"{name}:{line}" in outcome.failure for line in lines):
        raise Wrong(f"expected it in line {' or '.join(lines)}, got {outcome.failure}")
    for gist in (run.failure.fault, run.failure.gist):
        if gist not in outcome.failure.lower() and gist not in outcome.failure:
            raise Wrong(f"expected '{gist}', got {outcome.failure}")
