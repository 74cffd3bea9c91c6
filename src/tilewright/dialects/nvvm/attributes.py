"""The enumerations and shapes of the NVVM dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from tilewright.ir.attribute_kinds import EnumKind, InstanceKind
from tilewright.ir.attributes import EnumAttr, Parametric

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class DottedEnum(EnumAttr):
    """Base of enumerations whose keywords have dots, spelled `__` in the member names."""

    @property
    def keyword(self) -> str:
        return self.name.lower().replace("__", ".")

    @classmethod
    def from_keyword(cls, keyword: str) -> Self | None:
        return cls.__members__.get(keyword.upper().replace(".", "__"))


class ProxyKind(DottedEnum, mnemonic="nvvm.proxy_kind"):
    """The memory proxies that a fence orders."""

    ALIAS = 0
    ASYNC = 1
    ASYNC__GLOBAL = 2
    ASYNC__SHARED = 3
    TENSORMAP = 4
    GENERIC = 5


class SharedSpace(EnumAttr, mnemonic="nvvm.shared_space"):
    """The shared memory of a CTA or of its cluster."""

    CTA = 0
    CLUSTER = 1


class MemScope(EnumAttr, mnemonic="nvvm.mem_scope"):
    """The scope of a memory ordering."""

    CTA = 0
    CLUSTER = 1
    GPU = 2
    SYS = 3


class SetMaxRegisterAction(EnumAttr, mnemonic="nvvm.action"):
    """Whether a warp increases or decreases its register count."""

    INCREASE = 0
    DECREASE = 1


class ShflKind(EnumAttr, mnemonic="nvvm.shfl_kind"):
    """The shuffle mode."""

    BFLY = 0
    UP = 1
    DOWN = 2
    IDX = 3


class VoteSyncKind(EnumAttr, mnemonic="nvvm.vote_sync_kind"):
    """The vote mode."""

    ANY = 0
    ALL = 1
    BALLOT = 2
    UNI = 3


class MatchSyncKind(EnumAttr, mnemonic="nvvm.match_sync_kind"):
    """The match mode: lanes with an equal value, or all lanes equal."""

    ANY = 0
    ALL = 1


class ReduxKind(EnumAttr, mnemonic="nvvm.redux_kind"):
    """The operation of a warp reduction."""

    ADD = 1
    AND = 2
    MAX = 3
    MIN = 4
    OR = 5
    UMAX = 6
    UMIN = 7
    XOR = 8
    FMIN = 9
    FMAX = 10


class GridDepAction(EnumAttr, mnemonic="nvvm.grid_dep_action"):
    """Wait for the prerequisite grids, or allow the dependent grids to launch."""

    WAIT = 0
    LAUNCH_DEPENDENTS = 1


class LoadCacheModifier(EnumAttr, mnemonic="nvvm.load_cache_modifier"):
    """The cache operator of a copy."""

    CA = 0
    CG = 1
    CS = 2
    LU = 3
    CV = 4


class AccessOrder(EnumAttr, mnemonic="nvvm.access_order"):
    """The memory order of an access."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    VOLATILE = 4


class CacheHint(EnumAttr, mnemonic="nvvm.cache_hint"):
    """The cache operator of an access, as in PTX."""

    CA = 0
    CG = 1
    CS = 2
    LU = 3
    CV = 4
    WB = 5
    WT = 6


class RoundingMode(EnumAttr, mnemonic="nvvm.fp_rnd_mode"):
    """The rounding mode; `rs` is stochastic."""

    NONE = 0
    RN = 1
    RM = 2
    RP = 3
    RZ = 4
    RNA = 5
    RS = 6


class SaturationMode(EnumAttr, mnemonic="nvvm.sat_mode"):
    """Whether a result saturates to the largest finite value."""

    NONE = 0
    SATFINITE = 1


class MMALayout(EnumAttr, mnemonic="nvvm.mma_layout"):
    """The layout of a matrix: row-major or column-major."""

    ROW = 0
    COL = 1


