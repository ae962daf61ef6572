"""The command `translate`: files in, files out, and an exit status that tells the truth."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import run
from dragoman.document_files import KINDS

from ..providers.server import Fault, FaultServer, Recorded, source_of, translation_of

KEY = "sk-that-nobody-may-see"

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>A small page</title></head><body>
<h1>The first heading</h1>
<p>Some <b>bold</b> words in a sentence.</p>
<pre>x = 1</pre>
<ul><li>One thing to say</li><li>Another thing to say</li></ul>
<p>The last words of it.</p>
</body></html>
"""
SENTENCES = [f"This is sentence number {number} of the book." for number in range(1, 31)]

Dragoman = Callable[..., int]


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "page.html").write_text(PAGE, encoding="utf-8")
    (work / "book.txt").write_text("\n\n".join(SENTENCES) + "\n", encoding="utf-8")
    return work


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as made:
        yield made


def translate(server: FaultServer | None, *arguments: str) -> int:
    where = () if server is None else ("--base-url", server.base_url, "--model", "m1")
    return run(["translate", *arguments, "--to", "de", *where])


def lines_of(text: str) -> list[str]:
    return text.strip().split("\n\n")


def test_a_page_is_translated_beside_it(folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert translate(server, "page.html") == 0
    page = (folder / "page.de.html").read_text(encoding="utf-8")
    assert source_of(page) == PAGE
    assert "<h1>⟦The first heading⟧</h1>" in page
    assert "<p>⟦Some ⟧<b>⟦bold⟧</b>⟦ words in a sentence.⟧</p>" in page
    assert "<pre>x = 1</pre>" in page
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == "page.html → page.de.html: 6 of 6 translated"
    assert said.err == ""
    assert sorted(path.name for path in folder.iterdir()) == ["book.txt", "page.de.html", "page.html"]


def test_the_summary_as_json_tells_the_same(
    folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert translate(server, "page.html", "book.txt", "--json", "--concurrency", "3") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["complete"], told["accepted"], told["parents"], told["resumed"]) == (True, 36, 36, 0)
    assert told["input_tokens"] > 0
    assert [(one["file"], one["out"], one["accepted"], one["kept"]) for one in told["documents"]] == [
        ("page.html", "page.de.html", 6, []),
        ("book.txt", "book.de.txt", 30, []),
    ]
    assert lines_of((folder / "book.de.txt").read_text(encoding="utf-8")) == [translation_of(s) for s in SENTENCES]


def test_files_share_the_conversation_in_the_order_in_which_they_are_named(server: FaultServer) -> None:
    assert translate(server, "page.html", "book.txt", "--concurrency", "1", "--context-turns", "1") == 0
    first_of_the_book = next(request for request in server.completions if SENTENCES[0] in request.prompt)
    context = [message["content"] for message in first_of_the_book.body["messages"][1:-1]]
    assert context == ["The last words of it.", translation_of("The last words of it.")]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25, 0.5])
def test_with_faults_the_summary_tells_the_truth(folder: Path, capsys: pytest.CaptureFixture[str], rate: float) -> None:
    kinds = [fault for fault in Fault if fault is not Fault.HANG]
    with FaultServer(rate, kinds=kinds, seed=11) as server:
        status = translate(server, "book.txt", "page.html", "--json", "--concurrency", "8", "--request-parents", "2")
    told = json.loads(capsys.readouterr().out)
    assert status == (0 if told["complete"] else 1)
    book, page = told["documents"]
    written = (folder / "book.de.txt").read_text(encoding="utf-8")
    assert source_of(written) == (folder / "book.txt").read_text(encoding="utf-8"), "nothing is lost or doubled"
    assert source_of((folder / "page.de.html").read_text(encoding="utf-8")) == PAGE
    kept = {int(entry["parent"].strip("bp")) for entry in book["kept"]}
    for number, (shown, source) in enumerate(zip(lines_of(written), SENTENCES, strict=True), 1):
        assert shown == (source if number in kept else translation_of(source)), number
    assert book["accepted"] == 30 - len(kept)
    assert all(entry["reason"] for document in (book, page) for entry in document["kept"])
    if rate == 0:
        assert told["complete"]


