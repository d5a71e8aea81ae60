from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.cli._tables import (
    Column,
    cell_width,
    fit,
    format_bytes,
    format_instant,
    layout_fields,
    layout_table,
)


def test_wide_characters_stay_aligned() -> None:
    columns = [Column(title="ID"), Column(title="STATE")]
    head, wide, narrow = layout_table(columns, [["日本", "ok"], ["ab", "ok"]])
    assert cell_width(wide) == cell_width(narrow) == len("ab    ok")
    assert head == "ID    STATE"


def test_a_cell_cannot_act_on_the_terminal_or_add_a_line() -> None:
    lines = layout_table([Column(title="ID")], [["a\x1b]0;x\x07\nb\u202e\x9b"]])
    assert lines[1] == r"a\x1b]0;x\x07\nb\u202e\x9b"


def test_a_value_cannot_act_on_the_terminal() -> None:
    assert layout_fields([("File", "a\rb")]) == [r"File  a\rb"]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4), st.integers(6, 30))
def test_no_line_is_wider_than_the_terminal(cells: list[str], width: int) -> None:
    columns = [Column(title=str(i)) for i in range(len(cells))]
    for line in layout_table(columns, [cells], width=width):
        assert cell_width(line) <= width
        assert line.isprintable()


def test_a_wide_first_cell_leaves_room_for_the_last_one() -> None:
    columns = [Column(title="ID"), Column(title="N", align="right"), Column(title="STATE")]
    rows = [["w" * 500, "1", "invalid: line 5: is not JSON"], ["ab", "12", "complete"]]
    head, wide, narrow = layout_table(columns, rows, width=80)
    assert wide == f"{'w' * 45}…   1  invalid: line 5: is not JSON"
    assert narrow.split() == ["ab", "12", "complete"]
    assert head.index("STATE") == wide.index("invalid") == narrow.index("complete")


def test_in_a_narrow_terminal_both_ends_give_way() -> None:
    columns = [Column(title="ID"), Column(title="N"), Column(title="STATE")]
    row = layout_table(columns, [["w" * 50, "n" * 10, "s" * 50]], width=60)[1]
    assert row == f"{'w' * 29}…  {'n' * 10}  {'s' * 15}…"


@given(st.text(alphabet="ab日e\u0301", max_size=20), st.integers(1, 10))
def test_what_fits_is_kept_whole(text: str, cells: int) -> None:
    assert cell_width(fit(text, cells)) <= cells
    if cell_width(text) <= cells:
        assert fit(text, cells) == text


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_951, "1.0 MB")],
)
def test_sizes_roll_over_to_the_next_unit(size_bytes: int, shown: str) -> None:
    assert format_bytes(size_bytes) == shown


def test_instants_name_their_zone() -> None:
    assert format_instant(datetime(2026, 8, 11, 13, 45, tzinfo=UTC)) == "2026-08-11 13:45Z"
