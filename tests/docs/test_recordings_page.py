"""The guide to recordings is true: what it shows is printed, and what it lists is all there is."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recording_files as files
from openprogram import config
from openprogram.auth.adapters import ENVIRONMENT_VARIABLES
from openprogram.config.specs import SETTINGS
from openprogram.providers.comparison import find_first_request_difference
from openprogram.providers.ignored_paths import parse_ignored_path
from openprogram.providers.recording.format import OUTCOMES
from openprogram.providers.recording.redaction import PLACEHOLDER
from openprogram.providers.registry import PROVIDERS
from openprogram.testing import Answer, LoopbackVendor, Text
from page_transcripts import Stage, answers_about, without_what_varies

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "recordings.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", PAGE))

VENDOR_SCRIPT = [
    *answers_about("Tea is at four.", input_tokens=538),
    Answer(parts=[Text("Hello.")]),
    Answer(parts=[Text("Hello.")]),
]


def test_what_the_page_shows_is_what_is_printed(tmp_path: Path):
    with LoopbackVendor(VENDOR_SCRIPT) as vendor:
        played = Stage(tmp_path, vendor).play(PAGE)
        assert len(vendor.requests) == len(VENDOR_SCRIPT)
    assert len(played) > 30
    for command, printed, found in played:
        assert without_what_varies(found) == without_what_varies(printed), command


def _rows(section: str) -> list[list[str]]:
    lines = re.findall(r"(?m)^\| (.*) \|$", SECTIONS[section])
    return [[cell.strip() for cell in line.split(" | ")] for line in lines[2:]]


def test_every_setting_has_its_row_with_its_default_and_its_choices():
    rows = {row[0].strip("`"): row[1:] for row in _rows("Settings")}
    assert list(rows) == [spec.key for spec in SETTINGS]
    for spec in SETTINGS:
        meaning, default = rows[spec.key]
        assert all(f"`{choice}`" in meaning for choice in spec.choices)
        shown = spec.default if isinstance(spec.default, str) else json.dumps(spec.default)
        assert default == (f"`{shown}`" if shown else "empty")
        assert spec.apply == "next_start"


def _variables() -> Iterator[str]:
    """Find the names of environment variables that the code looks up."""
    for path in (CHECKOUT / "openprogram").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(
                    r"\A(?:OPENPROGRAM|AGENTIC)_[A-Z_]+\Z|\ANO_COLOR\Z", node.value
                )
    yield from (name for names in ENVIRONMENT_VARIABLES.values() for name in names)


def test_every_environment_variable_has_its_row():
    named = re.findall(
        r"`([A-Z_]+)`", "".join(row[0] for row in _rows("Environments and profiles"))
    )
    offered = {
        *(name for provider in PROVIDERS for name in ENVIRONMENT_VARIABLES.get(provider, ())),
        *(provider.base_url_variable for provider in PROVIDERS.values()),
    }
    ours = {name for name in _variables() if name.startswith(("OPENPROGRAM_", "AGENTIC_", "NO_"))}
    assert set(named) == offered | ours


def _value(cell: str) -> Any:
    return ... if cell == "*absent*" else json.loads(cell.strip("`"))


def _put(request: Any, path: str, value: Any) -> None:
    *steps, last = [
        int(step) if step.isdigit() else step for step in re.findall(r"[a-z_]+|\d+", path)
    ]
    for step in steps:
        request = request[step]
    if value is ...:
        request.pop(last, None)
    else:
        request[last] = value


@pytest.mark.parametrize("row", _rows("What counts as different"), ids=lambda row: row[0])
def test_what_counts_as_different_is_as_the_table_says(row: list[str]):
    requests: list[Any] = []
    for cell in row[1:3]:
        request = files.request_row(0)
        request["options"]["metadata"] = {}
        request["context"]["tools"] = [{"name": "f", "description": "", "parameters": {}}]
        _put(request, row[0].strip("`"), _value(cell))
        requests.append(request)
    for one, other in (requests, requests[::-1]):
        difference = find_first_request_difference(one, other)
        assert (difference is None) == (row[3] == "equal")
        assert difference is None or difference.path == row[0].strip("`")


@pytest.mark.parametrize("path", ["context.messages[*].content", "model.base_url"])
def test_paths_that_the_page_names_can_be_ignored(path: str):
    assert path in SECTIONS["Leave a field out, and when not to"]
    assert parse_ignored_path(path).text == path


def test_outcomes_and_placeholder_are_those_of_the_code():
    section = SECTIONS["What is in a recording, and what is not"]
    assert all(f"`{outcome}`" in section for outcome in OUTCOMES)
    assert f"`{PLACEHOLDER}`" in section


def test_a_fresh_state_has_the_defaults_of_the_page():
    settings = config.read_settings()
    assert {spec.key: settings.get(spec.key) for spec in SETTINGS} == {
        spec.key: spec.default for spec in SETTINGS
    }
