"""Every difference between the two requests of a mismatch report."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from openprogram.providers.comparison import iterate_request_differences
from openprogram.providers.ignored_paths import IgnoredPath, parse_ignored_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openprogram.providers.comparison import Difference
    from openprogram.providers.mismatches import MismatchReport

MOST_DIFFERENCES = 1000
"""How many differences are looked for."""


def list_differences(report: MismatchReport) -> list[Difference]:
    """Compare the two requests of a report as replay did, to the end.

    Args:
        report: The report; its requests are read now, so call this in a worker.

    Returns:
        The differences in the order of comparison, at most `MOST_DIFFERENCES`.

    Raises:
        MismatchReportError: The file is gone, or no report any more.
        OSError: It cannot be read.
    """
    found = iterate_request_differences(
        report.recorded_request, report.incoming_request, ignore=_ignored(report.ignore)
    )
    return list(islice(found, MOST_DIFFERENCES))


def _ignored(paths: Iterable[str]) -> list[IgnoredPath]:
    """Parse the paths that the replay ignored; one that this release refuses ignores nothing."""
    ignored: list[IgnoredPath] = []
    for path in paths:
        try:
            ignored.append(parse_ignored_path(path))
        except ValueError:
            continue
    return ignored