def test_what_was_refused_is_kept_with_its_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    echo = {1: Fault.ECHO}
    with FaultServer(echo) as server:
        assert translate(server, "page.html", "--request-parents", "2", "--concurrency", "1") == 1
    said = capsys.readouterr().out
    assert "  source kept, UNTRANSLATED (the answer was the source itself): b1, b2\n" in said
    assert "4 of 6 translated" in said
    page = (folder / "page.de.html").read_text(encoding="utf-8")
    assert "<title>A small page</title>" in page
    assert "⟦The last words of it.⟧" in page


def test_a_second_run_asks_only_for_the_rest_and_comes_to_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(number: int, _text: str) -> Fault | None:
        return Fault.WRONG_KEY if number in (2, 5) else None

    with FaultServer(refuses) as server:
        assert translate(server, "book.txt", "--concurrency", "1") == 1
        asked = len(server.completions)
        assert translate(server, "book.txt", "--concurrency", "1") == 0
        again = server.completions[asked:]
    assert asked == 6
    assert [[unit for unit, _text in request.units or ()] for request in again] == [
        [f"{letter}{n}" for n in range(6, 11)]
        for letter in again[0].units[0][0][0]  # type: ignore[index]
    ] + [[f"{letter}{n}" for n in range(21, 26)] for letter in again[0].units[0][0][0]]  # type: ignore[index]
    assert "30 of 30 translated, 20 of them in an earlier run" in capsys.readouterr().out
    assert lines_of((folder / "book.de.txt").read_text(encoding="utf-8")) == [translation_of(s) for s in SENTENCES]
    context = [message["content"] for message in again[1].body["messages"][1:-1]]
    assert context == [text for s in SENTENCES[16:20] for text in (s, translation_of(s))], "as if never interrupted"


def test_without_resuming_all_is_paid_again(server: FaultServer) -> None:
    assert translate(server, "page.html") == 0
    asked = len(server.completions)
    assert translate(server, "page.html") == 0
    assert len(server.completions) == asked
    assert translate(server, "page.html", "--no-resume") == 0
    assert len(server.completions) == 2 * asked


def test_the_history_is_where_it_was_said_and_for_its_owner_alone(folder: Path, server: FaultServer) -> None:
    assert translate(server, "page.html", "--history", "own.db") == 0
    assert (folder / "own.db").is_file()
    assert not (folder.parent / "state").exists()
    assert translate(server, "page.html") == 0
    kept = folder.parent / "state" / "dragoman"
    assert kept.stat().st_mode & 0o077 == 0
    assert (kept / "feature-history.db").is_file()


def usage_error(capsys: pytest.CaptureFixture[str], status: int) -> str:
    assert status == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert KEY not in line
    assert line.startswith("dragoman: ")
    return line.removeprefix("dragoman: ")


@pytest.mark.parametrize("tag", ["xx", "german", "", "de_DE", "1"])
def test_an_unknown_language_is_one_line(capsys: pytest.CaptureFixture[str], tag: str) -> None:
    assert "--to" in usage_error(capsys, run(["translate", "page.html", "--to", tag, "--model", "m1"]))
    line = usage_error(capsys, run(["translate", "page.html", "--to", "de", f"--from={tag}", "--model", "m1"]))
    assert "--from" in line


def unusable(folder: Path) -> dict[str, tuple[str, ...]]:
    (folder / "binary.txt").write_bytes(b"\x7fELF\x00\x01\x02")
    (folder / "latin.txt").write_bytes("Grüße an alle".encode("latin-1"))
    (folder / "broken.srt").write_text("no cue at all", encoding="utf-8")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n")
    return {
        "missing.txt": ("does not exist",),
        ".": ("regular file", "--format"),
        "binary.txt": ("binary",),
        "latin.txt": ("utf-8", "encoding"),
        "broken.srt": ("broken.srt",),
        "image.png": ("--format",),
    }


