"""Let Triton, and torch without CUDA, use the emulator as their GPU, and undo it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, Final

from tilewright.support.tracebacks import hide_frames_of
from tilewright.triton import notices
from tilewright.triton.benchmarks import bench_nothing, bench_once, first_valid
from tilewright.triton.cuda_module import replacements as cuda_replacements
from tilewright.triton.cuda_tensors import in_backward, is_accessible, modes
from tilewright.triton.driver import make_backend, make_driver
from tilewright.triton.launching import Machine
from tilewright.triton.options import DEFAULT_ARCH, Options
from tilewright.triton.versions import torch, triton

Replaced = tuple[Any, str, Any]
"""An object, the name of an attribute, and its value."""


class _Switch:
    """What is in effect: the attributes as they were, and the modes of torch."""

    lock: Final = RLock()
    replaced: Sequence[Replaced] = ()
    modes: tuple[Any, ...] = ()
    driver: Any = None
    backend: Any = None
    enabled: bool = False
    machines: dict[tuple[Options, bool], Machine] = {}  # noqa: RUF012
    """A machine for each way of running kernels: Triton keeps kernels with their launchers."""


def enable(
    *,
    arch: str = DEFAULT_ARCH,
    check: bool = True,
    seed: int = 0,
    max_steps: int | None = None,
    timeout: float | None = None,
    check_proxies: bool = False,
    cuda: bool = True,
) -> None:
    """Run Triton's kernels on the PTX emulator, in this process.

    Triton compiles them for `arch`. `check`, `seed`, `max_steps` and `timeout` are those of each
    launch; with `check_proxies`, missing proxy fences are errors too. With `cuda`, torch has a
    device "cuda", whose tensors are in the memory of the host, and kernels reject tensors that are
    not on it; without, torch stays as it is, and kernels take tensors on the CPU.
    """
    options = Options(arch, check, seed, max_steps, timeout, check_proxies)
    options.validate()
    # These fail before anything is replaced.
    triton()
    if cuda:
        torch()
    with _Switch.lock:
        disable()
        machine = _machine(options, cuda=cuda)
        hide_frames_of(machine.source.folder)
        _use_driver(machine)
        pending = _benchmark_replacements()
        if cuda:
            _Switch.modes = modes()
            pending += cuda_replacements(options)
            pending += _gradient_replacements(_Switch.modes[-1])
        _Switch.replaced = [_replace(*each) for each in pending]
        for mode in _Switch.modes:
            mode.__enter__()
        _Switch.enabled = True


def disable() -> None:
    """Undo `enable`; idempotent."""
    with _Switch.lock:
        if not _Switch.enabled:
            return
        for mode in reversed(_Switch.modes):
            mode.__exit__(None, None, None)
        for each in reversed(_Switch.replaced):
            _replace(*each)
        backends = triton("backends").backends
        backends["nvidia"] = _Switch.backend
        triton("runtime.driver").driver._active = _Switch.driver
        _Switch.modes, _Switch.replaced, _Switch.enabled = (), (), False
        notices.forget()


def _machine(options: Options, *, cuda: bool) -> Machine:
    machine = _Switch.machines.get((options, cuda))
    if machine is None:
        machine = Machine(options, is_accessible if cuda else _any, len(_Switch.machines))
        _Switch.machines[options, cuda] = machine
    return machine


def _any(tensor: Any) -> bool:
    return True


def _use_driver(machine: Machine) -> None:
    """Make the emulator the active driver, and end compilations at PTX."""
    backends = triton("backends").backends
    drivers = triton("runtime.driver").driver
    _Switch.backend, _Switch.driver = backends["nvidia"], drivers._active
    backend = make_backend(machine.options.check)
    backends["nvidia"] = replace(_Switch.backend, compiler=backend)
    drivers.set_active(make_driver(machine))


def _benchmark_replacements() -> list[Replaced]:
    testing, tuner = triton("testing"), triton("runtime.autotuner").Autotuner
    return [
        (testing, "do_bench", bench_once),
        (testing, "do_bench_cudagraph", bench_once),
        (tuner, "_bench", bench_nothing),
        (tuner, "prune_configs", first_valid(tuner.prune_configs)),
    ]


def _gradient_replacements(functions: Any) -> list[Replaced]:
    gradients, name = torch().autograd, "_engine_run_backward"
    return [(gradients, name, in_backward(functions, getattr(gradients, name)))]


def _replace(owner: Any, name: str, value: Any) -> Replaced:
    """Replace an attribute; return what restores it."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    return owner, name, before
