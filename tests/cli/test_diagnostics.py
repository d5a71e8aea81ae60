from __future__ import annotations

import inspect
import logging
import sys
from pathlib import Path

import pytest

from openprogram import errors
from openprogram.cli import _diagnostics
from openprogram.cli._diagnostics import VERDICTS, UsageError, describe, to_json, verdict_on
from openprogram.providers.comparison import MISSING


def test_every_error_class_meets_a_verdict_of_its_own_family() -> None:
    ours = [
        member
        for _, member in inspect.getmembers(errors, inspect.isclass)
        if issubclass(member, errors.OpenProgramError)
    ]
    assert len(ours) > 15
    for class_ in ours:
        verdict = next(verdict for type_, verdict in VERDICTS if issubclass(class_, type_))
        assert verdict.exit_code == _diagnostics.FAILED


def test_no_class_is_shadowed_by_a_base_that_stands_before_it() -> None:
    for index, (class_, _) in enumerate(VERDICTS):
        assert not any(issubclass(class_, earlier) for earlier, _ in VERDICTS[:index])


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (UsageError("x"), 2),
        (KeyboardInterrupt(), 130),
        (errors.ReplayMismatch(0, "context", 1, 2), 1),
        (OSError(28, "No space left on device"), 1),
        (ZeroDivisionError("x"), 1),
    ],
)
def test_exit_codes(error: BaseException, exit_code: int) -> None:
    assert verdict_on(error).exit_code == exit_code


def test_an_error_is_one_printable_line_whatever_it_quotes() -> None:
    for error in (
        errors.OpenProgramError("a\nb\x1b[2J"),
        OSError(2, "No such\nfile", "/tmp/\x1b[31m"),
        ValueError("x\u202ey" * 4000),
    ):
        assert describe(error).isprintable()
        assert len(describe(error)) < 2500


def test_a_mismatch_keeps_its_hint_on_lines_of_its_own() -> None:
    error = errors.ReplayMismatch(1, "context.messages[2]", "a", "b", hint="next:\x1b\n  look")
    head, *hint = describe(error).split("\n")
    assert head.startswith("replay mismatch at call 1, field context.messages[2]")
    assert hint == [r"next:\x1b", "  look"]


def test_a_defect_says_how_to_report_it() -> None:
    text = describe(KeyError("k"))
    assert "KeyError" in text
    assert "OPENPROGRAM_DEBUG=1" in text


def test_the_json_of_a_bad_file_has_the_fields_of_a_list_row() -> None:
    error = errors.RecordingFileError(Path("/r"), "invalid_json", "no JSON", 3, 1)
    assert to_json(error) == {
        "error": {
            "code": "invalid_json",
            "reason": "no JSON",
            "line_number": 3,
            "call_index": 1,
        }
    }


def test_the_json_of_a_replay_that_parts_says_where() -> None:
    error = errors.ReplayMismatch(2, "options.seed", 7, MISSING)
    fields = to_json(error)["error"]
    assert isinstance(fields, dict)
    assert (fields["call_index"], fields["field_path"]) == (2, "options.seed")
    assert fields["recorded"] == 7
    assert "incoming" not in fields
    ended = to_json(errors.RecordedCallInterrupted(3, "cancelled"))["error"]
    assert isinstance(ended, dict)
    assert (ended["call_index"], ended["outcome"]) == (3, "cancelled")


@pytest.mark.parametrize(
    ("met", "code"),
    [
        ("CredentialMissingError", "credential_missing"),
        ("ReplayMismatch", "replay_mismatch"),
        ("usage", "usage"),
        ("worker_stopped", "worker_stopped"),
        ("annotations", "annotations"),
    ],
)
def test_what_a_worker_met_has_the_word_that_it_has_here(met: str, code: str) -> None:
    fields = to_json(errors.WorkerError("x", code=met))["error"]
    assert isinstance(fields, dict)
    assert fields["code"] == code


def test_the_traceback_is_shown_only_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = ValueError("boom")
    _diagnostics.report(error)
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setenv("OPENPROGRAM_DEBUG", "1")
    _diagnostics.report(error)
    assert capsys.readouterr().err.startswith("ValueError: boom\n")


def test_a_standard_error_that_takes_nothing_is_no_crash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = (tmp_path / "gone").open("w")
    gone.close()
    monkeypatch.setattr(sys, "stderr", gone)
    _diagnostics.say("nobody hears this")


def test_log_warnings_are_one_line_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("openprogram"), "handlers", [])
    _diagnostics.show_log_warnings()
    logging.getLogger("openprogram.x").warning("moved %s", "a\x1b\nb")
    assert capsys.readouterr().err == "warning: moved a\\x1b\\nb\n"
