"""Write the page of passes from their declarations and the lowering pipeline.

python tools/passes_page.py > docs/passes.md
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Final

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.splits import SplitForm
from tilewright.driver.pipelines import (
    CHECKS,
    DEPRECATED_PASSES,
    LOWERING_PIPELINE,
    PASSES,
    PLAN,
    Step,
)
from tilewright.ir.passes import Option, Pass
from tilewright.ir.pipeline_text import load_pass
from tilewright.transforms.kernel_pass import KernelPass

HEAD: Final = """\
# Passes

<!-- written by tools/passes_page.py from the passes and src/tilewright/driver/pipelines.py -->

`tilewright opt --pass "canonicalize,cuda_tile.entry(loop-split{split-threshold=2})"` runs passes by
name, with options in braces and, in parentheses, on the operations of one name alone.
[Debugging the compiler](compiler-debugging.md) shows how to print, bisect and time them. The pages
of the levels describe what the passes do in detail: [nv_tileaa](nv_tileaa.md),
[nv_tileas](nv_tileas.md), [tiles to threads](threads.md), [NVVM](nvvm.md).

## The lowering pipeline

`tilewright compile` runs these passes in this order. A pass changes programs from the optimization
level in the second column on ([levels](optimization-levels.md)). Those of the plan do not run on a
program that `--emit nv_tileaa` has printed: it has a plan, which may be edited
([nv_tileaa](nv_tileaa.md)).
"""
TITLES: Final = {"cuda_tile": "On `cuda_tile`", PLAN: "The plan, on `nv_tileaa`"}
CONDITIONS: Final = (
    ("passes_maps", "only with `--tensor-maps parameters`"),
    ("keeps_plans", "also in programs that have a plan"),
)


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for level, steps in LOWERING_PIPELINE.items():
        lines += [
            f"### {TITLES.get(level, f'To `{level}`')}\n",
            "| pass | from | |",
            "|---|---|---|",
            *map(_step, steps),
            "",
        ]
    lines += ["## All passes\n"]
    for name in sorted(PASSES):
        lines += _pass(name, load_pass(PASSES[name]))
    former = ", ".join(f"`{old}` is now `{new}`" for old, new in DEPRECATED_PASSES.items())
    lines += ["## Former names\n", f"Accepted with a warning in this release: {former}."]
    return "\n".join(lines) + "\n"


def _step(step: Step) -> str:
    name, _, rest = step.text.partition("{")
    scope, _, inner = name.partition("(")
    name = inner.rstrip(")") or scope
    notes = [f"on `{scope}`"] if inner else []
    if rest == "$requests}":
        notes.append("`--schedule` and other requests are its options")
    notes += [text for attribute, text in CONDITIONS if getattr(step, attribute)]
    changes = _changes(load_pass(PASSES[name]), rest)
    since = min((each.least_level for each in changes.values()), default=step.since)
    notes += [
        f"`{option}` from `-O{change.least_level}`"
        for option, change in changes.items()
        if change.least_level > since
    ]
    if changes and all(each.separates_checks for each in changes.values()):
        notes.append("not with `--sanitize`")
    return f"| [`{name}`](#{name}) | `-O{since}` | {'; '.join(notes)} |"


def _changes(kind: type[Pass], options: str) -> dict[str, Change]:
    """What a pass does that kernels may forbid, by the option that has it do so."""
    if issubclass(kind, KernelPass):
        return {"": kind.change}
    _, _, forms = options.rstrip("}").partition("forms=")
    return {form: SplitForm(form).change for form in forms.split("+") if form}


def _pass(name: str, kind: type[Pass]) -> Iterator[str]:
    yield f"### {name}\n"
    if name != kind.name:
        yield f"Another name of [`{kind.name}`](#{kind.name}).\n"
        return
    for paragraph in inspect.cleandoc(kind.__doc__ or "").split("\n\n"):
        yield " ".join(paragraph.split()) + "\n"
    if name == "check-accesses":
        yield f"`--sanitize=memcheck` runs `{CHECKS}`.\n"
    options = kind.options().values()
    if options:
        yield "| option | default | |\n|---|---|---|"
        yield from map(_option, options)
        yield ""
    statistics = kind.statistics()
    if statistics:
        yield (
            "Statistics: " + "; ".join(f"`{each.name}`, {each.doc}" for each in statistics) + ".\n"
        )
    if kind.is_required:
        yield "Programs do not compile without it: `--opt-bisect-limit` never skips it.\n"


def _option(option: Option[object]) -> str:
    default = option.default
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    return f"| `{option.spelling}` | {f'`{shown}`' if shown else ''} | {option.doc} |"


if __name__ == "__main__":
    sys.stdout.write(page())
