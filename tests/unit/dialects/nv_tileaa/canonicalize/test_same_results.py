"""Every rewrite preserves results: programs run before and after it."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given, settings
from hypothesis import strategies as st
from tileaa_programs import module

from tilewright.dialects.nv_tileaa.canonicalize.simplifier import RULES
from tilewright.ir.operation import Operation
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import Replacement, Rule, apply_rules
from tilewright.ir.verifier import verify
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Sink
from tilewright.transforms.generic.canonicalize import Canonicalize, rules_of
from tilewright.transforms.generic.fold import fold_of

FS, IS, PF, PI = (f"tensor<16x{e}>" for e in ("f32", "i32", "!aa.ptr<f32>", "!aa.ptr<i32>"))

BEFORE = f"""
%range = aa.make_range : {IS}
%pf0 = aa.splat %fin : !aa.ptr<f32> -> {PF}
%pf = aa.addptr %pf0, %range : {PF}, {IS}
%pi0 = aa.splat %iin : !aa.ptr<i32> -> {PI}
%pi = aa.addptr %pi0, %range : {PI}, {IS}
%of0 = aa.splat %fout : !aa.ptr<f32> -> {PF}
%of = aa.addptr %of0, %range : {PF}, {IS}
%oi0 = aa.splat %iout : !aa.ptr<i32> -> {PI}
%oi = aa.addptr %oi0, %range : {PI}, {IS}
%f, %tf = aa.load weak %pf : {PF} -> {FS}
%i, %ti = aa.load weak %pi : {PI} -> {IS}
"""
PUT_F = f"%end = aa.store weak %of, %r : {PF}, {FS}\n"
PUT_I = f"%end = aa.store weak %oi, %r : {PI}, {IS}\n"


def mask(value: str) -> str:
    return f"%k = arith.constant {value}\n%m = aa.splat %k : i1 -> tensor<16xi1>\n"


def zero(type: str = "i32", number: str = "0") -> str:
    return (
        f"%z0 = arith.constant {number} : {type}\n%z = aa.splat %z0 : {type} -> tensor<16x{type}>\n"
    )


RMW = f"%r, %t = aa.atomic_rmw relaxed gpu add %pi, %z mask = %m token = %ti : {PI}, {IS}\n"
VARIABLE = f"%m = aa.cmpi slt, %i, %range : {IS}\n"
DOT = (
    "%a0 = aa.view %i : tensor<16xi32> -> tensor<4x4xi32>\n"
    "%a = aa.trunci %a0 : tensor<4x4xi32> to tensor<4x4xi8>\n"
    "%b = arith.constant dense<[[1, -2, 3, 4], [5, 6, -7, 8], [9, 1, 2, 3], [4, 5, 6, 7]]> "
    ": tensor<4x4xi8>\n%q = arith.constant {} : i8\n%u = aa.splat %q : i8 -> tensor<4x4xi8>\n"
    "%d = aa.dot {}, %u, {} {{signedness_a = #aa.signedness<signed>, "
    "signedness_b = #aa.signedness<unsigned>}} : tensor<4x4xi8>, tensor<4x4xi8>, tensor<4x4xi32>\n"
    "%r = aa.view %d : tensor<4x4xi32> -> tensor<16xi32>\n"
)
QUEUE = "!aa.queue<[tensor<16xi32>, tensor<16xi32>]>"

PROGRAMS = {
    "square": [zero("i32", "2") + f"%r = aa.fpowi %f, %z : {FS}, {IS}\n" + PUT_F],
    "float_square": [zero("f32", "2.0") + f"%r = aa.fpowf %f, %z : {FS}\n" + PUT_F],
    "fold_constant_dot": [
        DOT.format("0", "%a", "%a0") + PUT_I,
        "%o = arith.constant 9 : i32\n%c = aa.splat %o : i32 -> tensor<4x4xi32>\n"
        + DOT.format("-1", "%b", "%c") + PUT_I,
    ],
    "fold_addition_into_dot": [
        "%o = arith.constant 0 : i32\n%c = aa.splat %o : i32 -> tensor<4x4xi32>\n"
        + DOT.format("3", "%a", "%c").replace(
            "%r = aa.view %d", "%e = aa.addi %d, %a0 : tensor<4x4xi32>\n%r = aa.view %e"
        )
        + PUT_I,
    ],
    "fuse_addptr_chain": [
        "%x = aa.addptr %iin, %n : !aa.ptr<i32>, i32\n%y = aa.addptr %x, %n : !aa.ptr<i32>, i32\n"
        "%v, %t = aa.load weak %y : !aa.ptr<i32> -> i32\n%r = aa.splat %v : i32 -> tensor<16xi32>\n"
        + PUT_I,
        "%four = arith.constant 4 : i64\n%x = aa.addptr %iin, %four bytes : !aa.ptr<i32>, i64\n"
        "%y = aa.addptr %x, %n : !aa.ptr<i32>, i32\n"
        "%v, %t = aa.load weak %y : !aa.ptr<i32> -> i32\n%r = aa.splat %v : i32 -> tensor<16xi32>\n"
        + PUT_I,
    ],
    "push_assume_through_splat": [
        "%s = aa.splat %n : i32 -> tensor<16xi32>\n"
        f"%p = aa.assume #aa.bounded<0, 7>, %s : {IS}\n%r = aa.addi %p, %i : {IS}\n" + PUT_I
    ],
    "push_select_through_splat": [
        "%k = arith.constant 3 : i32\n%c = aa.cmpi slt, %n, %k : i32\n"
        "%s = aa.select %c, %n, %k : i1, i32\n%w = aa.splat %s : i32 -> tensor<16xi32>\n"
        f"%r = aa.muli %w, %i : {IS}\n" + PUT_I
    ],
    "canonicalize_masked_load": [
        mask("true")
        + f"%r, %t = aa.load weak %pi mask = %m other = %range : {PI} -> {IS}\n" + PUT_I,
        mask("false") + f"%r, %t = aa.load weak %pi mask = %m other = %i : {PI} -> {IS}\n" + PUT_I,
    ],
    "canonicalize_masked_store": [
        mask("true") + f"%t = aa.store weak %oi, %i mask = %m : {PI}, {IS}\n",
        mask("false") + f"%t = aa.store weak %oi, %i mask = %m : {PI}, {IS}\n",
    ],
    "fold_expand_dims_of_splat": [
        "%s = aa.splat %n : i32 -> tensor<16xi32>\n"
        f"%e = aa.expand_dims %s {{axis = 0 : i64}} : {IS} -> tensor<1x16xi32>\n"
        f"%o = aa.optimization_barrier %e : tensor<1x16xi32>\n"
        f"%r = aa.view %o : tensor<1x16xi32> -> {IS}\n" + PUT_I
    ],
    "fold_view_chain": [
        f"%a = aa.view %i : {IS} -> tensor<4x4xi32>\n"
        "%b = aa.view %a : tensor<4x4xi32> -> tensor<2x8xi32>\n"
        "%c = aa.permute %b [1, 0] : tensor<2x8xi32> -> tensor<8x2xi32>\n"
        f"%r = aa.view %c : tensor<8x2xi32> -> {IS}\n" + PUT_I
    ],
    "fold_broadcast_of_splat": [
        f"%s = aa.splat %n : i32 -> tensor<1xi32>\n%w = aa.broadcast %s : tensor<1xi32> -> {IS}\n"
        f"%r = aa.subi %w, %i : {IS}\n" + PUT_I
    ],
    "broadcast_of_broadcast": [
        "%v = aa.view %i : tensor<16xi32> -> tensor<1x16x1xi32>\n"
        "%a = aa.broadcast %v : tensor<1x16x1xi32> -> tensor<2x16x1xi32>\n"
        "%b = aa.broadcast %a : tensor<2x16x1xi32> -> tensor<2x16x4xi32>\n"
        "%o = arith.constant 1 : i32\n%z = arith.constant 0 : i32\n"
        "%p = aa.extract_slice %b[%o, %z, %o] : tensor<2x16x4xi32> -> tensor<1x16x1xi32>\n"
        f"%r = aa.view %p : tensor<1x16x1xi32> -> {IS}\n" + PUT_I
    ],
    "permute_of_permute": [
        f"%v = aa.view %i : {IS} -> tensor<2x4x2xi32>\n"
        "%a = aa.permute %v [1, 2, 0] : tensor<2x4x2xi32> -> tensor<4x2x2xi32>\n"
        "%b = aa.permute %a [1, 0, 2] : tensor<4x2x2xi32> -> tensor<2x4x2xi32>\n"
        f"%r = aa.view %b : tensor<2x4x2xi32> -> {IS}\n" + PUT_I
    ],
    "part_of_splat": [
        "%s = aa.splat %n : i32 -> tensor<32x2xi32>\n%z = arith.constant 0 : i32\n"
        "%p = aa.extract_slice %s[%z, %z] : tensor<32x2xi32> -> tensor<16x1xi32>\n"
        f"%o = aa.optimization_barrier %p : tensor<16x1xi32>\n"
        f"%r = aa.view %o : tensor<16x1xi32> -> {IS}\n" + PUT_I
    ],
    "hoist_extract_through_elementwise": [
        f"%s = aa.addf %f, %f : {FS}\n%q = aa.mulf %s, %f : {FS}\n"
        f"%e = aa.extract %q[%n] : {FS} -> f32\n%r = aa.splat %e : f32 -> {FS}\n" + PUT_F,
        f"%x = aa.expand_dims %i {{axis = 1 : i64}} : {IS} -> tensor<16x1xi32>\n"
        "%z = arith.constant 0 : i32\n%e = aa.extract %x[%n, %z] : tensor<16x1xi32> -> i32\n"
        f"%r = aa.splat %e : i32 -> {IS}\n" + PUT_I,
    ],
    "extract_of_view": [
        f"%v = aa.view %i : {IS} -> tensor<4x4xi32>\n%a = arith.constant 2 : i32\n"
        "%b = arith.constant 3 : i32\n%e = aa.extract %v[%a, %b] : tensor<4x4xi32> -> i32\n"
        f"%r = aa.splat %e : i32 -> {IS}\n" + PUT_I
    ],
    "prune_pragma_results": [
        f"%w:2 = aa.pragma {{unroll = 2 : i64}} -> {IS}, {IS} {{\n%a = aa.addi %i, %i : {IS}\n"
        f"%b = aa.muli %i, %i : {IS}\naa.yield %a, %b : {IS}, {IS}\n}}\n"
        f"%r = aa.addi %w#1, %i : {IS}\n" + PUT_I
    ],
    "prune_queue_get_results": [
        f"%q = aa.create_queue : {QUEUE}\naa.queue.put %q : {QUEUE} {{\n"
        f"aa.queue.yield %i, %range : {IS}, {IS}\n}}\n"
        f"%g:2 = aa.queue.get %q : {QUEUE} -> {IS}, {IS} {{\n^bb0(%a: {IS}, %b: {IS}):\n"
        f"%c = aa.addi %a, %b : {IS}\naa.queue.yield %b, %c : {IS}, {IS}\n}}\n"
        f"%r = aa.addi %g#1, %i : {IS}\n" + PUT_I
    ],
    "fold_atomic_rmw": [zero() + mask("true") + RMW + PUT_I, zero() + VARIABLE + RMW + PUT_I],
    "fold_atomic_cas": [
        zero(number="3") + VARIABLE
        + f"%r, %t = aa.atomic_cas relaxed gpu %pi, %z, %z mask = %m token = %ti : {PI}, {IS}\n"
        + PUT_I
    ],
    "relax_ordering": [
        f"%r, %t = aa.atomic_rmw acq_rel gpu add %pi, %range token = %ti : {PI}, {IS}\n" + PUT_I,
        f"%r, %t = aa.atomic_cas acq_rel gpu %pi, %i, %range token = %ti : {PI}, {IS}\n" + PUT_I,
    ],
    "simplify_join": [
        "%fresh = aa.create_mem_token : !aa.mem_token\n"
        f"%s = aa.store weak %pi, %range token = %ti : {PI}, {IS}\n"
        "%j = aa.join_mem_token [%ti, %s] : !aa.mem_token\n"
        "%j2 = aa.join_mem_token [%j, %fresh, %s] : !aa.mem_token\n"
        f"%r, %t = aa.load weak %pi token = %j2 : {PI} -> {IS}\n" + PUT_I
    ],
    "bitcast_of_bitcast": [
        "%a = aa.bitcast %fin : !aa.ptr<f32> to !aa.ptr<i8>\n"
        "%b = aa.bitcast %a : !aa.ptr<i8> to !aa.ptr<i32>\n"
        "%v, %t = aa.load weak %b : !aa.ptr<i32> -> i32\n"
        f"%r = aa.splat %v : i32 -> {IS}\n" + PUT_I
    ],
    "extension_of_extension": [
        f"%a = aa.trunci %i : {IS} to tensor<16xi8>\n%b = aa.exti %a signed : tensor<16xi8> to "
        f"tensor<16xi16>\n%c = aa.exti %b signed : tensor<16xi16> to tensor<16xi64>\n"
        f"%r = aa.trunci %c : tensor<16xi64> to {IS}\n" + PUT_I,
        f"%a = aa.trunci %i : {IS} to tensor<16xi8>\n%b = aa.exti %a unsigned : tensor<16xi8> to "
        f"tensor<16xi16>\n%r = aa.exti %b signed : tensor<16xi16> to {IS}\n" + PUT_I,
    ],
}  # fmt: skip
ELSEWHERE = {"drop_identity"}
"""Tested with the atomic operations: the operation that it removes has no result."""


def program(body: str) -> Operation:
    arguments = (
        "%fin: !aa.ptr<f32>, %iin: !aa.ptr<i32>, %fout: !aa.ptr<f32>, %iout: !aa.ptr<i32>, %n: i32"
    )
    spec = "attributes {kernel_spec = #aa.kernel_spec<num_warps = 4>}"
    text = f"aa.func @f({arguments}) {spec} {{\n{BEFORE}{body}aa.return\n}}"
    target = "attributes {aa.target_spec = #aa.target_spec<compute_capability = 90>}"
    return module(f"module {{ gpu.module @m {target} {{ {text} }} }}")


def results(root: Operation, seed: int) -> list[np.ndarray]:
    """All memory after a run on random numbers."""
    rng = np.random.default_rng(seed)
    floats = rng.integers(-8, 9, 16).astype(np.float32)
    integers = rng.integers(-100, 101, 16).astype(np.int32)
    arrays = [floats, integers, np.zeros(16, np.float32), np.full(16, -1, np.int32)]
    launch(root, "f", 1, [*arrays, int(rng.integers(0, 8))], check=True, seed=seed)
    return arrays


class Watched:
    """The rules of all dialects, which record the rules that applied."""

    def __init__(self) -> None:
        self.applied: set[str] = set()

    def __call__(self, kind: type[Operation]) -> tuple[Rule, ...]:
        return tuple(self._watch(rule) for rule in rules_of(kind))

    def _watch(self, rule: Rule) -> Rule:
        def apply(op: Operation, build: Rewriter) -> Replacement:
            replacement = rule.apply(op, build)
            if replacement is not None:
                self.applied.add(rule.name)
            return replacement

        return Rule(rule.roots, apply)


CASES = [(name, body) for name, bodies in PROGRAMS.items() for body in bodies]


def test_every_rule_has_a_program() -> None:
    assert {rule.name for rule in RULES} - ELSEWHERE == set(PROGRAMS)


@pytest.mark.requirement("R2-001")
@each_case(("name", "body"), CASES)
def test_the_rule_applies(name: str, body: str) -> None:
    watched = Watched()
    apply_rules(program(body), watched, fold=fold_of)
    assert name in watched.applied


@pytest.mark.requirement("R2-001")
@pytest.mark.parametrize("body", [body for _, body in CASES])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_results_stay_the_same(body: str, seed: int) -> None:
    before = results(program(body), seed)
    root = program(body)
    Canonicalize().run(root, Sink())
    verify(root)
    for old, new in zip(before, results(root, seed), strict=True):
        np.testing.assert_array_equal(new, old)
