"""Which field names hold a credential; knows names only, never values.

A name is compared without regard to case and to how its words are joined: `X-Api-Key`, `xApiKey`
and `x_api_key` are one name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SECRET_FIELD_NAMES = frozenset(
    """
    authorization proxy_authorization api_key apikey x_api_key x_goog_api_key token access_token
    refresh_token id_token cookie set_cookie secret client_secret password passwd passphrase jwt
    credentials session_key secret_key_base

    credential cookies secrets passwords api_keys access_keys access_tokens refresh_tokens
    auth_tokens private_keys secret_keys client_secrets

    db_pass database_pass mysql_pass postgres_pass pg_pass mongo_pass redis_pass smtp_pass
    mail_pass email_pass user_pass admin_pass root_pass login_pass auth_pass http_pass proxy_pass
    ftp_pass ssh_pass sudo_pass ldap_pass wifi_pass
    """.split()  # noqa: SIM905 - a hundred quotes would hide the words
)
"""Names that hold a credential by themselves, words joined by `_`."""

DATA_FIELD_NAMES = frozenset(
    """
    key tokens keys public_key pub_key primary_key foreign_key sort_key cache_key partition_key
    idempotency_key unique_key composite_key natural_key surrogate_key candidate_key alternate_key
    hash_key range_key row_key column_key group_key grouping_key index_key lookup_key search_key
    object_key bucket_key s3_key blob_key dedup_key dedupe_key deduplication_key routing_key
    binding_key message_key event_key record_key document_key item_key entry_key map_key dict_key
    json_key yaml_key config_key setting_key settings_key property_key attribute_key field_key
    param_key parameter_key argument_key header_key option_key translation_key i18n_key locale_key
    message_group_key shard_key distribution_key cluster_key clustering_key join_key merge_key
    order_key ordering_key compare_key comparison_key issue_key project_key ticket_key jira_key
    parent_key child_key node_key react_key list_key tree_key answer_key hot_key shortcut_key
    modifier_key arrow_key enter_key escape_key tab_key shift_key control_key ctrl_key alt_key
    meta_key cmd_key command_key space_key delete_key backspace_key return_key home_key end_key
    press_key any_key key_key registry_key feature_key flag_key state_key store_key context_key
    query_key mutation_key metric_key label_key tag_key category_key type_key class_key
    dimension_key first_key last_key next_key prev_key previous_key start_key current_key new_key
    old_key last_evaluated_key exclusive_start_key evaluated_key song_key musical_key major_key
    minor_key piano_key prompt_cache_key lock_key session_cache_key turkey monkey donkey file_key
    image_key job_key task_key team_key board_key epic_key template_key theme_key resource_key
    survey_key legend_key color_key version_key
    limit_key result_key input_key output_key allow_credentials

    page_token paging_token pagination_token skip_token delta_token resumption_token next_token
    next_page_token previous_page_token prev_page_token continuation_token sync_token
    next_sync_token cursor_token resume_token scroll_token position_token marker_token change_token
    cancellation_token cancel_token eos_token bos_token pad_token unk_token mask_token sep_token
    cls_token sos_token eot_token eom_token special_token special_tokens stop_token start_token
    end_token additional_special_token begin_token first_token last_token current_token
    previous_token prev_token peek_token lookahead_token syntax_token lexer_token parser_token
    word_token sub_token subword_token text_token image_token audio_token video_token vision_token
    image_pad_token fim_token prefix_token suffix_token middle_token separator_token newline_token
    space_token decoder_start_token forced_bos_token forced_eos_token max_token min_token num_token
    n_token total_token input_token output_token prompt_token completion_token reasoning_token
    thinking_token cached_token per_token cost_per_token price_per_token usd_per_token ms_per_token
    time_to_first_token time_per_output_token
    """.split()  # noqa: SIM905 - a hundred quotes would hide the words
)
"""Names that look like a credential's and hold ordinary data; also as the end of a longer name."""

_COMPOUND_ENDINGS = frozenset(
    {"token", "key", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "jwt"}
    | {"cookie", "credential", "credentials", "authorization"}
)
_CREDENTIAL_KEYS = frozenset(
    {"api", "access", "secret", "private", "session", "signing", "encryption", "master", "account"}
    | {"auth", "ssh", "deploy", "license", "subscription", "consumer", "shared", "storage", "priv"}
)
"""What stands before the word key in the names that are a credential's and nothing else's."""
_AFTER_PASS = ("word", "wd", "phrase", "code")
_JOINED_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "token", "apikey", "secretkey", "privatekey"),
    *("accesskey", "sessionkey", "signingkey", "encryptionkey", "masterkey", "accountkey"),
    *("authkey", "sshkey", "privkey"),
)
"""How a secret name ends whose words are not told apart, as `mypassword`."""
_JOINED_SECRETS = frozenset(name.replace("_", "") for name in SECRET_FIELD_NAMES)
_JOINED_DATA = frozenset(name.replace("_", "") for name in DATA_FIELD_NAMES)
_AFTER_NAME = " \t\"'`\\]*?:_.-"
"""What may follow a name inside of its quotes, as in `"Password:"`."""
_LONGEST_NAME = 100
_MOST_SPACED_WORDS = 3
_HEADER_NAME = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_WORD_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_QUERY_ONLY_NAME = re.compile(r"(?ai)key|(?:[\w.-]+[_.-])?sig(?:nature)?")


