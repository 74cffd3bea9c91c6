"""Probes of memory accesses: atomics, loads and stores of every form, addresses, the stack."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from probe_operands import CASES, THREADS, probe, width
from ptx_probes import Probe


def atomic_probes() -> Iterator[Probe]:
    """`atom` and `red`, every thread at an address of its own, in global and in shared memory."""
    integers = ("u32", "s32", "u64", "s64")
    for space in ("global", "shared"):
        for type in integers:
            names = ["min", "max"] + (["add"] if type != "s64" else [])
            for name in names:
                yield _atomic(space, name, type, type)
        for type, name in itertools.product(("b32", "b64"), ("and", "or", "xor", "exch", "cas")):
            yield _atomic(space, name, type, type)
        yield _atomic(space, "cas", "b16", "b16")
        yield from (_atomic(space, name, "u32", "u32") for name in ("inc", "dec"))
        yield from (_atomic(space, "add", type, type) for type in ("f32", "f64"))
        for type in ("f16", "f16x2", "bf16", "bf16x2"):
            yield _atomic(space, "add.noftz", type, type)
    yield from _vector_atomics()
    yield from _reductions()
    for space, name in itertools.product(("global", "shared"), ("cas", "exch")):
        yield _wide(space, name)


def _own_address(space: str, bytes: int) -> str:
    """Return code that puts this thread's own address into `%p3`, or `%t6` if shared."""
    if space == "shared":
        return f"mov.u32 %t6, cells; mad.lo.u32 %t6, %t2, {bytes}, %t6;"
    return (f"ld.param.u64 %p3, [out0]; cvta.to.global.u64 %p3, %p3;"
            f" mul.wide.u32 %p2, %t3, {bytes}; add.s64 %p3, %p3, %p2;")  # fmt: skip


def _atomic(space: str, name: str, type: str, operand: str) -> Probe:
    bits = width(type)
    cell = "[%t6]" if space == "shared" else "[%p3]"
    others = "%i1, %i2" if name == "cas" else "%i1"
    ins = " ".join([operand] * (3 if name == "cas" else 2))
    opcode = f"atom.{space}.{name}.{type}"
    body = (
        f"{_own_address(space, bits // 8)} st.{space}.b{bits} {cell}, %i0;"
        f" {opcode} %o1, {cell}, {others}; ld.{space}.b{bits} %o0, {cell};"
    )
    atomic = probe(opcode, f"{type} {type}", ins, body)
    shared = f".shared .align 16 .b8 cells[{THREADS * bits // 8}];"
    if name == "cas":
        # Half of the comparisons shall succeed.
        first, second = atomic.inputs[0][1], atomic.inputs[1][1]
        second[::2] = first[::2]
    return replace(atomic, declarations=shared if space == "shared" else "")


def _vector_atomics() -> Iterator[Probe]:
    for type, count in (("f32", 2), ("f32", 4), ("f16", 2), ("f16", 8), ("bf16", 4), ("f16x2", 2),
                        ("bf16x2", 4)):  # fmt: skip
        for name in ("add", "min", "max"):
            if type == "f32" and name != "add":
                continue
            noftz = ".noftz" if type != "f32" else ""
            opcode = f"red.global.v{count}.{type}.{name}{noftz}"
            yield _vector(opcode, type, count)
            yield _vector(opcode.replace("red", "atom"), type, count)


