"""Every difference between the two requests of a mismatch report."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from openprogram.providers.comparison import iterate_request_differences

if TYPE_CHECKING:
    from openprogram.providers.mismatches import MismatchReport

    from openprogram.providers.comparison import Difference

MOST_DIFFERENCES = 1000
"""How many differences are looked for."""


def list_differences(report: MismatchReport) -> list[Difference]:
    """Compare the two requests of a report as replay does, to the end.

    Args:
        report: The report.

    Returns:
        The differences in the order of comparison, at most `MOST_DIFFERENCES`.
    """
    found = iterate_request_differences(report.recorded_request, report.incoming_request)
    return list(islice(found, MOST_DIFFERENCES))
