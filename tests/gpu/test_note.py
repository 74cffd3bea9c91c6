"""A cubin with our note on a GPU: the driver loads it, and the kernel in it runs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright.emit.cubin import assemble
from tilewright.emit.note import own_note, read_note
from tilewright.target.arch import ARCHES

pytestmark = pytest.mark.gpu

THREADS = 64

PTX = """\
.version 9.0
.target {target}
.address_size 64
.visible .entry squares(.param .u64 out) .reqntid {threads}, 1, 1
{{
  .reg .b64 %a;
  .reg .b64 %o;
  .reg .b32 %t;
  .reg .b32 %s;
  ld.param.u64 %a, [out];
  mov.u32 %t, %tid.x;
  mul.lo.u32 %s, %t, %t;
  mul.wide.u32 %o, %t, 4;
  add.s64 %a, %a, %o;
  st.global.u32 [%a], %s;
  ret;
}}
"""


def called(result: tuple[Any, ...]) -> Any:
    """Check the status of a driver call and return its other results."""
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values


@pytest.fixture
def driver() -> Iterator[Any]:
    """The driver bindings, with a current context on the first GPU."""
    bindings = pytest.importorskip("cuda.bindings.driver", reason="cuda.bindings is not installed")
    try:
        (status,) = bindings.cuInit(0)
    except RuntimeError as error:
        pytest.skip(f"there is no driver: {error}")
    if int(status):
        pytest.skip(f"there is no GPU: {status}")
    device = called(bindings.cuDeviceGet(0))
    context = called(bindings.cuDevicePrimaryCtxRetain(device))
    called(bindings.cuCtxSetCurrent(context))
    yield bindings
    called(bindings.cuDevicePrimaryCtxRelease(device))


def name_of(driver: Any) -> str:
    """Return the architecture name of the GPU, such as sm_90."""
    kind = driver.CUdevice_attribute
    device = called(driver.cuCtxGetDevice())
    parts = (
        kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    )
    return "sm_" + "".join(str(called(driver.cuDeviceGetAttribute(a, device))) for a in parts)


def test_a_kernel_of_a_noted_cubin_runs(driver: Any) -> None:
    arch = ARCHES[name_of(driver)]
    text = PTX.format(target=arch.ptx_target, threads=THREADS)
    cubin = assemble(text, arch).data
    assert read_note(cubin) == own_note()
    module = called(driver.cuModuleLoadData(cubin))
    kernel = called(driver.cuModuleGetFunction(module, b"squares"))
    memory = called(driver.cuMemAlloc(4 * THREADS))
    called(driver.cuMemsetD8(memory, 0xFF, 4 * THREADS))
    arguments = ((memory,), (None,))
    called(driver.cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, 0, arguments, 0))
    called(driver.cuCtxSynchronize())
    results = (ctypes.c_uint32 * THREADS)()
    called(driver.cuMemcpyDtoH(ctypes.addressof(results), memory, 4 * THREADS))
    called(driver.cuMemFree(memory))
    called(driver.cuModuleUnload(module))
    assert list(results) == [i * i for i in range(THREADS)]
