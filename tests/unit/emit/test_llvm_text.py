"""Operations of the LLVM dialect as LLVM IR: every row once, in LLVM's own words."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from each_case import each_case

from tilewright.dialects.llvm import LLVM, constants, functions, globals
from tilewright.emit.llvm.instructions import INSTRUCTIONS
from tilewright.emit.llvm.intrinsics import INTRINSICS
from tilewright.emit.llvm.module import LLVMModule
from tilewright.support.diagnostics import Unsupported

ARGUMENTS = (
    "%i: i32, %j: i32, %l: i64, %x: f32, %y: f32, %v: vector<4xf32>, %u: vector<4xi32>, "
    "%p: !llvm.ptr<1>, %b: i1, %h: f16, %d: f64"
)
# What the arguments are called in LLVM IR.
M, J, L, X, Y, V, U, P, B, H, D = (f"%a{number}" for number in range(11))

ROWS = {
    "llvm.add %i, %j : i32": f"add i32 {M}, {J}",
    "llvm.add %i, %j overflow<nsw, nuw> : i32": f"add nsw nuw i32 {M}, {J}",
    "llvm.sub %u, %u : vector<4xi32>": f"sub <4 x i32> {U}, {U}",
    "llvm.mul %i, %j : i32": f"mul i32 {M}, {J}",
    "llvm.udiv exact %i, %j : i32": f"udiv exact i32 {M}, {J}",
    "llvm.sdiv %i, %j : i32": f"sdiv i32 {M}, {J}",
    "llvm.urem %i, %j : i32": f"urem i32 {M}, {J}",
    "llvm.srem %i, %j : i32": f"srem i32 {M}, {J}",
    "llvm.and %i, %j : i32": f"and i32 {M}, {J}",
    "llvm.or disjoint %i, %j : i32": f"or disjoint i32 {M}, {J}",
    "llvm.xor %i, %j : i32": f"xor i32 {M}, {J}",
    "llvm.shl %i, %j overflow<nuw> : i32": f"shl nuw i32 {M}, {J}",
    "llvm.lshr exact %i, %j : i32": f"lshr exact i32 {M}, {J}",
    "llvm.ashr %i, %j : i32": f"ashr i32 {M}, {J}",
    "llvm.fadd %x, %y : f32": f"fadd float {X}, {Y}",
    "llvm.fsub %v, %v {fastmathFlags = #llvm.fastmath<nsz>} : vector<4xf32>": (
        f"fsub nsz <4 x float> {V}, {V}"
    ),
    "llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<nnan, contract>} : f32": (
        f"fmul nnan contract float {X}, {Y}"
    ),
    "llvm.fdiv %x, %y {fastmathFlags = #llvm.fastmath<fast>} : f32": f"fdiv fast float {X}, {Y}",
    "llvm.frem %x, %y : f32": f"frem float {X}, {Y}",
    "llvm.fneg %x : f32": f"fneg float {X}",
    'llvm.icmp "ule" %i, %j : i32': f"icmp ule i32 {M}, {J}",
    'llvm.icmp "ne" %p, %p : !llvm.ptr<1>': f"icmp ne ptr addrspace(1) {P}, {P}",
    'llvm.fcmp "uno" %x, %y : f32': f"fcmp uno float {X}, {Y}",
    'llvm.fcmp "_true" %x, %y {fastmathFlags = #llvm.fastmath<ninf>} : f32': (
        f"fcmp ninf true float {X}, {Y}"
    ),
    "llvm.select %b, %x, %y : i1, f32": f"select i1 {B}, float {X}, float {Y}",
    "llvm.freeze %i : i32": f"freeze i32 {M}",
    "llvm.bitcast %x : f32 to i32": f"bitcast float {X} to i32",
    "llvm.addrspacecast %p : !llvm.ptr<1> to !llvm.ptr": (
        f"addrspacecast ptr addrspace(1) {P} to ptr"
    ),
    "llvm.ptrtoint %p : !llvm.ptr<1> to i64": f"ptrtoint ptr addrspace(1) {P} to i64",
    "llvm.inttoptr %l : i64 to !llvm.ptr<3>": f"inttoptr i64 {L} to ptr addrspace(3)",
    "llvm.sext %i : i32 to i64": f"sext i32 {M} to i64",
    "llvm.zext nneg %i : i32 to i64": f"zext nneg i32 {M} to i64",
    "llvm.trunc %l overflow<nsw> : i64 to i32": f"trunc nsw i64 {L} to i32",
    "llvm.sitofp %i : i32 to f32": f"sitofp i32 {M} to float",
    "llvm.uitofp nneg %i : i32 to f32": f"uitofp nneg i32 {M} to float",
    "llvm.fptosi %x : f32 to i32": f"fptosi float {X} to i32",
    "llvm.fptoui %x : f32 to i32": f"fptoui float {X} to i32",
    "llvm.fpext %h : f16 to f32": f"fpext half {H} to float",
    "llvm.fptrunc %v : vector<4xf32> to vector<4xbf16>": (
        f"fptrunc <4 x float> {V} to <4 x bfloat>"
    ),
    "llvm.getelementptr inbounds|nuw %p[%i, 3] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
    "!llvm.array<4 x f32>": (
        f"getelementptr inbounds nuw [4 x float], ptr addrspace(1) {P}, i32 {M}, i32 3"
    ),
    "llvm.alloca %i x f32 {alignment = 16 : i64} : (i32) -> !llvm.ptr": (
        f"alloca float, i32 {M}, align 16"
    ),
    "llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>": (
        f"load <4 x float>, ptr addrspace(1) {P}, align 16"
    ),
    'llvm.load volatile %p atomic syncscope("device") acquire {alignment = 4 : i64} '
    ": !llvm.ptr<1> -> i32": (
        f'load atomic volatile i32, ptr addrspace(1) {P} syncscope("device") acquire, align 4'
    ),
    "llvm.load %p invariant : !llvm.ptr<1> -> i32": (
        f"load i32, ptr addrspace(1) {P}, !invariant.load !0"
    ),
    'llvm.cmpxchg weak %p, %i, %j syncscope("block") acq_rel monotonic : !llvm.ptr<1>, i32': (
        f'cmpxchg weak ptr addrspace(1) {P}, i32 {M}, i32 {J} syncscope("block") acq_rel monotonic'
    ),
    'llvm.atomicrmw _xor %p, %i syncscope("device") monotonic : !llvm.ptr<1>, i32': (
        f'atomicrmw xor ptr addrspace(1) {P}, i32 {M} syncscope("device") monotonic'
    ),
    "llvm.extractelement %v[%i : i32] : vector<4xf32>": f"extractelement <4 x float> {V}, i32 {M}",
    "llvm.insertelement %x, %v[%i : i32] : vector<4xf32>": (
        f"insertelement <4 x float> {V}, float {X}, i32 {M}"
    ),
    "llvm.shufflevector %v, %v [0, 7, -1] : vector<4xf32>": (
        f"shufflevector <4 x float> {V}, <4 x float> {V}, <3 x i32> <i32 0, i32 7, i32 poison>"
    ),
    'llvm.call_intrinsic "llvm.smax.i32"(%i, %j) : (i32, i32) -> i32': (
        f"call i32 @llvm.smax.i32(i32 {M}, i32 {J})"
    ),
    'llvm.inline_asm "lop3.b32 $0, $1, $2, 0, 0xc0;", "=r,r,r" %i, %j : (i32, i32) -> i32': (
        f'call i32 asm "lop3.b32 $0, $1, $2, 0, 0xc0;", "=r,r,r"(i32 {M}, i32 {J}) nounwind'
    ),
    "llvm.call @callee(%x) : (f32) -> f32": f"call float @callee(float {X})",
    "llvm.intr.fma(%x, %y, %x) {fastmathFlags = #llvm.fastmath<afn>} : (f32, f32, f32) -> f32": (
        f"call afn float @llvm.fma.f32(float {X}, float {Y}, float {X})"
    ),
    "llvm.intr.maximum(%v, %v) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>": (
        f"call <4 x float> @llvm.maximum.v4f32(<4 x float> {V}, <4 x float> {V})"
    ),
    '"llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i32) -> i32': (
        f"call i32 @llvm.ctlz.i32(i32 {M}, i1 true)"
    ),
    "llvm.intr.fptosi.sat(%d) : (f64) -> i8": f"call i8 @llvm.fptosi.sat.i8.f64(double {D})",
    "llvm.intr.is.fpclass(%x) {bit = 3 : i32} : (f32) -> i1": (
        f"call i1 @llvm.is.fpclass.f32(float {X}, i32 3)"
    ),
    '"llvm.intr.vector.reduce.fadd"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> '
    ": (f32, vector<4xf32>) -> f32": (
        f"call reassoc float @llvm.vector.reduce.fadd.v4f32(float {X}, <4 x float> {V})"
    ),
}


@each_case("text", ROWS)
def test_an_operation_becomes_an_instruction(text: str, emit) -> None:
    module: LLVMModule = emit(
        f"llvm.func @f({ARGUMENTS}) {{\n%r = {text}\nllvm.return\n}}\nllvm.func @callee(f32) -> f32"
    )
    lines = [line.strip() for line in module.text.splitlines()]
    assert f"%v11 = {ROWS[text]}" in lines
    llvm.parse_assembly(module.text).verify()


STATEMENTS = {
    "llvm.store %x, %p {nontemporal} : f32, !llvm.ptr<1>": (
        f"store float {X}, ptr addrspace(1) {P}, !nontemporal !0"
    ),
    'llvm.fence syncscope("device") seq_cst': 'fence syncscope("device") seq_cst',
    "llvm.intr.assume %b : i1": f"call void @llvm.assume(i1 {B})",
    '"llvm.intr.memcpy"(%p, %p, %l) <{isVolatile = false}> '
    ": (!llvm.ptr<1>, !llvm.ptr<1>, i64) -> ()": (
        f"call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) {P}, ptr addrspace(1) {P}, "
        f"i64 {L}, i1 false)"
    ),
    "llvm.intr.trap": "call void @llvm.trap()",
    'llvm.inline_asm has_side_effects {convergent} "bar.sync 0;", "" : () -> ()': (
        'call void asm sideeffect "bar.sync 0;", ""() convergent nounwind'
    ),
}


@each_case("text", STATEMENTS)
def test_an_operation_without_result(text: str, emit) -> None:
    module: LLVMModule = emit(f"llvm.func @f({ARGUMENTS}) {{\n{text}\nllvm.return\n}}")
    assert STATEMENTS[text] in [line.strip() for line in module.text.splitlines()]
    llvm.parse_assembly(module.text).verify()


def test_every_operation_has_a_row() -> None:
    """Constants stand where they are used; functions and globals are written by the module."""
    others = {
        constants.ConstantOp, constants.ZeroOp, constants.UndefOp, constants.PoisonOp,
        constants.AddressOfOp, functions.FuncOp, globals.GlobalOp,
    }  # fmt: skip
    assert {*INSTRUCTIONS, *INTRINSICS} | others == set(LLVM.ops.values())


@each_case(
    ("value", "expected"),
    [
        ("llvm.mlir.constant(-1 : i32) : i32", "i32 -1"),
        ("llvm.mlir.constant(true) : i1", "i1 true"),
        ("llvm.mlir.constant(200 : i8) : i8", "i8 -56"),
        ("llvm.mlir.constant(1.000000e-01 : f32) : f32", "float 0x3FB99999A0000000"),
        ("llvm.mlir.constant(0x7F800001 : f32) : f32", "float 0x7FF0000020000000"),
        ("llvm.mlir.constant(0xFF800000 : f32) : f32", "float 0xFFF0000000000000"),
        ("llvm.mlir.constant(1.000000e-01 : f64) : f64", "double 0x3FB999999999999A"),
        ("llvm.mlir.constant(1.500000e+00 : f16) : f16", "half 0xH3E00"),
        ("llvm.mlir.constant(1.500000e+00 : bf16) : bf16", "bfloat 0xR3FC0"),
        (
            "llvm.mlir.constant(dense<1.000000e+00> : vector<4xf32>) : vector<4xf32>",
            "<4 x float> splat (float 0x3FF0000000000000)",
        ),
        (
            "llvm.mlir.constant(dense<[1, -2]> : vector<2xi32>) : vector<2xi32>",
            "<2 x i32> <i32 1, i32 -2>",
        ),
        (
            "llvm.mlir.constant(dense<0> : vector<2xi32>) : vector<2xi32>",
            "<2 x i32> zeroinitializer",
        ),
        ("llvm.mlir.zero : !llvm.ptr<1>", "ptr addrspace(1) zeroinitializer"),
        ("llvm.mlir.undef : !llvm.struct<(i32, f32)>", "{ i32, float } undef"),
        ("llvm.mlir.poison : !llvm.array<2 x i8>", "[2 x i8] poison"),
        (
            "llvm.mlir.constant([1 : i32, 2.000000e+00 : f32]) : !llvm.struct<packed (i32, f32)>",
            "<{ i32, float }> <{ i32 1, float 0x4000000000000000 }>",
        ),
    ],
)
def test_constants_stand_where_they_are_used(value: str, expected: str, emit) -> None:
    kind = value.rpartition(" : ")[2]
    module: LLVMModule = emit(
        f"llvm.func @f(%p: !llvm.ptr) {{\n%c = {value}\nllvm.store %c, %p : {kind}, !llvm.ptr\n"
        "llvm.return\n}"
    )
    assert f"  store {expected}, ptr %a0" in module.text.splitlines()
    llvm.parse_assembly(module.text).verify()


def test_a_block_that_a_branch_reaches_twice(emit) -> None:
    module: LLVMModule = emit(
        "llvm.func @f(%c: i1, %a: i32, %b: i32) -> i32 {\n"
        "llvm.cond_br %c, ^one(%a : i32), ^one(%b : i32)\n"
        "^one(%x: i32):\nllvm.return %x : i32\n}"
    )
    assert "  %a3 = phi i32 [ %a1, %b0 ], [ %a2, %b0.1 ]" in module.text
    assert "  br i1 %a0, label %b1, label %b0.1" in module.text
    llvm.parse_assembly(module.text).verify()


def test_values_of_blocks_that_come_later(emit) -> None:
    module: LLVMModule = emit(
        "llvm.func @f(%c: i1) -> i32 {\nllvm.br ^two\n"
        "^one(%x: i32):\nllvm.return %x : i32\n"
        "^two:\n%k = llvm.mlir.constant(7 : i32) : i32\n%y = llvm.add %k, %k : i32\n"
        "llvm.cond_br %c, ^one(%y : i32), ^one(%k : i32)\n}"
    )
    assert "phi i32 [ %v3, %b2 ], [ 7, %b2.1 ]" in module.text
    llvm.parse_assembly(module.text).verify()


def test_globals_with_a_larger_alignment_precede_others(emit) -> None:
    """Shared memory is allocated in this order, with less padding."""
    module: LLVMModule = emit("""
      llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>
      llvm.mlir.global internal @b() {addr_space = 3 : i32} : !llvm.array<4 x i8>
      llvm.mlir.global internal @c() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<64 x i8>
      llvm.mlir.global internal @d() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>
    """)  # noqa: E501
    names = [line[1] for line in module.text.splitlines() if line.startswith("@")]
    assert names == ["c", "a", "d", "b"]


def test_functions_and_globals(emit) -> None:
    module: LLVMModule = emit("""
      llvm.mlir.global internal constant @text("a\\"\\00") {alignment = 1 : i64} : !llvm.array<3 x i8>
      llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<64 x i8>
      llvm.mlir.global external @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
      llvm.mlir.global external @slots() {addr_space = 1 : i32} : !llvm.array<4 x i32> {
        %0 = llvm.mlir.zero : !llvm.array<4 x i32>
        llvm.return %0 : !llvm.array<4 x i32>
      }
      llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
      llvm.func @__nv_expf(f32) -> f32
      llvm.func internal @"odd name"(%x: f32) -> f32 attributes {always_inline} {
        %y = llvm.call @__nv_expf(%x) : (f32) -> f32
        llvm.return %y : f32
      }
      llvm.func @k(%p: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %m: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32, nvvm.cluster_dim = array<i32: 2, 1, 1>, passthrough = ["noinline", ["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]} {
        llvm.return
      }
    """)  # noqa: E501
    lines = module.text.splitlines()
    assert '@text = internal constant [3 x i8] c"a\\22\\00", align 1' in lines
    assert "@shared = internal addrspace(3) global [64 x i8] undef, align 1024" in lines
    assert "@dynamic = external addrspace(3) global [0 x i8]" in lines
    assert "@slots = addrspace(1) global [4 x i32] zeroinitializer" in lines
    assert "declare float @__nv_expf(float) nounwind" in lines
    assert (
        'define internal float @"odd name"(float %a0) nounwind convergent alwaysinline {' in lines
    )
    kernel = next(line for line in lines if "ptx_kernel" in line)
    assert kernel == (
        "define ptx_kernel void @k(ptr addrspace(1) align 16 noalias readonly %a0, "
        'ptr align 64 byval([128 x i8]) "nvvm.grid_constant" %a1) nounwind convergent '
        '"nvvm.reqntid"="128,1,1" "nvvm.minctasm"="2" "nvvm.cluster_dim"="2,1,1" noinline '
        '"denormal-fp-math-f32"="preserve-sign,preserve-sign" {'
    )
    assert '!{i32 4, !"nvvm-reflect-ftz", i32 1}' in module.text
    assert module.entries == ["k"]
    assert module.library == ["__nv_expf"]
    llvm.parse_assembly(module.text).verify()


@each_case(
    ("body", "message"),
    [
        ("llvm.intr.exp(%x) : (f32) -> f32", "'llvm.intr.exp': the target has no such instruction"),
        ("llvm.intr.tanh(%x) : (f32) -> f32", "'llvm.intr.tanh' of 'f32' without 'afn'"),
        (
            "llvm.intr.sin(%h) {fastmathFlags = #llvm.fastmath<afn>} : (f16) -> f16",
            "'llvm.intr.sin' of 'f16': the target",
        ),
        ("llvm.intr.exp2(%d) : (f64) -> f64", "'llvm.intr.exp2' of 'f64'"),
    ],
)
def test_functions_that_the_target_lacks(body: str, message: str, emit) -> None:
    with pytest.raises(Unsupported) as caught:
        emit(f"llvm.func @f({ARGUMENTS}) {{\n%r = {body}\nllvm.return\n}}")
    assert caught.value.feature.startswith(message)
