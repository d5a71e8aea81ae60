"""Numbers, sizes and instants in the shape people read fastest."""

from __future__ import annotations

from datetime import UTC, datetime

NOTHING = "–"
"""Stands where there is no figure."""

_THOUSAND = 1000
_SIZE_UNITS = ("kB", "MB", "GB", "TB")
_COUNT_UNITS = "kMG"
_TEN = 10
_HUNDRED = 100
_MINUTE_SECONDS = 60
_HOUR_SECONDS = 3600
_DAY_SECONDS = 86_400
_WEEK_SECONDS = 7 * _DAY_SECONDS
_MONTH_SECONDS = 30.5 * _DAY_SECONDS
_AGES = (
    (_HOUR_SECONDS, _MINUTE_SECONDS, "m"),
    (_DAY_SECONDS, _HOUR_SECONDS, "h"),
    (2 * _WEEK_SECONDS, _DAY_SECONDS, "d"),
    (2 * _MONTH_SECONDS, _WEEK_SECONDS, "w"),
    (365 * _DAY_SECONDS, _MONTH_SECONDS, "mo"),
)
"""Up to which age in seconds which unit is used, the unit in seconds, and its letters."""
_TENTH_OF_A_CENT = 0.001
_LEAST_SHOWN_USD = 0.00005


def size(byte_count: int | None) -> str:
    """Write a size with two or three digits that matter.

    Args:
        byte_count: In bytes; None when unknown.

    Returns:
        A few cells.

    Example:
        >>> size(0), size(999), size(1_234), size(18_234_567)
        ('0 B', '999 B', '1.2 kB', '18 MB')
    """
    if byte_count is None:
        return NOTHING
    if byte_count < _THOUSAND:
        return f"{byte_count} B"
    value, power = byte_count / _THOUSAND, 0
    while value >= _THOUSAND - 0.5 and power < len(_SIZE_UNITS) - 1:
        value /= _THOUSAND
        power += 1
    return f"{value:.{1 if value < _TEN else 0}f} {_SIZE_UNITS[power]}"


def count(number: int | None) -> str:
    """Write a count in at most five cells.

    Args:
        number: The count; None when unknown.

    Returns:
        The digits, or a figure rounded down with `k`, `M` or `G`.

    Example:
        >>> count(4), count(9_999), count(12_345), count(1_000_000)
        ('4', '9999', '12.3k', '1.0M')
    """
    if number is None:
        return NOTHING
    if number < _TEN * _THOUSAND:
        return str(number)
    tenths, power = number * _TEN // _THOUSAND, 0
    while tenths >= _TEN * _THOUSAND and power < len(_COUNT_UNITS) - 1:
        tenths //= _THOUSAND
        power += 1
    whole, tenth = divmod(tenths, _TEN)
    return (
        f"{whole}.{tenth}{_COUNT_UNITS[power]}"
        if whole < _HUNDRED
        else f"{whole}{_COUNT_UNITS[power]}"
    )


def plural(number: int, word: str) -> str:
    """Write a count with its word.

    Args:
        number: The count.
        word: In the singular.

    Returns:
        The two.

    Example:
        >>> plural(1, "call"), plural(12_000, "event")
        ('1 call', '12,000 events')
    """
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def cost(usd: float | None) -> str:
    """Write an amount of money.

    Args:
        usd: In USD; None when no price is known.

    Returns:
        A few cells; an unknown price is not zero.

    Example:
        >>> cost(None), cost(0.0), cost(0.00031), cost(0.0421), cost(12.5)
        ('–', '$0', '$0.0003', '$0.042', '$12.50')
    """
    if usd is None:
        return NOTHING
    if usd == 0:
        return "$0"
    if usd < _TENTH_OF_A_CENT:
        return f"${usd:.4f}" if usd >= _LEAST_SHOWN_USD else "<$.0001"
    return f"${usd:.3f}" if usd < 1 else f"${usd:.2f}"


def age(instant_at: datetime | None, now_at: datetime) -> str:
    """Say how long ago an instant was.

    Args:
        instant_at: Aware; None when unknown.
        now_at: Aware.

    Returns:
        At most nine cells; a month once it is more than a year ago.

    Example:
        >>> now = datetime(2026, 12, 1, 12, tzinfo=UTC)
        >>> age(datetime(2026, 12, 1, 11, 48, tzinfo=UTC), now)
        '12m ago'
        >>> age(datetime(2026, 11, 28, tzinfo=UTC), now)
        '3d ago'
    """
    if instant_at is None:
        return NOTHING
    seconds = (now_at - instant_at).total_seconds()
    if seconds < _MINUTE_SECONDS:
        return "later" if seconds < -_MINUTE_SECONDS else "just now"
    for until_seconds, unit_seconds, unit in _AGES:
        if seconds < until_seconds:
            return f"{seconds // unit_seconds:.0f}{unit} ago"
    return instant_at.astimezone(UTC).strftime("%Y-%m")


def instant(instant_at: datetime | None) -> str:
    """Write an instant in full.

    Args:
        instant_at: Aware; None when unknown.

    Returns:
        Date and time in UTC.

    Example:
        >>> instant(datetime(2026, 8, 11, 13, 45, 2, tzinfo=UTC))
        '2026-08-11 13:45:02 UTC'
    """
    if instant_at is None:
        return NOTHING
    return instant_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
