from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from openprogram.providers.recording.reading import lines
from openprogram.providers.recording.reading.lines import LineBatches

if TYPE_CHECKING:
    from pathlib import Path

_TEXTS = [
    b"",
    b"\n",
    b"a",
    b"a\n",
    b"a\nb",
    b"\n\na\r\n\x0b\x0c\x85 \xe2\x80\xa8 b\n\n",
    b"long " * 20 + b"\n" + b"longer " * 40,
]


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7, 1000])
def test_lines_end_at_lf_alone_however_the_file_is_cut_into_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
    path = tmp_path / "x"
    for text in _TEXTS:
        path.write_bytes(text)
        fd = os.open(path, os.O_RDONLY)
        for start in range(min(len(text), 9) + 1):
            for end in {len(text), max(start, len(text) - 3), len(text) + 10}:
                batches = LineBatches(fd, start, end)
                *expected, rest = text[start:end].split(b"\n")
                assert [line for batch in batches for line in batch] == expected
                assert batches.rest == rest
        assert os.lseek(fd, 0, os.SEEK_CUR) == 0
        os.close(fd)


def test_nothing_is_held_but_the_line_that_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 8)
    path = tmp_path / "x"
    path.write_bytes(b"ab\ncd\nef\n" * 50)
    fd = os.open(path, os.O_RDONLY)
    sizes = [sum(map(len, batch)) for batch in LineBatches(fd, 0, path.stat().st_size)]
    os.close(fd)
    assert sum(sizes) == 300
    assert max(sizes) <= 8
