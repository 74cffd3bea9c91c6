"""The enumerations of cute_nvgpu."""

from __future__ import annotations

from typing import Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import EnumAttr


class Reduction(EnumAttr, mnemonic="cute_nvgpu.reduction"):
    """The operation of a TMA reduction; `inc` and `dec` wrap at the source value."""

    ADD = 0
    MIN = 1
    MAX = 2
    INC = 3
    DEC = 4
    AND = 5
    OR = 6
    XOR = 7


class RegisterAction(EnumAttr, mnemonic="cute_nvgpu.register_action"):
    """Whether a warpgroup increases or decreases its register count."""

    DECREASE = 0
    INCREASE = 1


class ProxySpace(EnumAttr, mnemonic="cute_nvgpu.proxy_space"):
    """The state space of a fence between the generic and the async proxy."""

    ALL = 0
    GLOBAL = 1
    SHARED_CTA = 2
    SHARED_CLUSTER = 3


class Scope(EnumAttr, mnemonic="cute_nvgpu.scope"):
    """The scope of an ordering: block, cluster, GPU or system."""

    CTA = 0
    CLUSTER = 1
    GPU = 2
    SYS = 3


REDUCTION: Final = EnumKind(Reduction)
REGISTER_ACTION: Final = EnumKind(RegisterAction)
PROXY_SPACE: Final = EnumKind(ProxySpace)
SCOPE: Final = EnumKind(Scope)
