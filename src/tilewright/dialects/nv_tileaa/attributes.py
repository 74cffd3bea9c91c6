"""The attributes of nv_tileaa: modes, hints, and kernel and target specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.type_syntax import read_parameters
from tilewright.ir.attribute_kinds import EnumKind, InstanceKind
from tilewright.ir.attributes import EnumAttr, Parametric

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class Signedness(EnumAttr, mnemonic="nv_tileaa.signedness"):
    """Whether an operation interprets integers as signed or unsigned."""

    UNSIGNED = 0
    SIGNED = 1


class RoundingMode(EnumAttr, mnemonic="nv_tileaa.rounding_mode"):
    """The rounding mode of an operation, or the accuracy of an approximation."""

    NEAREST_EVEN = 0
    ZERO = 1
    NEGATIVE_INF = 2
    POSITIVE_INF = 3
    APPROX = 4
    FULL = 5
    NEAREST_INT_TO_ZERO = 6
    NEAREST_AWAY = 7


class MemSemantic(EnumAttr, mnemonic="nv_tileaa.mem_semantic"):
    """The memory ordering of an access, in addition to its tokens."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = 5

    @property
    def acquires(self) -> bool:
        """Whether later accesses follow the access."""
        return self in (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)

    @property
    def releases(self) -> bool:
        """Whether earlier accesses precede the access."""
        return self in (MemSemantic.RELEASE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)


class MemScope(EnumAttr, mnemonic="nv_tileaa.mem_scope"):
    """The memory scope: the set of threads that observe an ordering."""

    TL_BLK = 0
    CLUSTER = 1
    GPU = 2
    SYS = 3


class RmwMode(EnumAttr, mnemonic="nv_tileaa.rmw_mode"):
    """The operation of an atomic read-modify-write."""

    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    XCHG = 9


