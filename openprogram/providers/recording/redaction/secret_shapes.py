r"""The table of credentials that are known by their look alone; knows nothing of where they stand.

All shapes with the same rare character are one pattern that starts with it, so that a text is
searched once for each such character and not once for each vendor. No shape can begin inside a run
of its own characters: a text made of near-matches is still read once. An escape such as `\n` right
before a shape is no part of such a run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.text_rules import Gate, TextRule, TextViews
from openprogram.providers.recording.redaction.text_values import Replacement

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretShape:
    """One vendor's way of writing a credential."""

    name: str
    """For people and for tests."""
    beginning: tuple[str, ...]
    """How it begins: a character or a class of them each, up to the rare character and with it."""
    kept: str
    """A pattern of what is no secret behind the beginning; with it, the beginning is none too."""
    rest: str
    """A pattern of how it goes on."""
    trigger: str
    """A pattern of how it begins, in lower case."""


def _shape(
    name: str, beginning: str, rest: str, *, rare_at: int = -1, kept: str = "", trigger: str = ""
) -> SecretShape:
    characters = tuple(re.findall(r"\\.|\[[^\]]*\]|.", beginning))
    rare_at %= len(characters)
    return SecretShape(
        name=name,
        beginning=characters[: rare_at + 1],
        kept=kept,
        rest="".join(characters[rare_at + 1 :]) + rest,
        trigger=trigger or beginning.lower(),
    )


