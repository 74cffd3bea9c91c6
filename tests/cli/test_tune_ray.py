"""`tilewright tune --ray`: a local cluster without a GPU, by predicted times.

In processes of their own: Ray leaves threads and handlers of signals in the one that starts it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from repeats import EXHAUSTIVE
from tuned_programs import ADD, enable_cache

from tilewright.driver.tuning.ray_backend import RayCluster
from tilewright.support.diagnostics import Unsupported

HAS_RAY = importlib.util.find_spec("ray") is not None
NEEDS_RAY = pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install '.[tune]'")
ARGUMENTS = ("--arg", "iota:128xf32", "--arg", "ones:128xf32", "--ray", "local", "--jobs", "2")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enable_cache(tmp_path / "cache", monkeypatch)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process, on a cluster that keeps nothing in the home folder."""
    source = "import sys; from tilewright.__main__ import script; script()"
    environment = {
        **os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", source, *arguments],
        env=environment, capture_output=True, text=True, timeout=500,
    )  # fmt: skip


@NEEDS_RAY
@EXHAUSTIVE
@pytest.mark.timeout(600)
def test_a_cluster_chooses_what_this_machine_chooses(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    common = ("tune", str(path), "--meter", "model", "--store", "--json", "--limit", "400")
    on_ray = command(*common, *ARGUMENTS)
    assert on_ray.returncode == 0, on_ray.stderr
    clustered: dict[str, Any] = json.loads(on_ray.stdout)
    assert clustered["stored"]
    assert clustered["complete"]
    local: dict[str, Any] = json.loads(command(*common, *ARGUMENTS[:4]).stdout)
    assert clustered["winner"] == local["winner"]
    # Which of several schedules with the same code is measured depends on the order of tasks.
    assert costs_of(clustered) == costs_of(local)
    assert len(costs_of(clustered)) == 4
    tried = [sorted(row["schedule"] for row in each["candidates"]) for each in (clustered, local)]
    assert tried[0] == tried[1]


def costs_of(contents: dict[str, Any]) -> list[float]:
    return sorted(row["cost"] for row in contents["candidates"] if "cost" in row)


@NEEDS_RAY
@EXHAUSTIVE
@pytest.mark.timeout(600)
def test_a_cluster_without_a_gpu_measures_no_time(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    tuned = command("tune", str(path), *ARGUMENTS)
    assert tuned.returncode == 3
    assert "tuning on a GPU: the Ray cluster has none; `--meter model`" in tuned.stderr


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unsupported, match=r"tuning on Ray without Ray.*'tilewright\[tune\]'"):
        RayCluster("local", "model")
