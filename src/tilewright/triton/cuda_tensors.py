"""Tensors "on the GPU" of a torch without CUDA: CPU tensors whose storage carries a mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from tilewright.support.diagnostics import fail
from tilewright.triton.versions import torch

_MARK: Final = "_tilewright_device"
_CUDA: Final = "cuda"
_PINNED: Final = "pinned"


def is_on_cuda(tensor: Any) -> bool:
    """Whether a program put a tensor on the GPU; views and gradients are where their tensor is."""
    return _mark(tensor) == _CUDA


def is_accessible(tensor: Any) -> bool:
    """Whether kernels may access a tensor: on the GPU, or in pinned memory of the host."""
    return _mark(tensor) is not None


def _mark(tensor: Any) -> str | None:
    storage = _storage(tensor)
    return None if storage is None else getattr(storage, _MARK, None)


def _storage(tensor: Any) -> Any:
    """The storage, which torch keeps as one object for all tensors; None for sparse tensors."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


def put_on(tensor: Any, device: str | None) -> Any:
    """Mark the storage of a tensor as on the GPU, pinned, or neither."""
    storage = _storage(tensor)
    if storage is not None:
        setattr(storage, _MARK, device)
    return tensor


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in an argument or a result, in lists and tuples too."""
    if isinstance(value, torch().Tensor):
        yield value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from chain.from_iterable(map(tensors_in, value))
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(tensors_in, value.values()))


def is_cuda(device: object) -> bool:
    """Whether a device argument is a GPU: a name, a device, or the number of one."""
    if isinstance(device, bool):
        return False
    if isinstance(device, int):
        return True
    if isinstance(device, str):
        return device.partition(":")[0] == _CUDA
    return isinstance(device, torch().device) and device.type == _CUDA


def check_index(device: object) -> None:
    """Reject the GPUs that there are not."""
    index: object = device
    if not isinstance(device, int):
        index = torch().device(device).index
    if index not in (None, 0):
        fail(f"device 'cuda:{index}': expected 'cuda' or 'cuda:0', the one GPU that is emulated")


def modes() -> tuple[Any, Any]:
    """The two modes of torch that emulate the device: for operations, and for its functions."""
    dispatch = torch().utils._python_dispatch.TorchDispatchMode
    function_mode = torch().overrides.TorchFunctionMode

    class Operations(dispatch):
        """Put the results of operations where their operands are, in backward passes too."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            # Otherwise the first operation imports torch._dynamo, which takes seconds.
            return False

        def __torch_dispatch__(
            self,
            func: Any,
            types: Any,
            args: tuple[Any, ...] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            named = dict(kwargs or {})
            wanted = is_cuda(named.get("device"))
            if wanted:
                named["device"] = torch().device("cpu")
            result = func(*args, **named)
            if func._schema.is_mutable:
                return result
            if wanted or any(map(is_on_cuda, tensors_in((args, named)))):
                _put_all_on_cuda(result)
            return result

    class Functions(function_mode):
        """Answer what programs ask of tensors, and create tensors on the GPU."""

        def __init__(self) -> None:
            super().__init__()
            self._replaced = _replaced_functions()

        def __torch_function__(
            self,
            func: Any,
            types: Any,
            args: tuple[Any, ...] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            named = dict(kwargs or {})
            ours = self._replaced.get(func)
            if ours is not None:
                return ours(func, args, named)
            return _created(func, args, named)

    return Operations(), Functions()


def in_backward(functions: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """A run of torch's engine for gradients with the mode for functions.

    torch calls functions without the mode that answers for them, and `Tensor.backward` calls those
    of the program.
    """

    def run_with_functions(*args: Any, **named: Any) -> Any:
        with functions:
            return run(*args, **named)

    return run_with_functions


def _put_all_on_cuda(result: object) -> None:
    for tensor in tensors_in(result):
        put_on(tensor, _CUDA)


def _created(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a function of torch; what it creates with `device="cuda"` is on the GPU."""
    device = named.get("device")
    if not is_cuda(device):
        return func(*args, **named)
    check_index(device)
    named["device"] = torch().device("cpu")
    named.pop("pin_memory", None)
    result = func(*args, **named)
    _put_all_on_cuda(result)
    return result


Replacement = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""A function in place of one of torch, which it gets with the arguments."""


def _replaced_functions() -> dict[Any, Replacement]:
    tensor, base = torch().Tensor, torch()
    return {
        tensor.device.__get__: _device,
        tensor.is_cuda.__get__: lambda func, args, named: is_on_cuda(args[0]),
        tensor.is_cpu.__get__: lambda func, args, named: not is_on_cuda(args[0]),
        tensor.get_device: lambda func, args, named: 0 if is_on_cuda(args[0]) else -1,
        tensor.to: _to,
        tensor.cuda: _cuda,
        tensor.cpu: lambda func, args, named: _moved(args[0], args[0], on_cuda=False),
        tensor.pin_memory: lambda func, args, named: put_on(args[0].clone(), _PINNED),
        tensor.is_pinned: lambda func, args, named: _mark(args[0]) == _PINNED,
        tensor.numpy: _numpy,
        tensor.__repr__: _repr,
        tensor.__array__: _numpy,
        tensor.new_tensor: _new_tensor,
        base.as_tensor: _as_tensor,
        base.asarray: _as_tensor,
    }


def _device(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return torch().device("cuda", 0) if is_on_cuda(args[0]) else func(*args, **named)


def _repr(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    text: str = func(*args, **named)
    if not is_on_cuda(args[0]) or not text.endswith(")"):
        return text
    return f"{text[:-1]}, device='cuda:0')"


def _to(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """`Tensor.to`: another device, type or both, or those of another tensor."""
    source, *rest = args
    wanted = named["device"] if "device" in named else rest[0] if rest else None
    wanted = named.get("other", wanted)
    if isinstance(wanted, torch().Tensor):
        return _moved(source, func(source, *rest, **named), on_cuda=is_on_cuda(wanted))
    if wanted is None or isinstance(wanted, torch().dtype):
        return func(*args, **named)
    on_cuda = is_cuda(wanted)
    if on_cuda:
        check_index(wanted)
        wanted = torch().device("cpu")
    if "device" in named:
        named["device"] = wanted
    else:
        rest[0] = wanted
    return _moved(source, func(source, *rest, **named), on_cuda=on_cuda)


def _cuda(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    source, *rest = args
    device = named.get("device", rest[0] if rest else None)
    if device is not None:
        check_index(device)
    return _moved(source, source, on_cuda=True)


def _moved(source: Any, result: Any, *, on_cuda: bool) -> Any:
    """The result of a move of a tensor: a copy if it is not there yet."""
    if is_on_cuda(source) == on_cuda:
        return result
    if result is source or _storage(result) is _storage(source):
        result = result.clone()
    return put_on(result, _CUDA if on_cuda else None)


def _numpy(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if is_on_cuda(args[0]):
        raise TypeError(
            "a tensor on the GPU has no NumPy array: expected one on the CPU, as .cpu() makes it"
        )
    return func(*args, **named)


def _new_tensor(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    result = _created(func, args, named)
    return put_on(result, _CUDA) if "device" not in named and is_on_cuda(args[0]) else result


def _as_tensor(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """`torch.as_tensor`, whose result on the GPU shares no memory with arrays of the host."""
    if not is_cuda(named.get("device")):
        return func(*args, **named)
    check_index(named["device"])
    named["device"] = torch().device("cpu")
    result = func(*args, **named)
    source = args[0] if args else None
    if _is_any_on_cuda(tensors_in(source)):
        return result
    return put_on(result.clone(), _CUDA)


def _is_any_on_cuda(tensors: Iterable[Any]) -> bool:
    return any(map(is_on_cuda, tensors))
