"""Which tests `make check` selects for a change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from affected_tests import (
    Definition,
    Mentions,
    Record,
    affected_tests,
    changed_nodes,
    reached_nodes,
)
from called_functions import ROOT

OLD = """
from functools import cache

LIMIT = 4

class Op:
    name = "op"

    def verify(self):
        return self.name

@cache
def table():
    return LIMIT

def run(op):
    return op.verify()
"""


def write_project(root: Path, **modules: str) -> Mentions:
    (root / "src").mkdir()
    for name, text in modules.items():
        (root / "src" / f"{name}.py").write_text(dedent(text))
    return Mentions(root)


def changed(old: str, new: str) -> set[str]:
    return set(changed_nodes("src/m.py", OLD, OLD.replace(old, new)))


def test_a_change_belongs_to_the_innermost_named_scope():
    assert changed("return self.name", "return None") == {"src/m.py:Op.verify"}
    assert changed('name = "op"', 'name = "other"') == {"src/m.py:Op"}
    assert changed("class Op:", "class Op(Base):") == {"src/m.py:Op"}
    assert changed("LIMIT = 4", "LIMIT = 5") == {"src/m.py:LIMIT"}
    assert changed("import cache", "import lru_cache as cache") == {"src/m.py:cache"}


def test_comments_and_layout_are_no_change():
    assert changed("LIMIT = 4", "LIMIT = (4)  # as measured\n") == set()


def test_a_function_that_is_new_or_gone_is_changed():
    assert set(changed_nodes("m.py", "", "def f(): pass")) == {"m.py:f"}
    assert set(changed_nodes("m.py", "def f(): pass", "")) == {"m.py:f"}


def test_calls_of_a_cached_function_are_not_all_recorded():
    nodes = changed_nodes("src/m.py", "", OLD)
    assert nodes["src/m.py:run"].is_recorded
    assert not nodes["src/m.py:table"].is_recorded
    assert not nodes["src/m.py:Op"].is_recorded


def test_a_constant_leads_to_the_functions_that_mention_it(tmp_path: Path):
    mentions = write_project(
        tmp_path,
        m=OLD,
        n="""
        from m import LIMIT, table

        def fits(count):
            return count < LIMIT

        def other():
            return table()
        """,
    )
    nodes = changed_nodes("src/m.py", OLD, OLD.replace("LIMIT = 4", "LIMIT = 5"))
    reached = reached_nodes(nodes, mentions)
    assert reached["src/n.py:fits"] == 1
    # Through the cached function, whose body runs in one test only.
    assert reached["src/n.py:other"] == 2
    assert "src/m.py:run" not in reached


def test_a_class_body_leads_to_its_methods(tmp_path: Path):
    mentions = write_project(tmp_path, m=OLD)
    reached = reached_nodes({"src/m.py:Op": Definition("", is_recorded=False)}, mentions)
    assert reached["src/m.py:Op.verify"] == 1


def test_the_tests_of_rare_nodes_come_first():
    tests = [("common", 1.0), ("rare", 9.0), ("quick", 0.5), ("apart", 0.1)]
    record = Record("", tests, {"a": 0b0111, "b": 0b0010})
    assert affected_tests(record, {"a": 0, "b": 0}) == [1, 2, 0]
    assert affected_tests(record, {"a": 0, "b": 1}) == [2, 0, 1]
    assert affected_tests(record, {"unknown": 0}) == []


def test_a_record_is_read_as_it_was_written(tmp_path: Path):
    record = Record("abc", [("one", 0.5), ("two", 1.5)], {"m.py:f": 3, "file:x.mlir": 2})
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == record


def test_calls_caches_files_and_child_processes_are_recorded(tmp_path: Path):
    case = tmp_path / "test_case.py"
    case.write_text(
        dedent("""
        import subprocess, sys
        from functools import cache, lru_cache
        import pytest
        from called_functions import ROOT
        from tilewright.driver.api import read

        @pytest.fixture(scope="module")
        def module():
            return read("cuda_tile.module @m {\\n}", name="m")

        def test_first(module):
            pass

        def test_second(module):
            (ROOT / "tests/requirements/index.toml").read_text()

        @cache
        def empty(name):
            return read("cuda_tile.module @n {\\n}", name=name)

        @lru_cache(maxsize=None)
        def text(name):
            return empty(name).to_text()

        @pytest.mark.parametrize("number", range(2))
        def test_cached(number):
            text("n")

        def test_child():
            subprocess.run([sys.executable, "-m", "tilewright", "--version"], check=True)
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "call_records", "-c"]
    command += [str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*command, "--call-records", str(tmp_path / "records"), str(case)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    record = Record.merge("", tmp_path / "records")
    names = [name.rpartition("::")[2] for name, _ in record.tests]

    def tests_of(node: str) -> set[str]:
        return {name for at, name in enumerate(names) if record.nodes.get(node, 0) >> at & 1}

    assert tests_of("src/tilewright/driver/api.py:read") == {
        *("test_first", "test_second"),
        *("test_cached[0]", "test_cached[1]"),
    }
    assert tests_of("file:tests/requirements/index.toml") == {"test_second"}
    assert "test_child" in tests_of("src/tilewright/__main__.py:script")
