"""A test that asks a model: recorded once, replayed offline ever after.

pytest -c examples/pytest_recording/pytest.ini examples/pytest_recording
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.provider_recording
def test_the_sky_is_explained(ask: Callable[[str], str]) -> None:
    """The answer names the light that is scattered."""
    assert "blue" in ask("Why is the sky blue?").lower()
