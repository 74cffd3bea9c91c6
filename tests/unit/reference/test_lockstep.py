"""The checker of blocks in batches finds what that of blocks alone finds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from each_case import each_case

import tilewright
from tilewright.ir.operation import Operation
from tilewright.reference import launch
from tilewright.reference.errors import ExecutionError, Fault

SIZE = 48
"""The number of i32 in the array that all blocks access."""
TENSOR = f"tensor_view<{SIZE}xi32, strides=[1]>"
VIEW = f"partition_view<tile=(4), {TENSOR}>"
PROLOGUE = f"""
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %ones = constant <i32: 1> : tile<4xi32>
  %byte = constant <i8: 1> : tile<i8>
  %iota = iota : tile<4xi32>
  %start = make_token : token
  %bytes = ptr_to_ptr %p : tile<ptr<i32>> -> tile<ptr<i8>>
  %tensor = make_tensor_view %p, shape = [{SIZE}], strides = [1] : {TENSOR}
  %view = make_partition_view %tensor : {VIEW}
"""


class Generator:
    """Random programs of weak accesses, some of which race."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def program(self) -> str:
        body = "\n".join(self.block(["%start"], self.random.randint(2, 5), nesting=1))
        entry = f"entry @k(%p: tile<ptr<i32>>) {{ {PROLOGUE}\n{body}\nreturn }}"
        return f"cuda_tile.module @m {{ {entry} }}"

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def block(self, tokens: list[str], length: int, nesting: int) -> Iterator[str]:
        """Statements, whose tokens are appended to those that they may use."""
        for _ in range(length):
            kinds = [self.scalar, self.tile, self.byte, self.view]
            if nesting and self.random.random() < 0.3:
                yield from self.branch(tokens)
            else:
                yield from self.random.choice(kinds)(tokens)

    def branch(self, tokens: list[str]) -> Iterator[str]:
        condition, limit, result = self.name(), self.name(), self.name()
        yield f"{limit} = constant <i32: {self.random.randint(0, 3)}> : tile<i32>"
        yield f"{condition} = cmpi less_than %x, {limit}, signed : tile<i32> -> tile<i1>"
        yield f"{result} = if {condition} -> (token) {{"
        for side in range(2):
            inner = [*tokens]
            yield from self.block(inner, self.random.randint(0, 2), nesting=0)
            yield f"yield {self.random.choice(inner)} : token"
            yield "}" if side else "} else {"
        tokens.append(result)

    def token(self, tokens: list[str]) -> tuple[list[str], str]:
        """An optional token that depends on some others."""
        chosen = [token for token in tokens if self.random.random() < 0.7]
        if len(chosen) < 2:
            return [], f" token={chosen[0]}" if chosen else ""
        joined = self.name()
        types = ", ".join(chosen)
        return [f"{joined} = join_tokens {types} : token"], f" token={joined}"

    def offset(self, base: str, type: str, limit: int) -> tuple[list[str], str]:
        """The address of an element that often is that of one block."""
        stride = self.random.choice([0, 1, 4, 4, 8]) * (4 if type == "i8" else 1)
        stride, start = min(stride, limit // 6), self.random.randrange(limit // 2)
        by, first, scaled, index, address = (self.name() for _ in range(5))
        pointer = f"tile<ptr<{type}>>"
        return [
            f"{by} = constant <i32: {stride}> : tile<i32>",
            f"{first} = constant <i32: {start}> : tile<i32>",
            f"{scaled} = muli %x, {by} : tile<i32>",
            f"{index} = addi {scaled}, {first} : tile<i32>",
            f"{address} = offset {base}, {index} : {pointer}, tile<i32> -> {pointer}",
        ], address

    def access(self, tokens: list[str], address: str, type: str, value: str) -> Iterator[str]:
        statements, after = self.token(tokens)
        yield from statements
        pointer, token = f"tile<{type.replace('i', 'ptr<i')}>>", self.name()
        if self.random.random() < 0.5:
            yield f"{token} = store_ptr_tko weak {address}, {value}{after}"
            yield f": {pointer}, tile<{type}> -> token"
        else:
            yield f"{self.name()}, {token} = load_ptr_tko weak {address}{after}"
            yield f": {pointer} -> tile<{type}>, token"
        tokens.append(token)

    def scalar(self, tokens: list[str]) -> Iterator[str]:
        statements, address = self.offset("%p", "i32", SIZE)
        yield from statements
        yield from self.access(tokens, address, "i32", "%one")

    def byte(self, tokens: list[str]) -> Iterator[str]:
        statements, address = self.offset("%bytes", "i8", 4 * SIZE)
        yield from statements
        yield from self.access(tokens, address, "i8", "%byte")

    def tile(self, tokens: list[str]) -> Iterator[str]:
        statements, address = self.offset("%p", "i32", SIZE)
        yield from statements
        row, rows, tile = (self.name() for _ in range(3))
        yield f"{row} = reshape {address} : tile<ptr<i32>> -> tile<1xptr<i32>>"
        yield f"{rows} = broadcast {row} : tile<1xptr<i32>> -> tile<4xptr<i32>>"
        yield f"{tile} = offset {rows}, %iota : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>"
        yield from self.access(tokens, tile, "4xi32", "%ones")

    def view(self, tokens: list[str]) -> Iterator[str]:
        statements, after = self.token(tokens)
        yield from statements
        index, token = self.name(), self.name()
        yield f"{index} = addi %x, {self.random.choice(['%one', '%x'])} : tile<i32>"
        if self.random.random() < 0.5:
            yield f"{token} = store_view_tko weak %ones, %view[{index}]{after}"
            yield f": tile<4xi32>, {VIEW}, tile<i32> -> token"
        else:
            yield f"{self.name()}, {token} = load_view_tko weak %view[{index}]{after}"
            yield f": {VIEW}, tile<i32> -> tile<4xi32>, token"
        tokens.append(token)


def outcome(source: Operation, grid: int, seed: int) -> Fault | None:
    array = tilewright.mark_uninitialised(np.zeros(SIZE, np.int32))
    if grid % 2:
        array = np.zeros(SIZE, np.int32)
    try:
        tilewright.execute(source, None, grid, [array], check=True, seed=seed)
    except ExecutionError as error:
        return error.fault
    return None


@each_case("seed", range(60))
def test_the_same_programs_are_clean(seed: int) -> None:
    """Where a program is wrong in several ways, the order of blocks decides which is reported."""
    module = tilewright.read(Generator(seed).program())
    for grid in (1, 2, 3, 4):
        with pytest.MonkeyPatch.context() as patch:
            faults: list[Fault | None] = []
            for in_batches in (True, False):
                patch.setattr(launch, "runs_in_batches", lambda _, value=in_batches: value)
                faults.append(outcome(module, grid, seed))
        assert (faults[0] is None) == (faults[1] is None), (seed, grid, faults)
        assert grid % 2 == 0 or faults[0] == faults[1], (seed, grid, faults)


RACE = """cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %half = divi %x, %two signed : tile<i32>
  %to = offset %p, %half : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  ACCESSES
  return
} }"""
STORE = "%s = store_ptr_tko weak %to, %x : tile<ptr<i32>>, tile<i32> -> token"
LOAD = "%v, %l = load_ptr_tko weak %to : tile<ptr<i32>> -> tile<i32>, token"
SHARED = "%v, %l = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token"


@each_case("accesses", [[STORE], [LOAD, STORE.replace(" :", " token=%l :")], [SHARED, STORE]])
def test_a_race_between_blocks_names_both(accesses: list[str]) -> None:
    source = RACE.replace("ACCESSES", "\n".join(accesses))
    for seed in range(4):
        with pytest.raises(ExecutionError) as caught:
            tilewright.execute(source, None, 6, [np.zeros(3, np.int32)], check=True, seed=seed)
        assert caught.value.fault is Fault.RACE
        (diagnostic,) = caught.value.diagnostics
        (other,) = diagnostic.notes
        first, second = (int(str(d).split("in block (")[1][0]) for d in (diagnostic, other))
        assert first != second
        assert SHARED in accesses or first // 2 == second // 2
        lines = {int(str(d.location).split(":")[1]) for d in (diagnostic, other)}
        assert lines <= {6, 7}


UNDEFINED = """
!line = !cuda_tile.tensor_view<10xf32, strides=[1]>
!tile = !cuda_tile.partition_view<tile=(4), tensor_view<10xf32, strides=[1]>>
cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %line = make_tensor_view %p, shape = [10], strides = [1] : !line
  %view = make_partition_view %line : !tile
  %v, %t = load_view_tko weak %view[%x] : !tile, tile<i32> -> tile<4xf32>, token
  %late = cmpi greater_than_or_equal %x, %one, signed : tile<i32> -> tile<i1>
  %kept = if %late -> (tile<4xf32>) {
    %w = addf %v, %v : tile<4xf32>
    yield %w : tile<4xf32>
  } else {
    yield %v : tile<4xf32>
  }
  %sum = reduce %kept dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %s = addf %a, %b : tile<f32>
    yield %s : tile<f32>
  }
  %to = offset %out, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %stored = store_ptr_tko weak %to, %sum : tile<ptr<f32>>, tile<f32> -> token
  return
} }"""


def test_undefined_elements_are_followed_where_blocks_diverge() -> None:
    """Of three tiles, the last has elements out of bounds."""
    arrays = [np.ones(10, np.float32), np.zeros(3, np.float32)]
    tilewright.execute(UNDEFINED, None, 2, arrays, check=True)
    assert arrays[1].tolist() == [4, 8, 0]
    with pytest.raises(ExecutionError) as caught:
        tilewright.execute(UNDEFINED, None, 3, arrays, check=True)
    assert caught.value.fault is Fault.UNDEFINED
    assert "in block (2, 0, 0)" in str(caught.value)


FAR = """cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>, %wrong: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %is_wrong = cmpi equal %x, %wrong, signed : tile<i32> -> tile<i1>
  %back = select %is_wrong, %one, %zero : tile<i1>, tile<i32>
  %index = subi %x, %back : tile<i32>
  %to = offset %p, %index : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %to, %one : tile<ptr<i32>>, tile<i32> -> token
  return
} }"""


def test_a_sample_has_the_ends_of_the_grid_and_runs_all_blocks() -> None:
    """Block `wrong` stores where the one before it does."""
    count = 100_000
    array = tilewright.mark_uninitialised(np.zeros(count, np.int32))
    tilewright.execute(FAR, None, count, [array, count], check="sample")
    assert array.all()
    for wrong in (1, count - 1):
        with pytest.raises(ExecutionError) as caught:
            tilewright.execute(FAR, None, count, [array, wrong], check="sample")
        assert caught.value.fault is Fault.RACE
    reached = 0
    for seed in range(10):
        try:
            tilewright.execute(FAR, None, 2048, [array, 1000], check="sample", seed=seed)
        except ExecutionError:
            reached += 1
    assert 0 < reached < 10
    with pytest.raises(ExecutionError):
        tilewright.execute(FAR, None, 1024, [array, 1000], check="sample")


def test_a_sample_needs_the_reference_executor() -> None:
    cases: list[Any] = [("sample", "emulator"), ("some", "cpu")]
    for check, on in cases:
        with pytest.raises(tilewright.Error, match="expected"):
            tilewright.execute(FAR, None, 1, [np.zeros(1), 1], on, check=check)
