"""What a debugger finds in cubins: functions, lines, parameters, variables and their types."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from each_case import each_case
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.compile import Compilation, Settings
from tilewright.emit.llvm.variables import BUDGET
from tilewright.support.location import NameLoc
from tilewright.target.arch import ARCHES
from tilewright.text.printer import print_op

PROGRAM = """
#file = #cuda_tile.di_file<"kernel.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 3, name = "scale", linkageName = "scale_f32", compileUnit = #unit, scopeLine = 3>
!view = !cuda_tile.tensor_view<1024xf32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(512), tensor_view<1024xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @scale_f32(%x: tile<ptr<f32>>, %by: tile<f32>, %n: tile<i32>) {
    %b, %b1, %b2 = get_tile_block_id : tile<i32> loc(#cuda_tile.di_loc<loc("/src/kernel.py":4:8) in #f>)
    %i = addi %b, %n : tile<i32> loc("offset"(#cuda_tile.di_loc<loc("/src/kernel.py":5:8) in #f>))
    %xt = make_tensor_view %x, shape = [1024], strides = [1] : !view loc(#cuda_tile.di_loc<loc("/src/kernel.py":6:8) in #f>)
    %xv = make_partition_view %xt : !tiles loc(#cuda_tile.di_loc<loc("/src/kernel.py":6:8) in #f>)
    %v, %t0 = load_view_tko weak %xv[%i] : !tiles, tile<i32> -> tile<512xf32>, token loc(#cuda_tile.di_loc<loc("/src/kernel.py":6:8) in #f>)
    %r = reshape %by : tile<f32> -> tile<1xf32> loc(#cuda_tile.di_loc<loc("/src/kernel.py":7:8) in #f>)
    %m = broadcast %r : tile<1xf32> -> tile<512xf32> loc(#cuda_tile.di_loc<loc("/src/kernel.py":7:8) in #f>)
    %w = mulf %v, %m : tile<512xf32> loc(#cuda_tile.di_loc<loc("/src/kernel.py":7:12) in #f>)
    %large = cmpf greater_than ordered %w, %v : tile<512xf32> -> tile<512xi1> loc(#cuda_tile.di_loc<loc("/src/kernel.py":8:8) in #f>)
    %y = select %large, %w, %v : tile<512xi1>, tile<512xf32> loc(#cuda_tile.di_loc<loc("/src/kernel.py":9:8) in #f>)
    %t1 = store_view_tko weak %y, %xv[%i] token=%t0 : tile<512xf32>, !tiles, tile<i32> -> token loc(#cuda_tile.di_loc<loc("/src/kernel.py":10:4) in #f>)
    return loc(#cuda_tile.di_loc<loc("/src/kernel.py":10:4) in #f>)
  } loc(#cuda_tile.di_loc<loc("/src/kernel.py":3:0) in #f>)
}
"""  # noqa: E501

HELPERS = """
#helpers = #cuda_tile.di_file<"helpers.py" in "/lib">
#others = #cuda_tile.di_compile_unit<file = #helpers>
#g = #cuda_tile.di_subprogram<file = #helpers, line = 20, name = "scaled", linkageName = "scaled_0", compileUnit = #others, scopeLine = 20>
#h = #cuda_tile.di_subprogram<file = #helpers, line = 30, name = "grown", linkageName = "grown_0", compileUnit = #others, scopeLine = 30>
"""  # noqa: E501
SCALED = 'callsite(#cuda_tile.di_loc<loc("/lib/helpers.py":21:4) in #g> at {})'
GROWN = 'callsite(#cuda_tile.di_loc<loc("/lib/helpers.py":31:4) in #h> at {})'


def inlined_program() -> str:
    """The program with its multiplication in a function, and its comparison in a callee of it."""
    text = PROGRAM.replace("!view =", f"{HELPERS}!view =", 1)
    multiplication, comparison = (
        f'#cuda_tile.di_loc<loc("/src/kernel.py":{position}) in #f>' for position in ("7:12", "8:8")
    )
    nested = GROWN.format(f"loc({SCALED.format(comparison)})")
    text = text.replace(f"loc({multiplication})", f"loc({SCALED.format(multiplication)})")
    return text.replace(f"loc({comparison})", f"loc({nested})", 1)


class Variable(NamedTuple):
    """What is said of a variable."""

    line: int
    type: str


class Debugged:
    """What a debugger knows of the only kernel of a cubin."""

    def __init__(self, cubin: bytes) -> None:
        info: Any = ELFFile(io.BytesIO(cubin)).get_dwarf_info(relocate_dwarf_sections=False)
        (unit,) = info.iter_CUs()
        self.unit = unit
        functions = self._children(unit.get_top_DIE(), "DW_TAG_subprogram")
        (self.function,) = [die for die in functions if "DW_AT_inline" not in die.attributes]
        states = [entry.state for entry in info.line_program_for_CU(unit).get_entries()]
        self.lines = {state.line for state in states if state is not None}

    @staticmethod
    def _children(die: DIE, tag: str) -> list[DIE]:
        return [child for child in die.iter_children() if child.tag == tag]

    def value(self, die: DIE, attribute: str) -> Any:
        raw = die.attributes[f"DW_AT_{attribute}"].value
        return raw.decode() if isinstance(raw, bytes) else raw

    def named(self, tag: str) -> dict[str, Variable]:
        return {
            self.value(die, "name"): Variable(self.value(die, "decl_line"), self._type(die))
            for die in self._children(self.function, tag)
        }

    def inlined(self, die: DIE) -> list[tuple[str, DIE]]:
        """The functions that were inlined into one, with the line that calls them, in order."""
        calls = self._children(die, "DW_TAG_inlined_subroutine")
        calls.sort(key=lambda call: self.value(call, "low_pc"))
        names = [f"{self._origin(call, 'name')}:{self.value(call, 'call_line')}" for call in calls]
        return list(zip(names, calls, strict=True))

    def variables_inside(self, die: DIE) -> list[tuple[str, int]]:
        return [
            (self._origin(inner, "name"), self._origin(inner, "decl_line"))
            for inner in self._children(die, "DW_TAG_variable")
        ]

    def _origin(self, die: DIE, attribute: str) -> Any:
        return self.value(die.get_DIE_from_attribute("DW_AT_abstract_origin"), attribute)

    def _type(self, die: DIE) -> str:
        type = die.get_DIE_from_attribute("DW_AT_type")
        if type.tag == "DW_TAG_array_type":
            (bounds,) = self._children(type, "DW_TAG_subrange_type")
            return f"{self.value(bounds, 'count')} x {self._type(type)}"
        return self.value(type, "name")


@pytest.fixture(scope="module", params=["sm_80", "sm_90", "sm_120"])
def debugged(request: pytest.FixtureRequest) -> Debugged:
    return Debugged(tilewright.compile(PROGRAM, request.param, device_debug=True).cubin)


def test_the_function_has_its_name_in_the_source(debugged: Debugged) -> None:
    assert debugged.value(debugged.function, "name") == "scale"
    assert debugged.value(debugged.function, "MIPS_linkage_name") == "scale_f32"
    assert debugged.value(debugged.function, "decl_line") == 3
    unit = debugged.unit.get_top_DIE()
    assert debugged.value(unit, "name") == "kernel.py"
    assert debugged.value(unit, "comp_dir") == "/src"


def test_parameters_are_in_order(debugged: Debugged) -> None:
    assert debugged.named("DW_TAG_formal_parameter") == {
        "arg0": Variable(3, "i64"),
        "arg1": Variable(3, "f32"),
        "arg2": Variable(3, "i32"),
    }


def test_values_are_variables_by_their_names(debugged: Debugged) -> None:
    """512 elements in four warps are four a thread; names are those that the program prints."""
    entries = debugged.named("DW_TAG_variable")
    printed = print_op(read_runnable(PROGRAM, "program.mlir"))
    for name, line, type in (
        ("blockId_x", 4, "i32"),
        ("tile", 6, "4 x f32"),
        ("1", 7, "4 x f32"),
        ("2", 8, "4 x i1"),
        ("3", 9, "4 x f32"),
    ):
        assert f"%{name}" in printed
        assert entries[f"v{name}" if name.isdigit() else name] == Variable(line, type)


def test_a_name_in_the_source_is_kept(debugged: Debugged) -> None:
    assert debugged.named("DW_TAG_variable")["offset"] == Variable(5, "i32")


def test_every_line_has_code(debugged: Debugged) -> None:
    assert {3, 4, 5, 6, 7, 8, 9, 10} <= debugged.lines


def test_variables_have_an_address(debugged: Debugged) -> None:
    for die in debugged.function.iter_children():
        if die.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
            # Local memory, as CUDA numbers address spaces.
            assert debugged.value(die, "address_class") == 6
            assert die.attributes["DW_AT_location"].value


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_inlined_functions_are_frames_of_their_own(arch: str) -> None:
    """As NVIDIA's compiler writes them: cuTile inlines all that a kernel calls."""
    debugged = Debugged(tilewright.compile(inlined_program(), arch, device_debug=True).cubin)
    assert "v1" not in debugged.named("DW_TAG_variable")
    assert debugged.named("DW_TAG_variable")["v3"] == Variable(9, "4 x f32")
    (first, multiplication), (second, comparison) = debugged.inlined(debugged.function)
    assert (first, second) == ("scaled:7", "scaled:8")
    assert debugged.variables_inside(multiplication) == [("v1", 21)]
    ((third, inner),) = debugged.inlined(comparison)
    assert third == "grown:21"
    assert debugged.variables_inside(inner) == [("v2", 31)]
    assert {21, 31} <= debugged.lines


def test_code_between_two_parts_of_an_inlined_function_is_not_in_it() -> None:
    """Its constants may be computed long before, and it may stand in several copies."""
    multiplication, chosen = (
        f'#cuda_tile.di_loc<loc("/src/kernel.py":{position}) in #f>' for position in ("7:12", "9:8")
    )
    program = inlined_program().replace(chosen, f"loc({SCALED.format(multiplication)})")
    debugged = Debugged(tilewright.compile(program, device_debug=True).cubin)
    entries = debugged.inlined(debugged.function)
    assert [name for name, _ in entries] == ["scaled:7", "scaled:8", "scaled:7"]
    for (_, call), (_, later) in pairwise(entries):
        assert debugged.value(call, "high_pc") <= debugged.value(later, "low_pc")


def test_nothing_is_optimized_whatever_the_level_says() -> None:
    ptx = {
        level: tilewright.compile(PROGRAM, opt_level=level, emit="ptx", device_debug=True).ptx
        for level in (0, 3)
    }
    assert ptx[0] == ptx[3]
    assert ".target sm_90a, debug" in ptx[0]


def test_without_the_option_there_is_nothing_for_a_debugger() -> None:
    assert ".debug_info" not in tilewright.compile(PROGRAM, emit="ptx", line_info=True).ptx


def test_large_tiles_stay_out_of_memory() -> None:
    large = PROGRAM.replace("512", "65536").replace("1024", "131072")
    module = tilewright.compile(large, device_debug=True)
    assert module.entries["scale_f32"].resources.stack <= 2 * BUDGET
    assert "blockId_x" in Debugged(module.cubin).named("DW_TAG_variable")


@each_case("level", ["nv_tileaa", "nv_tileas", "nvgpu", "nvvm"])
def test_one_operation_of_a_level_has_the_name_of_a_value(level: str) -> None:
    module = read_runnable(PROGRAM, "program.mlir")
    compilation = Compilation(module, Settings(ARCHES["sm_90"], device_debug=True))
    compilation.lower(level)
    names = [
        name
        for op in compilation.module.walk()
        if op.results and isinstance(op.location, NameLoc)
        for name in op.location.names
    ]
    assert [names.count(name) for name in ("offset", "blockId_x", "tile", "v1", "v3")] == [1] * 5
