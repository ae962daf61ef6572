"""What the pages name exists: tests, scenarios, commands, places in pages, public names."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest
from cyclopts import CycloptsError

import dragoman
from dragoman import documents, metrics, pictures, providers, sharding
from dragoman.cli import app

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]
TIMELINES = ROOT / "scenarios" / "timelines"


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def names_of_tests() -> set[str]:
    sources = (text_of(file) for file in (ROOT / "tests").rglob("test_*.py"))
    return {name for source in sources for name in re.findall(r"^(?:async )?def (test_\w+)", source, re.MULTILINE)}


def commands() -> list[tuple[str, str]]:
    """The `dragoman` command lines of the pages, by their page, joined where they go on, and without comments."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", text_of(page), re.DOTALL):
            lines = block.replace("\\\n", " ").splitlines()
            found += [(page.stem, line[2:]) for line in lines if line.startswith("$ dragoman ")]
    return found


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts and the site make them."""
    plain = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_guarantee_names_what_holds_it() -> None:
    page = text_of(DOCS / "guarantees.md").partition("## Not promised")[0]
    statements = re.split(r"\n- ", page)[1:]
    assert len(statements) > 30
    for statement in statements:
        assert re.search(r"[Hh]eld by", statement), statement.splitlines()[0]


def test_what_holds_a_guarantee_exists() -> None:
    page = text_of(DOCS / "guarantees.md")
    tests = re.findall(r"`(test_\w+)`", page)
    folders = "|".join(folder.name for folder in TIMELINES.iterdir() if folder.is_dir())
    scenarios = re.findall(rf"`((?:{folders})/[\w/-]+)`", page)
    assert len(tests) > 30
    assert len(scenarios) > 40
    assert set(tests) <= names_of_tests()
    for scenario in scenarios:
        assert (TIMELINES / f"{scenario}.yaml").exists(), scenario


def arguments_of(command: str) -> list[str]:
    """What stands behind `dragoman`, up to where the shell begins another command or sends the output somewhere."""
    words = shlex.split(command, comments=True)[1:]
    return list(itertools.takewhile(lambda word: not re.fullmatch(r"\d?[|&;<>]+.*", word), words))


def parse(command: str) -> None:
    app.parse_args(arguments_of(command), exit_on_error=False, print_error=False)


def test_the_pages_show_commands() -> None:
    assert {"translate", "explore", "load"} <= {command.split()[1] for _page, command in commands()}


@pytest.mark.parametrize(
    "command", [command for _page, command in commands()], ids=[f"{page}-{command}" for page, command in commands()]
)
def test_a_command_of_the_pages_can_be_given(command: str) -> None:
    parse(command)


@pytest.mark.parametrize(
    "command", ["dragoman replay --tmeline", "dragoman translate --to fr", "dragoman reply x.yaml"]
)
def test_a_command_that_cannot_be_given_is_noticed(command: str) -> None:
    with pytest.raises(CycloptsError):
        parse(command)


def test_of_a_pipe_the_first_command_is_looked_at() -> None:
    assert arguments_of("dragoman replay --json 2>log | head  # all") == ["replay", "--json"]


def test_every_anchor_of_a_link_exists() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", text_of(page)):
            there = page if not target else (page.parent / target).resolve()
            assert anchor in anchors(there), f"{page.name}: {target}#{anchor}"


def test_every_public_name_is_in_the_reference_once() -> None:
    page = text_of(DOCS / "site" / "api.md")
    named = re.findall(r"^\.\. auto\w+:: ([\w.]+)$", page, re.MULTILINE)
    public = [f"dragoman.{name}" for name in dragoman.__all__]
    for face in (documents, metrics, pictures, providers, sharding):
        ours = {name for name in face.__all__ if getattr(face, name) is not getattr(dragoman, name, None)}
        public += [f"{face.__name__}.{name}" for name in ours]
    assert sorted(named) == sorted(public)


def test_every_cause_of_a_stale_ack_is_explained() -> None:
    section = text_of(DOCS / "troubleshooting.md").partition("## My ACK is `STALE`")[2].partition("\n## ")[0]
    explained = re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE)
    assert sorted(explained) == sorted(dragoman.CloseCause)


def test_every_reason_of_a_missing_ref_is_explained() -> None:
    section = text_of(DOCS / "troubleshooting.md").partition("## The ref is missing")[2].partition("\n## ")[0]
    explained = re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)
    assert sorted(explained) == sorted(dragoman.MissReason)
