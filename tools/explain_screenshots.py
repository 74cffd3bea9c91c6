"""Screenshots of the pages of `tilewright explain` and `tilewright serve`, in headless Chromium.

    python tools/explain_screenshots.py explain docs/explain
    python tools/explain_screenshots.py playground docs/playground

Writes each page at two widths, light and dark: NAME-WIDTH-SCHEME.png, with 256 colours, a third of
the size. Needs Debian's `chromium`.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep
from typing import Final

import numpy as np

_ROOT: Final = Path(__file__).resolve().parents[1]

sys.path[:0] = [str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from browser import find_browser  # noqa: E402
from devtools import Tab, open_tab  # noqa: E402

from tilewright.driver.cli import main as tilewright  # noqa: E402
from tilewright.driver.playground.child import Limits  # noqa: E402
from tilewright.driver.playground.languages import examples, languages  # noqa: E402
from tilewright.driver.playground.page import Opened, playground_page  # noqa: E402
from tilewright.driver.playground.server import Server  # noqa: E402
from tilewright.driver.playground.tasks import Tasks  # noqa: E402

PROGRAMS: Final = {
    "gemm": _ROOT / "examples" / "gemm.mlir",
    "attention": _ROOT / "tests" / "run" / "kernels" / "attention_warpgroups.mlir",
    "layer-norm": _ROOT / "tests" / "run" / "kernels" / "layer_norm.mlir",
}
PLAYGROUND: Final = {"attention": "attention.py", "gemm": "gemm.mlir"}
"""Examples of the playground, by the names of their screenshots."""
SIZES: Final = {1280: 1400, 500: 1100}
"""Heights of the window by its width, in pixels."""
SCHEMES: Final = ("dark", "light")
COLORS: Final = 256
EXACT: Final = 64
"""The colours that are kept however near others are."""
SETTLED: Final = 0.7
"""Seconds until a page of another size is drawn."""


def main() -> int:
    """Write the screenshots to the folder that the command line names."""
    kinds: dict[str, Callable[[Tab, Path, Path], None]] = {
        "explain": take_explain,
        "playground": take_playground,
    }
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        print(__doc__, file=sys.stderr)
        return 2
    if find_browser() is None:
        print("error: expected 'chromium' on the search path", file=sys.stderr)
        return 1
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, open_tab(Path(scratch) / "profile") as tab:
        kinds[sys.argv[1]](tab, folder, Path(scratch))
        for picture in sorted(folder.glob("*.png")):
            picture.write_bytes(with_palette(pixels(tab, picture)))
    return 0


def take_explain(tab: Tab, folder: Path, scratch: Path) -> None:
    """Take those of pages of `tilewright explain`, opened anew in each size."""
    for name, program in PROGRAMS.items():
        page = scratch / f"{name}.html"
        assert tilewright(["explain", str(program), "--html", str(page)]) == 0
        take(tab, folder, name, lambda page=page: tab.open(page.as_uri()))


def take_playground(tab: Tab, folder: Path, scratch: Path) -> None:
    """Take those of examples of the playground, compiled and run."""
    known = languages()
    offered = examples(known)
    for name, file in PLAYGROUND.items():
        program = next(each for each in offered if each.name == file)
        page = playground_page(Opened(program, "sm_90", "3", ""), known, offered)
        server = Server(0, page, Tasks(Limits()))
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            tab.show(1280, SIZES[1280], "light")
            tab.open(server.url)
            tab.wait_for("document.querySelector('#results table')")
            take(tab, folder, name)
        finally:
            server.shutdown()
            server.tasks.close()
            server.server_close()


def take(tab: Tab, folder: Path, name: str, open_page: Callable[[], None] | None = None) -> None:
    """Take screenshots in each size and scheme."""
    for width, height in SIZES.items():
        for scheme in SCHEMES:
            tab.show(width, height, scheme)
            if open_page is not None:
                open_page()
            sleep(SETTLED)
            picture = folder / f"{name}-{width}-{scheme}.png"
            tab.screenshot(picture)
            print(picture)


def pixels(tab: Tab, picture: Path) -> np.ndarray:
    """Have the browser decode a picture; rows of pixels of three bytes."""
    address = "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()
    tab.open("about:blank")
    tab.evaluate(
        "window.image = new Image(); image.onload = () => {"
        " const canvas = document.createElement('canvas');"
        " [canvas.width, canvas.height] = [image.width, image.height];"
        " const draw = canvas.getContext('2d'); draw.drawImage(image, 0, 0);"
        " const data = draw.getImageData(0, 0, image.width, image.height).data; let text = '';"
        " for (let at = 0; at < data.length; at += 8192)"
        "  text += String.fromCharCode(...data.subarray(at, at + 8192));"
        " window.decoded = { width: image.width, data: btoa(text) }; };"
        f"image.src = {json.dumps(address)};"
    )
    tab.wait_for("window.decoded")
    decoded = tab.evaluate("return window.decoded")
    data = np.frombuffer(base64.b64decode(decoded["data"]), np.uint8)
    return data.reshape(-1, decoded["width"], 4)[:, :, :3]


def with_palette(picture: np.ndarray) -> bytes:
    """A PNG with the colours that occur most, and with some of each hue, for all others."""
    height, width, _ = picture.shape
    known, numbers, counts = np.unique(
        picture.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    common = known[np.argsort(-counts, kind="stable")]
    _, firsts = np.unique(common >> 4, axis=0, return_index=True)
    palette = np.concatenate([common[:EXACT], common[np.sort(firsts)]])
    _, firsts = np.unique(palette, axis=0, return_index=True)
    palette = palette[np.sort(firsts)[:COLORS]]
    distances = np.abs(known[:, None].astype(int) - palette[None]).sum(axis=2)
    rows = distances.argmin(axis=1)[numbers.reshape(height, width)].astype(np.uint8)
    # Each row begins with the number of its filter: none.
    data = zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes(), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


if __name__ == "__main__":
    sys.exit(main())
