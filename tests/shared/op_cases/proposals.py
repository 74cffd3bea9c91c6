"""Which operands and results an operation may have, as proposals for the verifier to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from op_cases.features import Feature
from op_cases.values import EVERYTHING, INTEGERS, NUMBERS, NUMBERS4
from tilewright.dialects.cuda_tile import (
    aggregate,
    atomics,
    control_flow,
    core,
    memory,
    misc,
    mma,
    multimem,
    structure,
    view,
)
from tilewright.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from tilewright.dialects.cuda_tile.enums import (
    AtomicMode,
    MemoryOrdering,
    MemoryScope,
    MultimemReduction,
    PaddingValue,
    SymbolVisibility,
)
from tilewright.dialects.cuda_tile.types import (
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
    ViewType,
)
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    Type,
    element_bytes,
)
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.traits import SameType
from tilewright.ir.types import DYNAMIC, I1, I8, I32, I64, TF32, FloatType
from tilewright.support.diagnostics import UserError

Kind = type[Operation]
Shape = tuple[int, ...]
Choice = dict[str, Attribute]


class Proposal(NamedTuple):
    """The types of an operation, and the attributes that depend on them."""

    operands: Sequence[Type]
    results: Sequence[Type]
    attributes: dict[str, Attribute] = {}  # noqa: RUF012
    segments: tuple[int, ...] | None = None
    regions: Callable[[], list[Region]] = list
    base: dict[str, Attribute] | None = None
    """Attributes under which the types can be judged: with them only one thing varies at a time."""


SHAPES: dict[Kind, list[dict[str, Shape]]] = {
    core.IotaOp: [{"result": (2,)}],
    core.PermuteOp: [{"source": (2, 2), "result": (2, 2)}],
    core.CatOp: [{"result": (8,)}],
    mma.MmaFOp: [{"lhs": (4, 32), "rhs": (32, 4), "acc": (4, 4), "result": (4, 4)}],
    mma.MmaIOp: [{"lhs": (4, 32), "rhs": (32, 4), "acc": (4, 4), "result": (4, 4)}],
    mma.MmaFScaledOp: [
        {
            "lhs": (4, 32), "rhs": (32, 4), "acc": (4, 4), "result": (4, 4),
            "lhs_scale": (4, blocks), "rhs_scale": (blocks, 4),
        }
        for blocks in (1, 2)
    ],
}  # fmt: skip
"""The shapes of fields that need others than a row of four."""

SAMPLES: dict[Kind, dict[str, Attribute]] = {
    core.PermuteOp: {"permutation": DenseArrayAttr(I32, (1, 0))},
    core.CatOp: {"dim": IntegerAttr(0, I64)},
    memory.AllocaOp: {"num_elem": IntegerAttr(4, I64), "alignment": IntegerAttr(8, I64)},
    control_flow.AssertOp: {"message": StringAttr("all")},
}


def by_fields(kind: Kind) -> Iterator[Proposal]:
    """All element types for every field, for operations without optional operands."""
    fields = [*kind.schema.operands, *kind.schema.results]
    if any(field.arity is not Arity.ONE for field in fields):
        raise AssertionError(f"expected a builder for '{kind.name}'")
    count = len(kind.schema.operands)
    for shapes in SHAPES.get(kind, [{}]):
        options = [_options(field, shapes.get(field.name, (4,))) for field in fields]
        for types in _agreeing(kind, [field.name for field in fields], options):
            yield Proposal(types[:count], types[count:], dict(SAMPLES.get(kind, {})))


def _agreeing(
    kind: Kind, names: list[str], options: Sequence[Sequence[Type]]
) -> Iterator[tuple[Type, ...]]:
    """All choices but those that the traits refuse anyway: there are too many of them."""
    tied = _tied(kind, names)
    free = [index for index, leader in enumerate(tied) if leader == index]
    for chosen in product(*(options[index] for index in free)):
        leaders = dict(zip(free, chosen, strict=True))
        agreeing = [_like(leaders[leader], options[i]) for i, leader in enumerate(tied)]
        if None not in agreeing:
            yield tuple(type for type in agreeing if type is not None)


def _tied(kind: Kind, names: list[str]) -> list[int]:
    """For each field, the first one that must have the same elements."""
    leaders = list(range(len(names)))
    for trait in kind.traits:
        if isinstance(trait, SameType) or "same element" in trait.name:
            fields: tuple[str, ...] = trait.fields  # pyrefly: ignore[missing-attribute]
            first, *others = sorted(names.index(field) for field in fields)
            for index in others:
                leaders[index] = leaders[first]
    return leaders


def _like(type: Type, options: Sequence[Type]) -> Type | None:
    """The option that has the elements of a type."""
    if not isinstance(type, TileType):
        return type
    tiles = (other for other in options if isinstance(other, TileType))
    return next((other for other in tiles if other.element is type.element), None)


def _options(field: Any, shape: Shape) -> Sequence[Type]:
    """The types that a field takes: of a shape, or else scalars, or else a token."""
    for extents in (shape, ()):
        accepted = [type for type in _tiles(extents, EVERYTHING) if field.constraint.accepts(type)]
        if accepted:
            return accepted
    return [TOKEN]


def _tiles(shape: Shape, elements: Sequence[Type]) -> Iterator[TileType]:
    for element in elements:
        try:
            yield TileType(shape, element)
        except (UserError, ValueError):
            continue


def _constants(kind: Kind) -> Iterator[Proposal]:
    for type in _tiles((4,), NUMBERS4):
        data = bytes(element_bytes(type.element))
        yield Proposal([], [type], {"value": DenseElementsAttr(data, type)})


def _packs(kind: Kind) -> Iterator[Proposal]:
    for element in NUMBERS4:
        width = 32 if element is TF32 else element.width
        tiles = [TileType((64,), element), TileType((8 * width,), I8)]
        if kind is core.UnpackOp:
            tiles.reverse()
        yield Proposal(tiles[:1], tiles[1:])


def _extracts(kind: Kind) -> Iterator[Proposal]:
    index = TileType((), I32)
    for whole, part in product(_tiles((4,), EVERYTHING), _tiles((2,), EVERYTHING)):
        yield Proposal([whole, index], [part])


def _inserts(kind: Kind) -> Iterator[Proposal]:
    index = TileType((), I32)
    for whole, part in product(_tiles((4,), EVERYTHING), _tiles((2,), EVERYTHING)):
        yield Proposal([part, whole, index], [whole])


def _joins(kind: Kind) -> Iterator[Proposal]:
    yield Proposal([TOKEN, TOKEN], [TOKEN])


def _after_token(kind: Kind) -> Iterator[Proposal]:
    yield Proposal([], [TOKEN])
    yield Proposal([TOKEN], [TOKEN])


def _optional(*types: Type) -> Iterator[tuple[list[Type], tuple[int, ...]]]:
    """Each of some operands there or not, and how many there are of each."""
    for present in product((0, 1), repeat=len(types)):
        yield [type for type, there in zip(types, present, strict=True) if there], present


MASK = TileType((4,), I1)
WEAK: Choice = {"memory_ordering_semantics": MemoryOrdering.WEAK}
RELAXED: Choice = {
    "memory_ordering_semantics": MemoryOrdering.RELAXED,
    "memory_scope": MemoryScope.DEVICE,
}
ATOMIC: list[Choice] = [{**RELAXED, "mode": mode} for mode in (AtomicMode.ADD, AtomicMode.ADDF)]


def _loads(kind: Kind) -> Iterator[Proposal]:
    for pointee in NUMBERS:
        type = TileType((4,), pointee)
        for extra, sizes in _optional(MASK, type, TOKEN):
            operands = [TileType((4,), PtrType(pointee)), *extra]
            yield Proposal(operands, [type, TOKEN], segments=(1, *sizes), base=WEAK)


def _stores(kind: Kind) -> Iterator[Proposal]:
    for pointee in NUMBERS:
        for extra, sizes in _optional(MASK, TOKEN):
            operands = [TileType((4,), PtrType(pointee)), TileType((4,), pointee), *extra]
            yield Proposal(operands, [TOKEN], segments=(1, 1, *sizes), base=WEAK)


def _atomics(kind: Kind) -> Iterator[Proposal]:
    count = 2 if kind is atomics.AtomicCASTkoOp else 1
    for pointee in NUMBERS:
        type = TileType((4,), pointee)
        for extra, sizes in _optional(MASK, TOKEN):
            operands = [TileType((4,), PtrType(pointee)), *[type] * count, *extra]
            segments = 1, *[1] * count, *sizes
            for base in ATOMIC if count == 1 else [RELAXED]:
                yield Proposal(operands, [type, TOKEN], segments=segments, base=base)


def views() -> Iterator[ViewType]:
    """A view of each kind, element and padding that there is."""
    for element in NUMBERS:
        tensor = TensorViewType((8,), element, (1,))
        for padding in (None, *PaddingValue):
            for make in (
                lambda t=tensor, p=padding: PartitionViewType((4,), t, (0,), p),
                lambda t=tensor, p=padding: StridedViewType((4,), (2,), t, (0,), p),
                lambda t=tensor, p=padding: GatherScatterViewType((4,), t, 0, p),
            ):
                try:
                    yield make()
                except (UserError, ValueError):
                    continue


class Access(NamedTuple):
    """The index type of an access to a view, an optional token, and the `inbounds` flag."""

    index_type: Type
    token: list[Type]
    inbounds: int
    varies_order: bool = False

    @property
    def sizes(self) -> tuple[int, int]:
        """How many indices and tokens there are."""
        return 1, len(self.token)

    @property
    def attributes(self) -> Choice:
        """The `inbounds` flag, and the ordering unless that varies."""
        order = {} if self.varies_order else WEAK
        return {"inbounds": DenseArrayAttr(I1, (self.inbounds,)), **order}

    @property
    def base(self) -> Choice | None:
        """The ordering under which the types of those that vary it can be judged."""
        return WEAK if self.varies_order else None


def _accesses(type: ViewType) -> Iterator[Access]:
    """Vary one of ordering, index type, token and `inbounds` at a time."""
    shape = (4,) if isinstance(type, GatherScatterViewType) else ()
    yield Access(TileType(shape, I32), [], 0, varies_order=True)
    yield from (Access(TileType(shape, element), [], 0) for element in INTEGERS)
    yield Access(TileType(shape, I32), [TOKEN], 0)
    yield Access(TileType(shape, I32), [], 1)


def _view_loads(kind: Kind) -> Iterator[Proposal]:
    for type in views():
        for access in _accesses(type):
            operands = [type, access.index_type, *access.token]
            results, sizes = [type.tile_type, TOKEN], (1, *access.sizes)
            yield Proposal(operands, results, access.attributes, sizes, base=access.base)


def _view_stores(kind: Kind) -> Iterator[Proposal]:
    for type in views():
        for access in _accesses(type):
            operands = [type.tile_type, type, access.index_type, *access.token]
            sizes = 1, 1, *access.sizes
            yield Proposal(operands, [TOKEN], access.attributes, sizes, base=access.base)


def _multimem(kind: Kind) -> Iterator[Proposal]:
    loads = kind is multimem.MultimemLoadReduceViewTkoOp
    base = RELAXED if kind is multimem.MultimemReduceViewTkoOp else WEAK
    if kind is not multimem.MultimemStoreViewTkoOp:
        base = {**base, "reduction": MultimemReduction.ADD}
    for type in views():
        for access in _accesses(type):
            tile = [] if loads else [type.tile_type]
            operands = [type, *tile, access.index_type, *access.token]
            results = [type.tile_type, TOKEN] if loads else [TOKEN]
            sizes = 1, *[1] * len(tile), *access.sizes
            given: dict[str, Attribute] = {"inbounds": DenseArrayAttr(I1, (access.inbounds,))}
            yield Proposal(operands, results, given, sizes, base=base)


def _view_atomics(kind: Kind) -> Iterator[Proposal]:
    for type in views():
        for access in _accesses(type):
            operands = [type, access.index_type, type.tile_type, *access.token]
            segments = 1, 1, 1, access.sizes[1]
            for base in ATOMIC:
                given: dict[str, Attribute] = {"inbounds": DenseArrayAttr(I1, (access.inbounds,))}
                yield Proposal(operands, [TOKEN], given, segments, base=base)


def _tensors(kind: Kind) -> Iterator[Proposal]:
    for element, dynamic in product(NUMBERS, INTEGERS):
        base, extent = TileType((), PtrType(element)), TileType((), dynamic)
        yield Proposal([base], [TensorViewType((8,), element, (1,))], segments=(1, 0, 0))
        whole = TensorViewType((DYNAMIC,), element, (DYNAMIC,))
        yield Proposal([base, extent, extent], [whole], segments=(1, 1, 1))


def _view_makers(kind: Kind) -> Iterator[Proposal]:
    for type in views():
        yield Proposal([type.tensor_view], [type])


def _extents(kind: Kind) -> Iterator[Proposal]:
    for type, element in product(views(), INTEGERS):
        source = type.tensor_view if kind is view.GetTensorShapeOp else type
        yield Proposal([source], [TileType((), element)])


def _assumptions(kind: Kind) -> Iterator[Proposal]:
    predicates = (DivByAttr(2), BoundedAttr(0, None), SameElementsAttr((1,)))
    tensors = [TensorViewType((8,), element, (1,)) for element in NUMBERS]
    for type in (*_tiles((4,), EVERYTHING), *tensors):
        for predicate in predicates:
            yield Proposal([type], [type], {"predicate": predicate})


def _prints(kind: Kind) -> Iterator[Proposal]:
    for type in _tiles((4,), EVERYTHING):
        for token, sizes in _optional(TOKEN):
            format = StringAttr("%d")
            yield Proposal([type, *token], [TOKEN], {"str": format}, (1, *sizes))


def _folds(kind: Kind) -> Iterator[Proposal]:
    for type in _tiles((4,), NUMBERS4):
        element = type.element
        identity = (
            FloatAttr(0, element) if isinstance(element, FloatType) else IntegerAttr(0, element)
        )
        attributes: dict[str, Attribute] = {
            "dim": IntegerAttr(0, I32),
            "identities": ArrayAttr((identity,)),
        }
        try:
            scalar = TileType((), element)
        except (UserError, ValueError):
            continue
        result = type if kind is aggregate.ScanOp else scalar

        def regions(scalar: Type = scalar) -> list[Region]:
            block = Block()
            first, _ = block.add_argument(scalar), block.add_argument(scalar)
            block.append(control_flow.YieldOp([first]))
            return [Region([block])]

        yield Proposal([type], [result], attributes, regions=regions)


def _counted_loops(kind: Kind) -> Iterator[Proposal]:
    for element in INTEGERS:
        index = TileType((), element)

        def regions(types: Sequence[Type] = (index,)) -> list[Region]:
            block = Block()
            arguments = [block.add_argument(type) for type in types]
            block.append(control_flow.ContinueOp(arguments[1:]))
            return [Region([block])]

        yield Proposal([index] * 3, [], segments=(1, 1, 1, 0), regions=regions)


def _elsewhere(kind: Kind) -> Iterator[Proposal]:
    """Operations that mean something only with others around: `together` has their features."""
    return iter(())


BUILDERS: dict[Kind, Callable[[Kind], Iterator[Proposal]]] = {
    core.ConstantOp: _constants,
    core.PackOp: _packs,
    core.UnpackOp: _packs,
    core.ExtractOp: _extracts,
    core.InsertOp: _inserts,
    memory.JoinTokensOp: _joins,
    memory.GdcWaitTkoOp: _after_token,
    memory.GdcLaunchDependentsTkoOp: _after_token,
    memory.LoadPtrTkoOp: _loads,
    memory.StorePtrTkoOp: _stores,
    atomics.AtomicRMWTkoOp: _atomics,
    atomics.AtomicCASTkoOp: _atomics,
    atomics.AtomicRedViewTkoOp: _view_atomics,
    multimem.MultimemLoadReduceViewTkoOp: _multimem,
    multimem.MultimemReduceViewTkoOp: _multimem,
    multimem.MultimemStoreViewTkoOp: _multimem,
    view.LoadViewTkoOp: _view_loads,
    view.StoreViewTkoOp: _view_stores,
    view.MakeTensorViewOp: _tensors,
    view.MakePartitionViewOp: _view_makers,
    view.MakeStridedViewOp: _view_makers,
    view.MakeGatherScatterViewOp: _view_makers,
    view.GetTensorShapeOp: _extents,
    view.GetIndexSpaceShapeOp: _extents,
    misc.AssumeOp: _assumptions,
    misc.PrintTkoOp: _prints,
    aggregate.ReduceOp: _folds,
    aggregate.ScanOp: _folds,
    control_flow.ForOp: _counted_loops,
    control_flow.IfOp: _elsewhere,
    control_flow.LoopOp: _elsewhere,
    control_flow.YieldOp: _elsewhere,
    control_flow.BreakOp: _elsewhere,
    control_flow.ContinueOp: _elsewhere,
    control_flow.ReturnOp: _elsewhere,
    structure.ModuleOp: _elsewhere,
    structure.EntryOp: _elsewhere,
    structure.GlobalOp: _elsewhere,
    structure.GetGlobalOp: _elsewhere,
}


def together() -> Iterator[Feature]:
    """What there is of control flow and structure: values of all types go through."""
    words = [str(type)[len("!cuda_tile.tile<4x") : -1] for type in _tiles((4,), EVERYTHING)]
    for name, field in (
        ("if", "outputs"),
        ("for", "init_values"),
        ("for", "outputs"),
        ("loop", "init_values"),
        ("loop", "outputs"),
        ("yield", "values"),
        ("break", "values"),
        ("continue", "values"),
    ):
        yield from ((name, (), field, word) for word in words)
    for element in NUMBERS:
        yield "global", (), "value", str(element)
        yield "get_global", (PtrType(element).spell(),), "", ""
        yield "entry", (), "parameter", PtrType(element).spell()
    for element in (type.element for type in _tiles((), NUMBERS)):
        yield "entry", (), "parameter", str(element)
    for name in ("module", "entry", "return", "yield", "if", "loop", "break", "continue"):
        yield name, ("i1",) if name == "if" else (), "", ""
    yield "global", (), "", ""
    for flag in ("True", "False"):
        yield "global", (), "constant", flag
    for visibility in SymbolVisibility:
        yield "global", (), "symbol_visibility", str(visibility)
