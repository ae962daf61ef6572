"""A program as a machine translator: what goes in, what comes out, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import (
    CallFormat,
    Completion,
    InvalidArgument,
    ProviderError,
    ProviderPolicy,
    Runtime,
    Settings,
    TextDocument,
    TranslationRequest,
)
from dragoman.protocol.calls import ProviderCall
from dragoman.providers import CommandProvider, ProviderUnavailable

from .wire_calls import judged, unit_of, wire_call

PATIENCE_S = 20.0
POLL_S = 0.01

UPPER = "import sys; sys.stdout.write(sys.stdin.read().upper())"
HAS_CHILD = (
    "import os, subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "open(sys.argv[1] + '.new', 'w').write(f'{os.getpid()} {child.pid}')\n"
    "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
)


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-S", "-c", program, *arguments]


def texts_call(*pieces: str, **facts: Any) -> ProviderCall:
    return wire_call([unit_of("p1", *pieces)], CallFormat.TEXTS, **facts)


def answered(provider: CommandProvider, *pieces: str, **facts: Any) -> tuple[str, ...] | None:
    return asyncio.run(provider.complete(texts_call(*pieces, **facts))).texts


def failed(provider: CommandProvider, *pieces: str, **facts: Any) -> str:
    with pytest.raises(ProviderError) as failure:
        answered(provider, *(pieces or ("private words",)), **facts)
    assert "private" not in f"{failure.value!r} {failure.value}"
    return failure.value.name


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        os.kill(pid, 0)
        return not stat.parent.parent.is_dir() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def pids_in(file: Path) -> list[int]:
    return [int(pid) for pid in file.read_text().split()]


def test_each_text_goes_through_a_process_of_its_own() -> None:
    names_itself = "import os, sys; print(os.getpid(), sys.stdin.read().strip())"
    texts = answered(CommandProvider(python(names_itself)), "one", "two", "three")
    assert texts is not None
    numbers, words = zip(*(text.split() for text in texts), strict=True)
    assert words == ("one", "two", "three")
    assert len(set(numbers)) == 3


def test_outer_white_space_stays_and_a_blank_text_does_not_go_in() -> None:
    shows = "import sys; print(repr(sys.stdin.read()))"
    provider = CommandProvider(python(shows))
    assert answered(provider, "\n  a b ", " \t", "", "c\nd") == ("\n  'a b\\n' ", " \t", "", "'c\\nd\\n'")


@given(st.text(st.characters(codec="utf-8"), max_size=12).map(lambda text: text.replace("\r", "\n")))
def test_the_white_space_around_a_text_is_told_from_the_text(text: str) -> None:
    provider = CommandProvider(["unused"])

    async def echo(_command: object, given: bytes) -> bytes:
        return given

    provider._run = echo  # type: ignore[method-assign]
    assert answered(provider, text) == (text,)


def test_the_answer_of_a_program_is_a_good_one() -> None:
    units = [unit_of("p1", "Hello ", "big", " world"), unit_of("p2", "Bye")]
    call = wire_call(units, CallFormat.TEXTS)
    completion = asyncio.run(CommandProvider(python(UPPER)).complete(call))
    assert completion == Completion(texts=("HELLO ", "BIG", " WORLD", "BYE"))
    assert judged(call, units, completion).good


def test_languages_are_told_as_tags_or_with_three_letters() -> None:
    pytest.importorskip("langcodes", reason="the extra documents is not installed")
    tells = "import sys; print(' '.join(sys.argv[1:]))"
    provider = CommandProvider(python(tells, "{source}-{target}", "{source3}_{target3}", "{other}"))
    assert answered(provider, "x", target_language="pt-BR") == ("en-pt-BR eng_por {other}",)


@pytest.mark.parametrize("tag", ["auto", "", "-x", "en; ls", "und"])
def test_a_language_that_is_none_is_not_told(tag: str) -> None:
    assert failed(CommandProvider(python(UPPER, "{source}")), source_language=tag) == "VALIDATION"
    assert answered(CommandProvider(python(UPPER)), "x", source_language=tag) == ("X",)


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    made = tmp_path / "made"
    tells = "import sys; print(sys.argv[1])"
    assert answered(CommandProvider(python(tells, f"$(touch {made}); `touch {made}`")), "x") is not None
    assert not made.exists()


@pytest.mark.parametrize("status", ["3", "'private words'"])
def test_an_exit_status_other_than_0_fails_the_call(status: str, capfd: pytest.CaptureFixture[str]) -> None:
    complains = f"import sys; print(sys.stdin.read(), file=sys.stderr); print('half an answer'); sys.exit({status})"
    assert failed(CommandProvider(python(complains))) == "COMMAND_FAILED"
    assert capfd.readouterr() == ("", "")


def test_a_program_that_is_killed_fails_the_call() -> None:
    assert failed(CommandProvider(python("import os; os.kill(os.getpid(), 9)"))) == "COMMAND_FAILED"


def test_a_program_need_not_read_what_it_is_given() -> None:
    assert answered(CommandProvider(python("print('done')")), "x" * 1_000_000) == ("done",)


def test_a_text_of_any_size_goes_through() -> None:
    text = "some words, " * 100_000 + "end"
    assert answered(CommandProvider(python(UPPER)), text) == (text.upper(),)


def test_an_answer_without_end_fails_the_call() -> None:
    assert failed(CommandProvider(python("while True: print('y' * 999)"))) == "API_RESPONSE_INVALID"


def test_an_answer_in_another_encoding_fails_the_call() -> None:
    assert failed(CommandProvider(python("import sys; sys.stdout.buffer.write(b'\\xff')"))) == "API_RESPONSE_INVALID"


def test_texts_go_in_and_come_out_in_the_encoding_of_the_program() -> None:
    doubles = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().strip() * 2)"
    provider = CommandProvider(python(doubles), encoding="latin-1")
    assert answered(provider, "é") == ("éé",)
    assert failed(provider, "private 漢字") == "VALIDATION"
    assert failed(CommandProvider(python(doubles)), "private \ud800") == "VALIDATION"


@pytest.mark.parametrize("then", ["time.sleep(600)", "sys.exit(0)"])
def test_what_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path: Path, then: str) -> None:
    told = tmp_path / "pids"
    provider = CommandProvider(python(f"{HAS_CHILD}{then}", str(told)), timeout=2.0)
    assert failed(provider) == "COMMAND_TIMED_OUT"
    until(lambda: not any(map(is_there, pids_in(told))))


def test_a_child_that_left_the_session_keeps_no_call_waiting(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    escapes = HAS_CHILD.replace("'])", "'], start_new_session=True)")
    assert failed(CommandProvider(python(escapes, str(told)), timeout=2.0)) == "COMMAND_TIMED_OUT"
    _parent, child = pids_in(told)
    assert is_there(child)
    os.kill(child, signal.SIGKILL)


def test_a_call_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    provider = CommandProvider(python(f"{HAS_CHILD}time.sleep(600)", str(told)))

    async def cancelled() -> None:
        task = asyncio.ensure_future(provider.complete(texts_call("a")))
        async with asyncio.timeout(PATIENCE_S):
            while not told.exists():
                await asyncio.sleep(POLL_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    parent, _child = pids_in(told)
    with pytest.raises(ChildProcessError):
        os.waitpid(parent, os.WNOHANG)
    until(lambda: not any(map(is_there, pids_in(told))))


def test_one_text_that_fails_ends_the_others(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = (
        "import os, sys, time\n"
        "if 'bad' in sys.stdin.read():\n"
        "    while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
        "    sys.exit(1)\n"
        "open(sys.argv[1] + '.new', 'w').write(str(os.getpid()))\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "time.sleep(600)\n"
    )
    provider = CommandProvider(python(program, str(told)))
    provider._at_once = 2
    assert failed(provider, "private bad", "private good") == "COMMAND_FAILED"
    until(lambda: not any(map(is_there, pids_in(told))))


def test_no_more_processes_run_at_once_than_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    provider = CommandProvider(["unused"])
    running: list[int] = []
    most = 0

    async def run(_command: object, given: bytes) -> bytes:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        for _ in range(3):
            await asyncio.sleep(0)
        running.pop()
        return given

    provider._run = run  # type: ignore[method-assign]

    async def two_calls() -> None:
        await asyncio.gather(*(provider.complete(texts_call(*"abcdef")) for _ in range(2)))

    asyncio.run(two_calls())
    asyncio.run(two_calls())
    assert most == 2


@pytest.mark.parametrize("mode", [None, 0o644, 0o755])
def test_a_program_that_cannot_be_run_is_unavailable(tmp_path: Path, mode: int | None) -> None:
    program = tmp_path / "program"
    if mode is not None:
        program.write_text("no program")
        program.chmod(mode)
    provider = CommandProvider([str(program)])
    assert failed(provider) == "VALIDATION"
    if mode != 0o755:
        with pytest.raises(ProviderUnavailable) as unavailable:
            asyncio.run(provider.check())
        assert str(program) in str(unavailable.value)


def test_a_program_that_is_there_passes_the_check() -> None:
    asyncio.run(CommandProvider(python(UPPER)).check())


@pytest.mark.parametrize(
    ("field", "facts"),
    [
        *(("command", {"command": bad}) for bad in ("apertium -u", [], [""], ["a", 1], ["a\0"])),
        *(("timeout", {"timeout": bad}) for bad in (0, -1, "1", True, float("nan"), float("inf"))),
        *(("encoding", {"encoding": bad}) for bad in ("utf-99", None)),
    ],
)
def test_a_bad_argument_is_refused_by_its_name(field: str, facts: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        CommandProvider(**{"command": ["x"], **facts})
    assert refused.value.field == field


@pytest.mark.parametrize("format", [CallFormat.STRUCTURED, CallFormat.SCALAR])
def test_a_call_that_is_not_for_a_machine_is_refused(format: CallFormat) -> None:  # noqa: A002
    call = attrs.evolve(texts_call("private words"), format=format)
    with pytest.raises(ProviderError, match="VALIDATION"):
        asyncio.run(CommandProvider(python(UPPER)).complete(call))


def machine() -> Runtime:
    return Runtime(Settings(batch_units=1), providers={"program": ProviderPolicy(kind="machine")})


def test_a_runtime_translates_through_a_program() -> None:
    source = {"p1": ["Good ", "night", "!"], "p2": "Bye"}
    document = TextDocument(source)
    with machine() as runtime:
        request = TranslationRequest("r1", "s1", source, "de", provider="program")
        outcome = runtime.translate(request, provider=CommandProvider(python(UPPER)), feature=document).get(PATIENCE_S)
        assert (outcome.execution, outcome.quality) == ("COMPLETED", "COMPLETE")
        assert runtime.history("s1").get(PATIENCE_S) == ()
    assert document["p1"] == ["GOOD ", "NIGHT", "!"]
    assert document["p2"] == "BYE"


def test_a_request_that_is_cancelled_ends_its_program(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    provider = CommandProvider(python(f"{HAS_CHILD}time.sleep(600)", str(told)))
    with machine() as runtime:
        request = TranslationRequest("r1", "s1", {"p1": "Hello"}, "de", provider="program")
        translation = runtime.translate(request, provider=provider)
        until(told.exists)
        runtime.cancel("r1").get(PATIENCE_S)
        assert translation.get(PATIENCE_S).error == "USER_CANCELLED"
        until(lambda: not any(map(is_there, pids_in(told))))


def test_a_runtime_that_closes_ends_its_programs(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    provider = CommandProvider(python(f"{HAS_CHILD}time.sleep(600)", str(told)))
    with machine() as runtime:
        request = TranslationRequest("r1", "s1", {"p1": "Hello"}, "de", provider="program")
        runtime.translate(request, provider=provider)
        until(told.exists)
    until(lambda: not any(map(is_there, pids_in(told))))
    assert not any(thread.name == "dragoman-provider-calls" for thread in threading.enumerate())


def test_no_argument_shows_in_the_repr() -> None:
    assert repr(CommandProvider(["/usr/bin/program", "--key", "private"])) == "<CommandProvider program>"
