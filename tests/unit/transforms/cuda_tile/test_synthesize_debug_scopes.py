"""Which kernels and operations get a scope."""

from __future__ import annotations

from tile_programs import kernel, run

from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnit,
    DIFile,
    DILoc,
    DISubprogram,
)
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.support.location import UNKNOWN, CallSiteLoc, FileLoc, FusedLoc, Location, NameLoc

PASS = "synthesize-debug-info-scopes"


def located(module: Location, entry: Location, body: Location) -> ModuleOp:
    """A kernel of one operation, with these locations."""
    made = kernel("")
    made.location = module
    for op in made.walk():
        if op is not made:
            op.location = entry if op.regions else body
    return made


def places(module: ModuleOp) -> list[Location]:
    return [op.location for op in module.walk()]


def test_a_kernel_without_any_place() -> None:
    module = run(located(UNKNOWN, UNKNOWN, UNKNOWN), PASS)
    file = DIFile("<unknown>", "")
    scope = DISubprogram(file, 1, "kernel", "kernel", DICompileUnit(file), 1)
    place = DILoc(FileLoc("<unknown>", 1, 1), scope)
    assert places(module) == [UNKNOWN, place, place]


def test_places_in_files_stay() -> None:
    entry, body = FileLoc("/home/k.py", 10, 4), FileLoc("/home/k.py", 12, 8)
    module = run(located(FileLoc("/other.py", 1, 1), entry, body), PASS)
    unit = DICompileUnit(DIFile("other.py", "/"))
    scope = DISubprogram(DIFile("k.py", "/home"), 10, "kernel", "kernel", unit, 10)
    assert places(module)[1:] == [DILoc(entry, scope), DILoc(body, scope)]


def test_places_inside_other_locations_are_found() -> None:
    inner, caller = FileLoc("k.py", 10, 4), FileLoc("k.py", 12, 4)
    module = located(
        NameLoc("name", FileLoc("other.py", 1, 1)),
        FusedLoc((UNKNOWN, inner)),
        CallSiteLoc(UNKNOWN, caller),
    )
    run(module, PASS)
    unit = DICompileUnit(DIFile("other.py", ""))
    scope = DISubprogram(DIFile("k.py", ""), 10, "kernel", "kernel", unit, 10)
    assert places(module)[1:] == [DILoc(inner, scope), DILoc(caller, scope)]


def test_an_operation_without_a_place_gets_that_of_its_kernel() -> None:
    entry = FileLoc("k.py", 10, 4)
    module = run(located(UNKNOWN, entry, UNKNOWN), PASS)
    assert [str(place) for place in places(module)[1:]] == ["k.py:10:4", "k.py:10:4"]


def test_a_kernel_with_debug_information_keeps_it() -> None:
    file = DIFile("k.py", "")
    scope = DISubprogram(file, 3, "kernel", "kernel", DICompileUnit(file))
    place = DILoc(FileLoc("k.py", 3, 1), scope)
    module = run(located(UNKNOWN, place, UNKNOWN), PASS)
    assert places(module) == [UNKNOWN, place, UNKNOWN]


def test_the_pass_runs_on_modules_too() -> None:
    module = run(located(UNKNOWN, UNKNOWN, UNKNOWN), f"cuda_tile.module({PASS})")
    assert isinstance(places(module)[1], DILoc)
