"""A short run of `make fuzz`: for any input, the readers return a module or an error."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator

import fuzz
import pytest
from each_case import each_case
from repeats import keep_first


@pytest.fixture(scope="module", autouse=True)
def limits() -> Iterator[None]:
    """The memory limit of a fuzzer process, and a time limit that only an endless loop reaches."""
    seconds, fuzz.SECONDS = fuzz.SECONDS, 600.0
    memory = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, fuzz.stop)
    fuzz.load_seeds()
    fuzz.limit_memory()
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    signal.signal(signal.SIGALRM, handler)
    fuzz.SECONDS = seconds


@pytest.mark.parametrize("seed", keep_first(range(8), 2))
@pytest.mark.parametrize("kind", ["bytecode", "text", "chain"])
def test_mutated_input(kind: str, seed: int) -> None:
    outcomes, failures = fuzz.run_batch(fuzz.Batch(kind, seed, 100))
    assert [failure.why for failure in failures] == []
    assert outcomes.total() == 100
    # The mutations must leave some programs alone and break others, or they test nothing.
    assert outcomes[f"{kind}: UserError"] > 20
    assert outcomes[f"{kind}: module"] > 0


def test_mutations_are_those_of_the_seed() -> None:
    batch = fuzz.Batch("bytecode", 7, 50)
    assert fuzz.run_batch(batch) == fuzz.run_batch(batch)


def test_what_is_written_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fuzz.try_input("entry @f() { return }") == "module"
    monkeypatch.setattr(fuzz, "write_bytecode", lambda *_: b"\x7fTileIR\0")
    outcome = fuzz.try_input("entry @f() { return }")
    assert outcome.startswith("FAILED: output that is not read again")


@each_case("source", [b"", b"\x7fTileIR\0", "", "{", "%", "entry @f(", "\0"])
def test_stumps(source: bytes | str) -> None:
    assert fuzz.try_input(source) == "UserError"


def test_a_slow_input_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    monkeypatch.setattr(fuzz, "read_unverified", wait)
    assert fuzz.try_input("").startswith("FAILED: longer")


def test_a_greedy_input_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "read_unverified", lambda *_: bytearray(4 * fuzz.MEMORY))
    assert fuzz.try_input("").startswith("FAILED: more than 512 MiB")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "entry @f() { " + "if %c { " * 20_000,
        "entry @f(%a: " + "tile<" * 20_000,
        '"x"() {a = ' + "[" * 50_000,
        "#a = #b\n" * 20_000,
        "entry @f() { %c = constant <i32: " + "[" * 50_000,
        'entry @f() { return loc(fused[' + "fused[" * 20_000,
        "entry @f() { %c = constant <i8: dense<0x" + "00" * 1_000_000,
        "entry @f() { %c = constant <i32: 0> : tile<" + "65536x" * 10_000,
        "%0:4294967295 = \"x\"() : () -> ()",
        "%0 = constant <i32: " + "9" * 100_000,
        "%0 = constant <f32: 1.0e" + "9" * 100_000,
    ],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_hostile_text(text: str) -> None:
    assert fuzz.try_input(text) in ("UserError", "Unsupported")
