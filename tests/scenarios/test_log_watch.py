"""Watching the log: a line that shows content is told, and a line that shows none is not (C14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from loguru import logger

import dragoman
import dragoman.actors
from dragoman import Call, Handoff, Outcome, Parent, Runtime, Settings, SimulatedDispatcher
from dragoman.scenarios.logs import OWN_WORDS, LogWatch

if TYPE_CHECKING:
    from loguru import Logger, Record

SOURCE = "a line of source text"
TEXTS = ("short", SOURCE, "two lines of\n'quoted' text")
IDS = ("request-1", "a session id")


def speaking_as(module: str) -> Logger:
    """A logger that speaks as `module` does."""

    def rename(record: Record) -> None:
        record["name"] = module

    return logger.patch(rename)


log = speaking_as("dragoman.somewhere")


@attrs.frozen
class Message:
    text: str


@pytest.fixture
def watch() -> Iterator[LogWatch]:
    with LogWatch() as opened:
        yield opened


@pytest.mark.parametrize("level", ["TRACE", "DEBUG", "INFO", "ERROR"])
def test_a_field_with_content_is_a_leak_at_every_level(watch: LogWatch, level: str) -> None:
    log.log(level, "got {text}", text=SOURCE)
    assert watch.leaks(TEXTS, IDS)


def test_content_within_a_longer_field_is_a_leak(watch: LogWatch) -> None:
    log.info("got {text}", text=f"<<{SOURCE}>>")
    assert watch.leaks(TEXTS, IDS)


def test_a_positional_field_with_content_is_a_leak(watch: LogWatch) -> None:
    log.info("got {}", SOURCE)
    assert watch.leaks(TEXTS, IDS)


def test_a_message_that_was_put_together_with_content_is_a_leak(watch: LogWatch) -> None:
    log.info(f"got {SOURCE}")
    assert watch.leaks(TEXTS, IDS)


def test_an_object_that_shows_its_content_is_a_leak(watch: LogWatch) -> None:
    log.info("got {message}", message=Message(SOURCE))
    assert watch.leaks(TEXTS, IDS)


def test_content_that_is_quoted_on_its_way_is_a_leak(watch: LogWatch) -> None:
    log.info("got {message}", message=Message(TEXTS[2]))
    assert watch.leaks(TEXTS, IDS)


def test_an_exception_that_shows_content_is_a_leak(watch: LogWatch) -> None:
    try:
        raise ValueError(SOURCE)
    except ValueError:
        log.exception("failed")
    assert watch.leaks(TEXTS, IDS)


def test_a_leak_is_told_once(watch: LogWatch) -> None:
    log.info("got {text}", text=SOURCE)
    assert watch.leaks(TEXTS, IDS)
    assert not watch.leaks(TEXTS, IDS)


def test_silence_and_lines_of_ids_sizes_and_states_are_no_leak(watch: LogWatch) -> None:
    assert not watch.leaks(TEXTS, IDS)
    log.info("{request} is {state}: {size} characters", request="request-1", state="CLOSED", size=21)
    assert not watch.leaks(TEXTS, IDS)


def test_a_text_that_is_part_of_an_id_is_no_leak(watch: LogWatch) -> None:
    log.info("opened {session}", session="a session id")
    assert not watch.leaks(("session", "a session"), IDS)


def test_a_short_text_may_stand_in_a_line_by_chance(watch: LogWatch) -> None:
    log.info("a {what} wait", what="short")
    assert not watch.leaks(TEXTS, IDS)


@pytest.mark.parametrize(
    ("value", "twin"),
    [
        ("5 bytes", "five5"),
        ("s1: c1", "other"),
        ("content stored in s1", "other"),
        ("content miss in s1", "other"),
        ("stored in", "other"),
        ("string", "other"),
        ("evicted", "other"),
        ("sessions.py", "other"),
    ],
)
def test_what_a_line_says_by_itself_is_no_leak(watch: LogWatch, value: str, twin: str) -> None:
    with Runtime(Settings(store_max_entries=1), dispatcher=SimulatedDispatcher()) as runtime:
        for call, result in (("c1", value), ("c2", twin)):
            runtime.record_call("s1", Call(call), Outcome.ok(result)).get()
        runtime.follow_up("s1", "c2").get()
        runtime.follow_up("s1", "c1").get()
        runtime.fail_commits("s1").get()
        runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, value),))).get()
        runtime.acknowledge("r1", "p1", twin).get()
        assert len(watch.messages) >= 5
        assert not watch.leaks((value, twin), ("s1", "c1", "c2"))


def test_a_session_whose_name_is_in_every_word_hides_no_leak(watch: LogWatch) -> None:
    log.info(f"content stored in {{session}}: {SOURCE}", session="e")
    assert watch.leaks(TEXTS, ("e",))


def test_a_look_costs_no_more_with_more_names(watch: LogWatch) -> None:
    class Ids(tuple[str, ...]):
        __slots__ = ()
        looked_at = 0

        def __iter__(self) -> Iterator[str]:
            Ids.looked_at += 1
            return super().__iter__()

    for _ in range(50):
        log.info("content {event} in {session}", event="stored", session="s1")
        assert not watch.leaks([f"a text, number {number}" for number in range(100)], Ids(("s1",) * 100))
    assert Ids.looked_at == 0


def test_what_others_log_is_not_looked_at(watch: LogWatch) -> None:
    speaking_as("elsewhere").info("got {text}", text=SOURCE)
    speaking_as("dragomania").info("got {text}", text=SOURCE)
    assert not watch.leaks(TEXTS, IDS)


def test_nothing_is_collected_once_the_watch_has_ended() -> None:
    with LogWatch() as watch:
        pass
    log.info("got {text}", text=SOURCE)
    assert not watch.leaks(TEXTS, IDS)


def test_the_package_is_heard_while_it_is_watched_and_silent_again_behind() -> None:
    heard: list[str] = []
    sink = logger.add(heard.append, level=0, filter="dragoman", format="{message}")
    try:
        speak = "from loguru import logger\nlogger.info('heard')"
        with LogWatch():
            exec(speak, {"__name__": "dragoman.somewhere"})
        exec(speak, {"__name__": "dragoman.somewhere"})
    finally:
        logger.remove(sink)
    assert heard == ["heard\n"]


def test_the_own_words_are_those_of_the_package() -> None:
    root = Path(dragoman.actors.__file__).parent
    face = Path(dragoman.__file__).parent
    sources = [path.read_text(encoding="utf-8") for folder in (root, face) for path in folder.glob("*.py")]
    templates = [template for source in sources for template in re.findall(r'report\(\s*"[A-Z]+",\s*"([^"]*)"', source)]
    calls = sum(len(re.findall(r"(?<!\w)report\(", source)) for source in sources)
    assert len(templates) == calls - 1, "a line is logged in another form"
    words = {part.strip(" :,/") for template in templates for part in re.split(r"\{\w+\}", template)}
    assert words - {""} <= set(OWN_WORDS)
