"""Tune three kernels, and show that the next compilations use what was chosen.

`python benchmarks/tuning.py` needs a GPU; `--meter model` predicts times of small kernels, which
the emulator checks; `--top 3` measures the first three by the model. The cache is that of the
environment, such as TILEWRIGHT_CACHE_DIR.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tuning_kernels import Case, cases

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "src")]

import tilewright  # noqa: E402
from tilewright.driver.tuning.records import METERS  # noqa: E402
from tilewright.driver.tuning.report import table  # noqa: E402
from tilewright.driver.tuning.tune import Tuning  # noqa: E402
from tilewright.tileiras import run as tileiras  # noqa: E402

HEAD = (
    "kernel", "compiler's choice", "best schedule", "best", "ratio", "measured / tried", "seconds",
    "next compilation, drop-in",
)  # fmt: skip


def warn(text: str) -> None:
    """Print a warning."""
    print(text, file=sys.stderr)


def tune(case: Case, meter: str, limit: float, top: int) -> str:
    """Tune a kernel, print the table, and return its row of the summary."""
    tuning = Tuning(
        case.text.encode(), f"{case.name}.mlir", None, case.grid, case.values,
        meter=meter, limit=limit, top=top,
    )  # fmt: skip
    try:
        tuning.run()
    finally:
        tuning.close()
    tuner = tuning.tuner
    assert tuner is not None
    assert tuner.winner is not None
    assert tuning.store(warn), tuning.reason
    print(f"\n{case.name}, {tuning.device.name}\n{table(tuner)}\n", flush=True)
    best, own = tuner.winner, tuner.default
    assert best.cost is not None
    assert own.cost is not None
    cells = (
        case.name, f"{own.cost:,.2f}", best.schedule or "the same", f"{best.cost:,.2f}",
        f"{best.cost / own.cost:.3f}", f"{len(tuner.ranked())} / {len(tuner.rows)}",
        f"{tuner.seconds:.1f}", proof(case, best.schedule, tuning.device.arch),
    )  # fmt: skip
    return row(cells)


def row(cells: tuple[str, ...]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def proof(case: Case, schedule: str, arch: str) -> str:
    """Whether the library and the drop-in compile the kernel with the schedule, unasked."""
    forced = tilewright.compile(case.text, arch, schedule=schedule.replace(" ", ",")).cubin
    kernel = tilewright.compile(case.text, arch, cache=True)
    remarks = [each.message for each in kernel.remarks if "compiled as tuned" in each.message]
    print(*remarks, sep="\n")
    with TemporaryDirectory() as folder:
        source, made = (os.path.join(folder, name) for name in ("k.tileirbc", "k.cubin"))
        with open(source, "wb") as file:
            file.write(tilewright.write_bytecode(tilewright.read(case.text)))
        code = tileiras.main([source, "--gpu-name", arch, "-o", made])
        with open(made, "rb") as file:
            dropped = file.read()
    is_said = bool(remarks) == bool(schedule)
    uses = kernel.cubin == forced and is_said
    return f"{'yes' if uses else 'NO'}, {'yes' if not code and dropped == forced else 'NO'}"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meter", choices=METERS, default="gpu")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each kernel")
    parser.add_argument("--top", type=int, default=0, help="how many are measured (0: all)")
    options = parser.parse_args()
    rows = [tune(case, options.meter, options.limit, options.top) for case in cases(options.meter)]
    print(row(HEAD), row(("---",) * len(HEAD)), *rows, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