@pytest.mark.parametrize("name", ["missing.txt", ".", "binary.txt", "latin.txt", "broken.srt", "image.png"])
def test_a_file_that_cannot_be_translated_is_one_line_and_costs_nothing(
    folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    words = unusable(folder)[name]
    line = usage_error(capsys, translate(server, "page.html", name))
    assert name in line
    assert any(word in line for word in words)
    assert server.requests == []
    assert not (folder / "page.de.html").exists()


def test_a_file_in_another_encoding_is_read_and_written_in_it(
    folder: Path,
) -> None:
    (folder / "latin.txt").write_bytes("Grüße an alle".encode("cp1252"))
    with FaultServer(reply=_backwards) as backwards:
        assert translate(backwards, "latin.txt", "--encoding", "cp1252") == 0
    assert (folder / "latin.de.txt").read_bytes() == "ella na eßürG".encode("cp1252")


def _backwards(request: Recorded) -> Any:
    if request.units is None:
        return None
    items = [{"id": unit, "text": text[::-1]} for unit, text in request.units]
    message = {"role": "assistant", "content": json.dumps({"translations": items})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return 200, {}, {"id": "c", "object": "chat.completion", "model": "m", "created": 1, "choices": [choice]}


def test_no_server_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FaultServer() as gone:
        address = gone.base_url
    status = run(["translate", "page.html", "--to", "de", "--base-url", address, "--model", "m1"])
    line = usage_error(capsys, status)
    assert "127.0.0.1" in line
    assert not (folder / "page.de.html").exists()


@pytest.mark.parametrize("fault", [Fault.WRONG_KEY, Fault.NO_BALANCE])
def test_a_key_that_is_refused_is_told_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], fault: Fault
) -> None:
    with FaultServer(lambda _number, _text: fault) as server:
        status = translate(server, "book.txt")
        assert len(server.completions) <= 8
    assert status == 2
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    (line,) = said.err.splitlines()
    assert "the key" in line
    assert not (folder / "book.de.txt").exists()


def test_no_key_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    line = usage_error(capsys, run(["translate", "page.html", "--to", "de", "--provider", "openai", "--model", "m1"]))
    assert "OPENAI_API_KEY" in line


def test_a_file_of_keys_is_used_and_one_that_is_none_is_told(
    folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "keys").write_text("first-key\nsecond-key\n", encoding="utf-8")
    assert translate(server, "page.html", "--key-file", "keys") == 0
    assert {request.key for request in server.completions} == {"first-key"}
    capsys.readouterr()
    assert "nowhere" in usage_error(capsys, translate(server, "page.html", "--key-file", "nowhere"))


def test_a_model_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--model" in usage_error(capsys, run(["translate", "page.html", "--to", "de", "--provider", "openai"]))


