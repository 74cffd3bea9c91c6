"""Locations: fusing, and the file position of each."""

from __future__ import annotations

from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    NameLoc,
    Positions,
    Source,
    TextLoc,
    fuse,
)

A, B, C = FileLoc("a", 1, 1), FileLoc("b", 2, 2), FileLoc("c", 3, 3)


def test_fusing_drops_duplicates_and_unknowns() -> None:
    assert fuse() is UNKNOWN
    assert fuse(UNKNOWN, UNKNOWN) is UNKNOWN
    assert fuse(UNKNOWN, A) is A
    assert fuse(A, FileLoc("a", 1, 1)) == A
    assert fuse(A, B, A) == FusedLoc((A, B))


def test_fusing_flattens() -> None:
    assert fuse(fuse(A, B), fuse(B, C)) == FusedLoc((A, B, C))


def test_fusing_keeps_metadata_apart() -> None:
    tagged = FusedLoc((A, B), "scope")
    assert fuse(tagged, C) == FusedLoc((tagged, C))
    assert fuse(tagged) == tagged


def test_texts_resolve_to_files() -> None:
    source = Source("k.mlir", "one\ntwo three\n")
    location = TextLoc(Positions(source), 8)
    assert location == FileLoc("k.mlir", 2, 5)
    assert hash(location) == hash(FileLoc("k.mlir", 2, 5))
    assert str(location) == "k.mlir:2:5"
    assert location.excerpt() == ("two three", 5)


def test_positions_of_compound_locations() -> None:
    assert str(NameLoc("x", A)) == "a:1:1"
    assert str(CallSiteLoc(A, B)) == "a:1:1"
    assert str(FusedLoc((UNKNOWN, B))) == "b:2:2"
    assert NameLoc("x", A) != NameLoc("x", B)
    assert CallSiteLoc(A, B) != CallSiteLoc(B, A)
