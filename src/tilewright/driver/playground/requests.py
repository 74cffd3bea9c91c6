"""Requests of the page of the playground: JSON, every field checked."""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

from tilewright.driver.cli.options import OPT_LEVELS
from tilewright.driver.playground.protocol import ACTIONS
from tilewright.target.arch import ARCHES

DEVICES: Final = ("emulator", "cpu")
MOST_ARGUMENTS: Final = 256
_NAME: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)
"""Names of programs, which become names of files; no paths."""


class BadRequest(ValueError):
    """A request that the page would not make."""


def read_page_request(data: bytes, action: str) -> tuple[str, dict[str, Any]]:
    """The page of a request, and what it asks for."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("expected JSON") from None
    if action not in ACTIONS or not isinstance(given, dict):
        raise BadRequest("expected an object")
    fields = cast("dict[str, Any]", given)
    name = _text(fields, "name")
    # The name of a folder, a hidden file or an option is no name of a program.
    if not _NAME.fullmatch(name) or name[0] in ".-":
        raise BadRequest("expected the name of a program")
    request: dict[str, Any] = {
        "action": action,
        "name": name,
        "source": _text(fields, "source"),
        "arch": _choice(fields, "arch", ARCHES),
        "level": _choice(fields, "level", OPT_LEVELS),
        "schedule": _text(fields, "schedule"),
        "kernel": _text(fields, "kernel"),
        "grid": _text(fields, "grid"),
        "arguments": _texts(fields, "arguments"),
        "labels": _texts(fields, "labels"),
        "on": _choice(fields, "on", DEVICES),
        "check": fields.get("check") is True,
    }
    return _text(fields, "page"), request


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise BadRequest(f"expected text as '{key}'")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"expected Unicode as '{key}'") from None
    return value


def _texts(fields: dict[str, Any], key: str) -> list[str]:
    values = fields.get(key, [])
    if not isinstance(values, list):
        raise BadRequest(f"expected a list as '{key}'")
    items = cast("list[Any]", values)
    if len(items) > MOST_ARGUMENTS or not all(isinstance(item, str) for item in items):
        raise BadRequest(f"expected texts as '{key}'")
    return items


def _choice(fields: dict[str, Any], key: str, choices: Any) -> str:
    """One of the choices; the first if the field is not given."""
    value = fields.get(key, next(iter(choices)))
    if not isinstance(value, str) or value not in choices:
        raise BadRequest(f"expected one of {', '.join(choices)} as '{key}'")
    return value
