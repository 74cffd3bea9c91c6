"""Programs in the LLVM dialect round-trip in MLIR's syntax, and parse in xDSL."""

from __future__ import annotations

import pytest
from each_case import each_case
from xdsl.context import Context as XContext
from xdsl.dialects import get_all_dialects
from xdsl.ir import Operation as XOperation
from xdsl.parser import Parser as XParser

from tilewright.dialects.llvm import LLVM
from tilewright.driver.registry import context
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

STRUCTURE = """\
module {
  llvm.mlir.global internal constant @message("hi\\00")
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<1024 x i8>
  llvm.mlir.global external hidden unnamed_addr constant @table(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {addr_space = 1 : i32} : !llvm.array<2 x f32>
  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @printf(!llvm.ptr {llvm.nocapture}, ...) -> i32
  llvm.func internal fastcc @twice(%arg0: f32) -> (f32 {llvm.noundef}) attributes {always_inline, passthrough = ["noinline", ["key", "value"]]} {
    %0 = llvm.fadd %arg0, %arg0 {fastmathFlags = #llvm.fastmath<nnan, contract>} : f32
    llvm.return %0 : f32
  }
  llvm.func @kernel(%arg0: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %arg1: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %0 = llvm.mlir.addressof @message : !llvm.ptr
    %1 = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %2 = llvm.mlir.constant(1.500000e+00 : f32) : f32
    %3 = llvm.call fastcc @twice(%2) : (f32) -> f32
    %4 = llvm.call @printf(%0, %arg1) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32) -> i32
    %5 = llvm.call %0(%arg1) : !llvm.ptr, (i32) -> i32
    %6 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
    %7 = llvm.inline_asm has_side_effects asm_dialect = att "add.s32 $0, $1, 1;", "=r,r" %arg1 : (i32) -> i32
    llvm.inline_asm has_side_effects {convergent} "bar.sync 0;", ""  : () -> ()
    llvm.return
  }
}
"""  # noqa: E501

ARITHMETIC = """\
module {
  llvm.func @f(%arg0: i32, %arg1: i32, %arg2: f32, %arg3: vector<4xf32>, %arg4: !llvm.ptr<1>) {
    %0 = llvm.add %arg0, %arg1 overflow<nsw, nuw> : i32
    %1 = llvm.sub %arg0, %arg1 : i32
    %2 = llvm.mul %arg0, %arg1 overflow<nsw> : i32
    %3 = llvm.udiv exact %arg0, %arg1 : i32
    %4 = llvm.sdiv %arg0, %arg1 : i32
    %5 = llvm.urem %arg0, %arg1 : i32
    %6 = llvm.srem %arg0, %arg1 : i32
    %7 = llvm.and %arg0, %arg1 : i32
    %8 = llvm.or disjoint %arg0, %arg1 : i32
    %9 = llvm.xor %arg0, %arg1 : i32
    %10 = llvm.shl %arg0, %arg1 : i32
    %11 = llvm.lshr exact %arg0, %arg1 : i32
    %12 = llvm.ashr %arg0, %arg1 : i32
    %13 = llvm.fadd %arg3, %arg3 : vector<4xf32>
    %14 = llvm.fsub %arg2, %arg2 : f32
    %15 = llvm.fmul %arg2, %arg2 {fastmathFlags = #llvm.fastmath<fast>} : f32
    %16 = llvm.fdiv %arg2, %arg2 : f32
    %17 = llvm.frem %arg2, %arg2 : f32
    %18 = llvm.fneg %arg2 : f32
    %19 = llvm.icmp "slt" %arg0, %arg1 : i32
    %20 = llvm.icmp "eq" %arg4, %arg4 : !llvm.ptr<1>
    %21 = llvm.fcmp "oge" %arg3, %arg3 : vector<4xf32>
    %22 = llvm.fcmp "_true" %arg2, %arg2 : f32
    %23 = llvm.select %21, %arg3, %13 : vector<4xi1>, vector<4xf32>
    %24 = llvm.select %19, %arg0, %arg1 : i1, i32
    %25 = llvm.freeze %arg2 : f32
    %26 = llvm.bitcast %arg2 : f32 to i32
    %27 = llvm.addrspacecast %arg4 : !llvm.ptr<1> to !llvm.ptr
    %28 = llvm.ptrtoint %arg4 : !llvm.ptr<1> to i64
    %29 = llvm.inttoptr %28 : i64 to !llvm.ptr<7>
    %30 = llvm.sext %arg0 : i32 to i64
    %31 = llvm.zext nneg %arg0 : i32 to i64
    %32 = llvm.trunc %30 overflow<nuw> : i64 to i16
    %33 = llvm.sitofp %arg0 : i32 to f32
    %34 = llvm.uitofp nneg %arg0 : i32 to f32
    %35 = llvm.fptosi %arg2 : f32 to i32
    %36 = llvm.fptoui %arg2 : f32 to i32
    %37 = llvm.fpext %arg2 : f32 to f64
    %38 = llvm.fptrunc %arg3 : vector<4xf32> to vector<4xbf16>
    %39 = llvm.mlir.constant(dense<1.000000e+00> : vector<4xf32>) : vector<4xf32>
    %40 = llvm.mlir.zero : !llvm.struct<(i32, ptr<3>, array<2 x f32>)>
    %41 = llvm.mlir.undef : vector<2xf16>
    %42 = llvm.mlir.poison : i1
    %43 = llvm.intr.fma(%arg2, %arg2, %arg2) {fastmathFlags = #llvm.fastmath<contract>} : (f32, f32, f32) -> f32
    %44 = llvm.intr.maxnum(%arg3, %13) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %45 = llvm.intr.ctpop(%arg0) : (i32) -> i32
    %46 = "llvm.intr.ctlz"(%arg0) <{is_zero_poison = false}> : (i32) -> i32
    %47 = llvm.intr.fptosi.sat(%arg2) : (f32) -> i8
    %48 = "llvm.intr.vector.reduce.fmax"(%arg3) <{fastmathFlags = #llvm.fastmath<none>}> : (vector<4xf32>) -> f32
    llvm.intr.assume %19 : i1
    llvm.return
  }
}
"""  # noqa: E501

