"""Which files are traced, and what each line of a piece of code may rebind."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import FlightError
from openprogram.flight.trace import code_facts
from openprogram.flight.trace.code_facts import TracedFiles, describe_code
from traced_apps import load_app

if TYPE_CHECKING:
    from pathlib import Path


def test_files_are_named_relative_to_the_root_and_links_resolved(tmp_path: Path):
    root = tmp_path / "root"
    (root / "part").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    (root / "out.py").symlink_to(tmp_path / "elsewhere.py")
    files = TracedFiles(tmp_path / "link", skip_files=["part/skip_*"])
    assert files.name_of(str(root / "part" / "a.py")) == "part/a.py"
    assert files.name_of(str(tmp_path / "link" / "a.py")) == "a.py"
    for name in ("", "<string>", "<frozen os>", str(tmp_path / "rooted.py"), str(root) + "x/a.py"):
        assert files.name_of(name) is None
    assert files.name_of(str(root / "out.py")) is None
    assert files.name_of(str(root / "part" / "skip_a.py")) is None
    assert files.name_of(str(root / "venv" / "site-packages" / "a.py")) is None


def test_the_library_is_traced_only_where_it_is_the_root():
    assert TracedFiles("/").name_of(json.__file__) is None
    assert TracedFiles("/").name_of(code_facts.__file__) is None
    folder = json.__file__.rpartition("/")[0]
    assert TracedFiles(folder).name_of(json.__file__) == "__init__.py"


def test_a_root_that_is_no_directory_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(FlightError, match="no such directory; give"):
        TracedFiles(tmp_path / "file")


def test_what_lines_may_rebind(tmp_path: Path):
    source = textwrap.dedent("""
        def main(given):
            one = 1
            two, three = one, 2
            del one
            print(two)
            def inner():
                nonlocal three
                three = 4
            with open("x") as file:
                pass
            for each in ():
                (walrus := each)
            given.attribute = given["item"] = 5
        """)
    code = load_app(tmp_path, source).main.__code__
    facts = describe_code(code, 'odd"name.py')
    assert facts.stored_at[3][0] == "one"
    assert facts.stored_at[4][:2] in {("two", "three"), ("three", "two")}
    assert facts.stored_at[5][0] == "one"
    assert facts.stored_anywhere == ("three",)
    assert 6 not in facts.stored_at
    assert "file" in facts.stored_at[10]
    assert "walrus" in facts.stored_at[13]
    assert 14 not in facts.stored_at
    assert set(facts.names) == {
        *("given", "one", "two", "three", "inner", "file", "each", "walrus")
    }
    assert json.loads(f'{{{facts.place_json}7"}}') == {"fn": "main", "at": 'odd"name.py:7'}
    assert not facts.is_suspendable
