"""A cache that other users can have written, or whose entries cannot be decoded."""

from __future__ import annotations

import marshal
import os
import zlib
from pathlib import Path

import pytest

from tilewright.driver import cache as module
from tilewright.driver.cache import Cache, cached, key_of
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.remarks import cached_remarks, packed, unpacked
from tilewright.driver.settings import Settings
from tilewright.driver.store import Store
from tilewright.driver.tuning.kernel_digests import digests_of
from tilewright.driver.tuning.records import TuningRecord
from tilewright.emit.toolchain import cache_refusal
from tilewright.support.diagnostics import Diagnostic, Severity
from tilewright.support.identity import identity
from tilewright.support.location import FileLoc
from tilewright.support.packed_values import Damaged, Encodable, decode, encode
from tilewright.support.remark_catalogue import MMA_FMA
from tilewright.support.remarks import Remark
from tilewright.target.arch import ARCHES

SETTINGS = Settings(ARCHES["sm_90"])
MAPS = (
    '{"k": [{"element": "f16", "box": [64, 8], "address": 0, "sizes": ["arg1", 8], '
    '"strides": [64], "swizzle": 128, "interleave": 0, "nan": false, "l2_promotion": 0}]}'
)
PTX = zlib.compress(b"ptx")
ROWS: tuple[Encodable, ...] = (
    "sm_90", 3, PTX, b"\x7fELF", (("k", 0, 0, 8, 0, 0, 1, (128, 1, 1)),),
    (("remark", "slow", ("k.mlir", 1, 2, ("line", 2)), ()),), MAPS,
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A cache that is on, and empty."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    module._cache_at.cache_clear()
    made = Cache.default().store
    assert made is not None
    return made


def result(text: str) -> CompilationResult:
    return CompilationResult("sm_90", text, b"\x7fELF", (), [])


def test_a_whole_entry_is_used(store: Store) -> None:
    store.put(key_of(b"x", "x", SETTINGS, "cubin"), encode(ROWS))
    made = cached(b"x", "x", SETTINGS, "cubin", lambda: result("new"))
    assert (made.ptx, made.cubin, list(made.entries)) == ("ptx", b"\x7fELF", ["k"])
    assert made.entries["k"].threads == (128, 1, 1)
    assert [each.render() for each in made.remarks] == ["k.mlir:1:2: remark: slow\nline\n ^"]
    assert made.map_parameters["k"][0].box == (64, 8)


def changed(index: int, value: Encodable) -> bytes:
    rows: list[Encodable] = [*ROWS]
    rows[index] = value
    return encode(rows)


def resources(*numbers: Encodable) -> bytes:
    return changed(4, (("k", *numbers),))


def remark(*fields: Encodable) -> bytes:
    return changed(5, (fields,))


DAMAGED = {
    "nothing": b"",
    "noise": bytes(range(256)),
    "code of marshal": marshal.dumps(compile("1", "x", "eval")),
    "the former format": marshal.dumps(("sm_90", zlib.compress(b"ptx"), b"", [], [], "")),
    "no tuple": encode("sm_90"),
    "too few": encode(ROWS[:-1]),
    "too many": encode((*ROWS, None)),
    "nested": b"t" + (1).to_bytes(8, "little") + b"t" * 100_000,
    "an unknown GPU": changed(0, "sm_1"),
    "a GPU that is no name": changed(0, 90),
    "a size that is wrong": changed(1, 4),
    "a negative size": changed(1, -1),
    "a size beyond memory": changed(1, 1 << 62),
    "text that is not compressed": changed(2, b"ptx"),
    "text that ends early": changed(2, PTX[:-5]),
    "a bomb": changed(2, zlib.compress(bytes(1 << 20))),
    "a cubin as text": changed(3, "ELF"),
    "no cubin": changed(3, None),
    "resources that are no tuple": changed(4, ("k",)),
    "resources without numbers": resources(),
    "resources as text": resources("0", 0, 8, 0, 0, 1, None),
    "negative resources": resources(0, 0, -8, 0, 0, 1, None),
    "threads of two dimensions": resources(0, 0, 8, 0, 0, 1, (128, 1)),
    "threads as text": resources(0, 0, 8, 0, 0, 1, ("128", 1, 1)),
    "a severity that is none": remark("fatal", "slow", None, ()),
    "a location that is none": remark("remark", "slow", ("k.mlir", "1", 2, None), ()),
    "an excerpt that is none": remark("remark", "slow", ("k.mlir", 1, 2, ("line", "2")), ()),
    "notes that are none": remark("remark", "slow", None, (1,)),
    "maps that are no text": changed(6, 1),
    "maps that are no JSON": changed(6, "{"),
    "maps that are nested": changed(6, "[" * 100_000),
    "maps of other elements": changed(6, MAPS.replace("f16", "f17")),
    "maps of other types": changed(6, MAPS.replace("64, 8", '"64", 8')),
    "maps with other fields": changed(6, MAPS.replace("box", "cox")),
    "maps that are a list": changed(6, "[1]"),
}


@pytest.mark.parametrize("entry", DAMAGED)
def test_an_entry_that_cannot_be_decoded_is_a_miss(store: Store, entry: str) -> None:
    """The checksum of the entry is right."""
    key = key_of(b"x", "x", SETTINGS, "cubin")
    store.put(key, DAMAGED[entry])
    for made in ("first", "second"):
        again = cached(b"x", "x", SETTINGS, "cubin", lambda made=made: result(made))
        assert again.ptx == "first"
    assert (store.counted("hits"), store.counted("misses")) == (1, 1)


def test_nothing_is_unpacked_from_marshal_or_pickle() -> None:
    made = CompilationResult(
        "sm_90", "ptx", b"ELF", (), [Diagnostic("x", FileLoc("k", 1, 2), Severity.REMARK)]
    )
    rows = decode(made.pack())
    assert isinstance(rows, tuple)
    assert rows[0] == "sm_90"


REMARK = Remark(MMA_FMA, "t", "p", "f", FileLoc("k", 1, 2), "r", (("a", "b"),))
FIELDS = ("mma-fma", "t", "p", "f", ("k", 1, 2), "r", (("a", "b"),))


def test_remarks_are_the_same_again() -> None:
    assert unpacked(packed([REMARK])) == [REMARK]
    assert decode(packed([REMARK])) == (FIELDS,)


@pytest.mark.parametrize(
    "rows",
    [1, ("x",), (FIELDS[:-1],), ((*FIELDS[:4], ("k", 1), "r", ()),), ((*FIELDS[:6], (("a",),)),),
     ((1, *FIELDS[1:]),), (("unknown-id", *FIELDS[1:]),)],
    ids=repr,
)  # fmt: skip
def test_remarks_that_cannot_be_decoded_are_a_miss(store: Store, rows: Encodable) -> None:
    data = encode(rows)
    with pytest.raises(Damaged):
        unpacked(data)
    key = key_of(b"x", "x", SETTINGS, "cubin")
    store.put(key, result("old").pack())
    store.put(f"{key}-remarks", data)
    for _ in range(2):
        made, remarks = cached_remarks(
            b"x", "x", SETTINGS, "cubin", lambda: (result("new"), [REMARK]), print
        )
        assert (made.cubin, remarks) == (b"\x7fELF", [REMARK])


@pytest.mark.parametrize("data", [b"", b"[[1]]", encode(1), encode((1,)), encode((("k", 1),))])
def test_digests_that_cannot_be_decoded_are_a_miss(store: Store, data: bytes) -> None:
    program = b"cuda_tile.module @m { entry @k() { return } }"
    key = module.digest_of(["kernels", identity()], program)
    store.put(key, data)
    [(name, digest)] = digests_of(program, "k.mlir", None)
    assert (name, len(digest)) == ("k", 64)
    assert digests_of(program, "k.mlir", None) == [(name, digest)]


@pytest.mark.parametrize("data", [b"", b"1", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_records_that_cannot_be_decoded_are_none(data: bytes) -> None:
    assert TuningRecord.unpack(data) is None


def test_a_folder_that_others_may_write_is_not_used(store: Store) -> None:
    """What is in it is not read, nothing is written, and the reason is said once."""
    cached(b"x", "x", SETTINGS, "ptx", lambda: result("planted"))
    folder = Path(store.folder)
    for each in (folder.parent, folder):
        each.chmod(0o777)
        said: list[str] = []
        for text in ("first", "second"):
            made = cached(b"x", "x", SETTINGS, "ptx", lambda text=text: result(text), said.append)
            assert made.ptx == text
        [message] = said
        gist = f"the cache folder '{each}' is not used: other users may write to it (mode 777); "
        assert message.startswith(gist)
        assert "TILEWRIGHT_CACHE_DIR" in message
        each.chmod(0o700)
    assert cache_refusal() is None
    assert cached(b"x", "x", SETTINGS, "ptx", lambda: result("new")).ptx == "planted"


def test_the_library_says_it_as_a_warning(store: Store) -> None:
    cached(b"x", "x", SETTINGS, "ptx", lambda: result("old"))
    Path(store.folder).chmod(0o707)
    with pytest.warns(RuntimeWarning, match="other users may write to it"):
        assert cached(b"x", "x", SETTINGS, "ptx", lambda: result("new")).ptx == "new"


def test_an_entry_that_others_may_write_is_a_miss(store: Store) -> None:
    cached(b"x", "x", SETTINGS, "ptx", lambda: result("planted"))
    Path(store._path(key_of(b"x", "x", SETTINGS, "ptx"))).chmod(0o666)
    assert cached(b"x", "x", SETTINGS, "ptx", lambda: result("new")).ptx == "new"


def test_what_is_written_is_private_whatever_the_umask(store: Store) -> None:
    before = os.umask(0o000)
    try:
        cached(b"x", "x", SETTINGS, "ptx", lambda: result("new"))
    finally:
        os.umask(before)
    paths = [Path(store.folder).parent, *Path(store.folder).parent.rglob("*")]
    assert len(paths) >= 4
    assert all(path.stat().st_mode & 0o077 == 0 for path in paths)
    assert cache_refusal() is None
