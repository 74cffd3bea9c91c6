"""`#cute_nvgpu.map_parameter`: its text, and what it rejects."""

from __future__ import annotations

from typing import Final

from dialect_text import errors
from each_case import each_case

from tilewright.dialects.cute_nvgpu.map_parameters import MapParameterAttr, map_parameters
from tilewright.driver.api import read_level
from tilewright.support.tensor_map_parameters import Argument
from tilewright.text.attribute_printer import attribute_text

DESCRIPTOR: Final = (
    "!nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = swizzle_128b, "
    "l2promo = none, oob = zero, interleave = none>"
)


def function(parameter: str) -> str:
    attributes = f"{{cute_nvgpu.map_parameters = [#cute_nvgpu.map_parameter<{parameter}>]}}"
    return f"gpu.module @m {{\ngpu.func @f() kernel attributes {attributes} {{\ngpu.return\n}}\n}}"


def test_text() -> None:
    text = f"{DESCRIPTOR}, address = arg2, sizes = [arg0, 64], strides = [arg11]"
    module = read_level(function(text), "f.mlir")
    (kernel,) = [op for op in module.walk() if op.name == "gpu.func"]
    (parameter,) = map_parameters(kernel)
    assert parameter.address == Argument(2)
    assert parameter.sizes == (Argument(0), 64)
    assert parameter.strides == (Argument(11),)
    assert attribute_text(parameter) == f"#cute_nvgpu.map_parameter<{text}>"
    again = MapParameterAttr(parameter.map, Argument(2), [Argument(0), 64], [Argument(11)])
    assert again is parameter


@each_case(
    ("parameter", "message"),
    [
        ("f16, address = arg0, sizes = [], strides = []", "expected the type of a tensor map"),
        (f"{DESCRIPTOR}, address = arg0, sizes = [8], strides = []", "2 sizes and 1 strides"),
        (f"{DESCRIPTOR}, address = arg0, sizes = [8, 4], strides = [-8]", "not negative"),
        (f"{DESCRIPTOR}, address = x, sizes = [8, 4], strides = [8]", "such as 'arg0', got 'x'"),
    ],
)
def test_what_is_none(parameter: str, message: str) -> None:
    (problem,) = errors(function(parameter))
    assert message in problem
