"""Disassemble our cubins to SASS with nvdisasm, where it is installed."""

from __future__ import annotations

import os
import subprocess

from tilewright.emit.toolchain import find_nvdisasm
from tilewright.support.diagnostics import Unsupported
from tilewright.support.temporary import temporary_folder


def disassemble_cubin(cubin: bytes) -> str:
    """Return the SASS of the kernels of a cubin, with source lines if it has any."""
    command = [find_nvdisasm(), "--print-code", "--print-line-info"]
    with temporary_folder("SASS") as folder:
        path = os.path.join(folder, "module.cubin")
        with open(path, "wb") as file:
            file.write(cubin)
        try:
            done = subprocess.run(
                [*command, path], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError as error:
            reason = f"'{command[0]}' cannot be started: {error.strerror}"
            raise Unsupported(f"SASS without nvdisasm: {reason}") from None
    if done.returncode:
        # The folder is gone when the user reads this.
        log = done.stderr.decode(errors="replace").replace(folder + os.sep, "").strip()
        raise Unsupported(f"SASS that nvdisasm cannot print: {log or f'exit {done.returncode}'}")
    return done.stdout.decode(errors="replace")
