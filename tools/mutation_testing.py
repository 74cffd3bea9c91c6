"""Mutation testing of the lowering from nv_tileaa to nvgpu: `make mutate`.

A mutant is the compiler with one pass disabled, with one pattern or rule unregistered, without one
row of the tables by which layout assignment treats an operation, with one function that always
answers the same, or without one step of a lowering, such as a wait or a fence. It is killed if a
FileCheck test of its own package fails, or else a unit test of that package. Nothing on disk is
changed: a mutant is made in this process and undone afterwards. A first run without mutants records
which cases apply which pattern, so that a mutant runs only the cases that can kill it; it also
finds the patterns that a conversion creates when it runs.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any, Final, NamedTuple

import pytest
from filecheck_runner import ROOT, Case, cases, problem

from tilewright.driver.pipelines import CHECKS, LOWERING_PIPELINE, PASSES, PLAN
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.pipeline_text import find_pass
from tilewright.ir.rules import Rule

TESTS: Final = ROOT.parent
LEVELS: Final = (PLAN, "nv_tileas", "nvgpu")
"""The steps of the lowering pipeline whose passes are mutated: those below nv_tileaa."""
DIALECTS: Final = ("dialects.nv_tileaa", "dialects.nv_tileas")
"""Their canonicalization rules are mutated, too."""
TABLES: Final = (
    ("conversion.nv_tileaa_to_nv_tileas", "required_layouts", "_RULES"),
    ("conversion.nv_tileaa_to_nv_tileas", "patterns", "TILEAS_OPS"),
)
"""Tables by operation that stand for patterns: package, module and name."""
ANSWERS: Final = (
    # A stage that other CTAs copy to is released in its own CTA alone, and counted there.
    ("conversion.nv_tileas_to_nvgpu", "dialects.nv_tileas.pipeline", "rank_differences", [0]),
    # A stage is released while a dot in flight reads it.
    ("transforms.nv_tileas", "transforms.nv_tileas.copy_groups", "retiring_waits", []),
    # Consumers wait for a stage that the producer cannot fill before they release another one.
    ("transforms.nv_tileas", "transforms.nv_tileas.specialize_warps", "held_stages", 1),
    # A loop is rotated past its stores and ordered loads.
    ("transforms.nv_tileaa", "transforms.nv_tileaa.rotate_dots", "is_repeatable", True),
    # A loop takes over the pipeline of one that ends elsewhere.
    ("transforms.pipeline", "transforms.pipeline.pipeline_loops", "chain_problem", None),
    # Dots are in flight at branches.
    ("transforms.nv_tileas", "transforms.nv_tileas.overlap_dots", "_is_control_flow", False),
    # Stores, waits, dots and allocations lose their order.
    ("transforms.nv_tileas", "transforms.nv_tileas.schedule_operations", "_is_fixed", False),
    # Loads are issued before computations.
    ("transforms.nv_tileas", "transforms.nv_tileas.schedule_operations", "_computes", False),
    # Loads are issued with exchanges, and operations with an effect, that they need.
    ("transforms.nv_tileas", "transforms.nv_tileas.schedule_operations", "_is_cheap", True),
    # Threads exchange the accumulators of a dot that are B of another.
    (
        "conversion.nv_tileaa_to_nv_tileas",
        "conversion.nv_tileaa_to_nv_tileas.dot_columns",
        "_chained",
        None,
    ),
    # No barrier orders the reads of a dot, or of one in flight, before the next write.
    ("transforms.nv_tileas", "transforms.nv_tileas.shared_accesses", "_operand_memory", []),
)
"""Functions that a package decides by: package, module and name, and the answer of the mutant."""
STEPS: Final = (
    ("conversion.nv_tileas_to_nvgpu", "pipelines.tma_stores", "fence_proxy"),
    ("conversion.nv_tileas_to_nvgpu", "pipelines.tma_stores", "BoxStore.wait_for_stage"),
    ("transforms.pipeline", "expansion", "predicate"),
    ("transforms.nv_tileas", "agents", "wait_for_stores"),
    ("transforms.nv_tileas", "keep_tiles", "wait_for_copies"),
    ("transforms.nv_tileaa", "cluster_choice", "check_order"),
    ("transforms.tile", "one_part", "check_unobserved"),
)
"""Functions and methods that return nothing, without which memory is accessed too early, by another
CTA, or not at all."""


def mutated_packages() -> tuple[str, ...]:
    """The packages of the passes that run between nv_tileaa and nvgpu, and the dialects."""
    texts = [step.text for level in LEVELS for step in LOWERING_PIPELINE[level]]
    steps = [text.partition("{")[0] for text in texts]
    names = dict.fromkeys([*steps, *CHECKS.split(",")])
    packages = {_package(PASSES[name].partition(":")[0]): None for name in names}
    packages.pop("transforms.generic")
    return (*packages, *DIALECTS)


def _package(module: str) -> str:
    """The package of a pass: the module itself if it is one, else its parent."""
    is_package = hasattr(import_module(module), "__path__")
    package = module if is_package else module.rpartition(".")[0]
    return package.removeprefix("tilewright.")


PACKAGES: Final = mutated_packages()


class Mutant(NamedTuple):
    """A pass, a pattern or a rule whose absence a test must notice."""

    package: str
    kind: str
    name: str

    @property
    def id(self) -> str:
        """The mutant, for reports."""
        return f"{self.package}: {self.kind} {self.name}"


class Switchboard:
    """All passes, patterns and rules, each of which can be watched or switched off.

    A pass is switched off when it does nothing, a pattern when it never applies: that is what
    unregistering it does.
    """

    def __init__(self) -> None:
        self.off: Mutant | None = None
        self.applied: set[Mutant] = set()
        """The mutants whose original was applied since the last clear."""
        self.known: dict[Mutant, None] = {}
        for package in PACKAGES:
            self._switch_passes(package)
            for module in _modules(f"tilewright.{package}"):
                for rewrite in _declared(module):
                    self._switch_rewrite(rewrite, module.__name__)
        self._switch_created_patterns()
        for package, module, name, answer in ANSWERS:
            home = import_module(f"tilewright.{module}")
            mutant = Mutant(package, "answer", f"{module}.{name}")
            setattr(home, name, self._switched(mutant, getattr(home, name), answer))
        for step in STEPS:
            self._switch_step(*step)
        self._rows: dict[Mutant, tuple[dict[Any, Any], Any]] = {}
        for package, module, name in TABLES:
            table = getattr(import_module(f"tilewright.{package}.{module}"), name)
            for operation in table:
                mutant = Mutant(package, "row", f"{module}.{name}[{operation.name}]")
                self.known[mutant] = None
                self._rows[mutant] = table, operation

    @contextmanager
    def without(self, mutant: Mutant) -> Generator[None, None, None]:
        """Switch one of them off."""
        table, operation = self._rows.get(mutant, ({mutant: None}, mutant))
        row = table.pop(operation)
        self.off = mutant
        try:
            yield
        finally:
            table[operation] = row
            self.off = None

    def _switch_passes(self, package: str) -> None:
        for name, target in PASSES.items():
            if target.startswith((f"tilewright.{package}:", f"tilewright.{package}.")):
                kind: Any = find_pass(name, PASSES)
                kind.run = self._switched(Mutant(package, "pass", name), kind.run)

    def _switch_rewrite(self, rewrite: ConversionPattern | Rule, module: str) -> None:
        if getattr(rewrite.apply, "mutant", None) is not None:
            return
        mutant = _mutant_of(rewrite, module)
        if mutant is not None:
            rewrite.apply = self._switched(mutant, rewrite.apply)

    def _switch_step(self, package: str, module: str, name: str) -> None:
        owner: Any = import_module(f"tilewright.{package}.{module}")
        *outer, last = name.split(".")
        for each in outer:
            owner = getattr(owner, each)
        mutant = Mutant(package, "step", f"{module}.{name}")
        setattr(owner, last, self._switched(mutant, getattr(owner, last)))

    def _switch_created_patterns(self) -> None:
        """Some conversions create their patterns for each kernel."""
        kind: Any = ConversionPattern
        original = kind.__init__

        def create(pattern: ConversionPattern, *arguments: Any, **named: Any) -> None:
            original(pattern, *arguments, **named)
            apply: Any = pattern.apply
            self._switch_rewrite(pattern, str(apply.__module__))

        kind.__init__ = create

    def _switched(
        self, mutant: Mutant, original: Callable[..., Any], answer: Any = None
    ) -> Callable[..., Any]:
        self.known[mutant] = None

        def switched(*arguments: Any) -> Any:
            if mutant == self.off:
                return answer
            try:
                result = original(*arguments)
            except Exception:
                self.applied.add(mutant)  # it reports an error
                raise
            if result is not None or mutant.kind in ("pass", "step"):
                self.applied.add(mutant)
            return result

        switched.mutant = mutant  # pyrefly: ignore[missing-attribute]
        return switched


def _mutant_of(rewrite: ConversionPattern | Rule, module: str) -> Mutant | None:
    """The mutant without a pattern or a rule of a module, if that is in one of the packages."""
    for package in PACKAGES:
        if module.startswith(f"tilewright.{package}."):
            kind = "rule" if isinstance(rewrite, Rule) else "pattern"
            short = module.removeprefix(f"tilewright.{package}.")
            return Mutant(package, kind, f"{short}.{rewrite.name}")
    return None


def _modules(name: str) -> Iterator[Any]:
    module = import_module(name)
    for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield from _modules(f"{name}.{entry.name}")
    yield module


def _declared(module: Any) -> Iterator[ConversionPattern | Rule]:
    """The patterns and rules of a module: by name, or in its tuples of them."""
    for value in vars(module).values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, ConversionPattern | Rule):
                yield each


def covering_cases(switches: Switchboard) -> dict[Mutant, list[Case]]:
    """Run all cases unchanged: which of them apply which pattern, rule or pass."""
    covering: dict[Mutant, list[Case]] = {}
    for case in cases():
        switches.applied.clear()
        failure = problem(case)
        if failure is not None:
            sys.exit(f"{case.id}: expected it to pass without mutants, got {failure}")
        for mutant in switches.applied:
            covering.setdefault(mutant, []).append(case)
    return covering


def killer(mutant: Mutant, covering: list[Case], *, units: bool) -> str | None:
    """The first test of the mutant's own package that fails with it."""
    own = ROOT.joinpath(*mutant.package.split("."))
    # A pattern that only rejects is never recorded as applied.
    for case in covering or cases(own):
        if case.path.is_relative_to(own) and problem(case) is not None:
            return case.id
    return _unit_test(mutant) if units else None


def _unit_test(mutant: Mutant) -> str | None:
    folder = TESTS.joinpath("unit", *mutant.package.split("."))
    if not folder.exists():
        return None
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        code = pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", str(folder)])
    return str(folder.relative_to(TESTS)) if code == pytest.ExitCode.TESTS_FAILED else None


def main() -> int:
    """Report every mutant that survives; the exit code says whether there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="also list killed mutants")
    parser.add_argument("--filecheck-only", action="store_true", help="run no unit tests")
    parser.add_argument("-k", metavar="TEXT", default="", help="only mutants whose id has this")
    options = parser.parse_args()
    start = time.monotonic()
    switches = Switchboard()
    covering = covering_cases(switches)
    targets = [mutant for mutant in switches.known if options.k in mutant.id]
    survivors = 0
    for mutant in targets:
        with switches.without(mutant):
            test = killer(mutant, covering.get(mutant, []), units=not options.filecheck_only)
        survivors += test is None
        if test is None or options.verbose:
            print(f"killed    {mutant.id} by {test}" if test else f"survived  {mutant.id}")
    seconds = time.monotonic() - start
    killed = len(targets) - survivors
    print(f"mutants: {killed} of {len(targets)} killed, {survivors} survived, in {seconds:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
