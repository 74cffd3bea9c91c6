"""Benchmarks and autotuning without a GPU: functions run once, the first configuration is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

from tilewright.triton.notices import say_once
from tilewright.triton.versions import triton

ONCE: Final = (
    "benchmarks of Triton run a function once: the time is that of the emulator, not that of a GPU"
)
_MILLISECONDS: Final = 1e3


def bench_once(
    fn: Callable[[], object],
    *rest: Any,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **options: Any,
) -> Any:
    """`triton.testing.do_bench` without a GPU: run the function once and return its time."""
    say_once(ONCE)
    start = perf_counter()
    fn()
    time = (perf_counter() - start) * _MILLISECONDS
    if quantiles is not None:
        return [time] * len(quantiles) if len(quantiles) > 1 else time
    return [time] if return_mode == "all" else time


def bench_nothing(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
    """`Autotuner._bench` without a GPU: no configuration is faster than another."""
    return [1.0] * 3


def first_valid(prune: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let `Autotuner.prune_configs` return the first configuration that compiles and fits."""

    def prune_to_one(tuner: Any, kwargs: dict[str, Any]) -> Any:
        configurations = prune(tuner, kwargs)
        if len(configurations) < 2:
            return configurations
        chosen = next(
            (each for each in configurations if _fits(tuner, each, kwargs)), configurations[0]
        )
        say_once(
            f"autotuning of '{tuner.base_fn.__name__}': {chosen}, the first of "
            f"{len(configurations)} that compiles and fits the GPU; none is timed"
        )
        return [chosen]

    return prune_to_one


def _fits(tuner: Any, configuration: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a configuration compiles, within the capacities of the GPU."""
    errors = triton("runtime.errors")
    unfit = (
        errors.OutOfResources,
        errors.PTXASError,
        triton("compiler.errors").CompileTimeAssertionFailure,
    )
    named = dict(tuner.nargs)
    chosen = {**kwargs, **configuration.all_kwargs()}
    if configuration.pre_hook is not None:
        configuration.pre_hook({**named, **chosen})
    chosen.pop("grid", None)
    chosen.pop("warmup", None)
    try:
        kernel = tuner.fn.run(*named.values(), grid=(1,), warmup=True, **chosen)
        kernel._init_handles()
    except unfit:
        return False
    return True
