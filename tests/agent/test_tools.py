from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.agent.tools import (
    ENTRY_LIMIT,
    READ_LIMIT_BYTES,
    AgentTool,
    file_tools,
    list_dir,
    read_file,
)
from openprogram.errors import ToolError
from openprogram.providers.types import to_wire

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root, empty."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def _tools(root: Path) -> dict[str, AgentTool]:
    return {tool.definition.name: tool for tool in file_tools(root)}


def test_a_directory_is_listed_sorted_with_its_directories_marked(root: Path) -> None:
    for name in ("b.txt", "a.txt", "C", "Ü"):
        (root / name).touch()
    (root / "below").mkdir()
    output = list_dir(root, ".")
    assert output.text == "C\na.txt\nb.txt\nbelow/\nÜ"
    assert output.notes == ()


def test_links_and_special_files_are_noted_apart(root: Path) -> None:
    (root / "plain").touch()
    (root / "link").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    output = list_dir(root, "")
    assert output.text == "plain"
    assert output.notes == (
        "links, which no tool opens: 'link'",
        "special files, which no tool opens: 'pipe'",
    )


def test_an_empty_directory_says_so(root: Path) -> None:
    assert list_dir(root, ".").notes == ("the directory is empty",)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (b"my notes.txt", "my notes.txt"),
        (b"a\nb", r"'a\nb'"),
        (b"\x1b[2J", r"'\x1b[2J'"),
        (b" lead", "' lead'"),
        (b"'x'", "\"'x'\""),
        (b"caf\xe9", r"'caf\udce9'"),
        ("\u202egnp".encode(), r"'\u202egnp'"),
        (b"[bold]x", "[bold]x"),
    ],
)
def test_a_name_stays_on_its_line(root: Path, name: bytes, line: str) -> None:
    os.close(os.open(os.fsencode(root) + b"/" + name, os.O_CREAT, 0o600))
    assert list_dir(root, ".").text == line


def test_a_huge_directory_is_cut_in_order_and_says_so(root: Path) -> None:
    names = [f"{number:05}" for number in range(ENTRY_LIMIT + 3)]
    for name in reversed(names):
        (root / name).touch()
    output = list_dir(root, ".")
    assert output.text.split("\n") == names[:ENTRY_LIMIT]
    assert output.notes == ("3 more names are not listed",)


def test_many_links_are_noted_in_bounds(root: Path) -> None:
    for number in range(25):
        (root / f"{number:02}").symlink_to("x")
    (note,) = list_dir(root, ".").notes
    assert note.endswith("'19' and 5 more")


@pytest.mark.parametrize("path", ["gone", "file", "../.."])
def test_what_is_no_directory_below_the_root_is_refused(root: Path, path: str) -> None:
    (root / "file").touch()
    with pytest.raises(ToolError):
        list_dir(root, path)


@pytest.mark.parametrize("text", ["plain\r\nlines\r", "\ufeffwith a mark", "Köln \u2028 \x1b[2J"])
def test_text_comes_as_it_stands(root: Path, text: str) -> None:
    (root / "x").write_bytes(text.encode())
    output = read_file(root, "x")
    assert (output.text, output.notes) == (text, ())


def test_an_empty_file_says_so(root: Path) -> None:
    (root / "x").touch()
    output = read_file(root, "x")
    assert (output.text, output.notes) == ("", ("the file is empty",))


def test_bytes_that_are_not_utf_8_are_shown_as_such(root: Path) -> None:
    (root / "x").write_bytes(b"caf\xe9 and \xff\xfe")
    output = read_file(root, "x")
    assert output.text == "caf\ufffd and \ufffd\ufffd"
    assert output.notes == ("not all of it is UTF-8: invalid bytes are shown as U+FFFD",)


def test_what_holds_a_nul_is_no_text(root: Path) -> None:
    (root / "x").write_bytes("utf-16".encode("utf-16-le"))
    with pytest.raises(ToolError, match=r"not a text file \(byte 1 is NUL\)"):
        read_file(root, "x")


def test_a_file_of_just_the_limit_is_whole(root: Path) -> None:
    (root / "x").write_bytes(b"x" * READ_LIMIT_BYTES)
    output = read_file(root, "x")
    assert (len(output.text), output.notes) == (READ_LIMIT_BYTES, ())


def test_a_big_file_is_cut_at_a_character_and_says_so(root: Path) -> None:
    (root / "x").write_bytes(b"x" + "é".encode() * READ_LIMIT_BYTES)
    output = read_file(root, "x")
    assert output.text == "x" + "é" * (READ_LIMIT_BYTES // 2 - 1)
    assert output.notes == (
        f"only the first {READ_LIMIT_BYTES:,} of {2 * READ_LIMIT_BYTES + 1:,} bytes are shown",
    )


def test_a_big_file_that_is_not_utf_8_gets_both_notes(root: Path) -> None:
    (root / "x").write_bytes(b"\xff" + b"x" * READ_LIMIT_BYTES)
    output = read_file(root, "x")
    assert output.text.startswith("\ufffdx")
    assert len(output.notes) == 2


def test_definitions_are_the_same_wherever_the_root_lies(root: Path) -> None:
    (root / "other").mkdir()
    here, there = (
        [to_wire(tool.definition) for tool in file_tools(root)] for root in (root, root / "other")
    )
    assert here == there
    assert [definition["name"] for definition in here] == ["list_dir", "read_file"]


async def test_a_relative_root_is_that_of_the_beginning(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "root").mkdir()
    (root / "root" / "x").write_text("here")
    monkeypatch.chdir(root)
    tools = _tools(type(root)("root"))
    monkeypatch.chdir("/")
    assert (await tools["read_file"].call({"path": "x"})).text == "here"


@pytest.mark.parametrize("name", ["gone", "file"])
def test_a_root_that_is_no_directory_is_refused_at_once(root: Path, name: str) -> None:
    (root / "file").touch()
    with pytest.raises(OSError, match=name):
        file_tools(root / name)


async def test_list_dir_without_a_path_lists_the_root(root: Path) -> None:
    (root / "x").touch()
    assert (await _tools(root)["list_dir"].call({})).text == "x"


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": 1}, {"path": None}, {"path": ["x"]}, {"path": "x", "mode": "w"}, {"Path": "x"}],
)
async def test_arguments_that_do_not_fit_are_refused(root: Path, arguments: dict[str, Any]) -> None:
    (root / "x").touch()
    with pytest.raises(ToolError, match="read_file: the arguments do not fit"):
        await _tools(root)["read_file"].call(arguments)


async def test_a_refusal_stays_short_and_printable(root: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await _tools(root)["read_file"].call({"path": "x", "\x1b" + "y" * 5000: 1})
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_schemas_and_validation_agree(root: Path) -> None:
    for tool in file_tools(root):
        schema = tool.definition.parameters
        names = set(tool.arguments_type.__struct_fields__)
        optional = {
            name
            for name, default in zip(
                reversed(tool.arguments_type.__struct_fields__),
                reversed(tool.arguments_type.__struct_defaults__),
                strict=False,
            )
            if default is not None
        }
        assert set(schema["properties"]) == names
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) | optional == names
