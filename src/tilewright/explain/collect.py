"""Collect the facts of a report while a program is compiled, level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.gpu.structure import GPUFuncOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.explain.cost import Facts, cost_of
from tilewright.explain.decisions import accesses_of, agents_of, dots_of, pipelines_of
from tilewright.explain.layouts import alias_names, layouts_of
from tilewright.explain.linked_text import llvm_text, module_text, ptx_text, sass_text
from tilewright.explain.occupancy import occupancy_of
from tilewright.explain.positions import NOWHERE
from tilewright.explain.pressure import pressure_of
from tilewright.explain.remark_rows import remark_row
from tilewright.explain.report import Kernel, Report, Resources
from tilewright.explain.shared_map import completed_map, mbarriers_of, shared_map
from tilewright.explain.spills import disassemble, spills_of
from tilewright.explain.timeline import timeline_of
from tilewright.explain.work import roofline_of, work_of
from tilewright.schedule.cost_inputs import plan_of
from tilewright.schedule.work_tree import tree_of
from tilewright.support.levels import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.emit.cubin import Cubin
    from tilewright.explain.positions import Positions
    from tilewright.explain.report import LevelText, Work
    from tilewright.ir.operation import Operation
    from tilewright.schedule.work_tree import Tree
    from tilewright.support.remarks import Remark
    from tilewright.target.arch import Arch

ANALYZED = "nv_tileas"
"""The level at which layouts, pipelines and shared memory are known."""
SPILLS_UNKNOWN = "source lines of spills need nvdisasm (package nvidia-cuda-nvdisasm)"


class Subject(NamedTuple):
    """The compilation that a report is about."""

    title: str
    version: str
    options: str
    arch: Arch


class Collector:
    """Observes a compilation, and builds the report."""

    def __init__(self, subject: Subject, positions: Positions) -> None:
        self._subject = subject
        self._positions = positions
        self._levels: dict[str, LevelText] = {}
        self._kernels: dict[str, Kernel] = {}
        self._work: dict[str, list[Work]] = {}
        self._trees: dict[str, Tree] = {}
        self._facts: dict[str, Facts] = {}
        self._mbarriers: dict[str, int] = {}

    def reached(self, level: str, module: Operation) -> None:
        """Take the text and the facts of a level; later passes modify the module.

        Bytes and operations are those of the program, before tiles are split and loops transformed.
        """
        if level == CANONICAL:
            for function in _kernels(module):
                self._work[function.sym_name] = work_of(function, self._positions)
                self._trees[function.sym_name] = tree_of(function)
            return
        text = module_text(level, module, self._positions)
        self._levels[level] = text
        for function in _kernels(module):
            if level == ANALYZED:
                self._take_facts(function)
                self._kernels[function.sym_name] = self._kernel(function, text)
        for op in module.walk():
            if isinstance(op, GPUFuncOp):
                self._mbarriers[op.sym_name] = mbarriers_of(op)

    def _take_facts(self, function: FuncOp) -> None:
        """Keep what the cost model needs; a program that starts at this level has no tree."""
        tree = self._trees.get(function.sym_name)
        if tree is not None:
            positions = list(map(self._positions.first, tree.locations))
            self._facts[function.sym_name] = Facts(tree, positions, plan_of(function))

    def _kernel(self, function: FuncOp, text: LevelText) -> Kernel:
        positions, arch = self._positions, self._subject.arch
        name, spec = function.sym_name, function.kernel_spec
        work = self._work.get(name, [])
        return Kernel(
            name=name,
            position=positions.first(function.location),
            warps=(spec.num_warps or 0) if spec is not None else 0,
            cluster=function.cluster_size,
            resources=None,
            occupancy=None,
            pressure=[],
            spills=[],
            shared_map=shared_map(function, positions),
            shared_limit=arch.static_shared,
            agents=agents_of(function),
            pipelines=pipelines_of(function, positions),
            dots=dots_of(function, positions),
            accesses=accesses_of(function, positions),
            layouts=layouts_of(function, alias_names(text.lines), positions),
            work=work,
            cost=[],
            roofline=roofline_of(work, arch),
            timeline=timeline_of(function, positions),
        )

    def report(
        self,
        llvm: str,
        ptx: str,
        cubin: Cubin | None,
        remarks: Iterable[Remark],
        notes: Sequence[str] = (),
    ) -> Report:
        """The report, from what the levels showed and from what LLVM and ptxas wrote."""
        levels = [*self._levels.values(), llvm_text(llvm, self._positions)]
        text = ptx_text(ptx, self._positions)
        sass = None if cubin is None else disassemble(cubin.data)
        kernels, more = self._assembled(text, cubin, sass)
        levels += [text] if sass is None else [text, sass_text(sass, self._positions)]
        # A pass that copies an operation reports on each copy.
        entries = list(dict.fromkeys(remark_row(each, self._positions) for each in remarks))
        sources, positions = self._positions.tables()
        subject = self._subject
        return Report(
            title=subject.title,
            version=subject.version,
            arch=subject.arch.name,
            options=subject.options,
            sources=sources,
            positions=positions,
            levels=levels,
            kernels=kernels,
            remarks=entries,
            notes=[*notes, *more],
        )

    def _assembled(
        self, ptx: LevelText, cubin: Cubin | None, sass: str | None
    ) -> tuple[list[Kernel], list[str]]:
        """The kernels with the resources that ptxas reports; and what is not known."""
        names = list(cubin.entries) if cubin is not None else list(self._kernels)
        ordered = [name for name in self._kernels if name in names]
        ordered += [name for name in names if name not in ordered]
        entries = [] if cubin is None else list(cubin.entries.values())
        spilling = any(each.spill_stores or each.spill_loads for each in entries)
        notes: list[str] = []
        if spilling and sass is None:
            notes.append(SPILLS_UNKNOWN)
        kernels: list[Kernel] = []
        for name in ordered:
            kernel = self._kernels.get(name) or _unknown_kernel(name, self._subject.arch)
            kernel = kernel._replace(pressure=pressure_of(ptx, name))
            if sass is not None:
                kernel = kernel._replace(spills=spills_of(sass, name, self._positions))
            mbarriers = self._mbarriers.get(name, 0)
            kernel = _with_resources(kernel, mbarriers, cubin, self._subject.arch)
            kernels.append(self._with_cost(kernel))
        return kernels, notes

    def _with_cost(self, kernel: Kernel) -> Kernel:
        facts = self._facts.get(kernel.name)
        if facts is None:
            return kernel
        arch = self._subject.arch
        return kernel._replace(cost=cost_of(facts, kernel.resources, kernel.occupancy, arch))


def _kernels(module: Operation) -> list[FuncOp]:
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    return [function for function in functions if function.is_kernel]


def _unknown_kernel(name: str, arch: Arch) -> Kernel:
    """A kernel of a program that starts below the levels that are analyzed."""
    return Kernel(
        name, NOWHERE, 0, 1, None, None, [], [], [], arch.static_shared, [], [], [], [], [], [],
        [], None, None,
    )  # fmt: skip


def _with_resources(kernel: Kernel, mbarriers: int, cubin: Cubin | None, arch: Arch) -> Kernel:
    entry = None if cubin is None else cubin.entries.get(kernel.name)
    if entry is None:
        return kernel
    resources = Resources(
        entry.threads or (),
        entry.registers,
        entry.spill_stores,
        entry.spill_loads,
        entry.stack,
        entry.shared,
        entry.barriers,
    )
    return kernel._replace(
        resources=resources,
        occupancy=occupancy_of(resources, arch),
        shared_map=completed_map(kernel.shared_map, mbarriers, entry.shared)
        if kernel.layouts
        else kernel.shared_map,
    )
