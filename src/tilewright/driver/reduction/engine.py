"""Delta debugging: try edits of a program, large groups of them first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.driver.files import is_bytecode
from tilewright.driver.reduction.attributes import (
    SIGNATURE,
    RemoveArguments,
    RemoveAttributes,
    RemoveEntries,
    RemoveLocations,
    RemoveOptionalOperands,
    ZeroConstants,
)
from tilewright.driver.reduction.control_flow import (
    RemoveBlockArguments,
    RemoveCarriedValues,
    SimplifyBranches,
)
from tilewright.driver.reduction.operations import (
    DropRegions,
    InlineRegions,
    RemoveOperations,
    nesting,
)
from tilewright.driver.reduction.types import ShrinkExtents, UnifyElements
from tilewright.ir.symbol_table import symbol_name
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.driver.reduction.strategy import Strategy
    from tilewright.ir.operation import Operation

_NUMBER = re.compile(r"\d+")


class Candidate(NamedTuple):
    """A program to test: as it is written to the file, and as it is read from it."""

    data: bytes
    module: Operation


class Size(NamedTuple):
    """What the reducer makes smaller: operations, then bytes, then numbers in the text."""

    operations: int
    bytes: int
    numbers: int

    @staticmethod
    def of(candidate: Candidate) -> Size:
        """The size of a program."""
        data, module = candidate
        text = print_op(module) if is_bytecode(data) else data.decode()
        numbers = sum(int(each) for each in _NUMBER.findall(text))
        return Size(count_operations(module), len(data), numbers)


def count_operations(module: Operation) -> int:
    """The operations of a program, without modules around them."""
    return sum(1 for op in module.walk() if not op.name.endswith(".module"))


def signatures(module: Operation) -> dict[str, object]:
    """The types of functions and kernels by their names."""
    return {
        name: op.attributes[SIGNATURE]
        for op in module.walk()
        if SIGNATURE in op.attributes and (name := symbol_name(op)) is not None
    }


class Form(NamedTuple):
    """How programs are written to files and read from them."""

    write: Callable[[Operation], bytes]
    read: Callable[[bytes], Operation]


class Reducer:
    """Reduces a program while a test calls it interesting; `best` is the smallest so far."""

    def __init__(
        self,
        form: Form,
        test: Callable[[Candidate], bool],
        accepted: Callable[[Reducer], object] = lambda reducer: None,
        *,
        keep_arguments: bool = False,
    ) -> None:
        self._form = form
        self._test = test
        self._accepted = accepted
        self._keep_arguments = keep_arguments
        self._signatures: dict[str, object] = {}
        self._seen: set[bytes] = set()
        self._failed: dict[str, Candidate] = {}
        """By the name of a strategy, the program that it could not make smaller."""
        self.tests = 0
        """The number of programs that were tested."""
        self.strategy = ""
        """The strategy that runs."""
        self.best: Candidate
        self.size: Size

    def start(self, candidate: Candidate) -> bool:
        """Take the program to reduce; returns whether it is interesting."""
        self.best = candidate
        self.size = Size.of(candidate)
        self._signatures = signatures(candidate.module)
        self.tests += 1
        self._seen.add(sha256(candidate.data).digest())
        return self._test(candidate)

    def run(self) -> Candidate:
        """Try all strategies until none makes the program smaller."""
        while True:
            before = self.best
            for strategy in self._strategies():
                self.strategy = strategy.name
                self._minimize(strategy)
            if self.best is before:
                return self.best

    def _strategies(self) -> Iterator[Strategy[Any]]:
        """The strategies in order: what removes the most first."""
        yield RemoveLocations()
        yield SimplifyBranches()
        level = 1
        while level <= max(map(nesting, self.best.module.walk())):
            yield RemoveOperations("operands", level)
            level += 1
        yield InlineRegions()
        yield DropRegions()
        yield RemoveCarriedValues()
        yield RemoveOperations("sources")
        yield RemoveOperations("constants")
        yield RemoveOperations("values")
        yield RemoveBlockArguments()
        yield RemoveArguments()
        yield RemoveOptionalOperands()
        yield RemoveAttributes()
        yield RemoveEntries()
        yield ZeroConstants()
        yield ShrinkExtents()
        yield UnifyElements()

    def _minimize(self, strategy: Strategy[Any]) -> None:
        """Apply a strategy to groups of its targets, from all of them to single ones."""
        before = self.best
        if self._failed.get(strategy.name) is before:
            return
        count = strategy.count(self.best.module)
        size = count
        while size:
            end = count
            while end > 0:
                start = max(0, end - size)
                if self._attempt(strategy, range(start, end)):
                    # Targets before the group mostly keep their numbers.
                    count = strategy.count(self.best.module)
                end = min(start, count)
            size = min(size // 2, count)
        if self.best is before:
            self._failed[strategy.name] = before

    def _attempt(self, strategy: Strategy[Any], chosen: Sequence[int]) -> bool:
        """Try an edit; again without cleanup, where the failure is in code that it makes dead."""
        for cleanup in (True, False):
            module = self.best.module.clone()
            try:
                is_cleaned = strategy.apply(module, chosen, cleanup=cleanup)
            except Exception:  # an edit that does not fit
                return False
            if self._accept(module):
                return True
            if not is_cleaned:
                return False
        return False

    def _accept(self, module: Operation) -> bool:
        """Make a program the best one if it is new, valid, smaller and interesting."""
        candidate = self._candidate(module)
        if candidate is None:
            return False
        size = Size.of(candidate)
        if size >= self.size:
            return False
        self.tests += 1
        if not self._test(candidate):
            return False
        self.best, self.size = candidate, size
        self._accepted(self)
        return True

    def _candidate(self, module: Operation) -> Candidate | None:
        """A program as the test sees it; None if it was seen before, or is invalid.

        What the test sees is read back and verified, so that a program that fails in another way
        because it is invalid is never taken for interesting.
        """
        try:
            data = self._form.write(module)
            digest = sha256(data).digest()
            if digest in self._seen:
                return None
            self._seen.add(digest)
            verify(module)
            again = self._form.read(data)
            verify(again)
            if self._keep_arguments and not signatures(again).items() <= self._signatures.items():
                return None
        except Exception:  # an invalid program, perhaps one that cannot be printed
            return None
        return Candidate(data, again)