class MMAType(EnumAttr, mnemonic="nvvm.mma_type"):
    """The element types of `mma.sync`, as PTX spells them."""

    F16 = 0
    F32 = 1
    TF32 = 2
    U8 = 3
    S8 = 4
    S32 = 5
    B1 = 6
    U4 = 7
    S4 = 8
    BF16 = 9
    F64 = 10
    E4M3 = 11
    E5M2 = 12


class MMAB1Op(EnumAttr, mnemonic="nvvm.mma_b1op"):
    """The operation of a one-bit mma."""

    NONE = 0
    XOR_POPC = 1
    AND_POPC = 2


class MMAIntOverflow(EnumAttr, mnemonic="nvvm.mma_int_overflow"):
    """The overflow behavior of an integer accumulator."""

    WRAPPED = 0
    SATFINITE = 1


class WGMMAType(EnumAttr, mnemonic="nvvm.wgmma_type"):
    """The element types of `wgmma`, as PTX spells them."""

    F16 = 0
    TF32 = 1
    U8 = 2
    S8 = 3
    B1 = 4
    BF16 = 5
    E4M3 = 6
    E5M2 = 7
    F32 = 8
    S32 = 9


class WGMMAScaleIn(EnumAttr, mnemonic="nvvm.wgmma_scale_in"):
    """The sign of A or B."""

    NEG = -1
    ONE = 1


class WGMMAScaleOut(EnumAttr, mnemonic="nvvm.wgmma_scale_out"):
    """Whether the accumulator is added."""

    ZERO = 0
    ONE = 1


class TMALoadMode(EnumAttr, mnemonic="nvvm.tma_load_mode"):
    """The load mode of TMA."""

    TILE = 0
    IM2COL = 1
    IM2COL_W = 2
    IM2COL_W_128 = 3
    TILE_GATHER4 = 4


class TMAStoreMode(EnumAttr, mnemonic="nvvm.tma_store_mode"):
    """The store mode of TMA."""

    TILE = 0
    IM2COL = 1
    TILE_SCATTER4 = 2


class TMAReduxKind(EnumAttr, mnemonic="nvvm.tma_redux_kind"):
    """The operation of a TMA reduction."""

    ADD = 0
    MIN = 1
    MAX = 2
    INC = 3
    DEC = 4
    AND = 5
    OR = 6
    XOR = 7


class CTAGroup(EnumAttr, mnemonic="nvvm.cta_group"):
    """The number of CTAs of a group."""

    CTA_1 = 0
    CTA_2 = 1


class PrefetchLevel(EnumAttr, mnemonic="nvvm.prefetch_cache_level"):
    """The cache level of a prefetch."""

    L1 = 0
    L2 = 1

    @property
    def keyword(self) -> str:
        return self.name

    @classmethod
    def from_keyword(cls, keyword: str) -> Self | None:
        return cls.__members__.get(keyword)


class EvictionPriority(EnumAttr, mnemonic="nvvm.cache_eviction_priority"):
    """The eviction priority of a cache line."""

    EVICT_NORMAL = 0
    EVICT_FIRST = 1
    EVICT_LAST = 2
    EVICT_UNCHANGED = 3
    NO_ALLOCATE = 4


class MatrixElement(DottedEnum, mnemonic="nvvm.ld_st_matrix_elt_type"):
    """The element types of ldmatrix and stmatrix."""

    B16 = 0
    B8 = 1
    B8X16__B6X16_P32 = 2
    B8X16__B4X16_P64 = 3


class TensormapField(EnumAttr, mnemonic="nvvm.tensormap_field"):
    """The fields of a tensor map that a kernel can replace."""

    GLOBAL_ADDRESS = 0
    RANK = 1
    BOX_DIM = 2
    GLOBAL_DIM = 3
    GLOBAL_STRIDE = 4
    ELEMENT_STRIDE = 5
    ELEMTYPE = 6
    INTERLEAVE_LAYOUT = 7
    SWIZZLE_MODE = 8
    FILL_MODE = 9
    SWIZZLE_ATOMICITY = 10


