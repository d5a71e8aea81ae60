"""Where to begin: what is not there is refused in one line that says what is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram.errors import RecordingNotFoundError
from openprogram_recordings_tui.sources import open_recording, places
from openprogram_recordings_tui.sources.places import NoSuchPlaceError, find_place

if TYPE_CHECKING:
    from pathlib import Path

NAME = "fix-flaky-test"


@pytest.mark.parametrize(
    ("call_index", "field"),
    [(None, ""), (0, ""), (2, "model.id"), (None, "context.messages[0].content")],
)
def test_what_is_there_is_found(demo: Path, call_index: int | None, field: str):
    assert find_place(NAME, call_index, field) == demo / f"{NAME}.jsonl"


@pytest.mark.parametrize(
    ("call_index", "field", "said"),
    [
        (99, "", "no call 99; give one from 0 to"),
        (99, "model.id", "no call 99"),
        (0, "context.nothing[3]", "'context.nothing[3]'; 'context' is the nearest"),
        (None, "\x1b]52;c;AAAA", r"no field '\x1b]52;c;AAAA'; give --path"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_what_is_not_there_is_refused_with_what_is(call_index: int | None, field: str, said: str):
    with pytest.raises(NoSuchPlaceError) as refused:
        find_place(NAME, call_index, field)

    assert said in str(refused.value)
    assert f"{NAME}.jsonl'" in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_recording_without_calls_is_opened_without_one(demo: Path):
    header = (demo / f"{NAME}.jsonl").read_bytes().split(b"\n")[0] + b"\n"
    (demo / "empty.jsonl").write_bytes(header)
    (demo / "empty.jsonl").chmod(0o600)

    assert find_place("empty", None, "")
    with pytest.raises(NoSuchPlaceError, match="open it without --call"):
        find_place("empty", 0, "")


@pytest.mark.usefixtures("demo")
def test_a_name_that_nothing_has_is_refused():
    with pytest.raises(RecordingNotFoundError):
        find_place("no-such", None, "")


@pytest.mark.usefixtures("demo")
def test_a_request_that_is_not_taken_apart_is_left_to_the_screen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(open_recording, "LARGEST_PARSED_ROW_BYTES", 10)

    assert places.find_place(NAME, 0, "context.nothing")