_LONG = r"[\w-]{20,}+"
_PLAIN = r"[A-Za-z0-9]{20,}+"
SHAPES = (
    _shape(
        "anthropic, openai, and alike",
        "sk-",
        r"(?:(?:ant|proj|svcacct|admin|or|live|test)-[\w-]{8,}+"
        r"|(?=[\w-]{0,64}?(?<![A-Za-z0-9])(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16})[\w-]{16,}+)",
    ),
    _shape("xai", "xai-", _LONG),
    _shape("perplexity", "pplx-", r"[A-Za-z0-9]{32,}+"),
    _shape("tavily", "tvly-", r"[\w-]{16,}+"),
    _shape("nvidia", "nvapi-", r"[\w-]{32,}+"),
    _shape("google client secret", "GOCSPX-", r"[\w-]{16,}+"),
    *(
        _shape(f"gitlab {kind}", f"gl{kind}-", r"[\w-]{16,}+")
        for kind in ("pat", "dt", "rt", "ptt", "cbt", "soat", "ft", "imt", "agent")
    ),
    _shape("slack", "xox[abceoprs]-", r"[\w-]{10,}+"),
    _shape("slack app", "xapp-", r"[\w-]{10,}+"),
    _shape("pypi", "pypi-", r"[\w-]{50,}+"),
    _shape("square", "sq0[a-z][a-z]p-", r"[\w-]{22,}+"),
    _shape("postman", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{32,}+"),
    _shape("age", "AGE-SECRET-KEY-", r"1[A-Z0-9]{40,}+"),
    _shape("github", "gh[pousr]_", _PLAIN),
    _shape("github fine-grained", "github_pat_", r"\w{20,}+"),
    *(
        _shape(f"stripe {kind}", f"{kind}_", r"[A-Za-z0-9]{10,}+")
        for kind in ("sk_live", "sk_test", "rk_live", "rk_test")
    ),
    _shape("stripe webhook", "whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    _shape("hugging face", "hf_", _PLAIN),
    _shape("groq", "gsk_", _PLAIN),
    _shape("replicate", "r8_", r"[A-Za-z0-9]{32,}+"),
    _shape("npm", "npm_", r"[A-Za-z0-9]{30,}+"),
    _shape("notion", "ntn_", r"[A-Za-z0-9]{32,}+"),
    _shape("linear", "lin_api_", r"[A-Za-z0-9]{32,}+"),
    _shape("docker", "dckr_pat_", _LONG),
    _shape("figma", "figd_", _LONG),
    _shape("grafana", "glsa_", r"[A-Za-z0-9]{20,}+(?:_[a-f0-9]{8})?"),
    _shape("1password", "ops_", r"eyJ[\w-]{20,}+"),
    _shape("shopify", "shp[acps][at]_", r"[a-fA-F0-9]{32}"),
    _shape("shopify shared secret", "shpss_", r"[a-fA-F0-9]{32}"),
    _shape("digitalocean", "do[opr]_v1_", r"[a-f0-9]{40,}+"),
    _shape("google oauth", r"ya29\.", _LONG),
    _shape("sendgrid", r"SG\.", r"[\w-]{16,}+\.[\w-]{16,}+"),
    _shape("vault", r"hvs\.", _LONG),
    _shape("doppler", r"dp\.pt\.", r"[A-Za-z0-9]{32,}+"),
    _shape("slack webhook", r"slack\.", r"T\w+/B\w+/\w+", kept=r"com/services/"),
    _shape("discord webhook", r"discord\.", r"[\w-]{40,}+", kept=r"com/api/webhooks/[0-9]{15,20}/"),
    _shape(
        "telegram",
        "[0-9]:",
        r"AA[\w-]{33}(?![\w-])",
        kept="(?<=[0-9]{8}:)",
        trigger="[0-9]:aa",
    ),
    _shape("aws", "A[KS]IA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", rare_at=0),
    _shape("google api key", "AIza", r"[\w-]{30,}+", rare_at=0),
    _shape("atlassian", "ATATT3", r"[\w=-]{20,}+", rare_at=0),
    _shape("jwt", "eyJ", r"[\w-]{8,}+\.[\w-]{2,}+(?:\.[\w-]*+){1,3}"),
)
"""Every shape, each with an example and a counter-example in the tests."""

_AHEAD = {
    "-": r"(?<=[KXYabceikoprstxy]-)(?=[\w-]{8})",
    "_": r"(?<=[acdefikmnoprstu18]_)(?=[A-Za-z0-9+/=-]{10}|(?<=pat_)|(?<=figd_))",
    r"\.": r"(?<=[9Gstkd]\.)(?=[\w-]{16}|com/)",
    ":": r"(?=AA)",
    "A": r"(?=[KS]IA|Iza|TATT3)",
}
"""What stands around the rare character in all of its shapes; it rules out most places."""

_AWS_SECRET = re.compile(
    r"(?<![A-Za-z0-9/+])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)
_AWS_SECRET_WITHIN = 200
"""How far behind an AWS access key its secret may stand, in characters."""


def _alternative(shape: SecretShape) -> str:
    beginning = "".join(shape.beginning)
    border = rf"(?:(?<![\w-]{beginning})|(?<=\\[nrt]{beginning}))"
    return f"(?<={beginning}){shape.kept or border}({shape.rest})"


def _pattern(rare: str, shapes: list[SecretShape]) -> re.Pattern[bytes]:
    """Join shapes with the same rare character, those with the same one before it together."""
    groups = [
        f"(?<={before}{rare})(?:{'|'.join(_alternative(shape) for shape in group)})"
        for before, group in groupby(shapes, _character_before)
    ]
    return re.compile(f"{rare}{_AHEAD.get(rare, '')}(?:{'|'.join(groups)})".encode())


def _character_before(shape: SecretShape) -> str:
    return shape.beginning[-2] if len(shape.beginning) > 1 else ""


def _by_rare_character() -> tuple[tuple[Gate, list[SecretShape]], ...]:
    groups: dict[str, list[SecretShape]] = {}
    for shape in sorted(SHAPES, key=_character_before):
        groups.setdefault(shape.beginning[-1], []).append(shape)
    return tuple(
        (Gate(rare[-1:].encode(), _pattern(rare, group)), group) for rare, group in groups.items()
    )


_GATES = _by_rare_character()


def _find_shapes(views: TextViews) -> Iterator[tuple[SecretShape, Replacement]]:
    for gate, shapes in _GATES:
        if gate.literal not in views.raw:
            continue
        for match in gate.pattern.finditer(views.raw):
            number = match.lastindex or 1
            shape = shapes[number - 1]
            start = match.start(number) if shape.kept else match.start() - len(shape.beginning) + 1
            yield shape, Replacement(start, match.end())


def _find_candidates(views: TextViews) -> list[int]:
    return [found.start for _, found in _find_shapes(views)]


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    for shape, found in _find_shapes(views):
        yield found
        if shape.name == "aws":
            end = found.end + _AWS_SECRET_WITHIN
            secret = _AWS_SECRET.search(views.text, found.end, end)
            if secret is not None:
                yield Replacement(*secret.span())


KNOWN_SHAPES = TextRule(
    triggers=tuple(shape.trigger for shape in SHAPES),
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""Credentials that need no name beside them."""

PRIVATE_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Opens a PEM or PGP private key."""
PRIVATE_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Closes one; where it is missing, the key was cut and goes to the end of its text."""

_BEGIN_GATE = Gate(b"-----BEGIN", re.compile(PRIVATE_KEY_BEGIN.pattern.encode()))


def _find_private_key_beginnings(views: TextViews) -> list[int]:
    return _BEGIN_GATE.starts(views.raw)


def _find_private_keys(views: TextViews) -> Iterator[Replacement]:
    at = 0
    while begin := PRIVATE_KEY_BEGIN.search(views.text, at):
        end = PRIVATE_KEY_END.search(views.text, begin.end())
        at = views.size if end is None else end.end()
        yield Replacement(begin.start(), at)


PRIVATE_KEYS = TextRule(
    triggers=("-----b",),
    find_candidates=_find_private_key_beginnings,
    find_secrets=_find_private_keys,
)
"""Private keys in PEM or PGP armour."""
