"""The Pythons that the Makefile looks for are those that the project says it runs on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def test_makefile_classifiers_and_the_least_version_agree():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    looked_for = re.findall(r"\bpython(3\.\d+)\b", (CHECKOUT / "Makefile").read_text())
    assert len(named) > 1
    assert sorted(set(looked_for)) == sorted(named)
    assert project["requires-python"] == f">={min(named)}"
