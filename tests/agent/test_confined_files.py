from __future__ import annotations

import errno
import os
import socket
import threading
from pathlib import Path

import pytest

from openprogram.agent._confined_files import opened_directory, read_regular_file
from openprogram.errors import ToolError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, and one outside it that nobody may see."""
    (tmp_path / "outside.txt").write_text("a secret outside")
    folder = tmp_path / "root"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "notes.txt").write_text("inside")
    return folder


def _open_descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def _read(root: Path, path: str) -> bytes:
    return read_regular_file(root, path, limit_bytes=1000)[0]


@pytest.mark.parametrize(
    "path", ["a/b/notes.txt", "./a//b/./notes.txt", "a/../a/b/notes.txt", "gone/../a/b/notes.txt"]
)
def test_a_path_below_the_root_is_found(root: Path, path: str) -> None:
    assert _read(root, path) == b"inside"


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "a/../../outside.txt", "..", "a/b/../../..", "./../root/a/b/notes.txt"],
)
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ToolError, match="leads out of the workspace"):
        _read(root, path)


def test_an_absolute_path_is_refused_even_below_the_root(root: Path) -> None:
    for path in ("/etc/passwd", str(root / "a" / "b" / "notes.txt"), "//etc/passwd"):
        with pytest.raises(ToolError, match="relative to the workspace"):
            _read(root, path)


@pytest.mark.parametrize("target", ["../outside.txt", "a/b/notes.txt", "/etc/passwd", "nowhere"])
def test_no_link_is_followed_wherever_it_leads(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(ToolError, match="'link' is a link"):
        _read(root, "link")


@pytest.mark.parametrize("target", ["..", "a", "/"])
def test_no_link_is_followed_on_the_way(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(ToolError, match="'link' is a link"):
        _read(root, "link/b/notes.txt")
    with (
        pytest.raises(ToolError, match="'link' is a link"),
        opened_directory(root, "link/b"),
    ):
        pass


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert _read(tmp_path / "alias", "a/b/notes.txt") == b"inside"


def test_a_link_that_is_planted_after_the_look_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open
    (root / "victim").write_text("plain")

    def plant_and_open(path: str, flags: int, **words: int) -> int:
        if path == "victim":
            (root / "victim").unlink()
            (root / "victim").symlink_to("../outside.txt")
        return real_open(path, flags, **words)

    monkeypatch.setattr(os, "open", plant_and_open)
    with pytest.raises(ToolError):
        _read(root, "victim")


def test_a_directory_that_is_swapped_for_a_link_is_not_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open
    outside = root.parent / "elsewhere" / "b"
    outside.mkdir(parents=True)
    (outside / "notes.txt").write_text("a secret outside")

    def swap_and_open(path: str, flags: int, **words: int) -> int:
        if path == "a":
            (root / "a").rename(root / "was-a")
            (root / "a").symlink_to(root.parent / "elsewhere")
        return real_open(path, flags, **words)

    monkeypatch.setattr(os, "open", swap_and_open)
    with pytest.raises(ToolError):
        _read(root, "a/b/notes.txt")


def test_a_fifo_is_refused_and_never_waited_for(root: Path) -> None:
    os.mkfifo(root / "fifo")
    met: list[str] = []

    def read() -> None:
        try:
            _read(root, "fifo")
        except ToolError as error:
            met.append(str(error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    assert met == ["'fifo': not a regular file"]


def test_a_socket_and_a_device_are_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(ToolError, match="not a regular file"):
            _read(root, "socket")

    real_open = os.open

    def refuse(path: str, flags: int, **words: int) -> int:
        assert path != "null", "the device was opened"
        return real_open(path, flags, **words)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ToolError, match="not a regular file"):
        _read(Path("/dev"), "null")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("gone.txt", "no such file or directory"),
        ("a", "a directory; use list_dir"),
        (".", "a directory; use list_dir"),
        ("", "a directory; use list_dir"),
        ("a/b/notes.txt/deeper", "not a directory"),
        ("nul\0l", "no file can have this name"),
        ("\ud83d", "no file can have this name"),
        ("x" * 300, "file name too long"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(root: Path, path: str, reason: str) -> None:
    with pytest.raises(ToolError) as caught:
        _read(root, path)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_file_without_permission_is_said_in_words(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "locked").touch()
    real_open = os.open

    def refuse(path: str, flags: int, **words: int) -> int:
        if path == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real_open(path, flags, **words)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ToolError, match="permission denied"):
        _read(root, "locked")


def test_no_more_is_read_than_asked_and_the_size_is_told(root: Path) -> None:
    (root / "big").write_bytes(b"0123456789")
    assert read_regular_file(root, "big", limit_bytes=4) == (b"0123", 10)
    assert read_regular_file(root, "big", limit_bytes=40) == (b"0123456789", 10)


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "link").symlink_to("a")
    before = _open_descriptors()
    for path in ("a/b/notes.txt", "link", "link/x", "gone", "a", "a/b/notes.txt/x", "x\0"):
        try:
            _read(root, path)
        except ToolError:
            continue
    with opened_directory(root, "a/b"):
        pass
    assert _open_descriptors() == before
