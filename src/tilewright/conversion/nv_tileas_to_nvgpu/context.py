"""The lowering context: what patterns of this conversion share while a module is converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.schedule.liveness_with_layouts import lacks_registers

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import Coordinate
    from tilewright.dialects.nv_tileaa.memory import AllocaOp
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
    from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
    from tilewright.ir.attributes import DenseElementsAttr
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class ScratchMemory(NamedTuple):
    """A function's scratch buffer in shared memory, of which operations own parts."""

    buffer: Value
    """As a memref."""
    pointer: Value
    """Its first byte."""
    address: Value
    """Its address as an i64."""


class HeapFrame(NamedTuple):
    """The memory that a function takes from the device heap, for all of its `alloca`s."""

    allocation: Value
    """The address that malloc returned, as an i64."""
    base: Value
    """The first address of it with the strictest alignment, as an i64."""
    offsets: dict[AllocaOp, int]
    """Bytes between the base and the memory of each `alloca`."""


class TensorMapSlot(NamedTuple):
    """The slot in global memory that holds the tensor maps of a block."""

    slots: Value
    """All slots, as a memref."""
    number: Value
    """Which one it is, as an index."""
    rows: tuple[int, ...] = ()
    """The row of each map in it."""


class FunctionContext:
    """The values that a function computes at its entry, for patterns of operations in its body."""

    __slots__ = ("barriers", "heap_frame", "scratch", "thread_id", "uniform_thread_id")

    def __init__(self, thread_id: Value) -> None:
        self.thread_id = thread_id
        """The thread's index in its CTA, as an i32: the lane in the low bits, above it the warp."""
        self.uniform_thread_id: Value | None = None
        """The same for the first lane of the warp, in a way that ptxas knows to be uniform."""
        self.scratch: ScratchMemory | None = None
        self.heap_frame: HeapFrame | None = None
        self.barriers: Value | None = None
        """The group of all mbarriers of the function."""


class LoweringContext:
    """Everything that patterns of this conversion remember of operations they have converted."""

    __slots__ = (
        "agent_thread_ids",
        "coordinates",
        "crowded_loops",
        "functions",
        "global_constants",
        "tensor_map_slots",
        "uniform_agent_thread_ids",
        "vectorized_bodies",
    )

    def __init__(self) -> None:
        self.functions: dict[FuncOp, FunctionContext] = {}
        self.agent_thread_ids: dict[AgentSwitchOp, Value] = {}
        """The thread's index among those of an agent, as an i32."""
        self.uniform_agent_thread_ids: dict[AgentSwitchOp, Value] = {}
        """The same for the first lane of the warp, in a way that ptxas knows to be uniform."""
        self.vectorized_bodies: dict[tuple[Operation, int], Block] = {}
        """The body of a reduction or scan on vectors, by the number of their elements."""
        self.coordinates: dict[tuple[Block | None, Layout, int], Coordinate] = {}
        """A thread's coordinates along a dimension of a layout, by the block that computes them."""
        self.crowded_loops: dict[Operation, bool] = {}
        """Whether the tiles of a loop leave no registers for addresses that do not change in it."""
        self.global_constants: dict[DenseElementsAttr, str] = {}
        """The symbol of the global constant with these contents."""
        self.tensor_map_slots: dict[CreateTensorMapsOp, TensorMapSlot] = {}


def lowering_context(build: ConversionBuilder) -> LoweringContext:
    """The context of the conversion at hand."""
    return build.context(LoweringContext)


def is_crowded(loop: Operation, build: ConversionBuilder) -> bool:
    """Whether addresses that do not change in a loop are better computed anew there."""
    known = lowering_context(build).crowded_loops
    if loop not in known:
        known[loop] = lacks_registers(loop)
    return known[loop]
