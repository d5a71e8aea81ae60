"""A mismatch: both requests side by side, the field path lit."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from openprogram.providers.comparison import find_first_request_difference
from openprogram.providers.mismatches import list_mismatch_reports, write_mismatch_report
from openprogram_recordings_tui.widgets.palette import DARK_THEME_NAME, palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from openprogram.providers.mismatches import MismatchReport
    from openprogram_recordings_tui.presentation.lines import Role
    from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines
    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]

pytestmark = pytest.mark.usefixtures("demo")


@pytest.fixture
def report(demo: Path) -> MismatchReport:
    """Give the report of the demo's first mismatch."""
    assert demo.exists()
    return list_mismatch_reports()[0]


async def test_it_begins_at_the_field_where_the_replay_stopped(
    report: MismatchReport, open_ui: OpenUi
):
    async with open_ui(mismatch=report) as ui:
        assert "context.messages[6].content[0].text" in ui.lines[2]
        assert "replay stopped here" in ui.lines[2]
        assert "difference 1 of 4" in ui.lines[-1]
        row = ui.line_with('"exit 1: 13 failed')
        assert '"exit 1: 11 failed' in row
        assert row.count("▌") == 2


async def test_the_changed_words_are_lit_in_both_sides(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report, size=(160, 40)) as ui:
        lit = {side: words_lit(ui, side) for side in ("recorded", "incoming")}

    assert lit == {"recorded": ["13", "27", "61s"], "incoming": ["11", "29", "64s"]}


async def test_n_walks_every_difference_and_comes_round(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report) as ui:
        paths = [path_of(ui)]
        for _ in range(4):
            await ui.press("n")
            paths.append(path_of(ui))

        assert paths == [
            "context.messages[6].content[0].text",
            "context.tools[1]",
            'options.headers["x-trace"]',
            "options.temperature",
            "context.messages[6].content[0].text",
        ]
        await ui.press("N")
        assert path_of(ui) == "options.temperature"
        assert "replay stopped here" not in ui.lines[2]
        assert "difference 4 of 4" in ui.lines[-1]


async def test_what_is_missing_is_said_in_words(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report) as ui:
        await ui.press("n")

        row = ui.line_with("object, 3 fields")
        assert "not there" in row


async def test_both_sides_move_together(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report, size=(120, 24)) as ui:
        await ui.press("G")

        one, other = ui.list("recorded"), ui.list("incoming")
        assert one.cursor == other.cursor == one.source.line_count - 1
        assert one.scroll_offset.y == other.scroll_offset.y > 0

        await ui.press("tab", "g")
        assert one.cursor == other.cursor == 0
        assert one.scroll_offset.y == other.scroll_offset.y == 0


async def test_what_is_equal_is_folded_until_asked_for(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report) as ui:
        assert "10 fields, equal" in ui.text
        assert "base_url" not in ui.text

        await ui.press("z", "g")
        assert "base_url" in ui.text
        await ui.press("z")
        assert "base_url" not in ui.text
        assert "difference" in ui.lines[-1]


async def test_the_sides_stand_one_above_the_other_where_there_is_no_room(
    report: MismatchReport, open_ui: OpenUi
):
    async with open_ui(mismatch=report, size=(80, 24)) as ui:
        one = next(i for i, line in enumerate(ui.lines) if "RECORDED" in line)
        other = next(i for i, line in enumerate(ui.lines) if "INCOMING" in line)
        assert other > one
        assert ui.text.count('"exit 1: 13 failed, 27 passed in 0.61s"') == 1
        assert ui.text.count('"exit 1: 11 failed, 29 passed in 0.64s"') == 1

        await ui.resize(140, 30)
        assert "INCOMING" in ui.line_with("RECORDED  fix")


async def test_the_recorded_call_opens_at_the_field(report: MismatchReport, open_ui: OpenUi):
    async with open_ui(mismatch=report) as ui:
        await ui.press("c")

        assert ui.screen_name == "RecordingScreen"
        assert " context.messages[6].content[0].text" in ui.text
        assert "5 of 6" not in ui.lines[-1]

        await ui.press("escape", "escape")
        assert ui.screen_name == "MismatchScreen"
        await ui.press("escape")
        assert ui.screen_name == "HomeScreen"


async def test_a_recording_that_is_gone_is_said(
    report: MismatchReport, demo: Path, open_ui: OpenUi
):
    async with open_ui(mismatch=report) as ui:
        (demo / "fix-flaky-test.jsonl").unlink()
        await ui.press("c")

        assert ui.screen_name == "NoticeDialog"
        await ui.press("escape")
        assert ui.screen_name == "MismatchScreen"


async def test_what_next_names_the_setting_where_there_is_room(
    report: MismatchReport, open_ui: OpenUi
):
    command = "openprogram config set record_replay.ignore "
    async with open_ui(mismatch=report, size=(200, 60)) as ui:
        assert command + """'["context.messages[6].content[0].text"]'""" in ui.text
        assert "openprogram recordings record" in ui.text
    async with open_ui(mismatch=report, size=(80, 24)) as ui:
        assert command + "\\ " in ui.text
        assert """  '["context.messages[6].content[0].text"]'""" in ui.text


async def test_both_values_are_shown_where_they_part_at_any_height(
    report: MismatchReport, open_ui: OpenUi
):
    start = "one line" + "\n" * 40
    request = {**report.recorded_request, "context": {"system_prompt": f"{start}Friday"}}
    other = {**report.recorded_request, "context": {"system_prompt": f"{start}Monday"}}
    difference = find_first_request_difference(request, other)
    assert difference is not None
    long = write_mismatch_report(
        recording=report.recording,
        call_index=0,
        difference=difference,
        recorded_request=request,
        incoming_request=other,
    )
    async with open_ui(mismatch=long, size=(40, 10)) as ui:
        for size in ((40, 10), (60, 15), (80, 20), (80, 24), (120, 30), (120, 40)):
            await ui.resize(*size)
            values = "".join(strip_text(ui.list("value")))
            assert "Friday" in values
            assert "Monday" in values


def strip_text(lines: VirtualLines) -> Sequence[str]:
    """Give what is seen of a list."""
    return [lines.render_line(y).text for y in range(lines.size.height)]


async def test_the_smallest_screens_show_the_path_and_both_values(
    report: MismatchReport, open_ui: OpenUi
):
    async with open_ui(mismatch=report, size=(40, 10)) as ui:
        assert "context.messages[6].content[0].text" in ui.lines[1]
        assert "exit 1: 13 failed" in ui.text
        assert "exit 1: 11 failed" in ui.text
        await ui.resize(120, 40)
        assert "RECORDED" in ui.text


def path_of(ui: Ui) -> str:
    return ui.lines[2].split("≠ ")[1].split("  ")[0]


def words_lit(ui: Ui, side: str) -> list[str]:
    lines = ui.list(side)
    roles = {"recorded": "lit_word_recorded", "incoming": "lit_word_incoming"}
    word = palette_of(DARK_THEME_NAME).styles[cast("Role", roles[side])]
    strip = lines.render_line(lines.cursor - lines.scroll_offset.y)
    return [s.text for s in strip if s.style and s.style.bgcolor == word.bgcolor]
