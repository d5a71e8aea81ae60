"""Columns, edges and widths of lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.presentation.lines import (
    Cell,
    Column,
    FixedLines,
    Span,
    cells_of,
    choose_columns,
    heading_line,
    shorten,
    spread,
    table_line,
)

COLUMNS = (
    Column(title="NAME", width=0),
    Column(title="SIZE", width=6, align="right", worth=1),
    Column(title="MODEL", width=12, worth=2),
    Column(title="STATE", width=8),
)
CELLS = (Cell("recording"), Cell("12 kB"), Cell("model"), Cell("sound"))

spans = st.lists(
    st.builds(Span, st.text(st.sampled_from("ab 日\x1b\u0301\t"), max_size=12)), max_size=5
).map(tuple)
widths = st.integers(min_value=0, max_value=60)


@given(spans, widths)
def test_a_shortened_line_fits_and_says_what_it_leaves_out(line: tuple[Span, ...], width: int):
    shown = shorten(line, width)

    assert cells_of(shown) <= width
    if cells_of(line) > width > 0:
        assert shown[-1].text.endswith("…")
    else:
        assert "".join(s.text for s in shown) == (
            "" if width == 0 else "".join(s.text for s in line)
        )


@given(spans, spans, widths)
def test_a_spread_line_is_as_wide_as_the_screen(
    left: tuple[Span, ...], right: tuple[Span, ...], width: int
):
    assert cells_of(spread(left, right, width)) == width


def test_the_right_edge_wins_where_both_do_not_fit():
    line = spread((Span("a long name of something"),), (Span("12 kB"),), 14)

    assert "".join(span.text for span in line) == "a long … 12 kB"


def test_columns_go_by_worth_until_the_rest_fits():
    assert [i for i, _ in choose_columns(COLUMNS, 80)] == [0, 1, 2, 3]
    assert [i for i, _ in choose_columns(COLUMNS, 40)] == [0, 1, 3]
    assert [i for i, _ in choose_columns(COLUMNS, 25)] == [0, 3]


def test_a_column_without_worth_always_stays():
    assert [i for i, _ in choose_columns(COLUMNS, 1)] == [0, 3]


@given(st.integers(min_value=20, max_value=200))
def test_a_table_line_takes_the_width_it_is_given(width: int):
    assert cells_of(table_line(COLUMNS, CELLS, width)) == width
    assert cells_of(heading_line(COLUMNS, width)) == width


def test_titles_and_cells_stand_in_the_same_columns():
    heading = "".join(s.text for s in heading_line(COLUMNS, 60))
    row = "".join(s.text for s in table_line(COLUMNS, CELLS, 60))

    assert heading.index("NAME") == row.index("recording")
    assert heading.index("MODEL") == row.index("model")
    assert heading.index("SIZE") + 4 == row.index("12 kB") + 5


def test_cells_keep_what_is_hostile_raw_for_the_one_place_that_cleans():
    line = table_line(COLUMNS, (Cell("a\x1bb"), *CELLS[1:]), 60)

    assert line[0].text.startswith("a\x1bb")
    assert cells_of(line) == 60


def test_fixed_lines_are_given_as_they_are():
    source = FixedLines([(Span("one"),), (Span("two"),)])

    assert source.line_count == 2
    assert source.line(1, 40) == (Span("two"),)