def is_secret_field(name: str) -> bool:
    """Say whether a field of this name holds a credential.

    Args:
        name: The field's name as it was written; one with dots counts by its last parts, a long
            one by its last 100 characters.

    Returns:
        True for the names of `SECRET_FIELD_NAMES` and for any compound name that ends like one,
        unless the end is one of `DATA_FIELD_NAMES`.

    Example:
        >>> is_secret_field("X-Session-Token"), is_secret_field("clientSecret")
        (True, True)
        >>> is_secret_field("max_tokens"), is_secret_field("next_page_token")
        (False, False)
    """
    return _is_secret(name[-_LONGEST_NAME:])


def _words(name: str) -> list[str]:
    """Split a name into its words, in lower case, a number at its end left out; never empty."""
    words = [word.lower() for word in _WORD_EDGE.split(name) if word] or [""]
    words[-1] = words[-1].rstrip("0123456789") or words[-1]
    if words[-1].isdigit() and len(words) > 1:
        words.pop()
    return words


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    words = _words(name)
    if not name.rstrip(_AFTER_NAME)[-1:].isalnum():
        return False
    if " " in name and len(words) > _MOST_SPACED_WORDS:
        return False
    if "." in name and is_vague_secret(name):
        return False
    joined, last = "".join(words), words[-1]
    if joined in _JOINED_DATA or any("_".join(words[at:]) in DATA_FIELD_NAMES for at in (-2, -3)):
        return False
    if len(words) == 1:
        return joined in _JOINED_SECRETS or joined.endswith(_JOINED_ENDINGS)
    return (
        last in _COMPOUND_ENDINGS
        or any("_".join(words[at:]) in SECRET_FIELD_NAMES for at in (-2, -3))
        or last.endswith(_JOINED_ENDINGS)
        or (words[-2] == "pass" and last in _AFTER_PASS)
    )


def is_vague_secret(name: str) -> bool:
    """Say whether a secret name is one of programs as often, as `limit_key` is.

    In a text, where what a field is cannot be known, only a made-up value is a credential then.
    """
    words = _words(name)
    return words[-1] == "key" and (len(words) == 1 or words[-2] not in _CREDENTIAL_KEYS)


def last_word(name: str) -> str:
    """Return the last word of a name, in lower case."""
    return _words(name)[-1]


def is_query_secret(name: str) -> bool:
    """Say whether a name holds a credential in the query of a URL, though data elsewhere."""
    return _QUERY_ONLY_NAME.fullmatch(name) is not None


def is_header_pair(name: str, value: str) -> bool:
    """Say whether two texts that stand alone in a list are a header and its secret value.

    In a list of lists every secret name counts; alone, `["password", "token"]` may be a list of
    names, so that only an HTTP header with something that is no name is a pair.

    Args:
        name: The first text.
        value: The second.

    Returns:
        True for `["x-api-key", "v4lue"]`.
    """
    is_header = "-" in name or name.lower() in {"authorization", "cookie"}
    return is_header and is_secret_field(name) and _HEADER_NAME.fullmatch(value) is None


def _alternatives(words: Iterable[str]) -> str:
    """Build a pattern of words, grouped by their first letter because that is tried faster."""
    groups = groupby(sorted(words, reverse=True), key=lambda word: word[0])
    return "|".join(
        f"{letter}(?:{'|'.join(word[1:] for word in group)})" for letter, group in groups
    )


_ENDINGS = (
    *("auth", "authorization", "cookie", "credential", "jwt", "key", "pass", "pwd", "secret"),
    *("sig", "signature", "token", "key_base"),
)
_PASS_WORDS = rf"pass[_. -]?(?:{'|'.join(_AFTER_PASS)})"
_SDROW_SSAP = rf"(?:{'|'.join(word[::-1] for word in _AFTER_PASS)})[_. -]?ssap"
_SGNIDNE = rf"(?:{_alternatives(word[::-1] for word in _ENDINGS)}|{_SDROW_SSAP})"

NAME_ENDING = rf"(?:{_alternatives(_ENDINGS)}|{_PASS_WORDS})s?(?:[_.-]?[0-9]{{1,8}})?[_-]?"
"""How every name that may hold a credential ends, in lower case, as a pattern."""

NAME_ENDING_BACKWARDS = rf"(?:[0-9_-][0-9_.-]{{0,9}})?+(?:{_SGNIDNE}|s{_SGNIDNE})"
"""The same for a text read backwards."""

NAME_TRIGGERS = (
    "auth",
    "cookie",
    "credential",
    "jwt",
    "key",
    "pass",
    "pwd",
    "secret",
    "sig",
    "token",
)
"""In every such name there is one of these."""
