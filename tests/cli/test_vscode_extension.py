"""The extension of VS Code: its manifest, and a session with the server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.driver.lsp.server import TRIGGERS

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
NODE = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))

PROGRAM = """\
entry @f(%a: tile<f32>) {
  %b = addf %a, %a : tile<f32>
  %c = nope %b
  return
}
"""


def test_the_files_of_the_manifest_exist() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    contributed = manifest["contributes"]
    files = [manifest["main"], contributed["grammars"][0]["path"]]
    files.append(contributed["languages"][0]["configuration"])
    for file in files:
        assert (EXTENSION / file).is_file(), file
    json.loads((EXTENSION / contributed["languages"][0]["configuration"]).read_text())
    grammar = json.loads((EXTENSION / contributed["grammars"][0]["path"]).read_text())
    assert grammar["scopeName"] == contributed["grammars"][0]["scopeName"]
    assert json.dumps(TRIGGERS) in (EXTENSION / "extension.js").read_text()


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_session() -> None:
    assert NODE is not None
    session = Path(__file__).parent / "vscode_session.js"
    server = (sys.executable, "-m", "tilewright", "lsp")
    done = subprocess.run(
        [NODE, str(session), str(EXTENSION / "extension.js"), PROGRAM, *server],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    hover = shown.pop("hover")
    assert hover.startswith("```mlir\n%a : !cuda_tile.tile<f32>\n```")
    assert shown == {
        "at": "file:///kernel.mlir",
        "problems": ["unknown operation 'nope'"],
        "severities": [0],
        "definition": {"line": 0, "character": 9},
        "references": 3,
        "highlights": 3,
        "symbols": ["f"],
        "completion": ["%a"],
    }
