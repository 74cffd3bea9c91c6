"""Build the documentation site into `build/site`; a warning is an error.

    python tools/docs_site.py [--output FOLDER]

Pages are plain Markdown, with links that work in the repository. The site has `docs/` as its root:
pages and the files that they link to are copied to `build/site-source`, where links to files
outside of `docs/` lead to their copies, and the navigation of `docs/navigation.toml` is added.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
HOME: Final = "docs/index.md"
LINK: Final = re.compile(r"(\[[^\]]*\]\()([^)\s]+)(\))")
FENCE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


class Navigation(NamedTuple):
    """The pages of the site by section, and the pages below a page."""

    sections: list[tuple[str, list[str]]]
    children: dict[str, list[str]]

    def pages(self) -> list[str]:
        """All pages in order, the home page first."""
        listed = [page for _, pages in self.sections for page in pages]
        below = [page for pages in self.children.values() for page in pages]
        return [HOME, *listed, *below]


def read_navigation() -> Navigation:
    """The table `docs/navigation.toml`."""
    table = tomllib.loads((ROOT / "docs" / "navigation.toml").read_text("utf-8"))
    sections = [(section["title"], section["pages"]) for section in table["sections"]]
    listed = {page for _, pages in sections for page in pages}
    children = {
        entry["of"]: [
            name
            for path in sorted(ROOT.glob(entry["pages"]))
            if (name := path.relative_to(ROOT).as_posix()) not in listed
        ]
        for entry in table["children"]
    }
    return Navigation(sections, children)


def on_site(path: str) -> str:
    """The path on the site of a file of the repository."""
    return path.removeprefix("docs/")


def rewritten(text: str, page: str) -> tuple[str, set[str]]:
    """The text of a page with the links of the site, and the files that it links to."""
    linked: set[str] = set()
    folder = os.path.dirname(page)
    site_folder = os.path.dirname(on_site(page))

    def rewrite(match: re.Match[str]) -> str:
        target, hash_mark, anchor = match[2].partition("#")
        if "://" in target or not target:
            return match[0]
        file = os.path.normpath(os.path.join(folder, target))
        linked.add(file)
        relative = os.path.relpath(on_site(file), site_folder or ".")
        return f"{match[1]}{relative}{hash_mark}{anchor}{match[3]}"

    pieces: list[str] = []
    start = 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(rewrite, text[start : fence.start()]), fence[0]]
        start = fence.end()
    pieces.append(LINK.sub(rewrite, text[start:]))
    return "".join(pieces), linked


def toctree(pages: list[str], below: str, caption: str = "") -> Iterator[str]:
    """The directive that puts pages into the navigation, below another page."""
    folder = os.path.dirname(on_site(below)) or "."
    yield "\n```{toctree}"
    yield ":hidden:"
    if caption:
        yield f":caption: {caption}"
    yield ""
    yield from (os.path.relpath(on_site(page), folder).removesuffix(".md") for page in pages)
    yield "```\n"


def stage(folder: Path) -> None:
    """Write the sources of the site: pages, and what they link to."""
    navigation = read_navigation()
    pages = navigation.pages()
    files: set[str] = set()
    for page in pages:
        text, linked = rewritten((ROOT / page).read_text("utf-8"), page)
        files |= linked
        if page == HOME:
            for title, listed in navigation.sections:
                text += "\n".join(toctree(listed, page, title))
        if page in navigation.children:
            text += "\n".join(toctree(navigation.children[page], page))
        target = folder / on_site(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    for file in sorted(files - set(pages)):
        source, target = ROOT / file, folder / on_site(file)
        # A link to a page that the navigation lacks stays broken: Sphinx reports it.
        if source.is_file() and source.suffix != ".md":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def build(sources: Path, output: Path, builder: str = "html") -> int:
    """Run Sphinx; a warning is an error."""
    options = ["-q", "-W", "--keep-going", "-b", builder, "-c", str(ROOT / "docs")]
    trees = str(sources.with_name(sources.name + "-doctrees"))
    command = [sys.executable, "-m", "sphinx", *options, "-d", trees, str(sources), str(output)]
    return subprocess.run(command, check=False).returncode


def main(arguments: list[str]) -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    output: Path = parser.parse_args(arguments).output
    sources = output.with_name(output.name + "-source")
    shutil.rmtree(sources, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    stage(sources)
    code = build(sources, output)
    if code == 0:
        print(f"docs: {len(read_navigation().pages())} pages, {output / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
