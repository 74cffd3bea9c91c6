"""Start-up hook of processes that a program under `python -m tilewright.cutile` starts.

Programs start older Pythons as well. Those must be able to read this file, and go on.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_hidden() -> None:
    """Run the file of the same name that this one stands before."""
    others = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    spec = PathFinder.find_spec(__name__, others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


def _switch() -> None:
    if find_spec("tilewright") is None:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(_HERE))))
    from tilewright.cutile.importing import VARIABLE, switch_on_import  # noqa: PLC0415
    from tilewright.cutile.options import Options  # noqa: PLC0415

    text = os.environ.get(VARIABLE)
    if text:
        switch_on_import(Options.parse(text))


if sys.hexversion >= 0x030B0000:
    _switch()
_run_hidden()
