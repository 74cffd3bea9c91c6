"""Statements on memory by pointers: masks, buffers in token order, atomics, scratch, globals."""

from __future__ import annotations

from typing import Final

from tilewright.testing.generate.elements import BASE_FLOATS
from tilewright.testing.generate.kernel import I32, Buffer, Chain, Kernel, Result
from tilewright.testing.generate.values import Facts, Shape, Tile, Value, full

LOADS: Final = ("weak", "weak", "relaxed tl_blk", "relaxed device", "acquire device", "acquire sys")
STORES: Final = ("weak", "weak", "relaxed tl_blk", "relaxed sys", "release device", "release sys")
HINTS: Final = ("", "", " optimization_hints = <sm_90 = {latency = 3}>",
                " optimization_hints = <default = {latency = 1}>")  # fmt: skip
ATOMICS: Final = ("relaxed", "acquire", "release", "acq_rel")
SCOPES: Final = ("device", "sys")


def pointees(k: Kernel) -> list[str]:
    """The element types of pointers to single elements."""
    return sorted(k.elements - {"i4", "f4E2M1FN"})


def masked_load(k: Kernel) -> None:
    """`load_ptr_tko` of scattered elements of an array that is read-only, with a mask."""
    element = k.random.choice(pointees(k))
    tile = Tile(element, k.shape())
    size = 1 << k.random.randint(0, 6)
    source = k.argument("in", element, size, k.contents(element))
    pointers = _scattered(k, f"%{source.name}", tile, size)
    mask, padding = k.operand(tile.of("i1")), k.operand(tile)
    ordering, hints = k.random.choice(LOADS), k.random.choice(HINTS)
    token = " token=" + k.emit("make_token : token")[0] if k.chance(0.3) else ""
    name, _ = k.emit(
        f"load_ptr_tko {ordering} {pointers}, {mask.name}, {padding.name}{token}{hints} "
        f": {tile.pointers}, {mask.tile}, {tile} -> {tile}, token", 2,
    )  # fmt: skip
    k.scope.values.append(Value(name, tile, source.facts().union(padding.facts)))


def _scattered(k: Kernel, base: str, tile: Tile, size: int) -> str:
    """Pointers to any elements of an array whose extent is a power of two."""
    indices = tile.of(k.element("i32", "i64"))
    any_index, mask = k.operand(indices), k.constant(indices, (size - 1,))
    (inside,) = k.emit(f"andi {any_index.name}, {mask.name} : {indices}")
    spread = k.spread(base, Tile(tile.element).pointers, tile.shape, f"ptr<{tile.element}>")
    text = f"offset {spread}, {inside} : {tile.pointers}, {indices} -> {tile.pointers}"
    return k.emit(text)[0]


def pointer_casts(k: Kernel) -> None:
    """Pointers as integers and back, and as pointers to other elements of the same size."""
    element, other = k.random.choice(
        (("i32", "i32"), ("f32", "i32"), ("i16", "bf16"), ("i8", "i8"))
    )
    tile = Tile(element, k.shape())
    source = k.argument("in", element, tile.elements, "small")
    pointers = k.addresses(f"%{source.name}", tile)
    numbers, target = tile.of("i64"), tile.of(other)
    (number,) = k.emit(f"ptr_to_int {pointers} : {tile.pointers} -> {numbers}")
    (back,) = k.emit(f"int_to_ptr {number} : {numbers} -> {tile.pointers}")
    if other != element or k.chance(0.3):
        (back,) = k.emit(f"ptr_to_ptr {back} : {tile.pointers} -> {target.pointers}")
    name, _ = k.emit(f"load_ptr_tko weak {back} : {target.pointers} -> {target}, token", 2)
    facts = source.facts() if element == other else full(target.kind)
    k.scope.values.append(Value(name, target, facts))


def masked_store(k: Kernel) -> None:
    """`store_ptr_tko` of some elements to an array of their own."""
    if not k.scope.runs_once:
        return
    a = k.any_of(*pointees(k))
    array = k.argument("out", a.tile.element, a.tile.elements * k.blocks, "zeros")
    k.results.append(Result(array.name, a.tile.element))
    pointers = k.addresses(k.own_part(array, a.tile.elements), a.tile)
    mask = k.operand(a.tile.of("i1"))
    k.emit(
        f"store_ptr_tko {k.random.choice(STORES)} {pointers}, {a.name}, {mask.name}"
        f"{k.random.choice(HINTS)} : {a.tile.pointers}, {a.tile}, {mask.tile} -> token"
    )