class PaddingValue(EnumAttr, mnemonic="nv_tileaa.padding_value"):
    """The value that loads return for elements out of bounds."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4


class CacheModifier(EnumAttr, mnemonic="nv_tileaa.cache_modifier"):
    """The cache operators of PTX."""

    CA = 0
    CG = 1
    CS = 2
    LU = 3
    CV = 4
    WB = 5
    WT = 6


class EvictionPolicy(EnumAttr, mnemonic="nv_tileaa.eviction_policy"):
    """The cache eviction priority of an access."""

    EVICT_NORMAL = 0
    EVICT_FIRST = 1
    EVICT_LAST = 2
    EVICT_UNCHANGED = 3
    NO_ALLOCATE = 4


class ActivationLayout(EnumAttr, mnemonic="nv_tileaa.activation_layout"):
    """The dimension order of activations: batch, channels, height and width."""

    NHWC = 0
    NCHW = 1


class ConvParamsAttr(Parametric):
    """`#nv_tileaa.conv_params<strides = [1, 1], padding = [0, 0], dilations = [1, 1]>`."""

    __slots__ = ("dilations", "padding", "strides")
    mnemonic = "nv_tileaa.conv_params"

    dilations: tuple[int, ...]
    padding: tuple[int, ...]
    strides: tuple[int, ...]

    def __new__(
        cls, strides: tuple[int, ...], padding: tuple[int, ...], dilations: tuple[int, ...]
    ) -> Self:
        return cls.unique(dilations, padding, strides)

    def __reduce__(self) -> tuple[object, ...]:
        return ConvParamsAttr, (self.strides, self.padding, self.dilations)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        dilations, padding, strides = cast("tuple[tuple[int, ...], ...]", parameters)
        if not len(dilations) == len(padding) == len(strides):
            return "strides, padding and dilations must have one number a dimension"
        if min((*dilations, *strides), default=1) < 1 or min(padding, default=0) < 0:
            return "strides and dilations must be positive, padding must not be negative"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        parts = {"strides": self.strides, "padding": self.padding, "dilations": self.dilations}
        return f"<{', '.join(f'{name} = {list(numbers)}' for name, numbers in parts.items())}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""

        def numbers() -> tuple[int, ...]:
            return tuple(parser.listed(parser.integer, "[", "]"))

        names = ("strides", "padding", "dilations")
        parameters = read_parameters(parser, dict.fromkeys(names, numbers))
        return cls(**cast("dict[str, tuple[int, ...]]", parameters))


class NumbersAttr(Parametric):
    """Base of attributes with named, optional integer parameters."""

    __slots__: tuple[str, ...] = ()

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        pairs = zip(type(self).__slots__, self.parameters, strict=True)
        return f"<{', '.join(f'{name} = {value}' for name, value in pairs if value is not None)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        names = cls.__slots__
        readers = dict.fromkeys(names, parser.integer)
        parameters = read_parameters(parser, readers, dict.fromkeys(names))
        return cls.unique(*[parameters[name] for name in names])

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        for name, value in zip(
            cls.__slots__, cast("tuple[int | None, ...]", parameters), strict=True
        ):
            if value is not None and value < 1:
                return f"{name} must be positive, got {value}"
        return None


class KernelSpecAttr(NumbersAttr):
    """`#nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4>`: the launch configuration of a kernel.

    CTAs per cluster, warps per CTA, and the target number of CTAs per SM: as far as passes have
    chosen them. What is asked is in `nv_tileaa.asked`; for a program at nv_tileaa without it, all
    numbers are hints. From nv_tileas on, a kernel with more than one CTA per cluster is launched in
    clusters, each of which runs one program.
    """

    __slots__ = ("num_ctas", "num_warps", "occupancy")
    mnemonic = "nv_tileaa.kernel_spec"

    num_ctas: int | None
    num_warps: int | None
    occupancy: int | None

    def __new__(
        cls,
        num_ctas: int | None = None,
        num_warps: int | None = None,
        occupancy: int | None = None,
    ) -> Self:
        return cls.unique(num_ctas, num_warps, occupancy)


class TargetSpecAttr(NumbersAttr):
    """`#nv_tileaa.target_spec<compute_capability = 90>`: the target GPU."""

    __slots__ = ("compute_capability",)
    mnemonic = "nv_tileaa.target_spec"

    compute_capability: int | None

    def __new__(cls, compute_capability: int) -> Self:
        return cls.unique(compute_capability)


class AtAttr(Parametric):
    """`#nv_tileaa.at<stage = 1, order = 2>`: when an operation of a pipelined loop is executed.

    The iteration of the pipelined loop in which the operations of stage 0 are those of iteration i
    has the operations of stage s of iteration i - s, in this order. Those of a negative stage are
    of a later iteration, in which loads and copies access memory only if it exists.
    """

    __slots__ = ("order", "stage")
    mnemonic = "nv_tileaa.at"

    order: int
    stage: int

    def __new__(cls, stage: int = 0, order: int = 0) -> Self:
        return cls.unique(order, stage)

    def __reduce__(self) -> tuple[object, ...]:
        return AtAttr, (self.stage, self.order)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        order, stage = cast("tuple[int, int]", parameters)
        if stage not in STAGES:
            return f"expected a stage from {STAGES[0]} to {STAGES[-1]}, found {stage}"
        return None if order >= 0 else f"order must not be negative, got {order}"

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<stage = {self.stage}, order = {self.order}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        at = parser.at
        readers = dict.fromkeys(("stage", "order"), parser.integer)
        parameters = read_parameters(parser, readers, dict.fromkeys(readers, 0))
        return parser.invalid(cls, parameters["stage"], parameters["order"], at=at)


EARLY: Final = -1
"""The stage of loads that are issued one iteration early, where that iteration exists."""
STAGES: Final = range(-64, 4)
"""The stages that an operation may have."""
TARGET_SPEC_NAME: Final = "nv_tileaa.target_spec"
"""The name of the module attribute that holds the `TargetSpecAttr`."""

SIGNEDNESS: Final = EnumKind(Signedness)
ROUNDING_MODE: Final = EnumKind(RoundingMode)
MEM_SEMANTIC: Final = EnumKind(MemSemantic)
MEM_SCOPE: Final = EnumKind(MemScope)
RMW_MODE: Final = EnumKind(RmwMode)
CACHE_MODIFIER: Final = EnumKind(CacheModifier)
EVICTION_POLICY: Final = EnumKind(EvictionPolicy)
ACTIVATION_LAYOUT: Final = EnumKind(ActivationLayout)
CONV_PARAMS: Final = InstanceKind(ConvParamsAttr, "convolution parameters")
KERNEL_SPEC: Final = InstanceKind(KernelSpecAttr, "kernel specification")
