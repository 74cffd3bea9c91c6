"""Lower programs of gpu, nvgpu and the standard dialects to NVVM."""

from __future__ import annotations

from integrity import check_integrity

from tilewright.dialects.llvm.functions import FuncOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.target.arch import find_arch
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

TO_NVVM = "convert-gpu-nvgpu-to-nvvm"


def read(text: str) -> Operation:
    """Parse and verify a program."""
    module = parse_text(text, context(), "program.mlir")
    verify(module)
    return module


def convert(text: str, pipeline: str = TO_NVVM) -> Operation:
    """Run passes on a program, and verify it."""
    module = read(text)
    parse_pipeline(pipeline).run(module)
    check_integrity(module)
    verify(module)
    return module


def kernel(body: str, arguments: str = "", buffers: str = "") -> str:
    """A module with one kernel."""
    inside = "\n".join(f"      {line.strip()}" for line in body.strip().splitlines())
    return f"""\
builtin.module {{
  gpu.module @m {{
    gpu.func @k({arguments}) {buffers} kernel {{
{inside}
      gpu.return
    }}
  }}
}}
"""


def lowered(body: str, arguments: str = "", *, pipeline: str = TO_NVVM) -> list[str]:
    """The lines between the braces of a kernel, without the return at its end."""
    module = convert(kernel(body, arguments), pipeline)
    function = next(op for op in module.walk() if isinstance(op, FuncOp) and op.is_kernel)
    lines = [line.strip() for line in print_op(function).splitlines()]
    return lines[1:-2]


def symbols(body: str, arguments: str = "") -> list[str]:
    """Return the globals and declarations that a kernel creates, sorted."""
    module = convert(kernel(body, arguments))
    lines = [line.strip() for line in print_op(module).splitlines()]
    declarations = [line for line in lines if line.startswith(("llvm.mlir.global", "llvm.func"))]
    return sorted(line for line in declarations if not line.endswith("{"))


def failures(text: str, pipeline: str = TO_NVVM) -> list[str]:
    """Return the diagnostics of a failed conversion."""
    module = read(text)
    before = print_op(module)
    sink = Sink()
    try:
        parse_pipeline(pipeline).run(module, sink)
    except UserError as error:
        assert print_op(module) == before
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def to_ptx(text: str, arch: str = "sm_90") -> str:
    """The PTX of a program of any of these dialects."""
    module = convert(text, TO_NVVM)
    target = find_arch(arch)
    assert target is not None
    return compile_ptx(emit_llvm(module, target))
