"""Every page is in the site, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = sorted((CHECKOUT / "docs").glob("*.md"))
TEXTS = [*PAGES, *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
SITE = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8")


def _prose(path: Path) -> str:
    return re.sub(r"(?ms)^```.*?^```$", "", path.read_text(encoding="utf-8"))


def _anchors(path: Path) -> set[str]:
    heads = re.findall(r"(?m)^#+ (.*)$", _prose(path))
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_the_site_shows_every_page_once():
    nav = SITE.partition("\nnav:\n")[2].partition("\nvalidation:")[0]
    assert sorted(re.findall(r"(?m)^  - .+: (\S+\.md)$", nav)) == [path.name for path in PAGES]


def test_the_site_fetches_nothing_and_is_strict():
    assert "\nstrict: true\n" in SITE
    assert "\nplugins: []\n" in SITE
    assert "\n  highlightjs: false\n" in SITE
    assert re.findall(r"(?m)^    (?:\w+): (?!warn$).*$", SITE.partition("validation:")[2]) == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path):
    links = re.findall(r"\]\(([^)\s]+)\)", _prose(path))
    for link in links:
        target, _, anchor = link.partition("#")
        assert not target.startswith("/")
        if target.startswith("https://"):
            continue
        found = path.parent / target if target else path
        assert found.exists(), link
        assert not anchor or anchor in _anchors(found), link
        if path in PAGES:
            assert found.parent == path.parent, f"{link} leads out of the site"


def test_the_first_page_leads_to_every_other():
    home = (CHECKOUT / "docs" / "index.md").read_text(encoding="utf-8")
    names = {path.name for path in PAGES} - {"index.md"}
    assert set(re.findall(r"\]\((\w+\.md)\)", home)) == names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_block_is_left_open(path: Path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert sum(line.startswith("```") for line in lines) % 2 == 0
