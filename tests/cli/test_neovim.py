"""The settings of Neovim: a real editor shows an error, and jumps to a definition."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NVIM = shutil.which("nvim")

PROGRAM = """\
entry @f(%a: tile<f32>) {
  %b = addf %a, %a : tile<f32>
  %c = nope %b
  return
}
"""

SCRIPT = """\
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
vim.api.nvim_win_set_cursor(0, { 2, 12 })
local at = vim.lsp.util.make_position_params(0, "utf-16")
local answers = vim.lsp.buf_request_sync(0, "textDocument/definition", at, 60000)
local _, answer = next(answers)
io.stdout:write(vim.json.encode({
  filetype = vim.bo.filetype,
  syntax = vim.fn.synIDattr(vim.fn.synID(2, 8, 1), "name"),
  problems = vim.tbl_map(function(each) return each.message end, vim.diagnostic.get(0)),
  definition = answer.result.range.start,
}))
vim.cmd("qa!")
"""


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_a_session(tmp_path: Path) -> None:
    assert NVIM is not None
    (tmp_path / "kernel.mlir").write_text(PROGRAM)
    (tmp_path / "session.lua").write_text(SCRIPT)
    command = json.dumps([sys.executable, "-m", "tilewright", "lsp"])
    done = subprocess.run(
        [
            *(NVIM, "--headless", "--clean", "kernel.mlir"),
            *("--cmd", f"set runtimepath^={ROOT}/editors/nvim"),
            *("--cmd", f"let g:tilewright_command = {command}"),
            *("-c", "luafile session.lua"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert json.loads(done.stdout) == {
        "filetype": "tileir",
        "syntax": "tileirOperation",
        "problems": ["unknown operation 'nope'"],
        "definition": {"line": 0, "character": 9},
    }, done.stderr
