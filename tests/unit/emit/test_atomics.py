"""Atomic accesses keep their ordering and their scope down to PTX."""

from __future__ import annotations

from each_case import each_case

from tilewright.emit.ptx import compile_ptx

SCOPES = {"": "sys", 'syncscope("device") ': "gpu", 'syncscope("block") ': "cta"}
KINDS = {
    ("add", "i32"): "add.u32",
    ("add", "i64"): "add.u64",
    ("sub", "i32"): "add.u32",
    ("xchg", "i64"): "exch.b64",
    ("_and", "i32"): "and.b32",
    ("max", "i32"): "max.s32",
    ("umin", "i64"): "min.u64",
    ("uinc_wrap", "i32"): "inc.u32",
    ("fadd", "f32"): "add.f32",
    ("fadd", "f64"): "add.f64",
    ("fadd", "f16"): "add.noftz.f16",
    ("fadd", "bf16"): "add.noftz.bf16",
    ("fadd", "vector<2xf16>"): "add.noftz.f16x2",
    ("fadd", "vector<2xbf16>"): "add.noftz.bf16x2",
}


def kernel(kind: str, type: str, order: str, space: int = 1) -> str:
    return (
        f"llvm.func @k(%p: !llvm.ptr<{space}>, %x: {type}, %o: !llvm.ptr<1>) "
        "attributes {nvvm.kernel} {\n"
        f"%r = llvm.atomicrmw {kind} %p, %x {order} : !llvm.ptr<{space}>, {type}\n"
        f"llvm.store %r, %o : {type}, !llvm.ptr<1>\nllvm.return\n}}"
    )


@each_case("scope", SCOPES, ids=SCOPES.values())
@each_case(("kind", "type"), KINDS)
def test_orderings_and_scopes(kind: str, type: str, scope: str, emit) -> None:
    expected = f"atom.acq_rel.{SCOPES[scope]}.global.{KINDS[kind, type]}"
    assert expected in compile_ptx(emit(kernel(kind, type, f"{scope}acq_rel")), opt_level=1)


@each_case(
    ("order", "expected"),
    [
        ('syncscope("device") monotonic', ["atom.global.add.u32"]),
        ("monotonic", ["atom.relaxed.sys.global.add.u32"]),
        ('syncscope("cluster") acquire', ["atom.acquire.cluster.global.add.u32"]),
        ("release", ["atom.release.sys.global.add.u32"]),
        ('syncscope("device") seq_cst', ["fence.sc.gpu", "atom.acq_rel.gpu.global.add.u32"]),
    ],
)
def test_each_ordering(order: str, expected: list[str], emit) -> None:
    ptx = compile_ptx(emit(kernel("add", "i32", order)), opt_level=1)
    assert all(part in ptx for part in expected)


def test_shared_memory(emit) -> None:
    ptx = compile_ptx(emit(kernel("add", "i32", 'syncscope("block") acq_rel', 3)), opt_level=1)
    assert "atom.acq_rel.cta.shared.add.u32" in ptx


def test_bf16_before_its_instruction(emit) -> None:
    """sm_80 has none: a loop of compare-and-swap, which keeps the ordering."""
    module = emit(kernel("fadd", "bf16", 'syncscope("device") acq_rel'), "sm_80")
    ptx = compile_ptx(module, opt_level=1)
    assert "noftz.bf16" not in ptx
    assert "atom.acq_rel.gpu.global.cas" in ptx
