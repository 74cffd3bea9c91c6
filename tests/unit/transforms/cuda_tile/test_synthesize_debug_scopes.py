"""Debug scopes of kernels and operations."""

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


def locations(module: ModuleOp) -> list[Location]:
    return [op.location for op in module.walk()]


def test_a_kernel_without_locations() -> None:
    module = run(located(UNKNOWN, UNKNOWN, UNKNOWN), PASS)
    file = DIFile("<unknown>", "")
    scope = DISubprogram(file, 1, "kernel", "kernel", DICompileUnit(file), 1)
    location = DILoc(FileLoc("<unknown>", 1, 1), scope)
    assert locations(module) == [UNKNOWN, location, location]


def test_file_locations_stay() -> None:
    entry, body = FileLoc("/home/k.py", 10, 4), FileLoc("/home/k.py", 12, 8)
    module = run(located(FileLoc("/other.py", 1, 1), entry, body), PASS)
    unit = DICompileUnit(DIFile("other.py", "/"))
    scope = DISubprogram(DIFile("k.py", "/home"), 10, "kernel", "kernel", unit, 10)
    assert locations(module)[1:] == [DILoc(entry, scope), DILoc(body, scope)]


def test_file_locations_inside_others_are_found() -> None:
    inner, caller = FileLoc("k.py", 10, 4), FileLoc("k.py", 12, 4)
    module = located(
        NameLoc("name", FileLoc("other.py", 1, 1)),
        FusedLoc((UNKNOWN, inner)),
        CallSiteLoc(UNKNOWN, caller),
    )
    run(module, PASS)
    unit = DICompileUnit(DIFile("other.py", ""))
    scope = DISubprogram(DIFile("k.py", ""), 10, "kernel", "kernel", unit, 10)
    assert locations(module)[1:] == [DILoc(inner, scope), DILoc(caller, scope)]


def test_an_operation_without_a_location_gets_that_of_its_kernel() -> None:
    entry = FileLoc("k.py", 10, 4)
    module = run(located(UNKNOWN, entry, UNKNOWN), PASS)
    assert [str(location) for location in locations(module)[1:]] == ["k.py:10:5", "k.py:10:5"]


def test_a_kernel_with_debug_information_keeps_it() -> None:
    file = DIFile("k.py", "")
    scope = DISubprogram(file, 3, "kernel", "kernel", DICompileUnit(file))
    location = DILoc(FileLoc("k.py", 3, 1), scope)
    module = run(located(UNKNOWN, location, UNKNOWN), PASS)
    assert locations(module) == [UNKNOWN, location, UNKNOWN]


def test_the_pass_runs_on_modules_too() -> None:
    module = run(located(UNKNOWN, UNKNOWN, UNKNOWN), f"cuda_tile.module({PASS})")
    assert isinstance(locations(module)[1], DILoc)
