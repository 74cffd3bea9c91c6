"""A screenshot of the language server in Neovim, as docs/editors.md shows it.

    python tools/editor_screenshot.py docs/editors/neovim.png

Needs Debian's `neovim` and `fonts-dejavu-core`, and from PyPI `pyte`, a terminal, and `pillow`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import sys
import termios
import time
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
COLUMNS: Final = 132
ROWS: Final = 36
CELL: Final = (10, 21)
"""Width and height of a character in pixels."""
FONT_SIZE: Final = 16
FONT: Final = os.environ.get("TERMINAL_FONT", "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")
FOREGROUND: Final = "d8d8d8"
BACKGROUND: Final = "1c1c1c"

SETTINGS: Final = """\
set nocompatible notitle nomodeline noswapfile number signcolumn=yes termguicolors laststatus=0
set nowrap noruler
set background=dark
colorscheme slate
highlight Normal guibg=#1c1c1c guifg=#d8d8d8
highlight SignColumn guibg=#1c1c1c
highlight NormalFloat guibg=#303040
"""


def main() -> int:
    """Write the picture to the file that the command line names."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    nvim = shutil.which("nvim")
    if nvim is None:
        print("error: expected 'nvim' on the search path", file=sys.stderr)
        return 1
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        text = (ROOT / "examples" / "gemm.mlir").read_text()
        program = folder / "gemm.mlir"
        program.write_text(text.replace("mmaf %x, %y, %acc", "mmaf %x, %z, %acc"))
        (folder / "init.vim").write_text(SETTINGS + _command())
        screen = _session(nvim, folder)
    picture = Path(sys.argv[1])
    picture.parent.mkdir(parents=True, exist_ok=True)
    _draw(screen, picture)
    print(picture)
    return 0


def _command() -> str:
    words = ", ".join(f"'{word}'" for word in (sys.executable, "-m", "tilewright", "lsp"))
    return f"let g:tilewright_command = [{words}]\nset runtimepath^={ROOT}/editors/nvim\n"


def _session(nvim: str, folder: Path) -> Any:
    """Open the program, wait for its error, and show the documentation of an operation."""
    pyte: Any = import_module("pyte")
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execv(nvim, [nvim, "-u", "init.vim", "gemm.mlir"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def show(seconds: float, text: str = "") -> None:
        """Feed the screen for a time, or until a text is on it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (text and text in "\n".join(screen.display)):
            if select.select([terminal], [], [], 0.1)[0]:
                stream.feed(os.read(terminal, 1 << 16))

    show(30, "undefined value")
    os.write(terminal, b":call search('mmaf') | redraw | echo ''\r")
    show(1)
    os.write(terminal, b"K")
    show(30, "Since Tile IR")
    show(1)
    os.write(terminal, b":qa!\r")
    cells = [[screen.buffer[y][x] for x in range(COLUMNS)] for y in range(ROWS)]
    os.waitpid(process, 0)
    return cells


def _draw(rows: list[list[Any]], picture: Path) -> None:
    image_module: Any = import_module("PIL.Image")
    draw_module: Any = import_module("PIL.ImageDraw")
    font: Any = import_module("PIL.ImageFont").truetype(FONT, FONT_SIZE)
    width, height = CELL
    image = image_module.new("RGB", (COLUMNS * width, ROWS * height), f"#{BACKGROUND}")
    draw = draw_module.Draw(image)
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            front, back = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
            if cell.reverse:
                front, back = back, front
            corner = x * width, y * height
            draw.rectangle((*corner, corner[0] + width - 1, corner[1] + height - 1), fill=back)
            if cell.data.strip():
                draw.text(corner, cell.data, fill=front, font=font)
            if cell.underscore:
                bottom = corner[1] + height - 2
                draw.line((corner[0], bottom, corner[0] + width, bottom), fill=front)
    image.quantize(64).save(picture, optimize=True)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return f"#{default}"
    return f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else name.removeprefix("bright")


if __name__ == "__main__":
    sys.exit(main())
