"""The operations of MLIR's builtin dialect: the module, and a cast that has yet to vanish."""

from __future__ import annotations

import sys
from typing import Final

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import GRAPH_REGION, ISOLATED, NO_TERMINATOR, SYMBOL_TABLE, Effects


class ModuleOp(Operation):
    """Holds the operations of a program, of any dialect."""

    name = "builtin.module"
    traits = (ISOLATED, SYMBOL_TABLE, NO_TERMINATOR, GRAPH_REGION)
    sym_name = d.optional_attribute(STRING_ATTR)
    sym_visibility = d.optional_attribute(STRING_ATTR)
    body = d.region()


class UnrealizedConversionCastOp(Operation):
    """Values of some types taken for values of others while a conversion is under way."""

    name = "builtin.unrealized_conversion_cast"
    effects = Effects.PURE
    syntax = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


BUILTIN: Final = Dialect("builtin", sys.modules[__name__])
