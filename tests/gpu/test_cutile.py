"""cuTile Python on a GPU with our compiler, through each of its entry points."""

from __future__ import annotations

from pathlib import Path

import pytest
from cutile_doors import ADDING, CLIENT, HIDING, kept, put_on_path, python

from tilewright.emit.note import own_note, read_note

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.gpu

KERNELS = CLIENT.partition("if __name__")[0]
ENABLING = "import tilewright.cutile\ntilewright.cutile.enable()\n"
RUNNER = ("-m", "tilewright.cutile")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def script(folder: Path, text: str) -> Path:
    path = folder / "client.py"
    path.write_text(text)
    return path


def check(cache: Path, count: int) -> None:
    """Check that `count` cubins were cached, all by this compiler."""
    assert [read_note(cubin) for cubin in kept(cache)] == [own_note()] * count


def test_unmodified_script(cache: Path, tmp_path: Path) -> None:
    done = python(*RUNNER, script(tmp_path, KERNELS + ADDING), cache=cache)
    assert done.stdout == "added\n", done.stderr
    check(cache, 1)


def test_one_line_in_the_program(cache: Path, tmp_path: Path) -> None:
    done = python(script(tmp_path, ENABLING + KERNELS + ADDING), cache=cache)
    assert done.stdout == "added\n", done.stderr
    check(cache, 1)


def test_path(cache: Path, tmp_path: Path) -> None:
    client = script(tmp_path, HIDING + KERNELS + ADDING)
    done = python(client, cache=cache, PATH=put_on_path(tmp_path / "bin"))
    assert done.stdout == "added\n", done.stderr
    check(cache, 1)


def test_cached_kernels_run_again(cache: Path, tmp_path: Path) -> None:
    client = script(tmp_path, KERNELS + ADDING)
    for _ in range(2):
        done = python(*RUNNER, client, cache=cache)
        assert done.stdout == "added\n", done.stderr
        check(cache, 1)


MORE = """
import threading
import torch

@ct.kernel(occupancy=2)
def matmul(a, b, c, rows: ct.Constant[int], columns: ct.Constant[int], k_size: ct.Constant[int]):
    accumulator = ct.full((rows, columns), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(rows, k_size))):
        left = ct.load(a, (ct.bid(0), k), (rows, k_size), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (k, ct.bid(1)), (k_size, columns), padding_mode=ct.PaddingMode.ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, (ct.bid(0), ct.bid(1)), ct.astype(accumulator, c.dtype))

@ct.kernel
def gathered(arrays, c, size: ct.Constant[int]):
    result = ct.full((size,), 0, dtype=ct.float32)
    for i in range(len(arrays)):
        result = result + ct.load(arrays[i], (ct.bid(0),), (size,))
    ct.store(c, (ct.bid(0),), result)

def multiply():
    a = torch.randint(-4, 5, (100, 72), device="cuda").to(torch.float16)
    b = torch.randint(-4, 5, (72, 90), device="cuda").to(torch.float16)
    c = torch.zeros(100, 90, device="cuda")
    ct.launch(torch.cuda.current_stream(), (2, 2), matmul, (a, b, c, 64, 64, 32))
    torch.cuda.synchronize()
    assert torch.equal(c, (a.double() @ b.double()).float())

def gather():
    arrays = [torch.randint(0, 99, (300,), device="cuda").float() for _ in range(3)]
    c = torch.zeros(300, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        ct.launch(stream, (5,), gathered, (arrays, c, 64))
    stream.synchronize()
    assert torch.equal(c, sum(arrays))

errors = []
def caught(work):
    try:
        work()
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=caught, args=(work,)) for work in (multiply, gather) * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(errors or "done")
"""


def test_threads_streams_lists_and_matmuls(cache: Path, tmp_path: Path) -> None:
    done = python(*RUNNER, script(tmp_path, KERNELS + MORE), cache=cache)
    assert done.stdout == "done\n", done.stderr
    assert kept(cache)
    assert {read_note(cubin) for cubin in kept(cache)} == {own_note()}