def open_buffer(k: Kernel) -> None:
    """A buffer that this block reads and writes from here on."""
    if k.nesting or len(k.buffers) > 2:
        return
    element, count = k.random.choice(pointees(k)), 1 << k.random.randint(0, 6)
    contents = "powers" if element == "f8E8M0FNU" else k.random.choice(("small", "random"))
    array = k.argument("rw", element, count * k.blocks, contents)
    k.results.append(Result(array.name, element))
    buffer = Buffer(k.own_part(array, count), element, count)
    k.buffers[buffer.name] = buffer
    (token,) = k.emit("make_token : token")
    k.scope.chains[buffer.name] = Chain(token)


def settled(k: Kernel, chain: Chain) -> str:
    """A token after every access to a buffer so far."""
    if chain.read:
        (joined,) = k.emit(f"join_tokens {', '.join((chain.written, *chain.read))} : token")
        chain.written = joined
        chain.read = []
    return chain.written


def use_buffer(k: Kernel) -> None:
    """Reads and writes of parts of buffers, ordered by tokens."""
    if not k.scope.chains:
        open_buffer(k)
        return
    for _ in range(k.random.randint(1, 4)):
        _access(k, k.random.choice(sorted(k.scope.chains)))


def _access(k: Kernel, name: str) -> None:
    buffer, chain = k.buffers[name], k.scope.chains[name]
    tile = Tile(buffer.element, (1 << k.random.randint(0, buffer.count.bit_length() - 1),))
    start = k.below(buffer.count // tile.elements)
    scale = k.int_constant(tile.elements)
    (first,) = k.emit(f"muli {start.name}, {scale.name} : {I32}")
    pointer = Tile(buffer.element).pointers
    (base,) = k.emit(f"offset {name}, {first} : {pointer}, {I32} -> {pointer}")
    pointers = k.addresses(base, tile)
    if k.chance(0.5):
        text = f"load_ptr_tko weak {pointers} token={chain.written} : {tile.pointers}"
        loaded, token = k.emit(f"{text} -> {tile}, token", 2)
        chain.read.append(token)
        k.scope.values.append(Value(loaded, tile, full(tile.kind)))
        return
    value = k.operand(tile)
    text = f"store_ptr_tko weak {pointers}, {value.name} token={settled(k, chain)}"
    (chain.written,) = k.emit(f"{text} : {tile.pointers}, {tile} -> token")
    if k.chance(0.15):
        (chain.written,) = k.emit(f"memory_fence_alias_tko {chain.written}")


def scratch(k: Kernel) -> None:
    """`alloca`: written and read again."""
    a = k.any_of(*pointees(k))
    tile, bytes = a.tile, max(a.tile.kind.storage // 8, 1)
    alignment = bytes << k.random.randint(0, 3)
    memory_space = " global" if k.chance(0.3) else ""
    text = f"alloca num_elem = {tile.elements}, alignment = {alignment}{memory_space}"
    (base,) = k.emit(f"{text} : {Tile(tile.element).pointers}")
    pointers = k.addresses(base, tile)
    (token,) = k.emit(f"store_ptr_tko weak {pointers}, {a.name} : {tile.pointers}, {tile} -> token")
    text = f"load_ptr_tko weak {pointers} token={token} : {tile.pointers}"
    name, _ = k.emit(f"{text} -> {tile}, token", 2)
    k.scope.values.append(Value(name, tile, a.facts))


def read_global(k: Kernel) -> None:
    """A `global` with its `get_global`, read only."""
    element = k.element("i8", "i16", "i32", "i64", *BASE_FLOATS)
    tile = Tile(element, (1 << k.random.randint(0, 4),))
    kind = tile.kind
    numbers = [k.random.randint(-8, 8) for _ in range(tile.elements)]
    texts = [f"{number / 2:.2f}" if kind.is_float else str(number) for number in numbers]
    name = f"@g{len(k.globals)}"
    private, constant = k.random.choice(("", "private ")), k.random.choice(("", "constant "))
    aligned = f" alignment = {k.random.choice((16, 64))}" if k.chance(0.4) else ""
    values = f"[{', '.join(texts)}]"
    k.globals.append(f"global {private}{constant}{name}{aligned} <{element}: {values}> : {tile}")
    (base,) = k.emit(f"get_global {name} : {Tile(element).pointers}")
    pointers = k.addresses(base, tile)
    loaded, _ = k.emit(f"load_ptr_tko weak {pointers} : {tile.pointers} -> {tile}, token", 2)
    k.scope.values.append(Value(loaded, tile, Facts(-8, 8, not kind.is_float)))


MODES: Final = {
    "i32": ("and", "or", "xor", "add", "max", "min", "umax", "umin"),
    "i64": ("and", "or", "xor", "add", "max", "min", "umax", "umin"),
    "f16": ("addf",), "bf16": ("addf",), "f32": ("addf",), "f64": ("addf",),
}  # fmt: skip


def atomic_element(k: Kernel) -> str:
    """A type for atomics of all blocks; floats only if accumulation stays exact."""
    names = [name for name in MODES if name not in BASE_FLOATS or k.scope.runs_once]
    if k.options.profile == "sm_80":
        names = [name for name in names if name != "bf16"]
    return k.random.choice(names)


def shared_atomic(k: Kernel) -> None:
    """`atomic_rmw_tko` of all blocks on the same elements, in any order; old values are unused."""
    element = atomic_element(k)
    shape: Shape = (1 << k.random.randint(0, 5),) if k.chance(0.8) else ()
    tile, size = Tile(element, shape), 1 << k.random.randint(0, 4)
    array = k.argument("at", element, size, "small")
    k.results.append(Result(array.name, element))
    pointers = _scattered(k, f"%{array.name}", tile, size)
    mode = k.random.choice(MODES[element])
    arg = k.load_input(tile, "signs") if tile.is_float else k.operand(tile)
    mask = k.operand(tile.of("i1")) if k.chance(0.4) else None
    masks = (f", {mask.name}", f", {mask.tile}") if mask is not None else ("", "")
    ordering = f"{k.random.choice(ATOMICS)} {k.random.choice(SCOPES)}"
    k.emit(
        f"atomic_rmw_tko {ordering} {pointers}, {mode}, {arg.name}{masks[0]} "
        f": {tile.pointers}, {tile}{masks[1]} -> {tile}, token", 2,
    )  # fmt: skip


def own_atomic(k: Kernel) -> None:
    """Atomics on elements that are this block's alone, so that the old values are known."""
    if not k.scope.runs_once:
        return
    element = k.element("i32", "i64", "f32", "f64")
    tile = Tile(element, k.shape())
    array = k.argument("own", element, tile.elements * k.blocks, "small")
    k.results.append(Result(array.name, element))
    pointers = k.addresses(k.own_part(array, tile.elements), tile)
    ordering = f"{k.random.choice(ATOMICS)} {k.random.choice(('tl_blk', *SCOPES))}"
    small = k.load_input(tile, "small")
    if k.chance(0.5):
        other = k.load_input(tile, "small")
        text = f"atomic_cas_tko {ordering} {pointers}, {small.name}, {other.name}"
    else:
        mode = k.random.choice(("xchg", *MODES[element]))
        text = f"atomic_rmw_tko {ordering} {pointers}, {mode}, {small.name}"
    name, _ = k.emit(f"{text} : {tile.pointers}, {tile} -> {tile}, token", 2)
    k.scope.values.append(Value(name, tile, array.facts()))


def dependencies(k: Kernel) -> None:
    """`gdc_wait_tko` and `gdc_launch_dependents_tko`, which change nothing here."""
    op = k.random.choice(("gdc_wait_tko", "gdc_launch_dependents_tko"))
    token = " token = " + k.emit("make_token : token")[0] if k.chance(0.5) else ""
    k.emit(f"{op}{token} -> token")


STATEMENTS: Final = (
    masked_load, masked_load, pointer_casts, masked_store, open_buffer, use_buffer, use_buffer,
    use_buffer, scratch, read_global, shared_atomic, own_atomic, dependencies,
)  # fmt: skip
