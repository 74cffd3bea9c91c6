"""The page of the playground: an editor, the form of a kernel, and the page of `explain`."""

from __future__ import annotations

import base64
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final, NamedTuple

from tilewright.driver.cli.options import OPT_LEVELS
from tilewright.driver.playground.languages import Language, Program
from tilewright.explain.page import asset, document, embedded, page_script
from tilewright.target.arch import ARCHES

BODY: Final = """\
<header id="bar">
<h1>Tilewright</h1>
<label>Example <select id="examples"></select></label>
<label>Language <select id="language"></select></label>
<label>GPU <select id="arch"></select></label>
<select id="level" aria-label="optimization level"></select>
<label>Schedule <input id="schedule" placeholder="stages=3,warps=8" spellcheck="false"></label>
<span class="grow"></span>
<button type="button" id="save-page" disabled>Save page</button>
<button type="button" id="save-source">Save source</button>
</header>
<main id="work">
<section id="left" aria-label="program">
<div id="editor"><div id="gutter" aria-hidden="true"></div>
<div id="text"><pre id="paint" aria-hidden="true"></pre>
<textarea id="source" aria-label="source" spellcheck="false" autocapitalize="off" \
autocomplete="off" wrap="off"></textarea></div></div>
<p id="status" role="status"></p>
<ul id="errors" aria-label="errors"></ul>
<details id="log-box" hidden><summary>Output of the front end</summary>
<pre id="log"></pre></details>
<form id="run" aria-label="run">
<div class="row"><label>Kernel <select id="kernel"></select></label>
<label>Grid <input id="grid" size="8" spellcheck="false"></label>
<label>On <select id="device"><option value="emulator">PTX emulator</option>
<option value="cpu">reference executor</option></select></label>
<label><input type="checkbox" id="check"> check races</label>
<label><input type="checkbox" id="live" checked> on each edit</label>
<button type="submit" id="start">Run</button></div>
<div id="arguments" class="fields"></div>
<details id="extent-box" hidden><summary>Extents and strides</summary>
<div id="extents" class="fields"></div></details>
<p id="run-status" role="status"></p>
<div id="results"></div>
</form>
</section>
<section id="right" aria-label="levels">
<iframe id="report" sandbox="allow-scripts" title="what the compiler decided"></iframe>
</section>
</main>
"""


class Opened(NamedTuple):
    """What the page shows first."""

    program: Program
    arch: str
    level: str
    schedule: str


def playground_page(opened: Opened, known: list[Language], examples: list[Program]) -> str:
    """The whole page."""
    data: dict[str, Any] = {
        "program": opened.program._asdict(),
        "arch": opened.arch,
        "level": opened.level,
        "schedule": opened.schedule,
        "languages": [each._asdict() for each in known],
        "examples": [each._asdict() for each in examples],
        "arches": list(ARCHES),
        "levels": list(OPT_LEVELS),
    }
    body = [
        BODY,
        f'<script type="application/json" id="playground">{embedded(data)}</script>\n',
        f"<script>{_script()}</script>\n",
    ]
    style = asset("page.css") + _asset("playground.css")
    return document("Tilewright playground", body, style)


def policy() -> str:
    """The content security policy: the two scripts that we have written run, and no others.

    The page of `explain` is a frame without an address, which inherits the policy.
    """
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in (_script(), page_script()))
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _script() -> str:
    return f"\n{asset('tokens.js')}{_asset('playground.js')}"


def _digest(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("tilewright.driver.playground").joinpath(name).read_text("utf-8")
