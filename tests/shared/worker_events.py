"""What workers of pytest-xdist tell the process that prints the results."""

from __future__ import annotations

from typing import Any

import pytest

PLUGIN = "WorkerInteractor"
"""The class of the plugin that sends events; it is registered without a name."""


def send_results_only(config: pytest.Config) -> None:
    """Do not send that a test starts or ends, nor that its set-up and tear-down passed.

    Of six messages a test two remain: the result, and that the worker can go on. Nothing that is
    printed needs the others, and they take as long as a small test.
    """
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == PLUGIN:
            plugin.sendevent = _filtered(plugin.sendevent)


def _filtered(send: Any) -> Any:
    def send_some(name: str, **contents: Any) -> None:
        report = contents.get("data", {}) if name == "testreport" else {}
        passed_around = report.get("when") in ("setup", "teardown") and (
            report["outcome"] == "passed"
        )
        if name not in ("logstart", "logfinish") and not passed_around:
            send(name, **contents)

    return send_some
