"""cutile-rs, the front end in Rust: which versions of bytecode are read, and how it compiles.

It starts the file of CUTILE_TILEIRAS_PATH, else that of a toolkit, else that on the path. It asks
for `--list-versions`; an older one compiles a small kernel for sm_120 in each version that it can
write, newest first, and takes the first one that succeeds.
"""

from __future__ import annotations

from pathlib import Path

import tilewright
from tilewright.bytecode.versions import NEWEST, VERSIONS, spell
from tilewright.emit.note import own_note, read_note
from tilewright.tileiras.run import main

VIEW = "partition_view<tile=(16), tensor_view<128xf32, strides=[1]>>"
PROBE = f"""\
cuda_tile.module @probe {{
  entry @probe_entry(%base: tile<ptr<f32>>) {{
    %token = make_token : token
    %tensor = make_tensor_view %base, shape = [128], strides = [1]
      : tensor_view<128xf32, strides=[1]>
    %view = make_partition_view %tensor : {VIEW}
    %first = constant <i32: 0> : tile<i32>
    %end = constant <i32: 4> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    for %i in (%first to %end, step %step) : tile<i32> {{
      %tile, %after = load_view_tko weak %view[%i] token = %token
        : {VIEW}, tile<i32> -> tile<16xf32>, token
      continue
    }}
    return
  }}
}}
"""
"""A loop whose loads nothing uses."""


def test_versions_are_listed(tileiras) -> None:
    done = tileiras("--list-versions")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [tuple(map(int, line.split("."))) for line in done.stdout.splitlines()]
    assert listed == sorted(VERSIONS)
    assert max(listed) == NEWEST


def test_versions_by_compiling_a_kernel(tmp_path: Path) -> None:
    source, cubin = tmp_path / "probe.bc", tmp_path / "probe.cubin"
    for version in VERSIONS:
        source.write_bytes(tilewright.write_bytecode(tilewright.read(PROBE), spell(version)))
        assert main(["--gpu-name", "sm_120", "-o", str(cubin), str(source)]) == 0
        assert read_note(cubin.read_bytes()) == own_note()
        cubin.unlink()


def test_the_command_line(kernel: Path) -> None:
    cubin = kernel.with_suffix(".cubin")
    words = ["--gpu-name", "sm_90", "--opt-level", "3", "-o", str(cubin), str(kernel)]
    assert main(words) == 0
    assert read_note(cubin.read_bytes()) == own_note()


def test_the_version_is_a_cache_key(tileiras) -> None:
    """What it prints, without spaces around it, of at most 65,535 bytes."""
    done = tileiras("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert own_note().digest in done.stdout
    assert 0 < len(done.stdout.strip().encode()) < 2**16
