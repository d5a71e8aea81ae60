"""The table of credentials that are known by their look alone; knows nothing of where they stand.

Each pattern is anchored to a literal and cannot begin inside a run of its own characters, so that
a text made of near-matches is still scanned once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretShape:
    """One vendor's way of writing a credential."""

    name: str
    """For people and for tests."""
    literal: str
    """Without it in the text, the pattern cannot match."""
    pattern: re.Pattern[str]
    """The whole match is the secret."""


def _shape(
    name: str, literal: str, rest: str, *, body: str = r"\w-", start: str = ""
) -> SecretShape:
    """Anchor a shape: its literal, no body character before it, then the rest.

    An escape (`\\n`, `%3D`) right before the literal is a border too. `start` is a pattern of the
    same fixed width as `literal`, where the literal is only part of several beginnings.
    """
    start = start or re.escape(literal)
    left = rf"(?:(?<![{body}]{start})|(?<=\\[nrt]{start})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{start}))"
    return SecretShape(
        name=name, literal=literal, pattern=re.compile(rf"{start}{left}{rest}", re.ASCII)
    )


SHAPES = (
    _shape("anthropic, openai", "sk-", r"(?:ant|proj|svcacct|admin|or|live|test)-[\w-]{8,}+"),
    _shape(
        "openai, and alike",
        "sk-",
        r"(?=[\w-]{0,64}?(?<![A-Za-z0-9])(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16})[\w-]{16,}+",
    ),
    _shape("google api key", "AIza", r"[\w-]{30,}+"),
    _shape("google oauth", "ya29.", r"[\w-]{20,}+"),
    _shape("google client secret", "GOCSPX-", r"[\w-]{16,}+"),
    _shape("github", "gh", r"[A-Za-z0-9]{20,}+", start="gh[pousr]_"),
    _shape("github fine-grained", "github_pat_", r"\w{20,}+"),
    _shape("gitlab", "gl", r"(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-[\w-]{16,}+"),
    _shape("slack", "xox", r"[a-z]-[\w-]{10,}+"),
    _shape("slack app", "xapp-", r"[\w-]{10,}+"),
    _shape(
        "aws",
        "IA",
        r"[A-Z0-9]{16}(?![A-Za-z0-9])(?:[\s,:;|/\"'=]{1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?",
        body="A-Za-z0-9",
        start="A[KS]IA",
    ),
    _shape("stripe", "k_", r"(?:live|test)_[A-Za-z0-9]{10,}+", start="[rs]k_"),
    _shape("stripe webhook", "whsec_", r"[A-Za-z0-9+/=]{16,}+", body=r"\w+/="),
    _shape("hugging face", "hf_", r"[A-Za-z0-9]{20,}+"),
    _shape("groq", "gsk_", r"[A-Za-z0-9]{20,}+"),
    _shape("xai", "xai-", r"[\w-]{20,}+"),
    _shape("npm", "npm_", r"[A-Za-z0-9]{30,}+"),
    _shape("pypi", "pypi-", r"[\w-]{50,}+"),
    _shape("sendgrid", "SG.", r"[\w-]{16,}+\.[\w-]{16,}+", body=r"\w.-"),
    _shape("vault", "hvs.", r"[\w-]{20,}+", body=r"\w.-"),
    _shape("shopify", "shp", r"_[a-fA-F0-9]{32}", start="shp(?:at|ss|ca|pa)"),
    _shape("digitalocean", "_v1_", r"[a-f0-9]{40,}+", start="do[opr]_v1_"),
    _shape("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}+"),
    _shape("jwt", "eyJ", r"[\w-]{8,}+\.[\w-]{2,}+(?:\.[\w-]*+){1,3}", body=r"\w.-"),
)
"""Every shape, each with an example and a counter-example in the tests."""

PRIVATE_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Opens a PEM or PGP private key."""
PRIVATE_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Closes one; where it is missing, the key was cut and goes to the end of its text."""
