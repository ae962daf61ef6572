"""The examples of the README run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dragoman import Runtime, ScriptedProvider, TranslationRequest
from dragoman.scenarios import replay_file

from .providers.server import FaultServer, source_of

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


def test_the_example_without_provider_and_feature_prints_what_its_comments_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(compile(blocks("python")[3], "README", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["Guten Morgen", "Hallo"]


def test_the_feature_of_the_readme_takes_translations_all_or_nothing() -> None:
    names: dict[str, Any] = {}
    exec(compile(blocks("python")[4], "README", "exec"), names)
    rows = {"r1": {"name": "salt", "unit": "bag"}, "r2": {"name": "oil", "unit": "can"}}
    with Runtime() as runtime:
        request = TranslationRequest("t1", "s1", {name: list(row.values()) for name, row in rows.items()}, "de")
        translation = runtime.translate(request, provider=ScriptedProvider(), feature=names["Table"](rows))
        translation.started.get()
        runtime.respond("t1/1", translations={"r1": ["Salz", "Sack"], "r2": ["Öl", "Dose"]}).get()
        assert translation.get().quality == "COMPLETE"
        assert [turn.assistant for turn in runtime.history("s1").get()] == ["SalzSack", "ÖlDose"]
    assert rows == {"r1": {"name": "Salz", "unit": "Sack"}, "r2": {"name": "Öl", "unit": "Dose"}}


def test_the_example_of_a_page_translates_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "<html><head><title>A page</title></head><body><h1>Hello</h1><p>Some <i>words</i></p><p>Bye</p></body></html>"
    )
    (tmp_path / "page.html").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        exec(compile(blocks("python")[5], "README", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["COMPLETE 4 of 4"]
    page = (tmp_path / "page.fr.html").read_text(encoding="utf-8")
    assert "<p>⟦Some ⟧<i>⟦words⟧</i></p>" in page
    assert source_of(page) == source


def test_the_content_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[6], "README", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "{'mar': 900, 'apr': 950}",
        "c1 FULL_FETCH {'mar': 900, 'apr': 950}",
        "2 refs for the prompt",
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
