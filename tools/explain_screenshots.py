"""Screenshots of the pages of `tilewright explain`, in headless Chromium.

    python tools/explain_screenshots.py docs/explain

Writes each page at two widths, light and dark: NAME-WIDTH-SCHEME.png. Needs Debian's `chromium`.
Those in the documentation were reduced to 128 colours afterwards, a third of their size.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tilewright.driver.cli import main as tilewright

ROOT: Final = Path(__file__).resolve().parents[1]
PROGRAMS: Final = {
    "gemm": ROOT / "examples" / "gemm.mlir",
    "attention": ROOT / "tests" / "run" / "kernels" / "attention_warpgroups.mlir",
    "layer-norm": ROOT / "tests" / "run" / "kernels" / "layer_norm.mlir",
}
SIZES: Final = ((1280, 1400), (500, 1100))
"""Width and height of the window in pixels."""
SCHEMES: Final = {"dark": 0, "light": 1}
"""What Blink calls them."""


def main() -> int:
    """Write the screenshots to the folder that the command line names."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    chromium = shutil.which("chromium")
    if chromium is None:
        print("error: expected 'chromium' on the search path", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        for name, program in PROGRAMS.items():
            page = Path(scratch) / f"{name}.html"
            if tilewright(["explain", str(program), "--html", str(page)]):
                return 1
            for width, height in SIZES:
                for scheme, number in SCHEMES.items():
                    picture = folder / f"{name}-{width}-{scheme}.png"
                    take(chromium, page, picture, (width, height), number)
                    print(picture)
    return 0


def take(chromium: str, page: Path, picture: Path, size: tuple[int, int], scheme: int) -> None:
    """Take the screenshot of a page."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += [f"--blink-settings=preferredColorScheme={scheme}"]
    options += [f"--window-size={size[0]},{size[1]}", f"--screenshot={picture.resolve()}"]
    subprocess.run([chromium, *options, page.as_uri()], check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
