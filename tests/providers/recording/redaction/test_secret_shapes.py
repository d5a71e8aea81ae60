"""Every vendor's shape, found and not found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction.secret_shapes import (
    KNOWN_SHAPES,
    PRIVATE_KEYS,
    SHAPES,
)
from openprogram.providers.recording.redaction.text_rules import TextViews
from openprogram.providers.recording.redaction.text_values import Replacement

AL = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"

EXAMPLES: dict[str, tuple[str, str]] = {
    "anthropic, openai, and alike": (
        "sk-ant-api03-AAbbCC_ddEEff-0011",
        "sk-learn-model-selection-v2",
    ),
    "xai": (f"xai-{AL}", "xai-grok-2-latest"),
    "perplexity": (f"pplx-{AL[:48]}", "pplx-70b-online"),
    "tavily": (f"tvly-{AL[:32]}", "tvly-search"),
    "nvidia": (f"nvapi-{AL}", "nvapi-key"),
    "google client secret": (f"GOCSPX-{AL[:28]}", "GOCSPX-short"),
    **{
        f"gitlab {kind}": (f"gl{kind}-{AL[:20]}", f"gl{kind}-short")
        for kind in ("pat", "dt", "rt", "ptt", "cbt", "soat", "ft", "imt", "agent")
    },
    "slack": ("xoxb-123456789012-1234567890123-AbCdEfGh", "xoxb-token"),
    "slack app": ("xapp-1-A0123456789-1234567890123-abcdef", "xapp-1"),
    "pypi": (f"pypi-{AL}", "pypi-server-simple-index"),
    "square": (f"sq0atp-{AL[:22]}", "sq0atp-short"),
    "postman": (f"PMAK-{HEX[:24]}-{HEX[:34]}", "PMAK-0123"),
    "age": (f"AGE-SECRET-KEY-1{'QPZRY9X8' * 7}", "AGE-SECRET-KEY-1abc"),
    "github": (f"ghp_{AL[:36]}", "ghp_token_here"),
    "github fine-grained": (f"github_pat_11ABCDEFG0{AL[:30]}_{AL[:30]}", "github_pat_short"),
    "stripe sk_live": (f"sk_live_{AL[:24]}", "sk_live_key"),
    "stripe sk_test": (f"sk_test_{AL[:24]}", "sk_test_mode"),
    "stripe rk_live": (f"rk_live_{AL[:24]}", "rk_live_x"),
    "stripe rk_test": (f"rk_test_{AL[:24]}", "rk_test_x"),
    "stripe webhook": (f"whsec_{AL[:32]}", "whsec_secret"),
    "hugging face": (f"hf_{AL[:34]}", "hf_hub_download_with_cache"),
    "groq": (f"gsk_{AL[:52]}", "gsk_api_key"),
    "replicate": (f"r8_{AL[:37]}", "r8_model"),
    "npm": (f"npm_{AL[:36]}", "npm_config_registry_of_the_project"),
    "notion": (f"ntn_{AL[:46]}", "ntn_page"),
    "linear": (f"lin_api_{AL[:40]}", "lin_api_key"),
    "docker": (f"dckr_pat_{AL[:27]}", "dckr_pat_short"),
    "figma": (f"figd_{AL[:40]}", "figd_file"),
    "grafana": (f"glsa_{AL[:32]}_01234567", "glsa_token"),
    "1password": (f"ops_eyJ{AL[:40]}", "ops_eyJ"),
    "shopify": (f"shpat_{HEX[:32]}", "shpat_0123"),
    "shopify shared secret": (f"shpss_{HEX[:32]}", "shpss_0123"),
    "digitalocean": (f"dop_v1_{HEX}", "dop_v1_0123"),
    "google oauth": (f"ya29.a0{AL[:30]}", "ya29.short"),
    "sendgrid": (f"SG.{AL[:22]}.{AL[:43]}", "SG.one.two"),
    "vault": (f"hvs.CAESI{AL[:24]}", "hvs.short"),
    "doppler": (f"dp.pt.{AL[:43]}", "dp.pt.short"),
    "aws": ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLES"),
    "google api key": (f"AIza{AL[:35]}", "AIzaShort"),
    "atlassian": (f"ATATT3{AL[:40]}", "ATATT3"),
    "jwt": (JWT, "eyJhbGciOiJIUzI1NiJ9 alone"),
}
KEPT_BEGINNINGS = {
    "slack webhook": ("https://hooks.slack.com/services/", "T0AB/B0CD/Zz11Yy22"),
    "discord webhook": ("https://discord.com/api/webhooks/123456789012345678/", f"{AL}-_012345"),
    "telegram": ("https://x.test/bot123456789:", f"AA{AL[:33]}"),
}


def found(text: str) -> list[Replacement]:
    return list(KNOWN_SHAPES.find_secrets(TextViews(text)))


def test_every_shape_has_an_example():
    assert {shape.name for shape in SHAPES} == EXAMPLES.keys() | KEPT_BEGINNINGS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_shape_is_found_whole_wherever_it_stands(name: str):
    secret = EXAMPLES[name][0]
    for before, after in (
        ("", ""),
        ("see ", ", ok"),
        ("'", "'"),
        ("=", "&"),
        ("(", ")"),
        ("\\n", '"'),
    ):
        text = before + secret + after
        assert found(text)[0] == Replacement(len(before), len(before) + len(secret)), text


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_only_begins_like_a_shape_is_not_found(name: str):
    assert found(EXAMPLES[name][1]) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_shape_needs_a_border_on_its_left(name: str):
    secret = EXAMPLES[name][0]
    assert Replacement(1, 1 + len(secret)) not in found(f"x{secret}")


@pytest.mark.parametrize("name", KEPT_BEGINNINGS)
def test_what_is_no_secret_of_a_shape_is_kept(name: str):
    kept, secret = KEPT_BEGINNINGS[name]
    assert found(f"{kept}{secret} x") == [Replacement(len(kept), len(kept) + len(secret))]
    assert found(f"{kept}short") == []


@pytest.mark.parametrize("between", [":", "\n", " and its secret is ", '","SecretAccessKey":"'])
def test_the_secret_behind_an_aws_access_key_is_found(between: str):
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    text = f"AKIAIOSFODNN7EXAMPLE{between}{secret}"
    assert found(text) == [Replacement(0, 20), Replacement(len(text) - 40, len(text))]


def test_a_digest_behind_an_aws_access_key_is_kept():
    assert found(f"AKIAIOSFODNN7EXAMPLE {HEX[:40]}") == [Replacement(0, 20)]


@pytest.mark.parametrize(
    "text",
    [
        "task-force-planning-notes-2024",
        "disk-usage-report-final",
        "risk-assessment-matrix-v2",
        "sk-learning sk-circle",
        "7c311c86-7836-4f47-bffc-aa8c3cbf261e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ],
)
def test_words_and_ids_are_no_shapes(text: str):
    assert found(text) == []


@pytest.mark.parametrize("name", [*EXAMPLES, *KEPT_BEGINNINGS])
def test_every_shape_has_a_trigger(name: str):
    triggers = [shape.trigger for shape in SHAPES if shape.name == name]
    text = EXAMPLES[name][0] if name in EXAMPLES else "".join(KEPT_BEGINNINGS[name])
    assert all(re.search(trigger, text.lower()) for trigger in triggers)


KINDS = ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK")


@pytest.mark.parametrize("kind", KINDS)
def test_private_keys_go_whole_and_cut_ones_to_the_end(kind: str):
    key = f"-----BEGIN {kind}-----\nMIIE\n-----END {kind}-----"
    text = f"a {key} b {key} c -----BEGIN {kind}-----\nMII"
    views = TextViews(text)
    assert [text[:start] for start, _, _ in PRIVATE_KEYS.find_secrets(views)] == [
        "a ", f"a {key} b ", f"a {key} b {key} c "
    ]  # fmt: skip
    assert list(PRIVATE_KEYS.find_secrets(views))[-1].end == len(text)


@pytest.mark.parametrize("kind", ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY"])
def test_public_keys_and_certificates_are_kept(kind: str):
    views = TextViews(f"-----BEGIN {kind}-----\nMIIE\n-----END {kind}-----")
    assert list(PRIVATE_KEYS.find_secrets(views)) == []


@given(
    st.lists(st.sampled_from([*(one for pair in EXAMPLES.values() for one in pair), " ", "-", "_"]))
)
def test_candidates_are_where_secrets_are(pieces: list[str]):
    views = TextViews("".join(pieces))
    starts = {start for start, _, _ in KNOWN_SHAPES.find_secrets(views)}
    assert set(KNOWN_SHAPES.find_candidates(views)) <= starts
    assert bool(starts) is bool(KNOWN_SHAPES.find_candidates(views))
