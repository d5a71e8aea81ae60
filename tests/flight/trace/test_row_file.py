"""The file of a trace: batches, its limit, and what happens when it cannot be written."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import UnsafeFileError
from openprogram.flight.trace import row_file
from openprogram.flight.trace.row_file import ROWS_PER_BATCH, RowFile

if TYPE_CHECKING:
    from pathlib import Path


def test_rows_are_written_in_batches_and_at_the_end(tmp_path: Path):
    path = tmp_path / "a.trace"
    path.write_text("old")
    file = RowFile(path, limit_bytes=100_000)
    assert path.read_text() == ""
    for number in range(ROWS_PER_BATCH + 1):
        file.append(f"{number}\n")
    assert path.read_text().count("\n") == ROWS_PER_BATCH
    file.flush()
    file.append("\ud800é\n")
    file.flush()
    file.close("foot\n")
    file.close("again\n")
    assert path.read_text().endswith(f"\n{ROWS_PER_BATCH}\n\\ud800é\nfoot\n")


def test_a_row_that_does_not_fit_ends_it_and_the_foot_still_fits(tmp_path: Path):
    ended: list[str] = []
    file = RowFile(tmp_path / "a.trace", limit_bytes=256 + 25)
    file.on_end = lambda: ended.append(file.end)
    for _ in range(10):
        file.append("12345678 \n")
    file.flush()
    file.append("more\n")
    file.flush()
    file.close("f" * 255 + "\n")
    assert ended == ["size_limit"]
    assert (tmp_path / "a.trace").read_text() == "12345678 \n" * 2 + "f" * 255 + "\n"


def test_a_full_disk_ends_it_and_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise OSError(28, "no space left on device")

    file = RowFile(tmp_path / "a.trace", limit_bytes=10_000)
    ended: list[str] = []
    file.on_end = lambda: ended.append(file.end)
    file.append("a\n")
    with monkeypatch.context() as patched:
        patched.setattr(row_file, "write_all", refuse)
        file.flush()
    file.append("b\n")
    file.flush()
    file.close("foot\n")
    assert ended == ["write_failed"]
    assert (tmp_path / "a.trace").read_text() == ""


def test_what_cannot_be_judged_is_withheld(tmp_path: Path):
    def judge(row: str) -> bool:
        if "odd" in row:
            raise ValueError(row)
        return "secret" in row

    file = RowFile(tmp_path / "a.trace", limit_bytes=10_000, is_forbidden=judge)
    for word in ("odd", "plain", "secret"):
        file.append(f"{word}\n")
    file.flush()
    file.close("")
    assert (tmp_path / "a.trace").read_text() == "plain\n"
    assert file.withheld_count == 2


def test_no_row_is_lost_or_torn_between_threads(tmp_path: Path):
    file = RowFile(tmp_path / "a.trace", limit_bytes=1 << 20)

    def write(name: str) -> None:
        for number in range(2_000):
            file.append(f"{name} {number}\n")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.flush()
    file.close("")
    rows = (tmp_path / "a.trace").read_text().splitlines()
    for name in "abcd":
        own = [row for row in rows if row.startswith(name)]
        assert own == [f"{name} {number}" for number in range(2_000)]


def test_a_link_is_not_followed_and_a_child_process_writes_nothing(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(UnsafeFileError):
        RowFile(tmp_path / "link", limit_bytes=10_000)
    file = RowFile(tmp_path / "a.trace", limit_bytes=10_000)
    file.append("a\n")
    if (child := os.fork()) == 0:
        file.flush()
        file.close("child\n")
        os._exit(0)
    os.waitpid(child, 0)
    file.flush()
    file.close("foot\n")
    assert (tmp_path / "a.trace").read_text() == "a\nfoot\n"
