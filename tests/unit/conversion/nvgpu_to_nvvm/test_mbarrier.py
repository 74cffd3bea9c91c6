"""nvgpu's barriers to NVVM, always in shared memory."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from lowering import convert, kernel, lowered, read, symbols, to_ptx

from tilewright.ir.types import I1
from tilewright.ptxsim import Module
from tilewright.support.diagnostics import UserError

GROUP = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>"
ARGUMENTS = f"%b: {GROUP}, %i: index, %n: index, %p: i1, %t: !nvgpu.mbarrier.token"
ADDRESS = "llvm.getelementptr %arg0[%arg1] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64"


@pytest.mark.requirement("R3-047", "R3-072", "R3-073")
def test_create_names_shared_memory() -> None:
    body = f"%b = nvgpu.mbarrier.create -> {GROUP}"
    assert lowered(body) == ["%0 = llvm.mlir.addressof @mbar_storage : !llvm.ptr<3>"]
    assert symbols(body) == [
        "llvm.mlir.global internal @mbar_storage() {addr_space = 3 : i32, alignment = 8 : i64}"
        " : !llvm.array<4 x i64>"
    ]


def test_two_groups_have_separate_memory() -> None:
    body = f"%a = nvgpu.mbarrier.create -> {GROUP}\n%b = nvgpu.mbarrier.create -> {GROUP}"
    names = [line.split("@")[1].split("(")[0] for line in symbols(body)]
    assert names == ["mbar_storage", "mbar_storage_0"]


@pytest.mark.requirement(
    "R3-011", "R3-048", "R3-049", "R3-050", "R3-051", "R3-052", "R3-072", "R3-074"
)
@each_case(
    ("body", "expected"),
    [
        (
            f"nvgpu.mbarrier.init %b[%i], %n : {GROUP}",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "nvvm.mbarrier.init.shared %0, %1 : !llvm.ptr<3>, i32"],
        ),
        (
            f"nvgpu.mbarrier.init %b[%i], %n, predicate = %p : {GROUP}",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "nvvm.mbarrier.init.shared %0, %1, predicate = %arg3 : !llvm.ptr<3>, i32, i1"],
        ),
        (
            f"%s = nvgpu.mbarrier.arrive %b[%i] : {GROUP} -> !nvgpu.mbarrier.token",
            ["%1 = nvvm.mbarrier.arrive.shared %0 : !llvm.ptr<3> -> i64"],
        ),
        (
            f"%s = nvgpu.mbarrier.arrive.nocomplete %b[%i], %n : {GROUP} -> !nvgpu.mbarrier.token",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "%2 = nvvm.mbarrier.arrive.nocomplete.shared %0, %1 : !llvm.ptr<3>, i32 -> i64"],
        ),
        (
            f"nvgpu.mbarrier.arrive.expect_tx %b[%i], %n : {GROUP}",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "nvvm.mbarrier.arrive.expect_tx.shared %0, %1 : !llvm.ptr<3>, i32"],
        ),
        (
            f"%d = nvgpu.mbarrier.test.wait %b[%i], %t : {GROUP}, !nvgpu.mbarrier.token",
            ["%1 = nvvm.mbarrier.test.wait.shared %0, %arg4 : !llvm.ptr<3>, i64 -> i1"],
        ),
        (
            f"nvgpu.mbarrier.try_wait.parity %b[%i], %p, %n : {GROUP}",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "nvvm.mbarrier.try_wait.parity.shared %0, %arg3, %1 : !llvm.ptr<3>, i1, i32"],
        ),
        (
            f"%d = nvgpu.mbarrier.try_wait.parity %b[%i], %p, %n : {GROUP} -> i1",
            ["%1 = llvm.trunc %arg2 : i64 to i32",
             "%2 = nvvm.mbarrier.try_wait.parity.shared %0, %arg3, %1"
             " : !llvm.ptr<3>, i1, i32 -> i1"],
        ),
    ],
)  # fmt: skip
def test_operations_on_a_barrier(body: str, expected: list[str]) -> None:
    assert lowered(body, ARGUMENTS) == [f"%0 = {ADDRESS}", *expected]


@pytest.mark.requirement("R3-077")
def test_a_loop_carried_parity_is_the_operand_of_the_wait() -> None:
    """The loop-carried i1 is the operand of the wait, without extraction, shift or mask."""
    body = f"""
        %odd = arith.constant true
        %even = arith.constant false
        %zero = arith.constant 0 : index
        %end = scf.for %k = %zero to %n step %i iter_args(%phase = %even) -> (i1) {{
          nvgpu.mbarrier.try_wait.parity %b[%i], %phase, %n : {GROUP}
          %next = arith.xori %phase, %odd : i1
          scf.yield %next : i1
        }}
    """
    module = convert(kernel(body, ARGUMENTS))
    (wait,) = [op for op in module.walk() if op.name == "nvvm.mbarrier.try_wait.parity.shared"]
    parity = wait.operands[1]
    assert parity.type is I1
    assert parity.defining_op() is None
    (flip,) = [user for user in parity.users if user is not wait]
    assert flip.name == "llvm.xor"


@pytest.mark.requirement("R3-019", "R3-020", "R3-076")
@each_case("space", ["1", "#gpu.address_space<global>", "0"])
def test_a_barrier_outside_shared_memory_is_rejected(space: str) -> None:
    group = f"!nvgpu.mbarrier.group<memorySpace = {space}>"
    body = f"%t = nvgpu.mbarrier.arrive %b[%i] : {group} -> !nvgpu.mbarrier.token"
    with pytest.raises(UserError) as caught:
        read(kernel(body, f"%b: {group}, %i: index"))
    (error,) = caught.value.diagnostics
    assert error.message == (
        f"'nvgpu.mbarrier.arrive' op operand #0 must be mbarrier barrier type, but got '{group}'"
    )


def test_threads_synchronize_at_a_barrier() -> None:
    body = f"""
        %b = nvgpu.mbarrier.create -> {GROUP}
        %i = gpu.thread_id x
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %n = arith.constant 64 : index
        %ticks = arith.constant 1000000 : index
        %even = arith.constant false
        %first = arith.cmpi eq, %i, %c0 : index
        nvgpu.mbarrier.init %b[%c2], %n, predicate = %first : {GROUP}
        gpu.barrier
        %x = memref.load %a[%i] : memref<64xi32, 1>
        memref.store %x, %s[%i] : memref<64xi32, 3>
        %t = nvgpu.mbarrier.arrive %b[%c2] : {GROUP} -> !nvgpu.mbarrier.token
        nvgpu.mbarrier.try_wait.parity %b[%c2], %even, %ticks : {GROUP}
        %last = arith.constant 63 : index
        %j = arith.subi %last, %i : index
        %y = memref.load %s[%j] : memref<64xi32, 3>
        memref.store %y, %a[%i] : memref<64xi32, 1>
    """
    ptx = to_ptx(kernel(body, "%a: memref<64xi32, 1>", "workgroup(%s: memref<64xi32, 3>)"))
    a = np.arange(64, dtype=np.int32)
    Module(ptx).launch("k", 1, 64, [a])
    np.testing.assert_array_equal(a, np.arange(64)[::-1])
