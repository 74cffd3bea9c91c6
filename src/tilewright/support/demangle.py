"""Demangle names of C++ functions, by the C++ runtime library in a process of its own.

Names come from files that may be damaged or hostile: a short name can stand for gigabytes of
text, so the process has limits of memory and time. LLVM's Python package needs the same library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from tilewright.support.interpreter import command_of

MANGLED: Final = "_Z"
"""The prefix of mangled names."""

LONGEST: Final = 10_000
"""Longer texts are not shown: the mangled name is used instead."""
MEMORY: Final = 1 << 29
CPU_SECONDS: Final = 1

_LIBRARIES: Final = ("libstdc++.so.6", "libc++abi.so.1", "libc++abi.1.dylib", "libc++abi.dylib")

Demangler = Callable[[bytes], "bytes | None"]


def demangled(names: Iterable[str]) -> dict[str, str]:
    """Return the C++ spelling of mangled names; names without one are left out."""
    mangled = [name for name in names if name.startswith(MANGLED) and name.isascii()]
    mangled = [name for name in mangled if name.isprintable()]
    if not mangled:
        return {}
    # Loaded only for names that are no symbol of the module.
    import subprocess  # noqa: PLC0415

    done = subprocess.run(
        command_of(__name__),
        input="\n".join(mangled).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    # A process that reached a limit has answered for the names before.
    texts = done.stdout.decode("utf-8", "replace").split("\n")[:-1]
    return {name: text for name, text in zip(mangled, texts, strict=False) if text}


def main() -> int:
    """Read names, a line each, and write a line for each: its spelling, or nothing."""
    demangle = _demangler()
    if demangle is None:
        return 1
    _limit()
    for name in sys.stdin.buffer.read().split(b"\n"):
        text = demangle(name)
        shown = text if text is not None and len(text) <= LONGEST else b""
        sys.stdout.buffer.write(shown + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _demangler() -> Demangler | None:
    import ctypes  # noqa: PLC0415

    for path in _LIBRARIES:
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(path)
            function, free = library.__getattr__("__cxa_demangle"), ctypes.CDLL(None).free
            break
    else:
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.restype, free.argtypes = None, [ctypes.c_void_p]

    def demangle(name: bytes) -> bytes | None:
        address = function(name, None, None, None)
        if address is None:
            return None
        text = ctypes.string_at(address, min(LONGEST + 1, len(ctypes.string_at(address))))
        free(address)
        return text

    return demangle


def _limit() -> None:
    with suppress(ImportError, OSError, ValueError):  # some systems have no such limits
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
