"""`make demo` does what it says."""

from __future__ import annotations

import demo
import pytest


@pytest.mark.peer
def test_every_claim_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert out.count("checked: ") == 5
    assert ": NO" not in out
    assert "entry @gemm" in out


def test_a_false_claim_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "equivalent", lambda *_: False)
    assert demo.main() == 1
    assert "checked: every bytecode version reads back as the same module: NO" in (
        capsys.readouterr().out
    )
