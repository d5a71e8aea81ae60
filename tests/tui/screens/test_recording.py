"""A recording: calls, conversation, request, events, rows; sound, broken or gone."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from examples.demo_state import Author, flaky_test, text
from openprogram_recordings_tui.screens import recording
from openprogram_recordings_tui.sources import open_recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]


@pytest.fixture
def flaky(demo: Path) -> Path:
    """Give the recording most tests look into."""
    return demo / "fix-flaky-test.jsonl"


async def test_calls_say_what_came_of_them(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        assert "✓       0  → read_file tests/tes…" in ui.text
        assert "✗       3  The model is" in ui.text
        assert "✓ sound" in ui.text
        assert "127 events" in ui.text


async def test_a_price_that_nobody_knows_is_not_nought(demo: Path, open_ui: OpenUi):
    author = Author("prices", flaky_test().age)
    author.user("hi")
    author.answer(text("one"))
    author.answer(text("two"))
    requests = [row for row in author.rows if row["type"] == "request"]
    for row in author.rows:
        usage = row.get("event", {}).get("message", {}).get("usage")
        if usage:
            usage["cost"] = {"input": 0, "output": 0, "total": 0}
    requests[0]["model"]["cost"] = {"input": None, "output": None}
    requests[1]["model"]["cost"] = {"input": 0, "output": 0}
    path = author.write(demo)

    async with open_ui(recording=path, size=(99, 30)) as ui:
        assert " – " in ui.line_with("✓       0")
        assert " $0 " in ui.line_with("✓       1")
        await ui.press("enter")
        assert "out · – · claude" in ui.line_with("✓ complete")
        await ui.press("right_square_bracket")
        assert "out · $0 · claude" in ui.line_with("✓ complete")


async def test_a_call_that_the_vendor_failed_is_marked(demo: Path, open_ui: OpenUi):
    author = flaky_test("vendor-failed", hours=0.01)
    for row in author.rows:
        if row["type"] == "call_end":
            row["outcome"] = "complete"
    broken = flaky_test("broken-later", hours=0.02)
    broken.rows = [*author.rows, {"type": "odd"}]

    for path in (author.write(demo), broken.write(demo)):
        async with open_ui(recording=path, call_index=3, size=(99, 30)) as ui:
            assert "error" in ui.line_with("✗       3")
            assert "complete" in ui.line_with("✓       4")
            await ui.press("enter")
            assert "✗ error   error" in ui.text


async def test_moving_through_calls_shows_each(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        assert "I will read the test first." in ui.text

        await ui.press("j", "j", "j")
        assert "overloaded: try again later" in ui.text
        assert "✗ error" in ui.text

        await ui.press("right_square_bracket")
        assert "13 of 40 fail." in ui.text
        await ui.press("left_square_bracket", "left_square_bracket")
        assert "`total` adds floats." in ui.text
        assert "3 of 6" in ui.lines[-1]


async def test_what_the_call_before_had_is_folded_and_opens(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky, call_index=2) as ui:
        assert "EARLIER  3 messages" in ui.text
        assert "flaky in CI" not in ui.text

        place = next(i for i, line in enumerate(ui.lines) if "EARLIER" in line)
        await ui.press("1")
        first = next(i for i, line in enumerate(ui.lines) if "SYSTEM" in line)
        await ui.press(*["down"] * (place - first), "enter")
        assert "flaky in CI" in ui.text

        await ui.press("enter")
        assert "flaky in CI" not in ui.text
        assert "EARLIER  3 messages" in ui.text


async def test_a_long_text_is_folded_and_opens(demo: Path, open_ui: OpenUi):
    author = Author("long", flaky_test().age)
    author.user("\n".join(f"line {number}" for number in range(1, 201)))
    author.answer(text("short"))
    path = author.write(demo)

    async with open_ui(recording=path) as ui:
        await ui.press("1", "G")
        assert "… 1,691 characters · enter shows more" in ui.text
        assert "line 200" not in ui.text

        await ui.press("g", *["down"] * 7, "enter", "G")
        assert "line 200" in ui.text
        assert "enter shows more" not in ui.text


async def test_the_request_is_a_tree_with_a_path_bar(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        await ui.press("2", "down")
        assert " model.id" in ui.text
        assert "▸ [0]  { role, content, timestamp }" in ui.text

        await ui.press("G")
        assert "options.reasoning" in ui.text
        await ui.press("left", "left")
        assert "▸ options  { temperature" in ui.text
        await ui.press("enter")
        assert "▾ options" in ui.text


async def test_a_deep_link_opens_call_and_field(flaky: Path, open_ui: OpenUi):
    field = "context.messages[2].content[0].text"
    async with open_ui(recording=flaky, call_index=1, field=field) as ui:
        assert f" {field}" in ui.text
        assert "def test_total():⏎" in ui.text
        assert ui.list("detail").has_focus


async def test_a_deep_link_that_leads_nowhere_says_so(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky, field="context.nothing[3]") as ui:
        assert ui.screen_name == "NoticeDialog"
        assert "no context.nothing[3]" in ui.text
        await ui.press("escape")
        assert " context" in ui.text


async def test_a_call_that_is_not_there_says_so(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky, call_index=99) as ui:
        assert "There is no call 99: this recording has 6, from 0." in ui.text
        await ui.press("enter")
        assert "6 of 6" in ui.lines[-1]


async def test_events_stand_one_to_a_line_and_lead_to_their_rows(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        await ui.press("3")
        assert "thinking_delta" in ui.text
        assert '{"path": "te' in ui.text
        assert "1 of 21" in ui.lines[-1]

        await ui.press("G")
        assert "21 of 21" in ui.lines[-1]
        assert "done" in ui.line_with("toolUse")

        await ui.press("enter")
        assert "23 of 140" in ui.lines[-1]
        assert '{"type":"event","call_index":0,"event_index":20' in ui.line_with(" 23 ")


async def test_a_row_opens_in_place(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        await ui.press("4", "g")
        count = ui.list("detail").source.line_count
        assert '"redaction_version":1}' not in ui.text

        await ui.press("enter")
        assert "▾" in ui.line_with('{"type":"header"')
        assert '"redaction_version":1}' in ui.text
        assert ui.list("detail").source.line_count > count

        await ui.press("down", "enter")
        assert ui.list("detail").source.line_count == count
        assert f"1 of {count}" in ui.lines[-1]


async def test_escape_goes_out_step_by_step(flaky: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        assert flaky.stem in ui.line_with("12m ago")
        await ui.press("enter", "enter")
        assert ui.list("detail").has_focus
        await ui.press("escape")
        assert ui.list("calls").has_focus
        await ui.press("escape")
        assert ui.screen_name == "HomeScreen"
        await ui.press("escape")
        assert ui.screen_name == "HomeScreen"


async def test_one_pane_on_narrow_terminals_two_on_wide(flaky: Path, open_ui: OpenUi):
    async with open_ui(size=(80, 24), recording=flaky) as ui:
        assert "ANSWER" in ui.text
        assert "Conversation" not in ui.text

        await ui.press("enter")
        assert "Conversation" in ui.text
        assert "EVENTS  " not in ui.text

        await ui.resize(120, 40)
        assert "Conversation" in ui.text
        assert "EVENTS" in ui.text


async def test_a_broken_recording_opens_as_far_as_it_goes(demo: Path, open_ui: OpenUi):
    async with open_ui(recording=demo / "broken-by-an-editor.jsonl") as ui:
        assert "✗ line 28  invalid_utf8  byte 59 of the row is not UTF-8" in ui.lines[1]
        assert "✗ not sound" in ui.text
        assert "Step 1 of 4." in ui.text

        await ui.press("b")
        assert "␛[31m oops \\xff\\xfe␀" in ui.line_with("▌28")

        await ui.press("escape", "j", "j", "1")
        assert "Step 3 of 4." in ui.text


async def test_the_way_to_a_fault_is_offered_only_where_there_is_one(demo: Path, open_ui: OpenUi):
    async with open_ui(recording=demo / "fix-flaky-test.jsonl") as ui:
        assert "faulty row" not in ui.lines[-1]
        await ui.press("b")
        assert "Conversation" in ui.text

    async with open_ui(recording=demo / "broken-by-an-editor.jsonl") as ui:
        assert "b faulty row" in ui.lines[-1]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"\x00\xff\x1b[2J", "truncated_row"),
        (b"\x1b]0;x\x07\n[/x]\n", "invalid_json"),
        (b'{"type":"header","format_version":99}\n', "unsupported_version"),
    ],
)
async def test_what_is_no_recording_opens_and_says_why(
    demo: Path, open_ui: OpenUi, content: bytes, code: str
):
    path = demo / "odd.jsonl"
    path.write_bytes(content)

    async with open_ui(recording=path) as ui:
        assert code in ui.lines[1]
        assert "This recording has no call yet." in ui.text
        await ui.press("1", "2", "3", "4", "G", "enter", "k", "g", "escape")


async def test_a_recording_without_calls_says_so(demo: Path, open_ui: OpenUi):
    async with open_ui(recording=demo / "prepared-not-used.jsonl") as ui:
        assert "This recording has no call yet." in ui.text
        await ui.press("j", "k", "G", "enter", "3", "4")
        assert "recording_id" in ui.text


async def test_reading_again_shows_what_was_appended(demo: Path, open_ui: OpenUi):
    path = demo / "fix-flaky-test.jsonl"
    async with open_ui(recording=path) as ui:
        await ui.press("j", "j")
        append_a_call(path)

        await ui.press("ctrl+l")

        assert "3 of 7" in ui.lines[-1]
        assert "`total` adds floats." in ui.text
        await ui.press("G")
        assert "appended" in ui.text


@pytest.mark.parametrize("change", ["gone", "replaced", "shortened", "rewritten", "grown"])
async def test_a_file_that_changes_is_noticed_and_no_longer_called_sound(
    flaky: Path, open_ui: OpenUi, change: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recording, "_LOOKING_SECONDS", 0.01)
    async with open_ui(recording=flaky) as ui:
        assert "✓ sound" in ui.text
        change_file(flaky, change)
        while f"! {change} since it was read" not in ui.text:
            await ui.settle()
        assert "✓ sound" not in ui.text
        assert "read_file" in ui.text
        assert ("^l reads it again" in ui.text) == (change != "gone")
        if change == "gone":
            return
        await ui.press("ctrl+l")
        assert "since it was read" not in ui.text


async def test_a_file_that_is_as_it_was_again_is_called_sound_again(
    flaky: Path, open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recording, "_LOOKING_SECONDS", 0.01)
    away = flaky.with_suffix(".away")
    async with open_ui(recording=flaky) as ui:
        move(flaky, away)
        while "! gone since it was read" not in ui.text:
            await ui.settle()
        move(away, flaky)
        while "✓ sound" not in ui.text:
            await ui.settle()
        assert "gone" not in ui.text


def write_private(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def move(path: Path, target: Path) -> None:
    path.rename(target)


def change_file(path: Path, change: str) -> None:
    data = path.read_bytes()
    match change:
        case "gone":
            path.unlink()
        case "replaced":
            path.rename(path.with_suffix(".old"))
            path.write_bytes(data)
            path.chmod(0o600)
        case "shortened":
            os.truncate(path, len(data) - 10)
        case "rewritten":
            with path.open("r+b") as file:
                file.write(data)
            os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        case _:
            with path.open("ab") as file:
                file.write(b"\n")


async def test_other_calls_are_offered_where_there_are_some(demo: Path, open_ui: OpenUi):
    one = demo / "one.jsonl"
    rows = (demo / "review-pull-request.jsonl").read_bytes().splitlines(keepends=True)
    write_private(one, b"".join(row for row in rows if json.loads(row).get("call_index", 0) == 0))
    async with open_ui(recording=one) as ui:
        assert "[ ] call" not in ui.lines[-1]
        await ui.press("right_square_bracket")
        assert "1 of 1" in ui.lines[-1]
    async with open_ui(recording=demo / "review-pull-request.jsonl") as ui:
        assert "[ ] call" in ui.lines[-1]


async def test_the_counter_follows_the_view(flaky: Path, open_ui: OpenUi):
    async with open_ui(recording=flaky) as ui:
        await ui.press("3", "G")
        counts = [ui.lines[-1].split()[-1]]
        await ui.press("4")
        counts.append(ui.lines[-1].split()[-1])
        assert counts[0] != counts[1]


async def test_a_file_that_is_gone_is_said_and_what_was_read_stays(demo: Path, open_ui: OpenUi):
    path = demo / "fix-flaky-test.jsonl"
    async with open_ui(recording=path) as ui:
        path.unlink()
        await ui.press("ctrl+l", "j")

        assert "✗ unreadable" in ui.lines[1]
        assert "The prices stand in a set" in ui.text


async def test_a_call_cut_short_shows_what_came_of_it(demo: Path, open_ui: OpenUi):
    author = flaky_test("cut", hours=0.01)
    last_end = max(i for i, row in enumerate(author.rows) if row["type"] == "call_end")
    del author.rows[last_end - 3 :]
    path = author.write(demo)

    async with open_ui(recording=path, call_index=5) as ui:
        assert "missing_call_end" in ui.lines[1]
        assert "The test summed floats in the order of a set" in ui.text
        assert "… open" in ui.text


async def test_events_that_go_into_no_answer_are_said(
    demo: Path, open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    author = flaky_test("cut", hours=0.01)
    last_end = max(i for i, row in enumerate(author.rows) if row["type"] == "call_end")
    del author.rows[last_end - 1 :]
    path = author.write(demo)
    monkeypatch.setattr(open_recording, "_ASSEMBLED_EVENTS", 4)

    async with open_ui(recording=path, call_index=5) as ui:
        assert "CUT HERE  23 events from here on are not put together" in ui.text
        assert "The test summed floats " in ui.text
        assert "`Cart.total` now" not in ui.text


async def test_a_reading_that_breaks_is_said_and_the_screen_goes_on(
    demo: Path, open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    def scan(*_: object) -> None:
        raise ZeroDivisionError("\x1b[2J [/x] " + "long " * 1000)

    monkeypatch.setattr(open_recording.OpenRecording, "scan", scan)

    # Narrow, for a preview would read the file, too.
    async with open_ui(recording=demo / "fix-flaky-test.jsonl", size=(80, 24)) as ui:
        assert ui.screen_name == "NoticeDialog"
        assert "Reading the rows failed" in ui.text
        assert "ZeroDivisionError: ␛[2J [/x] long" in ui.words
        await ui.press("enter")
        assert "✗ unreadable" in ui.lines[1]
        await ui.press("1")
        assert "This recording has no call yet." in ui.text


def append_a_call(path: Path) -> None:
    author = flaky_test()
    author.user("And then?")
    before = len(author.rows)
    author.answer(text("appended"))
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in author.rows[before:])
