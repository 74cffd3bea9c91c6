"""Run cuTile Python's own benchmarks with several compilers on one GPU, and print one table.

    python benchmarks/cutile_rows.py -k "prefill or decode" bench_attention.py \\
        --compiler new=src --compiler old=.gpu/old/src --compiler tileiras=reference --torch

Runs in the root of a checkout whose `.gpu/` holds cuTile's tests and packages. A compiler is a
label and either a folder of this project's sources or `reference` (NVIDIA's tileiras). Compilers
run one after the other on the same GPU; the first is the one that ratios compare with. Tile sizes
are those that NVIDIA's compiler prefers (`.gpu/h200-tuning.json`); `--tiles LABEL=FILE` gives a
compiler a file of its own in the same form. `--copy` adds the time of a copy in device memory that
reads and writes as many bytes as the kernel, for rows beyond 100 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from cuda_graphs import cold_us, copy_us

GPU_FOLDER = Path(".gpu")
TESTS = GPU_FOLDER / "cutile" / "test"
ALL_FILES = [
    "bench_matmul.py",
    "bench_attention.py",
    "bench_layer_norm.py",
    "bench_rms_norm.py",
    "bench_transpose.py",
    "bench_vec_add.py",
    "bench_fft.py",
    "bench_moe.py",
]
LEAST_BYTES = 100_000_000
"""Below this many bytes caches serve a part of a kernel's accesses."""
Rows = dict[str, dict[str, float]]


def environment(compiler: str) -> dict[str, str]:
    """The environment in which cuTile Python calls `compiler`."""
    kind = "reference" if compiler == "reference" else "ours"
    script = f". .gpu/env.sh {kind} && env -0"
    dump = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    variables = dict(entry.split("=", 1) for entry in dump.decode().split("\0") if "=" in entry)
    if kind == "ours":
        ours = Path("src").resolve()
        search_path = variables["PYTHONPATH"].split(":")
        variables["PYTHONPATH"] = ":".join(
            str(Path(compiler).resolve()) if Path(entry) == ours else entry for entry in search_path
        )
    return variables


def choose_tiles(extra: Path | None) -> None:
    """Write the tile sizes that the next run of the benchmarks uses."""
    target = TESTS / "benchmark_tuning.json"
    target.write_bytes((GPU_FOLDER / "base-tuning.json").read_bytes())
    for tiles in (GPU_FOLDER / "h200-tuning.json", extra):
        if tiles is not None:
            merge = [sys.executable, str(GPU_FOLDER / "merge_tuning.py"), str(tiles), str(target)]
            subprocess.run(merge, check=True)


def row_of(benchmark: str) -> tuple[str, str]:
    """The row and the backend of a benchmark of this name."""
    backend = "torch" if "torch" in benchmark else "cutile"
    row = benchmark.replace(f"-{backend}", "").replace(f"{backend}-", "").replace(backend, "")
    return row.removeprefix("bench_"), backend


def add_rows(rows: Rows, results: Path, label: str) -> None:
    """Add the medians of one run, in microseconds, to `rows`."""
    for benchmark in json.loads(results.read_text())["benchmarks"]:
        row, backend = row_of(benchmark["name"])
        column = "torch" if backend == "torch" else label
        rows.setdefault(row, {})[column] = benchmark["stats"]["median"] * 1e6


def add_copies(rows: Rows, results: Path) -> None:
    """Add the times of copies of as many bytes as the rows of one run access."""
    by_bytes: dict[int, float] = {}
    import torch  # noqa: PLC0415

    for benchmark in json.loads(results.read_text())["benchmarks"]:
        accessed = benchmark["extra_info"].get("bytes_rw") or 0
        if accessed > LEAST_BYTES:
            if accessed not in by_bytes:
                by_bytes[accessed] = copy_us(torch, accessed, cold_us)
            rows[row_of(benchmark["name"])[0]]["copy"] = by_bytes[accessed]


def table(rows: Rows, columns: list[str]) -> str:
    """A Markdown table of times, with the speed of the first column relative to each other one."""
    first, *others = columns
    heads = ["benchmark", *columns, *(f"{other} / {first}" for other in others)]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for key, times in sorted(rows.items()):
        if first not in times:
            continue
        cells = [f"{times[column]:,.1f}" if column in times else "" for column in columns]
        ratios = [f"{times[o] / times[first]:.2f}" if o in times else "" for o in others]
        lines.append(f"| `{key}` | " + " | ".join(cells + ratios) + " |")
    return "\n".join(lines)


def run(
    label: str, compiler: str, arguments: argparse.Namespace, results: Path, *, torch: bool
) -> None:
    """Run the benchmarks with one compiler; pytest's output goes beside `results`."""
    expression = arguments.expression
    if not torch:
        expression = f"({expression}) and not torch" if expression else "not torch"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments.files]
    command += [f"--benchmark-json={results}"] + (["-k", expression] if expression else [])
    started = time.monotonic()
    with results.with_suffix(".log").open("w") as log:
        try:
            subprocess.run(
                command,
                cwd=TESTS,
                env=environment(compiler),
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=arguments.limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{label}: stopped after {arguments.limit} s", flush=True)
    last = results.with_suffix(".log").read_text().strip().splitlines()[-1:]
    print(f"{label}: {time.monotonic() - started:.0f} s; {' '.join(last)}", flush=True)


def labelled(texts: list[str]) -> dict[str, str]:
    """The values of options of the form LABEL=VALUE."""
    return dict(text.split("=", 1) for text in texts)


def main() -> int:
    """Run the benchmarks that the command line selects, with each compiler."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", default=ALL_FILES, help="cuTile's benchmark files")
    parser.add_argument("-k", dest="expression", help="pytest's expression that selects rows")
    parser.add_argument("--compiler", action="append", metavar="LABEL=SOURCES", default=[])
    parser.add_argument("--tiles", action="append", metavar="LABEL=FILE", default=[])
    parser.add_argument("--torch", action="store_true", help="time torch beside the first compiler")
    parser.add_argument("--copy", action="store_true", help="time copies of as many bytes")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each compiler")
    arguments = parser.parse_args()
    if not TESTS.is_dir():
        parser.error(f"{TESTS} is missing: pack cuTile's tests into {GPU_FOLDER} first")

    out = Path(os.environ.get("OUT", "out")).resolve()
    out.mkdir(parents=True, exist_ok=True)
    compilers = labelled(arguments.compiler or ["ours=src"])
    tiles = labelled(arguments.tiles)
    columns = [*compilers, *(["torch"] if arguments.torch else [])]
    rows: Rows = {}
    for label, compiler in compilers.items():
        choose_tiles(Path(tiles[label]) if label in tiles else None)
        results = out / f"{label}.json"
        run(label, compiler, arguments, results, torch=arguments.torch and label == columns[0])
        if results.exists() and results.stat().st_size:
            add_rows(rows, results, label)
    if arguments.copy:
        add_copies(rows, out / f"{columns[0]}.json")
        columns.append("copy")
    print(table(rows, columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
