"""PTX: what LLVM makes of a module, and what happens where it makes nothing."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from each_case import each_case

from tilewright.driver.registry import context
from tilewright.emit.backend import compile_text
from tilewright.emit.llvm.assembly import is_known
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.emit.service import Worker
from tilewright.emit.worker import Answer, Outcome
from tilewright.ir.types import F32, I8, I32, I64
from tilewright.support.diagnostics import InternalError, Unsupported, UserError
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text

VECTOR_ADD = """
llvm.func @add(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %n: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %t = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
  %k = nvvm.read.ptx.sreg.ctaid.x : i32
  %w = llvm.mlir.constant(128 : i32) : i32
  %s = llvm.mul %k, %w overflow<nsw> : i32
  %i = llvm.add %s, %t overflow<nsw> : i32
  %in = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %in, ^load, ^done
^load:
  %pa = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %pb = llvm.getelementptr inbounds %b[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %pc = llvm.getelementptr inbounds %c[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %pa {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %y = llvm.load %pb {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %z = llvm.fadd %x, %y : f32
  llvm.store %z, %pc {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.br ^done
^done:
  llvm.return
}
"""


def test_a_vector_add(emit) -> None:
    ptx = compile_ptx(emit(VECTOR_ADD))
    assert ".target sm_90a" in ptx
    assert ".version 9.0" in ptx
    assert ".reqntid 128, 1, 1" in ptx
    assert len(re.findall(r"\bld\.global\.(?:f32|b32)", ptx)) == 2
    assert len(re.findall(r"\badd\.rn\.f32", ptx)) == 1
    assert len(re.findall(r"\bst\.global\.(?:f32|b32)", ptx)) == 1


@each_case("level", [0, 1, 2, 3])
def test_levels_of_optimisation(level: int, emit) -> None:
    assert ".entry add(" in compile_ptx(emit(VECTOR_ADD), opt_level=level)


def test_another_process_gives_the_same(emit) -> None:
    module = emit(VECTOR_ADD)
    arch = module.arch
    here = compile_text(module.text, arch.ptx_target, arch.llvm_features, 3)
    assert compile_ptx(module) == here


def test_hash_seeds_do_not_matter() -> None:
    code = (
        "import sys\n"
        "from tilewright.driver.registry import context\n"
        "from tilewright.emit.llvm.module import emit_llvm\n"
        "from tilewright.emit.ptx import compile_ptx\n"
        "from tilewright.target.arch import ARCHES\n"
        "from tilewright.text.parser import parse_text\n"
        "module = emit_llvm(parse_text(sys.stdin.read(), context()), ARCHES['sm_90'])\n"
        "print(module.text, compile_ptx(module))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=VECTOR_ADD,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_threads_may_compile_at_once(emit) -> None:
    modules = [emit(VECTOR_ADD.replace("@add", f"@add{n}")) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(compile_ptx, modules))
    assert [f".entry add{n}(" in text for n, text in enumerate(texts)] == [True] * 4


def one(line: str) -> str:
    return f"llvm.func @k(%i: i32, %x: f32) attributes {{nvvm.kernel}} {{\n{line}\nllvm.return\n}}"


@each_case(
    ("line", "words"),
    [
        (
            'llvm.call_intrinsic "llvm.nvvm.wgmma.fence.sync.aligned"() : () -> ()',
            "Cannot select",
        ),
        ('%r = llvm.call_intrinsic "llvm.nvvm.no.such"(%i) : (i32) -> i32', "unknown intrinsic"),
        (
            '%r = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=q,Y" %i : (i32) -> i32',
            "constraint",
        ),
    ],
)
def test_what_llvm_cannot_take_leaves_this_process_alone(line: str, words: str, emit) -> None:
    module = emit(one(line), "sm_80")
    assert module.unproven
    with pytest.raises(Unsupported) as caught:
        compile_ptx(module)
    assert caught.value.feature.startswith("code for sm_80: ")
    assert words.lower() in caught.value.feature.lower()


def test_intrinsics_by_name_work_where_there_is_one(emit) -> None:
    line = 'llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%i) : (i32) -> ()'
    assert "bar.warp.sync" in compile_ptx(emit(one(line)))


def test_what_we_wrote_and_llvm_rejects_is_our_fault(emit) -> None:
    module = emit(VECTOR_ADD)
    module.text = module.text.replace("add nsw i32", "add nsw float")
    with pytest.raises(InternalError, match="LLVM rejects what we wrote"):
        compile_ptx(module)


ABORT = """
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
define ptx_kernel void @k() {
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  ret void
}
"""


def test_an_abort_of_llvm_is_an_error_of_ours(emit) -> None:
    module = emit(VECTOR_ADD, "sm_80")
    module.text += ABORT
    with pytest.raises(InternalError, match=r"LLVM ends on what we wrote: .*Cannot select"):
        compile_ptx(module)
    # The next one is none the worse for it.
    assert ".entry add(" in compile_ptx(emit(VECTOR_ADD))


@pytest.mark.parametrize("answer", [None, Answer(Outcome.DONE, "too late")])
def test_llvm_that_does_not_end_is_stopped(
    emit, monkeypatch: pytest.MonkeyPatch, answer: Answer | None
) -> None:
    def after_the_limit(worker: Worker, _: bytes) -> Answer | None:
        worker._process.wait()
        return answer

    with monkeypatch.context() as patched:
        patched.setattr("tilewright.emit.ptx.TIMEOUT", 0.0)
        patched.setattr(Worker, "_exchange", after_the_limit)
        with pytest.raises(Unsupported, match="no end after 0 seconds"):
            compile_ptx(emit(VECTOR_ADD))
    # A process that was killed is not asked again.
    assert ".entry add(" in compile_ptx(emit(VECTOR_ADD))


def test_a_child_of_this_process_has_processes_of_its_own(emit) -> None:
    module = emit(VECTOR_ADD)
    expected = compile_ptx(module)
    with multiprocessing.get_context("fork").Pool(2) as children:
        assert children.map(ptx_of, [VECTOR_ADD] * 4) == [expected] * 4
    assert compile_ptx(module) == expected


def ptx_of(text: str) -> str:
    return compile_ptx(emit_llvm(parse_text(text, context()), ARCHES["sm_90"]))


@each_case(
    ("constraints", "outputs", "inputs", "known"),
    [
        ("=r,r,~{memory}", (I32,), (I32,), True),
        ("=f,=f,0,1,l", (F32, F32), (F32, F32, I64), True),
        ("=&r,n", (I32,), (I32,), True),
        ("=r,r", (I32,), (), False),
        ("=f,r", (I32,), (I32,), False),
        ("=r,f", (I32,), (I32,), False),
        ("=r,0", (I32,), (F32,), False),
        ("=r,7", (I32,), (I32,), False),
        ("=r,r", (I32,), (I8,), False),
        ("", (), (), True),
    ],
)
def test_constraints_that_llvm_is_sure_to_take(
    constraints: str, outputs: tuple, inputs: tuple, known: bool
) -> None:
    assert is_known(constraints, outputs, inputs) is known


def test_lines_of_the_source(emit) -> None:
    text = (
        "llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {\n"
        '  llvm.store volatile %x, %p : f32, !llvm.ptr<1> loc("/src/kernel.py":7:3)\n'
        '  llvm.store volatile %x, %p : f32, !llvm.ptr<1> loc(callsite("/src/lib.py":9:1 at '
        '"/src/kernel.py":8:1))\n'
        '  llvm.return loc(fused["/src/kernel.py":10:1, unknown])\n'
        '} loc("/src/kernel.py":5:1)\n'
    )
    ptx = compile_ptx(emit(text, line_info=True))
    files = dict(re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx))
    locations = {(files[f], int(line)) for f, line in re.findall(r"\.loc\s+(\d+) (\d+)", ptx)}
    assert {("/src/kernel.py", 7), ("/src/lib.py", 9), ("/src/kernel.py", 10)} <= locations
    # Code for a debugger would not be optimised.
    assert ", debug" not in ptx
    assert ".loc" not in compile_ptx(emit(text))


def test_a_tensor_map_stays_a_parameter(emit) -> None:
    text = """
      llvm.func @k(%m: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>,
          nvvm.grid_constant}, %s: !llvm.ptr<3>, %i: i32) attributes {nvvm.kernel} {
        nvvm.prefetch tensormap, %m {in_param_space} : !llvm.ptr
        nvvm.cp.async.bulk.tensor.global.shared.cta %m, %s, box[%i] : !llvm.ptr, !llvm.ptr<3>
        llvm.return
      }
    """
    ptx = compile_ptx(emit(text))
    assert ".local" not in ptx
    assert ptx.count("prefetch") == 1
    assert re.search(r"\.param \.align 64 \.b8 k_param_0\[128\]", ptx)


def test_a_tensor_map_that_would_be_copied(emit) -> None:
    text = """
      llvm.func @k(%m: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>}, %s: !llvm.ptr<3>, %i: i32)
          attributes {nvvm.kernel} {
        nvvm.cp.async.bulk.tensor.global.shared.cta %m, %s, box[%i] : !llvm.ptr, !llvm.ptr<3>
        llvm.return
      }
    """
    with pytest.raises(UserError, match="argument #0 is a tensor map passed by value"):
        emit(text)


def test_loops_are_unrolled_here_only_where_the_program_asks(emit) -> None:
    text = """
      llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %four = llvm.mlir.constant(4 : i32) : i32
        llvm.br ^loop(%zero : i32)
      ^loop(%i: i32):
        llvm.store volatile %i, %p : i32, !llvm.ptr<1>
        %j = llvm.add %i, %one : i32
        %more = llvm.icmp "ult" %j, %four : i32
        llvm.cond_br %more, ^loop(%j : i32), ^end ATTRIBUTE
      ^end:
        llvm.return
      }
    """
    wish = "{loop_annotation = #llvm.loop_annotation<unroll = <WISH = true>>}"
    full = compile_ptx(emit(text.replace("ATTRIBUTE", wish.replace("WISH", "full"))))
    rolled = compile_ptx(emit(text.replace("ATTRIBUTE", wish.replace("WISH", "disable"))))
    free = compile_ptx(emit(text.replace("ATTRIBUTE", "")))
    assert full.count("st.volatile.global") == 4
    assert rolled.count("st.volatile.global") == 1
    assert '.pragma "nounroll"' in rolled
    # ptxas decides about the others.
    assert free.count("st.volatile.global") == 1
    assert '.pragma "nounroll"' not in free
