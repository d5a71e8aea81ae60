"""The wheel holds both packages whole, and nothing else."""

from __future__ import annotations

import configparser
import email
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openprogram import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = ("openprogram", "openprogram_recordings_tui")
DIST_INFO = f"openprogram-{__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """Build the wheel with the backend itself: no isolation, so nothing is fetched."""
    directory = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
    )
    (path,) = directory.iterdir()
    assert path.name == f"openprogram-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_it_holds_every_file_of_both_packages_and_no_other(wheel: zipfile.ZipFile) -> None:
    sources = {
        path.relative_to(CHECKOUT).as_posix()
        for package in PACKAGES
        for path in (CHECKOUT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if not name.startswith(f"{DIST_INFO}/")}
    assert packed == sources


def test_it_holds_what_is_not_python(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    assert any(name.endswith(".tcss") for name in names)
    assert f"{DIST_INFO}/licenses/LICENSE" in names
    assert b"Apache License" in wheel.read(f"{DIST_INFO}/licenses/LICENSE")


def test_it_installs_one_command_and_one_plugin(wheel: zipfile.ZipFile) -> None:
    parser = configparser.ConfigParser()
    parser.read_string(wheel.read(f"{DIST_INFO}/entry_points.txt").decode())
    assert {section: dict(parser[section]) for section in parser.sections()} == {
        "console_scripts": {"openprogram": "openprogram.__main__:main"},
        "pytest11": {"openprogram": "openprogram.pytest_plugin"},
    }


def test_its_metadata_says_what_a_run_needs(wheel: zipfile.ZipFile) -> None:
    metadata = email.message_from_bytes(wheel.read(f"{DIST_INFO}/METADATA"))
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert {line.split("<")[0].split(">")[0] for line in needed} == {
        "msgspec",
        "rich",
        "textual",
        "typer",
    }
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
