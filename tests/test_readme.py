"""The examples of the README run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragoman.scenarios import replay_file

README = Path(__file__).parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[0], "README", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["ACCEPTED ()", "ACCEPTED ('p1', 'p2')"]
    assert lines[2:] == [
        "system Translate to German.",
        "user Hello",
        "assistant Hallo",
        "user World",
        "assistant Welt",
        "user Good night",
    ]


def test_the_asyncio_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[1], "README", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["REGISTERED", "REJECTED", "()"]


def test_the_translation_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[2], "README", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "COMPLETED COMPLETE ['GOOD ', 'NIGHT', '!']",
        "['HELLO', 'GOOD NIGHT!']",
    ]


def test_the_scenario_of_the_readme_passes(tmp_path: Path) -> None:
    file = tmp_path / "readme.yaml"
    file.write_text(blocks("yaml")[0], encoding="utf-8")
    assert replay_file(file).passed


def test_the_readme_names_the_two_commands() -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    test_command = commands[1].strip()
    assert test_command in (README.parent / ".ci" / "run").read_text(encoding="utf-8")
