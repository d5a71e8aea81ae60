"""The `gemini-subscription` API: replayed, and never called live.

The subscription of the Gemini command-line tool is served by an internal interface of its vendor,
with a token that the vendor gives to that tool and for its use alone. To call it, a program would
have to pass for the tool, which nothing here does. Recordings that others made of it are replayed
as all others are: the replay stands before this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

from openprogram.errors import ConfigError

if TYPE_CHECKING:
    from openprogram.providers import types as t

API: Final = "gemini-subscription"

REFUSAL: Final = (
    "no live call is made: the service takes the Gemini tool alone, and this program does not pass "
    "for it; take the provider google, with a key in GEMINI_API_KEY or from "
    "'openprogram auth set google'"
)
"""Why, and what to do instead."""


class GeminiSubscriptionProvider:
    """Refuses each call, before anything is looked up or sent."""

    requires_credentials: Final = False
    """No key would change anything, so none is looked for."""

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> Never:
        """Refuse.

        Args:
            model: Not asked.
            context: Not looked at.
            options: Not looked at.

        Raises:
            ConfigError: Always.
        """
        del model, context, options
        raise ConfigError(f"{API}: {REFUSAL}")

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> Never:
        """Refuse; see `stream`."""
        self.stream(model, context, options)


PROVIDER: Final = GeminiSubscriptionProvider()
"""What the registry gets."""