def test_a_command_has_to_be_told_its_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--from" in usage_error(capsys, run(["translate", "page.html", "--to", "de", "--command", "cat"]))
    line = usage_error(
        capsys, run(["translate", "page.html", "--to", "de", "--from", "en", "--command", "no-such-program-here"])
    )
    assert "no-such-program-here" in line


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("concurrency", "0"),
        ("request-parents", "0"),
        ("context-turns", "-1"),
        ("timeout", "-1"),
        ("timeout", "nan"),
        ("history", "."),
    ],
)
def test_an_option_out_of_range_is_named(
    server: FaultServer, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    assert f"--{option}" in usage_error(capsys, translate(server, "page.html", f"--{option}={value}"))


def test_the_output_goes_where_it_was_said(folder: Path, server: FaultServer) -> None:
    (folder / "out").mkdir()
    assert translate(server, "page.html", "book.txt", "-o", "out") == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["book.de.txt", "page.de.html"]
    assert translate(server, "page.html", "-o", "other.html") == 0
    assert (folder / "other.html").read_bytes() == (folder / "out" / "page.de.html").read_bytes()


def test_places_where_no_file_can_go_are_told_before_anything_is_asked(
    folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "page.html").write_text(PAGE, encoding="utf-8")
    os.mkfifo(folder / "pipe")
    for arguments, word in (
        (("page.html", "-o", "page.html"), "to be translated"),
        (("page.html", "-o", "nowhere/x.html"), "does not exist"),
        (("page.html", "-o", "pipe"), "regular"),
        (("page.html", "book.txt", "-o", "one.html"), "folder"),
        (("page.html", "a/page.html", "-o", "a"), "both"),
        (("page.html", "page.html"), "both"),
    ):
        assert word in usage_error(capsys, translate(server, *arguments)), arguments
    assert server.requests == []


def test_a_full_disk_is_one_line_and_leaves_what_was_there(
    folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "page.de.html").write_text("what was there", encoding="utf-8")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("dragoman.whole_file.os.fsync", full)
        line = usage_error(capsys, translate(server, "page.html"))
    assert os.strerror(errno.ENOSPC) in line
    assert (folder / "page.de.html").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in folder.iterdir()) == ["book.txt", "page.de.html", "page.html"]
    asked = len(server.completions)
    assert translate(server, "page.html") == 0
    assert len(server.completions) == asked, "what was accepted is not paid for again"


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_stays_one(folder: Path, server: FaultServer) -> None:
    (folder / "real.html").write_text("before", encoding="utf-8")
    (folder / "real.html").chmod(0o640)
    (folder / "page.de.html").symlink_to("real.html")
    assert translate(server, "page.html") == 0
    assert (folder / "page.de.html").is_symlink()
    assert (folder / "real.html").stat().st_mode & 0o777 == 0o640
    assert "⟦" in (folder / "real.html").read_text(encoding="utf-8")


def test_whoever_reads_the_old_file_meanwhile_reads_all_of_it(folder: Path, server: FaultServer) -> None:
    (folder / "page.de.html").write_text("what was there", encoding="utf-8")
    with (folder / "page.de.html").open(encoding="utf-8") as reader:
        assert translate(server, "page.html") == 0
        assert reader.read() == "what was there"


def test_what_has_nothing_to_translate_is_complete_and_copied(folder: Path, server: FaultServer) -> None:
    (folder / "code.html").write_text("<pre>x = 1</pre>", encoding="utf-8")
    assert translate(server, "code.html") == 0
    assert (folder / "code.de.html").read_text(encoding="utf-8") == "<pre>x = 1</pre>"


def test_what_nothing_was_translated_of_is_not_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FaultServer(lambda _number, _text: Fault.FILTERED) as server:
        assert translate(server, "page.html") == 1
    assert "not written: 0 of 6" in capsys.readouterr().out
    assert not (folder / "page.de.html").exists()


def test_a_right_to_left_language_is_set_in_the_page(folder: Path) -> None:
    def arabic(request: Recorded) -> Any:
        if request.units is None:
            return None
        items = [{"id": unit, "text": "".join("ع" if c.isalpha() else c for c in text)} for unit, text in request.units]
        message = {"role": "assistant", "content": json.dumps({"translations": items})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, {}, {"id": "c", "object": "chat.completion", "model": "m", "created": 1, "choices": [choice]}

    (folder / "plain.html").write_text("<html><p>Some words here</p></html>", encoding="utf-8")
    with FaultServer(reply=arabic) as server:
        where = ["--base-url", server.base_url, "--model", "m1"]
        assert run(["translate", "plain.html", "--to", "ar", *where]) == 0
    assert (folder / "plain.ar.html").read_text(encoding="utf-8").startswith('<html dir="rtl">')


def test_every_kind_of_document_can_be_named(folder: Path, server: FaultServer) -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\nHello there\n"
    sources = {"html": "<p>Hello there</p>", "markdown": "# Hello there\n", "subtitles": cue, "text": "Hello there\n"}
    assert set(sources) == set(KINDS)
    for kind, source in sources.items():
        (folder / f"{kind}.x").write_text(source, encoding="utf-8")
        assert translate(server, f"{kind}.x", "--format", kind) == 0
        written = (folder / f"{kind}.de.x").read_text(encoding="utf-8")
        assert written == source.replace("Hello there", "⟦Hello there⟧")
