"""Write the catalogue of remarks as a page of the documentation.

python tools/remarks_page.py > docs/remarks.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tilewright.support.remark_catalogue import CATALOGUE, CATEGORIES, RemarkEntry

ROOT = Path(__file__).parent.parent
EXAMPLES = Path("tests/cli/remark_examples")

HEAD = """\
# Remarks

<!-- written by tools/remarks_page.py from src/tilewright/support/remark_catalogue.py -->

A remark is a decision of the compiler, with the source line, the reason, and what to change in the program. Each has an id that stays the same.

```console
$ tilewright compile tests/cli/remark_examples/vector-alignment.mlir -o kernel.cubin --remarks
...
tests/cli/remark_examples/vector-alignment.mlir:14:14: remark: Load of 4 bytes at a time instead of 16: the address is not known to be a multiple of 16 bytes [missed: vector-alignment]
    %a, %t = load_view_tko weak %xv[%i, %j] : …
             ^
note: ElementsAtOnce = 1, Possible = 4
note: remedy: If the address is aligned, say so: `assume div_by<16>` on the pointer in Tile IR. …
...
```

`tilewright remarks` lists all ids, `tilewright remarks ID` explains one. Remarks of a cached compilation are [cached with it](cache.md).
`tileiras --remarks=all` reports the same, [as text or YAML](tileiras.md#remarks), under the name that follows the id below: that of NVIDIA's compiler
where it reports the same decision. The kinds are passed (an optimization was applied), missed (not applied), failed (not possible), and analysis
(a fact). Each id has a small program that triggers it.
"""  # noqa: E501


def page() -> str:
    """The whole page."""
    sections = [HEAD, *(_section(category) for category in CATEGORIES)]
    return "\n".join(sections)


def _section(category: str) -> str:
    entries = [entry for entry in CATALOGUE.values() if entry.category == category]
    return "\n".join([f"## {category}\n", *("\n".join(_entry(each)) for each in entries)])


def _entry(entry: RemarkEntry) -> Iterator[str]:
    yield f"### {entry.id}\n"
    example = EXAMPLES / f"{entry.id}.mlir"
    link = f" · [example](../{example})" if (ROOT / example).exists() else ""
    yield f"{entry.kind} · `{entry.name}`{link}\n"
    yield f"{entry.meaning} {entry.why}\n"
    if entry.remedy:
        yield f"**Remedy.** {entry.remedy}\n"


if __name__ == "__main__":
    sys.stdout.write(page())