MEMORY = """\
module {
  llvm.func @f(%arg0: !llvm.ptr<1>, %arg1: i32, %arg2: f32, %arg3: vector<4xf32>) {
    %0 = llvm.getelementptr inbounds %arg0[%arg1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %1 = llvm.getelementptr inbounds|nuw %arg0[%arg1, 1, 2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.struct<(i32, array<4 x f32>)>
    %2 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr<1> -> f32
    %3 = llvm.load volatile %0 atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> f32
    %4 = llvm.load %0 invariant {nontemporal} : !llvm.ptr<1> -> f32
    llvm.store %2, %1 {nontemporal} : f32, !llvm.ptr<1>
    llvm.store volatile %2, %1 atomic release {alignment = 4 : i64} : f32, !llvm.ptr<1>
    %5 = llvm.alloca %arg1 x !llvm.array<4 x i8> {alignment = 64 : i64} : (i32) -> !llvm.ptr
    %6 = llvm.cmpxchg weak %arg0, %arg1, %arg1 syncscope("device") acq_rel monotonic : !llvm.ptr<1>, i32
    %7 = llvm.atomicrmw _and %arg0, %arg1 monotonic : !llvm.ptr<1>, i32
    %8 = llvm.atomicrmw volatile fadd %arg0, %arg2 syncscope("device") acq_rel : !llvm.ptr<1>, f32
    llvm.fence syncscope("device") seq_cst
    %9 = llvm.extractvalue %6[0] : !llvm.struct<(i32, i1)>
    %10 = llvm.insertvalue %9, %6[0] : !llvm.struct<(i32, i1)>
    %11 = llvm.extractelement %arg3[%arg1 : i32] : vector<4xf32>
    %12 = llvm.insertelement %11, %arg3[%arg1 : i32] : vector<4xf32>
    %13 = llvm.shufflevector %arg3, %12 [0, 5, -1] : vector<4xf32>
    %14 = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%5, %14, %arg1) <{isVolatile = false}> : (!llvm.ptr, i8, i32) -> ()
    llvm.return
  }
}
"""  # noqa: E501

