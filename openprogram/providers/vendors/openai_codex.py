"""The `openai-codex` protocol: the Responses dialect that ChatGPT subscriptions are served by.

The token is the one of the vendor's own command-line tool, as given, as stored, or as that tool
keeps it. It is used under our own name: the requests say `openprogram`, not the tool's. A token
that has expired is not renewed here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from openprogram import __version__
from openprogram.auth._codex_login import CODEX_REMEDY, describe_codex_token
from openprogram.errors import ConfigError
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._responses_payload import build_payload
from openprogram.providers.vendors.openai_responses import OpenAIResponsesProvider

if TYPE_CHECKING:
    from openprogram.providers import types as t

API: Final = "openai-codex"

_ACCOUNT_HEADER = "chatgpt-account-id"
_OWN_HEADERS = {
    "User-Agent": f"openprogram/{__version__}",
    "originator": "openprogram",
    "OpenAI-Beta": "responses=experimental",
}
_NOT_TAKEN = (
    "max_output_tokens",
    "prompt_cache_retention",
    "safety_identifier",
    "temperature",
)
"""What the backend refuses; the subscription decides it."""


class OpenAICodexProvider(OpenAIResponsesProvider):
    """Streams answers that are paid by a subscription."""

    api = API
    path = "/codex/responses"

    def build_payload(
        self,
        model: t.Model,
        context: t.Context,
        options: t.StreamOptions,
        reasoning: t.ThinkingLevel | None,
    ) -> dict[str, Any]:
        """Build the body of a request, without what the backend does not take.

        Limits of tokens, temperature and the like are left out: there they are no choice of
        the caller.

        Args:
            model: Who shall answer.
            context: What is asked; it needs a system prompt.
            options: How.
            reasoning: How hard to think; None leaves it to the model.

        Returns:
            The body, as JSON values.

        Raises:
            ModelRequestError: The request cannot be said in this protocol.
        """
        payload = build_payload(model, context, options, reasoning)
        if "instructions" not in payload:
            raise failure(
                "bad_request",
                "openai-codex: the vendor demands instructions; set context.system_prompt",
            )
        # All models of the backend reason, also those of which the caller does not know it.
        payload["include"] = ["reasoning.encrypted_content"]
        return {name: value for name, value in payload.items() if name not in _NOT_TAKEN}

    def complete_options(self, model: t.Model, options: t.StreamOptions) -> t.StreamOptions:
        """Add the account that the token is for, and our own name.

        Headers of the model and of the call win.

        Args:
            model: Who shall answer.
            options: The caller's.

        Returns:
            Those to send with.

        Raises:
            ModelRequestError: The token has expired, or names no account.
        """
        given = {**(model.headers or {}), **(options.headers or {})}
        named = {name.lower() for name in given}
        key = (options.api_key or "").strip()
        account = _account_headers(key, is_named=_ACCOUNT_HEADER in named) if key else {}
        own = {**_OWN_HEADERS, **account}
        kept = {name: value for name, value in own.items() if name.lower() not in named}
        return structs.replace(options, headers={**kept, **(options.headers or {})})


def _account_headers(key: str, *, is_named: bool) -> dict[str, str]:
    try:
        token = describe_codex_token(key)
    except ConfigError as error:
        raise failure("auth", f"openai-codex: {error}") from error
    if token.expires_at is not None and token.expires_at <= datetime.now(UTC):
        ended = token.expires_at.isoformat(timespec="seconds")
        raise failure("auth", f"openai-codex: the login expired at {ended}; {CODEX_REMEDY}")
    if token.account_id is not None:
        return {_ACCOUNT_HEADER: token.account_id}
    if is_named:
        return {}
    raise failure("auth", f"openai-codex: the token names no account; {CODEX_REMEDY}")


PROVIDER: Final = OpenAICodexProvider()
"""What the registry gets."""
