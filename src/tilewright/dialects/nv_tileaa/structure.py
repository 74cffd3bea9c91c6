"""Module structure: functions, calls, kernel launches and globals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects import func
from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tilewright.dialects.nv_tileaa.constraints import SCALAR_I32, SCALAR_PTR, TOKEN, pointer
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp
from tilewright.dialects.nv_tileaa.requests import ASKED, REFUSED, Refusal, RefusedAttr
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ELEMENTS_ATTR, I64_ATTR, STRING_ATTR, SYMBOL_ATTR
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.symbol_table import resolve
from tilewright.ir.traits import SYMBOL, TERMINATOR, Effects, HasParent
from tilewright.ir.types import FunctionType, TensorType
from tilewright.support.schedule_keys import LEVEL, SANITIZE

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.requests import Change
    from tilewright.text.syntax import Directive


class FuncOp(func.FuncOp):
    """Define a function; one with a `kernel_spec` is a kernel."""

    name = "nv_tileaa.func"
    default_dialect = None

    kernel_spec = d.optional_attribute(KERNEL_SPEC)
    asked = d.optional_attribute(ASKED, "nv_tileaa.asked")
    refused = d.optional_attribute(REFUSED, "nv_tileaa.refused")
    planned = d.flag("nv_tileaa.planned")

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches this function."""
        return self.kernel_spec is not None

    def asks(self, key: str) -> int | None:
        """The value that is asked for, if any."""
        request = None if self.asked is None else self.asked.get(key)
        return None if request is None else request.value

    def allows(self, change: Change) -> bool:
        """Whether what restricts the compiler leaves it a change."""
        level = self.asks(LEVEL)
        is_checked = self.asks(SANITIZE) is not None and change.separates_checks
        return not is_checked and (level is None or level >= change.least_level)

    def has_refused(self, key: str) -> bool:
        """Whether a request is recorded as refused."""
        return self.refused is not None and key in dict(self.refused.refusals)

    def refuse(self, key: str, reason: str) -> None:
        """Record why a request is not followed, or not in all loops."""
        before = () if self.refused is None else self.refused.refusals
        self.refused = RefusedAttr(dict.fromkeys((*before, Refusal(key, reason))))

    def choose_blocks(self, blocks: int) -> None:
        """Choose the blocks on an SM, unless that was done before."""
        spec = self.kernel_spec
        if spec is not None and spec.occupancy is None:
            self.kernel_spec = KernelSpecAttr(spec.num_ctas, spec.num_warps, blocks)

    @property
    def cluster_size(self) -> int:
        """The number of CTAs in the `kernel_spec`: a hint, unless they share tiles."""
        spec = self.kernel_spec
        return 1 if spec is None else spec.num_ctas or 1

    @property
    def is_distributed(self) -> bool:
        """Whether the CTAs of a cluster share the tiles of this kernel."""
        return self.cluster_size > 1 and any(isinstance(op, GetCtaRankOp) for op in self.walk())

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if (
            self.is_kernel
            and isinstance(self.function_type, FunctionType)
            and self.signature.results
        ):
            yield f"must not return values, got {listed(self.signature.results)}"
        if self.planned and (self.kernel_spec is None or self.kernel_spec.num_warps is None):
            yield "expected a 'kernel_spec' with the warps of a plan"


class ReturnOp(func.ReturnOp):
    """Return from a function."""

    name = "nv_tileaa.return"
    needs_whole = "a function takes and returns whole tiles"
    traits = (TERMINATOR, HasParent("nv_tileaa.func"))


class CallOp(Operation):
    """Call a function."""

    name = "nv_tileaa.call"
    needs_whole = "a function takes and returns whole tiles"
    directives: ClassVar[Mapping[str, Directive]] = {"FunctionType": FUNCTION_TYPE}
    syntax = (
        "$callee `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    callee = d.attribute(SYMBOL_ATTR)
    arguments = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)

    def verify_context(self) -> Iterator[str]:
        signature = FunctionType(types_of(self.arguments), types_of(self.outputs))
        yield from func.callee_problems(self, self.callee, signature, FuncOp)


class LaunchFuncOp(Operation):
    """Launch a kernel on a grid of blocks."""

    name = "nv_tileaa.launch_func"
    needs_whole = "a function takes and returns whole tiles"
    syntax = (
        "$kernel `grid` `(` $x `,` $y `,` $z `)` `args` `(` $arguments (`:` type($arguments)^)? "
        "`)` (`token` `=` $token^)? attr-dict"
    )

    kernel = d.attribute(SYMBOL_ATTR)
    x = d.operand(SCALAR_I32)
    y = d.operand(SCALAR_I32)
    z = d.operand(SCALAR_I32)
    arguments = d.operands(ANY_TYPE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)

    def verify_context(self) -> Iterator[str]:
        signature = FunctionType(types_of(self.arguments))
        yield from func.callee_problems(self, self.kernel, signature, FuncOp)


class GlobalOp(Operation):
    """Define an array in global memory, initialized with `value` when the module is loaded.

    A constant global is never written; a private one is invisible to the host.
    """

    name = "nv_tileaa.global"
    traits = (SYMBOL,)
    syntax = "(`constant` $constant^)? $sym_name (`align` $alignment^)? attr-dict `=` $value"

    sym_name = d.attribute(STRING_ATTR)
    sym_visibility = d.optional_attribute(STRING_ATTR)
    value = d.attribute(ELEMENTS_ATTR)
    alignment = d.attribute(I64_ATTR, default=0)
    constant = d.flag()

    def verify(self) -> Iterator[str]:
        type = self.value.type
        if not isinstance(type, TensorType) or type.shape is None or len(type.shape) != 1:
            yield f"expected a value of rank 1, got '{type}'"


class GetGlobalOp(Operation):
    """Return the address of the first element of a global."""

    name = "nv_tileaa.get_global"
    effects = Effects.PURE
    syntax = "$symbol attr-dict `:` type($result)"

    symbol = d.attribute(SYMBOL_ATTR)
    result = d.result(SCALAR_PTR)

    def verify_context(self) -> Iterator[str]:
        target = resolve(SymbolRefAttr(self.symbol), self)
        if not isinstance(target, GlobalOp):
            yield f"expected '@{self.symbol}' to name a global"
            return
        value, pointee = target.value.type, pointer(self.result).pointee
        if isinstance(value, TensorType) and pointee is not value.element:
            expected = f"'{value.element}' as '@{self.symbol}' has"
            yield f"expected a pointer to {expected}, got '{pointee}'"