class _Extents(Parametric):
    """Base of shapes with named extents: `<m = 16, n = 8>`."""

    __slots__: tuple[str, ...] = ()

    def print(self, printer: AttributePrinter) -> str:
        """Return the text after the mnemonic."""
        pairs = zip(type(self).__slots__, self.parameters, strict=True)
        return f"<{', '.join([f'{name} = {extent}' for name, extent in pairs])}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes, in any order."""
        extents: dict[str, int] = {}
        names = cls.__slots__

        def entry() -> None:
            if parser.peek() not in names:
                parser.unexpected(f"one of {', '.join(names)}")
            name = parser.next()
            parser.expect("=")
            extents[name] = parser.integer()

        at = parser.at
        parser.listed(entry, "<", ">")
        missing = [name for name in names if name not in extents]
        if missing:
            parser.error(f"expected the extent {missing[0]}", at)
        return cls.unique(*[extents[name] for name in names])


class MMAShape(_Extents):
    """`#nvvm.shape<m = 16, n = 8, k = 16>`: the extents of an mma."""

    __slots__ = ("m", "n", "k")  # noqa: RUF023 - the order of the parameters
    mnemonic = "nvvm.shape"

    m: int
    n: int
    k: int

    def __new__(cls, m: int, n: int, k: int) -> Self:
        return cls.unique(m, n, k)

    @property
    def extents(self) -> tuple[int, int, int]:
        """M, N and K, the keys of the tables in `target/tensor_cores.py`."""
        return (self.m, self.n, self.k)

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


class MatrixShape(_Extents):
    """`#nvvm.ld_st_matrix_shape<m = 8, n = 8>`: the extents of an ldmatrix or stmatrix tile."""

    __slots__ = ("m", "n")
    mnemonic = "nvvm.ld_st_matrix_shape"

    m: int
    n: int

    def __new__(cls, m: int, n: int) -> Self:
        return cls.unique(m, n)

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}"


PROXY_KIND: Final = EnumKind(ProxyKind)
SHARED_SPACE: Final = EnumKind(SharedSpace)
ACCESS_ORDER: Final = EnumKind(AccessOrder)
CACHE_HINT: Final = EnumKind(CacheHint)
MEM_SCOPE: Final = EnumKind(MemScope)
ACTION: Final = EnumKind(SetMaxRegisterAction)
SHFL_KIND: Final = EnumKind(ShflKind)
VOTE_KIND: Final = EnumKind(VoteSyncKind)
MATCH_KIND: Final = EnumKind(MatchSyncKind)
REDUX_KIND: Final = EnumKind(ReduxKind)
GRID_DEP_ACTION: Final = EnumKind(GridDepAction)
CACHE_MODIFIER: Final = EnumKind(LoadCacheModifier)
ROUNDING: Final = EnumKind(RoundingMode)
SATURATION: Final = EnumKind(SaturationMode)
MMA_LAYOUT: Final = EnumKind(MMALayout)
MMA_TYPE: Final = EnumKind(MMAType)
MMA_B1_OP: Final = EnumKind(MMAB1Op)
MMA_INT_OVERFLOW: Final = EnumKind(MMAIntOverflow)
WGMMA_TYPE: Final = EnumKind(WGMMAType)
WGMMA_SCALE_IN: Final = EnumKind(WGMMAScaleIn)
WGMMA_SCALE_OUT: Final = EnumKind(WGMMAScaleOut)
TMA_LOAD_MODE: Final = EnumKind(TMALoadMode)
TMA_STORE_MODE: Final = EnumKind(TMAStoreMode)
TMA_REDUX_KIND: Final = EnumKind(TMAReduxKind)
CTA_GROUP: Final = EnumKind(CTAGroup)
PREFETCH_LEVEL: Final = EnumKind(PrefetchLevel)
EVICTION_PRIORITY: Final = EnumKind(EvictionPriority)
MATRIX_ELEMENT: Final = EnumKind(MatrixElement)
TENSORMAP_FIELD: Final = EnumKind(TensormapField)
MMA_SHAPE: Final = InstanceKind(MMAShape, "shape of an mma")
MATRIX_SHAPE: Final = InstanceKind(MatrixShape, "shape of a small matrix")
