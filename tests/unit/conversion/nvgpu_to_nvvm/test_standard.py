"""arith, func, memref and vector to LLVM, operation by operation."""

from __future__ import annotations

from each_case import each_case
from lowering import convert, failures, kernel, lowered

from tilewright.text.printer import print_op

ARGUMENTS = (
    "%i: i32, %j: i32, %x: f32, %y: f32, %n: index, %v: vector<4xf32>, %w: vector<2x2xf32>, "
    "%m: memref<8x4xf32, 1>, %d: memref<?x?xf32, strided<[?, 1], offset: ?>>, %c: i1, %b: i8"
)
NAMES = {
    "i": 0, "j": 1, "x": 2, "y": 3, "n": 4, "v": 5, "w": 6, "m": 7, "d": 8, "d.offset": 9,
    "d.rows": 10, "d.columns": 11, "d.stride": 12, "c": 13, "b": 14,
}  # fmt: skip


def expected(line: str) -> str:
    """A line with arguments by name."""
    for name, number in sorted(NAMES.items(), reverse=True):
        line = line.replace(f"<{name}>", f"%arg{number}")
    return line


ONE_TO_ONE = [
    ("arith.addi %i, %j : i32", "llvm.add <i>, <j> : i32"),
    ("arith.addi %i, %j overflow<nsw> : i32", "llvm.add <i>, <j> overflow<nsw> : i32"),
    ("arith.subi %n, %n : index", "llvm.sub <n>, <n> : i64"),
    ("arith.muli %i, %j : i32", "llvm.mul <i>, <j> : i32"),
    ("arith.divsi %i, %j : i32", "llvm.sdiv <i>, <j> : i32"),
    ("arith.divui %i, %j : i32", "llvm.udiv <i>, <j> : i32"),
    ("arith.remsi %i, %j : i32", "llvm.srem <i>, <j> : i32"),
    ("arith.remui %i, %j : i32", "llvm.urem <i>, <j> : i32"),
    ("arith.andi %i, %j : i32", "llvm.and <i>, <j> : i32"),
    ("arith.ori %i, %j : i32", "llvm.or <i>, <j> : i32"),
    ("arith.xori %i, %j : i32", "llvm.xor <i>, <j> : i32"),
    ("arith.shli %i, %j : i32", "llvm.shl <i>, <j> : i32"),
    ("arith.shrsi %i, %j : i32", "llvm.ashr <i>, <j> : i32"),
    ("arith.shrui %i, %j : i32", "llvm.lshr <i>, <j> : i32"),
    ("arith.maxsi %i, %j : i32", "llvm.intr.smax(<i>, <j>) : (i32, i32) -> i32"),
    ("arith.minui %i, %j : i32", "llvm.intr.umin(<i>, <j>) : (i32, i32) -> i32"),
    ("arith.addf %x, %y : f32", "llvm.fadd <x>, <y> : f32"),
    ("arith.subf %x, %y : f32", "llvm.fsub <x>, <y> : f32"),
    ("arith.mulf %v, %v : vector<4xf32>", "llvm.fmul <v>, <v> : vector<4xf32>"),
    ("arith.mulf %w, %w : vector<2x2xf32>", "llvm.fmul <w>, <w> : vector<4xf32>"),
    ("arith.divf %x, %y : f32", "llvm.fdiv <x>, <y> : f32"),
    ("arith.negf %x : f32", "llvm.fneg <x> : f32"),
    ("arith.maximumf %x, %y : f32", "llvm.intr.maximum(<x>, <y>) : (f32, f32) -> f32"),
    ("arith.minnumf %x, %y : f32", "llvm.intr.minnum(<x>, <y>) : (f32, f32) -> f32"),
    ("arith.cmpi ult, %i, %j : i32", 'llvm.icmp "ult" <i>, <j> : i32'),
    ("arith.cmpf olt, %x, %y : f32", 'llvm.fcmp "olt" <x>, <y> : f32'),
    ("arith.select %c, %x, %y : f32", "llvm.select <c>, <x>, <y> : i1, f32"),
    ("arith.extsi %i : i32 to i64", "llvm.sext <i> : i32 to i64"),
    ("arith.extui %i : i32 to i64", "llvm.zext <i> : i32 to i64"),
    ("arith.trunci %i : i32 to i8", "llvm.trunc <i> : i32 to i8"),
    ("arith.extf %x : f32 to f64", "llvm.fpext <x> : f32 to f64"),
    ("arith.truncf %x : f32 to bf16", "llvm.fptrunc <x> : f32 to bf16"),
    ("arith.sitofp %i : i32 to f32", "llvm.sitofp <i> : i32 to f32"),
    ("arith.fptoui %x : f32 to i8", "llvm.fptoui <x> : f32 to i8"),
    ("arith.index_cast %i : i32 to index", "llvm.sext <i> : i32 to i64"),
    ("arith.index_castui %i : i32 to index", "llvm.zext <i> : i32 to i64"),
    ("arith.index_cast %n : index to i32", "llvm.trunc <n> : i64 to i32"),
    ("arith.bitcast %x : f32 to i32", "llvm.bitcast <x> : f32 to i32"),
    ("arith.constant 7 : index", "llvm.mlir.constant(7 : i64) : i64"),
    ("arith.constant 1.0 : f8E4M3FN", "llvm.mlir.constant(56 : i8) : i8"),
    ("vector.fma %v, %v, %v : vector<4xf32>",
     "llvm.intr.fma(<v>, <v>, <v>) : (vector<4xf32>, vector<4xf32>, vector<4xf32>)"
     " -> vector<4xf32>"),
]  # fmt: skip