def _vector(opcode: str, type: str, count: int) -> Probe:
    bits = width(type)
    size = count * bits // 8
    gives = opcode.startswith("atom")
    outs = " ".join(["b32"] * (size // 4) + [type] * (count if gives else 0))
    first, second = ([f"%i{at}" for at in range(start, start + count)] for start in (0, count))
    olds = ", ".join(f"%o{size // 4 + at}" for at in range(count))
    registers = ", ".join(second)
    lines = [
        f".reg .b64 %cell; mov.u64 %cell, scratch; mad.wide.u32 %cell, %t3, {size}, %cell;",
        *(f"st.global.b{bits} [%cell+{at * bits // 8}], {r};" for at, r in enumerate(first)),
        f"{opcode} {f'{{{olds}}}, ' if gives else ''}[%cell], {{{registers}}};",
        *(f"ld.global.b32 %o{at}, [%cell+{4 * at}];" for at in range(size // 4)),
    ]
    atomic = probe(opcode, outs, " ".join([type] * 2 * count), "\n".join(lines))
    return replace(atomic, declarations=f".global .align 16 .b8 scratch[{CASES * size}];")


def _wide(space: str, name: str) -> Probe:
    """Words of 128 bits; every other comparison succeeds."""
    swaps = name == "cas"
    cell = "[%t6]" if space == "shared" else "[%cell]"
    body = f""".reg .b64 %cell; .reg .b128 %q<5>; mov.u32 %t6, cells;
    mad.lo.u32 %t6, %t2, 16, %t6; mov.u64 %cell, scratch; mad.wide.u32 %cell, %t3, 16, %cell;
    mov.b128 %q0, {{%i0, %i1}}; mov.b128 %q1, {{%i2, %i3}}; mov.b128 %q2, {{%i3, %i2}};
    st.{space}.v2.b64 {cell}, {{%i0, %i1}};
    atom.{space}.{name}.b128 %q3, {cell}, {"%q1, %q2" if swaps else "%q2"};
    ld.{space}.v2.b64 {{%o0, %o1}}, {cell}; mov.b128 {{%o2, %o3}}, %q3;"""
    atomic = probe(f"atom.{space}.{name}.b128", "b64 b64 b64 b64", "b64 b64 b64 b64", body)
    for at in range(2):
        atomic.inputs[at + 2][1][::2] = atomic.inputs[at][1][::2]
    buffers = f".shared .align 16 .b8 cells[{THREADS * 16}];"
    buffers += f" .global .align 16 .b8 scratch[{CASES * 16}];"
    return replace(atomic, declarations=buffers)


def _reductions() -> Iterator[Probe]:
    """`red`, all threads of a block at one address of shared memory, in any order."""
    forms = "add.u32 add.u64 min.s32 max.u64 and.b32 or.b64 xor.b32 inc.u32 dec.u32"
    for name, type in (form.split(".") for form in forms.split()):
        bits = width(type)
        body = (
            f"setp.eq.u32 %loop, %t2, 0; @%loop st.shared.b{bits} [cells], %i0; bar.sync 0;"
            f" red.shared.{name}.{type} [cells], %i1; bar.sync 0; ld.shared.b{bits} %o0, [cells];"
        )
        reduction = probe(f"red.shared.{name}.{type}", type, f"{type} {type}", body)
        if name in ("inc", "dec"):
            reduction.inputs[1][1][:] = np.arange(CASES) // THREADS * 9
        yield replace(reduction, declarations=".shared .align 8 .b8 cells[8];")


# Suffixes of `ld` and `st`, each with the types that it is tested with.
LOADS = (
    "ld", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu",
    "ld.global.cv", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.sys.global",
    "ld.weak.global", "ld.global.nc", "ld.global.nc.L1::no_allocate.L2::128B",
    "ld.global.L1::evict_last.L2::256B", "ld.global.nc.L1::evict_first.L2::64B",
    "ld.global.L1::evict_unchanged", "ldu.global", "ld.mmio.relaxed.sys.global",
)  # fmt: skip
STORES = (
    "st", "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt",
    "st.volatile.global", "st.relaxed.cluster.global", "st.release.gpu.global", "st.weak.global",
    "st.global.L1::no_allocate", "st.global.L1::evict_last", "st.mmio.relaxed.sys.global",
)  # fmt: skip
WIDTHS = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "s64", "f64",
          "v2.u8", "v4.s8", "v2.b16", "v4.u16", "v2.f32", "v4.b32", "v2.f64")  # fmt: skip


def _read_only(load: str, type: str) -> Probe:
    """A load of read-only memory, from the input."""
    count = int(type[1]) if type[0] == "v" else 1
    values = ", ".join(f"%o{at}" for at in range(count))
    body = f"""ld.param.u64 %p3, [in0]; cvta.to.global.u64 %p3, %p3; shr.u32 %t6, %t3, 2;
    shl.b32 %t6, %t6, 2; mad.wide.u32 %p3, %t6, 4, %p3;
    {load} {f"{{{values}}}" if count > 1 else values}, [%p3];"""
    return probe(load, " ".join(["b32"] * count), "b32", body)


def movement_probes() -> Iterator[Probe]:
    """Loads and stores: forms of caching and ordering, types, vectors; addresses and hints."""
    for form in LOADS:
        vector = "mmio" not in form and "relaxed" not in form and "acquire" not in form
        for type in ("b32", "v4.b32") if vector else ("b32",):
            read_only = ".nc" in form or form.startswith("ldu")
            name = f"{form}.{type}"
            yield _read_only(name, type) if read_only else _copy(name, "", type)
    for form in STORES:
        vector = "mmio" not in form and "relaxed" not in form and "release" not in form
        for type in ("b32", "v2.b64") if vector else ("b32",):
            yield _copy("", f"{form}.{type}", type)
    for space, type in itertools.product(("global", "shared", "local"), WIDTHS):
        yield _copy(f"ld.{space}.{type}", f"st.{space}.{type.replace('s8', 'u8')}", type, space)
    yield _policies()
    yield _spaces()
    yield _stack()


def _copy(load: str, store: str, type: str, space: str = "global") -> Probe:
    """A value to scratch memory by one instruction, and back by another one."""
    count, element = (int(type[1]), type[3:]) if type[0] == "v" else (1, type)
    bits = int(element[1:])
    vector = f"v{count}." if count > 1 else ""
    load = load or f"ld.{space}.{vector}b{bits}"
    store = store or f"st.{space}.{vector}b{bits}"
    size = count * bits // 8
    registers = [f"%v{at}" for at in range(count)]
    values = f"{{{', '.join(registers)}}}" if count > 1 else registers[0]
    held = max(32, bits)
    ones = (
        ""
        if space == "local"
        else f"mad.wide.u32 %cell, {'%t2' if space == 'shared' else '%t3'}, {size}, %cell;"
    )
    lines = [
        f".reg .b64 %cell; .reg .b{held} %v<{count}>; mov.u64 %cell, scratch; {ones}",
        *(f"{'mov.b64' if held == 64 else 'cvt.u32.u64'} %v{at}, %i{at};" for at in range(count)),
        f"{store} [%cell], {values};",
        *(f"mov.b{held} %v{at}, -1;" for at in range(count)),
        f"{load} {values}, [%cell];",
        *(f"{'mov.b64' if held == 64 else 'cvt.s64.s32'} %o{at}, %v{at};" for at in range(count)),
    ]
    capacity = size * {"global": CASES, "shared": THREADS, "local": 1}[space]
    outs, ins = " ".join(["b64"] * count), " ".join(["b64"] * count)
    name = f"{store} + {load}"
    copy = probe(name, outs, ins, "\n".join(lines))
    return replace(copy, declarations=f".{space} .align 16 .b8 scratch[{capacity}];")


def _policies() -> Probe:
    body = """.reg .b64 %policy, %where2;
    ld.param.u64 %where2, [in0]; cvta.to.global.u64 %where2, %where2;
    createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;
    createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %policy, 0.5;
    createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %policy, [%where2], 64, 128;
    createpolicy.cvt.L2.b64 %policy, 0x10f0000000000000;
    createpolicy.fractional.L2::evict_last.b64 %policy;
    prefetch.global.L1 [%where2]; prefetch.global.L2 [%where2]; prefetch.L1 [%where2];
    prefetch.global.L2::evict_last [%where2]; prefetchu.L1 [%where2];
    applypriority.global.L2::evict_normal [%where2], 128;
    mul.wide.u32 %p2, %t3, 4; add.s64 %where2, %where2, %p2;
    ld.global.L2::cache_hint.b32 %o0, [%where2], %policy;
    ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.b32 %o1, [%where2], %policy;"""
    return probe("createpolicy", "b32 b32", "b32", body)


def _spaces() -> Probe:
    """`isspacep`, for addresses in all spaces."""
    spaces = ("global", "shared", "shared::cta", "shared::cluster", "local", "const")
    lines = [".reg .b64 %a<4>; .reg .pred %s;",
             "mov.u64 %a0, scratch; cvta.global.u64 %a0, %a0; mov.u64 %a1, cells;",
             "cvta.shared.u64 %a1, %a1; mov.u64 %a2, mine; cvta.local.u64 %a2, %a2;",
             "mov.u64 %a3, fixed; cvta.const.u64 %a3, %a3; mov.b32 %o0, 0;"]  # fmt: skip
    for at, (address, space) in enumerate(itertools.product(range(4), spaces)):
        lines.append(f"isspacep.{space} %s, %a{address}; @%s or.b32 %o0, %o0, {1 << at};")
    # Round trips, and stores through generic addresses.
    lines.append("cvta.to.shared.u64 %a1, %a1; cvta.to.local.u64 %a2, %a2;"
        " cvta.to.const.u64 %a3, %a3;"
                 " st.local.b32 [%a2], %i0; ld.local.b32 %o1, [%a2]; ld.const.b32 %o2, [%a3];"
                 " setp.eq.u32 %s, %t2, 0; @%s st.shared.b32 [%a1], 77; bar.sync 0;"
                 " ld.shared.b32 %o3, [%a1];")  # fmt: skip
    query = probe("isspacep", "b32 b32 b32 b32", "b32", "\n".join(lines))
    return replace(query, declarations=".global .b32 scratch; .shared .b32 cells; .local .b32 mine;"
                 " .const .b32 fixed = 4321;")  # fmt: skip


def _stack() -> Probe:
    """Stack memory of a different size in each thread, freed afterwards."""
    body = """.reg .b64 %top, %a, %b; stacksave.u64 %top; alloca.u64 %a, 64; alloca.u64 %b, 32, 16;
    st.local.b32 [%a], %i0; st.local.b32 [%b+4], 5; ld.local.b32 %o0, [%a]; and.b64 %b, %b, 15;
    cvt.u32.u64 %o1, %b; stackrestore.u64 %top; alloca.u64 %b, 64; sub.u64 %a, %a, %b;
    cvt.u32.u64 %o2, %a;"""
    return probe("alloca", "b32 b32 b32", "b32", body)


def memory_probes() -> Iterator[Probe]:
    """Return all probes of memory accesses."""
    yield from atomic_probes()
    yield from movement_probes()
