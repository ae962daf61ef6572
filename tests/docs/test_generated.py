"""The pages that are made from the product say what the product does."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import attrs
import pytest

import dragoman
from docs.generate import COMMAND, DOCS, pages
from docs.generate.circuit import CIRCUIT
from docs.generate.docstrings import of_members, table
from docs.generate.errors import error_names, exceptions, meanings, vocabularies
from docs.generate.promises import filled_in, not_promised
from docs.generate.settings import groups, taken, unit
from docs.generate.states import diagram, tables
from dragoman import DragomanError, InvalidSetting, ProviderPolicy, Settings
from dragoman.protocol.circuits import CircuitState

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("file", sorted(pages()), ids=lambda file: file.stem)
def test_a_generated_page_is_what_the_code_says_now(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == pages()[file], f"run `{COMMAND}` in the folder of the checkout"


def test_every_setting_is_on_the_page_once_with_a_meaning() -> None:
    meaning = of_members(Settings)
    on_page = [field.name for fields in groups().values() for field in fields]
    assert sorted(on_page) == sorted(field.name for field in attrs.fields(Settings))
    assert all(meaning.get(name) for name in on_page)
    lines = (DOCS / "settings.md").read_text(encoding="utf-8").splitlines()
    assert all(sum(line.startswith(f"| `{name}` |") for line in lines) == 1 for name in on_page)


@pytest.mark.parametrize("owner", [Settings, ProviderPolicy])
def test_what_a_setting_takes_is_what_its_error_says(owner: type) -> None:
    for field in attrs.fields(owner):
        with pytest.raises(InvalidSetting) as refused:
            owner(**{field.name: object()})
        said = refused.value.problem.replace("1000000000000", "1,000,000,000,000")
        assert taken(owner, field).removesuffix(", or None") in said


def test_a_setting_that_takes_anything_is_told() -> None:
    @attrs.frozen
    class Loose:
        anything: object = None

    with pytest.raises(LookupError, match=r"Loose\.anything takes anything"):
        taken(Loose, attrs.fields(Loose).anything)


@pytest.mark.parametrize(
    ("name", "takes", "expected"),
    [
        ("ack_window", "a number of seconds from 0 to 9", "seconds"),
        ("store_max_bytes", "a whole number from 0 to 9", "bytes"),
        ("prompt_chars", "a whole number from 0 to 9", "characters"),
        ("max_turns", "a whole number from 0 to 9", "count"),
        ("capture_errors", "true or false", "switch"),
        ("maintainers", "a list of names", "–"),
    ],
)
def test_a_setting_has_a_unit(name: str, takes: str, expected: str) -> None:
    assert unit(name, takes) == expected


def test_every_exception_of_the_face_says_what_to_do() -> None:
    assert exceptions()[0] is DragomanError
    assert {kind.__name__ for kind in exceptions()} >= {"WaitTimeout", "ProviderError", "InvalidDocument"}
    for kind in exceptions()[1:]:
        assert "What to do:" in " ".join((kind.__doc__ or "").split()), kind.__name__


def test_every_word_of_the_face_has_a_meaning() -> None:
    assert dragoman.AckStatus in vocabularies()
    for kind in vocabularies():
        assert of_members(kind).keys() == kind.__members__.keys(), kind.__name__


def test_every_error_name_has_a_meaning() -> None:
    assert meanings().keys() == set(error_names())


def test_every_error_name_of_a_shipped_provider_is_known() -> None:
    sources = [file.read_text("utf-8") for file in (ROOT / "dragoman" / "providers").glob("*.py")]
    raised = {name for source in sources for name in re.findall(r'raise ProviderError\(.*?"([A-Z_]+)"', source)}
    raised |= {name for source in sources for name in re.findall(r'raise ProviderError\(.* else "([A-Z_]+)"', source)}
    assert {"VALIDATION", "COMMAND_FAILED", "COMMAND_TIMED_OUT"} <= raised <= set(error_names())


def test_every_table_of_the_protocol_is_on_the_page() -> None:
    sources = (ROOT / "protocol").glob("*.py")
    named = {
        line.split(" ")[0] for file in sources for line in file.read_text("utf-8").splitlines() if "_TABLE = " in line
    }
    assert named == tables().keys()


def test_a_diagram_shows_every_move_and_nothing_else() -> None:
    for _text, lives in tables().values():
        drawn = diagram(lives)
        arrows = {line.strip().partition(":")[0] for line in drawn.splitlines() if " --> " in line}
        moves = {
            f"{state} --> {following}"
            for state, row in lives.items()
            for following in row.values()
            if following != state
        }
        assert arrows == moves | {f"[*] --> {next(iter(lives))}"}


def test_the_circuit_is_as_it_was_observed() -> None:
    found = {(state, following) for state, row in CIRCUIT.lives.items() for following in row.values()}
    closed, open_, probing = CircuitState.CLOSED, CircuitState.OPEN, CircuitState.PROBING
    assert found == {(closed, open_), (open_, probing), (probing, closed), (probing, open_)}


def test_the_text_below_a_member_is_its_meaning() -> None:
    class Light(StrEnum):
        """A lamp."""

        GREEN = "GREEN"
        """Go,
        if you can."""
        RED = "RED"

    assert of_members(Light) == {"GREEN": "Go,\nif you can."}


def test_a_cell_is_one_line_and_has_no_bar() -> None:
    assert table(("a",), [("x | y\n z",)]).splitlines()[-1] == "| x \\| y z |"


def test_what_a_module_does_not_promise_is_on_the_page_of_guarantees() -> None:
    said = not_promised()
    assert {"actors/mailbox.py", "actors/futures.py", "actors/history_file.py"} <= said.keys()
    page = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    assert all(f"- `{file}`: {text}\n" in page for file, text in said.items())


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        filled_in("# Guarantees\n")
