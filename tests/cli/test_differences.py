from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram.cli._differences import lay_out
from openprogram.cli._tables import cell_width
from openprogram.providers.diffing import diff_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from recording_files import Row


def _laid_out(
    folder: Path,
    rows: list[Row],
    other_rows: list[Row],
    *,
    names: tuple[str, str] = ("one", "other"),
    is_about_one_call: bool = False,
) -> list[str]:
    found = diff_recordings(
        files.write(folder / "a.jsonl", rows, files.spaced),
        files.write(folder / "b.jsonl", other_rows, files.spaced),
    )
    return [text for text, _ in lay_out(found, names, is_about_one_call=is_about_one_call)]


def _rows(*texts: str) -> list[Row]:
    rows: list[Row] = [files.HEADER]
    for index, text in enumerate(texts):
        rows += files.call_rows(index, files.text_events("same"), text=text)
    return rows


def _with_metadata(count: int, value: int) -> list[Row]:
    rows = _rows("a")
    rows[1]["options"]["metadata"] = {f"k{n:02}": value for n in range(count)}
    return rows


def test_the_first_few_differences_of_a_call_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    lines = _laid_out(tmp_path, _with_metadata(12, 1), _with_metadata(12, 2))
    assert lines[0] == "First difference: call 0, field options.metadata.k00"
    assert "Call 0 changed: 12 differences" in lines
    assert [line for line in lines if "metadata.k" in line][1:] == [
        f"  options.metadata.k0{n}" for n in range(5)
    ]
    assert lines[-1] == "  ... and 7 more; see all with --call 0"
    lines = _laid_out(
        tmp_path, _with_metadata(12, 1), _with_metadata(12, 2), is_about_one_call=True
    )
    assert lines[-3:] == ["  options.metadata.k11", "    A  1", "    B  2"]


def test_the_first_few_calls_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    texts = [f"t{n}" for n in range(13)]
    lines = _laid_out(tmp_path, _rows(*texts), _rows(*(f"x{text}" for text in texts)))
    assert sum(line.startswith("Call ") for line in lines) == 10
    assert lines[-1] == "... and 3 more calls; --call N shows one, --json all"


def test_what_differed_in_a_call_above_is_only_counted(tmp_path: Path) -> None:
    rows, other = _rows("a", "b", "c"), _rows("a", "b", "x")
    for row in other:
        if row["type"] == "request":
            row["context"]["system_prompt"] = "New."
    lines = _laid_out(tmp_path, rows, other)
    assert lines[-13:] == [
        "Call 0 changed: 1 difference",
        "  context.system_prompt",
        "    A  None",
        "    B  'New.'",
        "",
        "Call 1 changed: 1 difference",
        "  1 as in a call above",
        "",
        "Call 2 changed: 2 differences",
        "  context.messages[0].content",
        "    A  'c'",
        "    B  'x'",
        "  1 as in a call above",
    ]


def test_a_counterpart_at_another_index_and_a_twin_are_named(tmp_path: Path) -> None:
    lines = _laid_out(tmp_path, _rows("a", "b", "c"), _rows("new", "b", "c", "a"))
    assert lines[0] == "First difference: call 0, field context.messages[0].content"
    assert lines[-2:] == ["Call 3 of B was inserted", "  it equals call 0 of A, at another place"]
    rows, other = _rows("a", "b"), _rows("new", "a", "x")
    assert "Call 1 (2 in B) changed: 1 difference" in _laid_out(tmp_path, rows, other)


def test_a_missing_field_says_so_and_long_texts_show_where_they_part(tmp_path: Path) -> None:
    rows, other = _rows("w" * 100 + "old\nrest"), _rows("w" * 100 + "new\nrest")
    other[1]["options"]["x_new"] = {"a": "y" * 500}
    lines = _laid_out(tmp_path, rows, other)
    assert lines[-7:-1] == [
        "  context.messages[0].content",
        f"    A  …{'w' * 24}old",
        f"    B  …{'w' * 24}new",
        f"{' ' * 32}^ line 1, column 101",
        "  options.x_new",
        "    A  <missing>",
    ]
    assert lines[-1].startswith("    B  {'a': 'yyy")


@pytest.mark.parametrize("names", [("/" + "d" * 200 + "/end", "日本" * 100), ("a\nb", "\x1b[2J")])
def test_long_and_hostile_names_fit(tmp_path: Path, names: tuple[str, str]) -> None:
    lines = _laid_out(tmp_path, _rows("a"), _rows("b"), names=names)
    assert all(line.isprintable() and cell_width(line) <= 78 for line in lines)
    assert lines[2].endswith(("/end (1 call)", r"a\nb (1 call)"))


HOSTILE = st.text(st.sampled_from("a日\x1b\n\u202e[\ud83d\0"), max_size=200)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_can_act_and_every_line_fits(
    tmp_path: Path, one: str, other: str, key: str
) -> None:
    rows, other_rows = _rows("x" * 80 + one), _rows("x" * 80 + other)
    rows[1]["model"]["compat"], other_rows[1]["model"]["compat"] = {key: one}, {key: [other]}
    lines = _laid_out(tmp_path, rows, other_rows)
    assert all(line.isprintable() for line in lines)
    assert max(map(cell_width, lines)) <= 78