BRANCHES = """\
module {
  llvm.func @f(%arg0: i1, %arg1: i32) -> i32 {
    llvm.cond_br %arg0 weights([1, 9]), ^bb1(%arg1 : i32), ^bb2
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb1
    llvm.switch %0 : i32, ^bb3(%0 : i32) [
      1: ^bb2,
      -2: ^bb1(%0 : i32)
    ]
  ^bb2:  // 2 preds: ^bb0, ^bb1
    llvm.br ^bb3(%arg1 : i32) {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  ^bb3(%1: i32):  // 2 preds: ^bb1, ^bb2
    llvm.cond_br %arg0, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    llvm.unreachable
  ^bb5:  // pred: ^bb3
    llvm.return %1 : i32
  }
}
"""

PROGRAMS = {
    "structure": STRUCTURE,
    "arithmetic": ARITHMETIC,
    "memory": MEMORY,
    "branches": BRANCHES,
}


def read(text: str) -> Operation:
    program = parse_text(text, context())
    verify(program)
    return program


@each_case("name", PROGRAMS)
def test_prints_as_mlir_writes_it(name: str) -> None:
    assert print_op(read(PROGRAMS[name])) == PROGRAMS[name]


@each_case("name", PROGRAMS)
def test_generic_form_round_trips(name: str) -> None:
    program = read(PROGRAMS[name])
    again = read(print_op(program, generic=True))
    assert equivalent(program, again)
    assert print_op(again) == PROGRAMS[name]


def xdsl_module(text: str) -> XOperation:
    known = XContext(allow_unregistered=True)
    for name, load in get_all_dialects().items():
        known.register_dialect(name, load)
    return XParser(known, text).parse_module()


@pytest.mark.parametrize("name", PROGRAMS)
def test_xdsl_reads_the_generic_form(name: str) -> None:
    program = read(PROGRAMS[name])
    theirs = [
        (
            op.op_name.data if op.name == "builtin.unregistered" else op.name,  # pyrefly: ignore[missing-attribute]
            len(op.operands),
            len(op.results),
            len(op.successors),
        )
        for op in xdsl_module(print_op(program, generic=True)).walk()
    ]
    ours = [
        (op.name, len(op.operands), len(op.results), len(op.successors)) for op in program.walk()
    ]
    assert theirs == ours


def test_xdsl_verifies_what_it_knows() -> None:
    """xDSL lacks some properties (volatile, invariant, always_inline, ...): these are left out."""
    text = """
      llvm.mlir.global internal @shared() {addr_space = 3 : i32} : !llvm.array<16 x f32>
      llvm.func @f(%a: i32, %x: f32, %p: !llvm.ptr<1>, %c: i1) -> f32 {
        %b = llvm.xor %a, %a : i32
        %d = llvm.icmp "ult" %a, %b : i32
        %e = llvm.fcmp "olt" %x, %x : f32
        %g = llvm.getelementptr %p[%a] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        %h = llvm.load %g {alignment = 4 : i64} : !llvm.ptr<1> -> f32
        %s = llvm.select %d, %h, %x : i1, f32
        %m = llvm.mlir.undef : !llvm.struct<(f32, i32)>
        %n = llvm.insertvalue %s, %m[0] : !llvm.struct<(f32, i32)>
        %o = llvm.extractvalue %n[0] : !llvm.struct<(f32, i32)>
        %q = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=f,f" %o : (f32) -> f32
        llvm.store %q, %g : f32, !llvm.ptr<1>
        %r = llvm.call @g(%q) : (f32) -> f32
        %t = llvm.intr.fma(%r, %r, %r) : (f32, f32, f32) -> f32
        %u = llvm.mlir.addressof @shared : !llvm.ptr<3>
        llvm.cond_br %c, ^one(%t : f32), ^two
      ^one(%v: f32):
        llvm.br ^two
      ^two:
        llvm.return %t : f32
      }
      llvm.func @g(f32) -> f32
    """
    program = read(text)
    judged = xdsl_module(print_op(program, generic=True))
    judged.verify()
    assert not [op for op in judged.walk() if op.name == "builtin.unregistered"]


def test_every_operation_has_a_docstring_and_a_unique_name() -> None:
    assert len(LLVM.ops) > 120
    for name, kind in LLVM.ops.items():
        assert kind.name == name
        assert kind.__doc__