@each_case(("source", "line"), ONE_TO_ONE)
def test_one_to_one(source: str, line: str) -> None:
    assert lowered(f"%r = {source}", ARGUMENTS) == [f"%0 = {expected(line)}"]


SEVERAL = [
    ("%r = arith.addf %x, %y upward : f32",
     ["%0 = nvvm.addf <x>, <y> {rnd = #nvvm.fp_rnd_mode<rp>} : f32"]),
    ("%r = arith.subf %x, %y toward_zero : f32",
     ["%0 = llvm.fneg <y> : f32",
      "%1 = nvvm.addf <x>, %0 {rnd = #nvvm.fp_rnd_mode<rz>} : f32"]),
    ("%r = arith.ceildivui %i, %j : i32",
     ["%0 = llvm.mlir.zero : i32",
      "%1 = llvm.udiv <i>, <j> : i32",
      "%2 = llvm.urem <i>, <j> : i32",
      '%3 = llvm.icmp "ne" %2, %0 : i32',
      "%4 = llvm.zext %3 : i1 to i32",
      "%5 = llvm.add %1, %4 : i32"]),
    ("%r = memref.load %m[%n, %n] : memref<8x4xf32, 1>",
     ["%0 = llvm.mlir.constant(4 : i64) : i64",
      "%1 = llvm.mul <n>, %0 : i64",
      "%2 = llvm.add %1, <n> : i64",
      "%3 = llvm.getelementptr <m>[%2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32",
      "%4 = llvm.load %3 : !llvm.ptr<1> -> f32"]),
    ("memref.store %x, %d[%n, %n] : memref<?x?xf32, strided<[?, 1], offset: ?>>",
     ["%0 = llvm.mul <n>, <d.stride> : i64",
      "%1 = llvm.add <d.offset>, %0 : i64",
      "%2 = llvm.add %1, <n> : i64",
      "%3 = llvm.getelementptr <d>[%2] : (!llvm.ptr, i64) -> !llvm.ptr, f32",
      "llvm.store <x>, %3 : f32, !llvm.ptr"]),
    ("%s = memref.subview %m[%n, 0] [1, 4] [1, 1] "
     ": memref<8x4xf32, 1> to memref<4xf32, strided<[1], offset: ?>, 1>\n"
     "%r = memref.load %s[%n] : memref<4xf32, strided<[1], offset: ?>, 1>",
     ["%0 = llvm.mlir.constant(4 : i64) : i64",
      "%1 = llvm.mul <n>, %0 : i64",
      "%2 = llvm.add %1, <n> : i64",
      "%3 = llvm.getelementptr <m>[%2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32",
      "%4 = llvm.load %3 : !llvm.ptr<1> -> f32"]),
    ("%r = memref.atomic_rmw addf %x, %m[%n, %n] : (f32, memref<8x4xf32, 1>) -> f32",
     ["%0 = llvm.mlir.constant(4 : i64) : i64",
      "%1 = llvm.mul <n>, %0 : i64",
      "%2 = llvm.add %1, <n> : i64",
      "%3 = llvm.getelementptr <m>[%2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32",
      "%4 = llvm.atomicrmw fadd %3, <x> acq_rel : !llvm.ptr<1>, f32"]),
    ("%r = vector.load %m[%n, %n] : memref<8x4xf32, 1>, vector<4xf32>",
     ["%0 = llvm.mlir.constant(4 : i64) : i64",
      "%1 = llvm.mul <n>, %0 : i64",
      "%2 = llvm.add %1, <n> : i64",
      "%3 = llvm.getelementptr <m>[%2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32",
      "%4 = llvm.load %3 {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf32>"]),
    ("%r = vector.extract %v[2] : f32 from vector<4xf32>",
     ["%0 = llvm.mlir.constant(2 : i64) : i64",
      "%1 = llvm.extractelement <v>[%0 : i64] : vector<4xf32>"]),
    ("%r = vector.extract %w[1] : vector<2xf32> from vector<2x2xf32>",
     ["%0 = llvm.mlir.poison : vector<4xf32>",
      "%1 = llvm.shufflevector <w>, %0 [2, 3] : vector<4xf32>"]),
    ("%r = vector.broadcast %x : f32 to vector<2x2xf32>",
     ["%0 = llvm.mlir.poison : vector<4xf32>",
      "%1 = llvm.mlir.constant(0 : i32) : i32",
      "%2 = llvm.insertelement <x>, %0[%1 : i32] : vector<4xf32>",
      "%3 = llvm.shufflevector %2, %0 [0, 0, 0, 0] : vector<4xf32>"]),
    ("%r = vector.shape_cast %w : vector<2x2xf32> to vector<4xf32>", []),
    ("%r = vector.extract_strided_slice %w {offsets = [0, 1], sizes = [2, 1], strides = [1, 1]}"
     " : vector<2x2xf32> to vector<2x1xf32>",
     ["%0 = llvm.mlir.poison : vector<4xf32>",
      "%1 = llvm.shufflevector <w>, %0 [1, 3] : vector<4xf32>"]),
    ("%r = arith.select %c, %d, %d : memref<?x?xf32, strided<[?, 1], offset: ?>>",
     ["%0 = llvm.select <c>, <d>, <d> : i1, !llvm.ptr",
      "%1 = llvm.select <c>, <d.offset>, <d.offset> : i1, i64",
      "%2 = llvm.select <c>, <d.rows>, <d.rows> : i1, i64",
      "%3 = llvm.select <c>, <d.columns>, <d.columns> : i1, i64",
      "%4 = llvm.select <c>, <d.stride>, <d.stride> : i1, i64"]),
]  # fmt: skip


