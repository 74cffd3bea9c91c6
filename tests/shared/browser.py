"""Headless Chromium for tests of pages: Debian's package `chromium`, or any other on the path."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 120


def find_browser() -> str | None:
    """The path of a Chromium; None if none is installed."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def run_in_page(page: str, script: str, folder: Path, *, width: int = 1400) -> Any:
    """Open a page, run the body of a function in it, and return its result.

    The script sees the page as it is after its own scripts have run.
    """
    browser = find_browser()
    assert browser is not None
    probe = (
        "<script>window.addEventListener('load', () => { let result; try { result = (() => {"
        f"{script}"
        "})(); } catch (error) { result = {error: String(error) + error.stack}; }"
        "const out = document.createElement('pre'); out.id = 'probe-result';"
        "out.textContent = JSON.stringify(result); document.body.append(out); });</script>"
    )
    file = folder / "probed.html"
    file.write_text(page.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},1000",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
         file.as_uri()],
        capture_output=True, text=True, timeout=TIMEOUT, check=True,
    )  # fmt: skip
    match = re.search(r'<pre id="probe-result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match is not None, done.stdout[-2000:]
    result = json.loads(unescape(match[1]))
    assert not isinstance(result, dict) or "error" not in result, result
    return result
