"""A model for the examples: a real one when a key is set, else one that answers by script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.errors import ConfigError, CredentialMissingError
from openprogram.providers import create_runtime, register_api_provider
from openprogram.providers import types as t
from openprogram.testing import FauxProvider

if TYPE_CHECKING:
    from openprogram.testing.faux import FauxEntry


def choose_model(script: list[FauxEntry]) -> tuple[t.Model, t.SimpleStreamOptions]:
    """Choose who answers.

    Args:
        script: What the pretend model says, one entry for each request.

    Returns:
        The model, and the options to call it with.

    Raises:
        ConfigError: The settings are not what they should be.
    """
    try:
        runtime = create_runtime()
    except CredentialMissingError:
        pass
    except ConfigError as error:
        # In a replay nobody looks for a key; the recording may be one of the pretend model.
        if error.key != "default_provider":
            raise
    else:
        return runtime.model, runtime.options
    register_api_provider("faux", FauxProvider(script))
    model = t.Model(id="pretend", name="pretend", api="faux", provider="faux", base_url="")
    return model, t.SimpleStreamOptions()