@each_case(("body", "lines"), SEVERAL)
def test_one_to_many(body: str, lines: list[str]) -> None:
    assert lowered(body, ARGUMENTS) == [expected(line) for line in lines]


def test_functions_with_several_results() -> None:
    text = """
    builtin.module {
      func.func private @g(%x: f32) -> (f32, i32) {
        %i = arith.constant 1 : i32
        return %x, %i : f32, i32
      }
      func.func @f(%x: f32) -> i32 {
        %a, %b = func.call @g(%x) : (f32) -> (f32, i32)
        return %b : i32
      }
    }
    """
    lines = [line.strip() for line in print_op(convert(text)).splitlines()]
    for line in (
        "llvm.func internal @g(%arg0: f32) -> !llvm.struct<(f32, i32)> {",
        "%1 = llvm.mlir.poison : !llvm.struct<(f32, i32)>",
        "%2 = llvm.insertvalue %arg0, %1[0] : !llvm.struct<(f32, i32)>",
        "%3 = llvm.insertvalue %0, %2[1] : !llvm.struct<(f32, i32)>",
        "llvm.return %3 : !llvm.struct<(f32, i32)>",
        "%0 = llvm.call @g(%arg0) : (f32) -> !llvm.struct<(f32, i32)>",
        "%2 = llvm.extractvalue %0[1] : !llvm.struct<(f32, i32)>",
        "llvm.return %2 : i32",
    ):
        assert line in lines


def test_globals() -> None:
    text = """
    builtin.module {
      memref.global "private" constant @t : memref<2x2xi8> = dense<[[1, 2], [3, 4]]>
      memref.global "private" @s : memref<4xf32, 3> = uninitialized
      func.func @f(%i: index) -> i8 {
        %g = memref.get_global @t : memref<2x2xi8>
        %h = memref.get_global @s : memref<4xf32, 3>
        %r = memref.load %g[%i, %i] : memref<2x2xi8>
        return %r : i8
      }
    }
    """
    printed = print_op(convert(text))
    assert "internal constant @t(dense<[1, 2, 3, 4]> : vector<4xi8>)" in printed
    assert "@s() {addr_space = 3 : i32} : !llvm.array<4 x f32>" in printed
    assert "llvm.mlir.addressof @s : !llvm.ptr<3>" in printed


def test_an_op_without_a_lowering_is_reported() -> None:
    (message,) = failures(kernel("%r = arith.addf %f, %f : f8E4M3FN", "%f: f8E4M3FN, %i: i32"))
    assert message == "failed to legalize operation 'arith.addf' that was marked illegal"
