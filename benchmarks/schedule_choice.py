"""Judge the schedules that `schedule-loops` chooses by the measured times of forced ones.

    python benchmarks/schedule_choice.py

Needs no GPU. For each tile of `results/plans-h200.json`, finds the schedule whose plan in
`results/plan-facts.json.xz` is the one that is chosen now, and compares its time with the least of
those that change nothing but engine, stages and dots in flight. A tile whose plan was not measured
counts with the time that it had, and is named.
"""

from __future__ import annotations

import sys
from statistics import mean
from typing import Final

from cost_model import measured_times
from cost_records import read_facts
from program_archive import ARCHIVE, unpacked

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_level
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.settings import Settings
from tilewright.ir.operation import Operation
from tilewright.schedule.cost_inputs import LoopPlan, plan_of
from tilewright.target.arch import ARCHES

FORCED: Final = (
    "", "stages=2", "stages=3", "stages=4", "agents=0", "agents=1", "agents=0,stages=2",
    "in-flight=0",
)  # fmt: skip
Key = tuple[int, bool, LoopPlan]
"""By which plans of a kernel differ: warps, whether it has agents, and its loops."""


def chosen_plan(code: bytes, name: str) -> Key:
    """The plan that a program has if nothing is forced."""
    module, kernels = read_level(code, name), list[Key]()

    def reached(level: str, lowered: Operation) -> None:
        for op in lowered.walk() if level == "nv_tileas" else ():
            if isinstance(op, FuncOp) and op.is_kernel:
                plan = plan_of(op)
                kernels.append((plan.warps, plan.has_agents, plan.loop))

    settings, observers = Settings(ARCHES["sm_90"]), Observers(reached=reached)
    Compilation(module, settings, observers, source=module.clone).to("nv_tileas")
    return kernels[-1]


def main() -> int:
    """Print the tiles whose plan is another one, then the losses before and after."""
    facts, times, programs = read_facts(), measured_times(), unpacked(ARCHIVE.read_bytes())
    before: list[float] = []
    after: list[float] = []
    for row, every in times.items():
        measured = {schedule: every[schedule] for schedule in FORCED if schedule in every}
        plans = facts.plans[row]
        now = [chosen_plan(programs[name], name) for name, _ in plans[""]]
        alike = [
            schedule
            for schedule in measured
            if [(p.warps, p.has_agents, p.loop) for _, p in plans[schedule]] == now
        ]
        schedule, best = (alike or [""])[0], min(measured.values())
        before.append(measured[""] / best - 1)
        after.append(measured[schedule] / best - 1)
        if schedule or not alike:
            what = f"{measured[schedule] / measured['']:.2f}" if alike else "not measured"
            print(f"{row:56} {schedule or '-':18} {what}, best {best / measured['']:.2f}")
    for label, losses in (("before", before), ("after", after)):
        within = mean(loss <= 0.05 for loss in losses)
        print(f"{label:6} within 5 %: {within:.3f}, mean loss {100 * mean(losses):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
