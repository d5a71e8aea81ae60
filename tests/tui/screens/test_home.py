"""The first screen: lists, preview, filter, tabs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from examples.demo_state import flaky_test
from openprogram.providers import management
from openprogram.worker.protocol import WorkerStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]

pytestmark = pytest.mark.usefixtures("demo")


def make_a_link_of(folder: Path, elsewhere: Path) -> None:
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


async def test_the_list_is_newest_first_with_a_state_in_words(open_ui: OpenUi):
    async with open_ui() as ui:
        names = [line.split()[1] for line in ui.lines if " ago " in line]

        assert names[:3] == ["fix-flaky-test", "review-pull-request", "hostile"]
        assert len(names) == 11
        assert "✗  broken-by-an-editor" in ui.text
        assert "invalid utf8" in ui.line_with("broken-by-an-editor")
        assert "next start" in ui.line_with("●  fix-flaky-test")
        assert "1 of 11" in ui.lines[-1]


async def test_the_top_line_says_what_the_next_start_does(open_ui: OpenUi):
    async with open_ui() as ui:
        assert "next start  ▶ REPLAY  fix-flaky-test" in ui.lines[0]


async def test_broken_settings_are_called_blocked_and_hide_nothing(
    state_dir: Path, open_ui: OpenUi
):
    (state_dir / "config.json").write_text("{bad")

    async with open_ui() as ui:
        assert "✗ BLOCKED" in ui.lines[0]
        assert "✗ blocked" in ui.lines[1]
        assert "config.json" in ui.lines[1]
        assert "fix-flaky-test" in ui.text


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40)])
async def test_why_calls_are_blocked_is_said_whole(
    demo: Path, open_ui: OpenUi, size: tuple[int, int]
):
    (demo / "fix-flaky-test.jsonl").unlink()
    reason = management.read_status().reason

    async with open_ui(size=size) as ui:
        assert reason
        assert f"✗ blocked {reason}" in ui.words
        assert "review-pull-request" in ui.text


async def test_a_worker_with_other_settings_is_told_of(
    open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    runs = WorkerStatus(
        pid=1, mode="off", path=None, ignore=[], consumed=None, total=None, running_count=0
    )
    monkeypatch.setattr("openprogram.worker.status.read_worker_status", lambda: runs)
    async with open_ui(size=(160, 40)) as ui:
        assert "restart the worker" in ui.lines[0]


async def test_the_preview_follows_the_cursor_on_wide_terminals(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j")

        assert "Review the change to the parser." in ui.text
        assert "9 × claude-sonnet-4-5" in ui.text
        assert "✓✓✓✓✓✓✓✓✓" in ui.text

        await ui.press("down", "down", "down", "down")
        assert "NOT SOUND AT LINE 28" in ui.text


async def test_there_is_no_preview_where_there_is_no_room(open_ui: OpenUi):
    async with open_ui(size=(80, 24)) as ui:
        assert "FIRST WORDS" not in ui.text
        assert not ui.list("preview").display

        await ui.resize(140, 30)
        assert "FIRST WORDS" in ui.text


async def test_words_typed_keep_the_recordings_that_hold_all_of_them(open_ui: OpenUi):
    async with open_ui(size=(80, 24)) as ui:
        await ui.press("slash")
        await ui.type("GPT abandoned")

        assert [line.split()[1] for line in ui.lines if " ago " in line] == ["nightly-triage"]
        assert "1 of 1" in ui.lines[-1]

        await ui.press("escape")
        assert "1 of 11" not in ui.lines[-1]
        assert "of 11" in ui.lines[-1]
        assert ui.list("recordings").has_focus


async def test_letters_act_on_nothing_while_they_are_typed(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("slash")
        await ui.type("dqoRp[/x")

        assert ui.screen_name == "HomeScreen"
        assert "Nothing matches" in ui.text
        assert management.read_status().mode == "replay"


async def test_enter_in_the_filter_goes_to_what_was_found(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("slash")
        await ui.type("port")
        await ui.press("enter", "enter")

        assert ui.screen_name == "RecordingScreen"
        assert "port-to-python-3.13" in ui.lines[0]


async def test_the_chosen_recording_stays_chosen_when_the_list_changes(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j", "j", "j")
        flaky_test("newer-than-all", hours=0.01).write(demo)

        await ui.press("ctrl+l")

        assert "newer-than-all" in ui.text
        assert "5 of 12" in ui.lines[-1]
        assert "20261130T091412Z-5be7a1c9" in ui.list("preview").render_line(0).text


async def test_mismatch_reports_have_a_tab_and_open_side_by_side(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("2")

        row = ui.line_with("3m ago")
        assert "fix-flaky-test" in row
        assert "context.messages[6]" in row
        assert "exit 1: 13" in row

        await ui.press("enter")
        assert ui.screen_name == "MismatchScreen"


async def test_each_tab_offers_what_acts_there(open_ui: OpenUi):
    async with open_ui() as ui:
        assert all(hint in ui.lines[-1] for hint in ("open", "filter", "delete", "replay"))
        await ui.press("2")
        assert "open" in ui.lines[-1]
        assert not any(hint in ui.lines[-1] for hint in ("filter", "delete", "replay"))
        await ui.press("slash")
        assert "INCOMING" in ui.text
        await ui.press("3")
        assert not any(hint in ui.lines[-1] for hint in ("open", "filter", "delete", "replay"))
        assert "record" in ui.lines[-1]


async def test_tabs_turn_in_a_circle(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("tab", "tab")
        assert "Tapes cannot be read by this version yet." in ui.text
        await ui.press("tab")
        assert "RECORDING" in ui.text
        await ui.press("shift+tab")
        assert "Tapes cannot be read by this version yet." in ui.text


async def test_a_click_chooses_and_a_second_opens(open_ui: OpenUi):
    async with open_ui() as ui:
        place = next(i for i, line in enumerate(ui.lines) if "review-pull-request" in line)
        await ui.pilot.click(offset=(10, place))
        await ui.settle()
        assert "2 of 11" in ui.lines[-1]

        await ui.pilot.click(offset=(10, place))
        await ui.settle()
        assert ui.screen_name == "RecordingScreen"


async def test_a_click_on_a_tab_opens_it(open_ui: OpenUi):
    async with open_ui() as ui:
        row = next(i for i, line in enumerate(ui.lines) if "Mismatches" in line)
        await ui.pilot.click(offset=(ui.lines[row].index("Mismatches") + 3, row))
        await ui.settle()

        assert "INCOMING" in ui.text


async def test_a_recording_that_vanished_is_said_and_leaves_the_list(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j")
        (demo / "review-pull-request.jsonl").unlink()
        await ui.press("enter")

        assert ui.screen_name == "NoticeDialog"
        assert "cannot be opened" in ui.text

        await ui.press("escape")
        assert ui.screen_name == "HomeScreen"
        assert "review-pull-request" not in ui.text


async def test_a_report_that_vanished_is_said(state_dir: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("2")
        for path in (state_dir / "mismatches").iterdir():
            path.unlink()
        await ui.press("enter")

        assert ui.screen_name == "NoticeDialog"
        assert "The mismatch report cannot be read" in ui.text


async def test_a_list_that_cannot_be_read_is_said(demo: Path, open_ui: OpenUi, tmp_path: Path):
    make_a_link_of(demo, tmp_path / "elsewhere")

    async with open_ui() as ui:
        assert ui.screen_name == "NoticeDialog"
        assert "The lists cannot be read" in ui.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_columns_and_titles_line_up_at_every_size(open_ui: OpenUi, size: tuple[int, int]):
    async with open_ui(size=size) as ui:
        heading = ui.line_with("RECORDING  ")
        row = ui.line_with("review-pull-request  ")

        assert heading.index("RECORDING") == row.index("review-pull-request")
        assert heading.index("STATE") == row.index("complete")
        assert heading.index("CALLS") + len("CALLS") == row.index(" 9 ") + 2
        assert all(len(line) == size[0] for line in ui.lines if line.isascii())


async def test_every_mode_change_asks_first_and_off_does_not(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("o")

        assert management.read_status().mode == "off"
        assert "○ OFF" in ui.lines[0]
        assert "●  fix-flaky-test" not in ui.text


async def test_a_header_that_lies_about_its_id_is_not_believed(demo: Path, open_ui: OpenUi):
    author = flaky_test("honest-name", hours=0.01)
    author.rows[0]["recording_id"] = "\x1b[2Jliar"
    (demo / "honest-name.jsonl").write_text("".join(json.dumps(row) + "\n" for row in author.rows))

    async with open_ui() as ui:
        assert "honest-name" in ui.text
        assert "liar" not in ui.text
