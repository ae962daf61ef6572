"""A handler that blocks, as none should, holds its own thread and nobody else's messages (design 3.2, 3.7).

Two workers, one of them stuck: the other one must find whatever is ready, though nobody waits for it in `get`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from dragoman.actors.threads import ThreadDispatcher

from .probes import PATIENCE_S, Block, Countdown, Do, Doer, mailbox_of, start

SOON_S = 2.0


@pytest.fixture
def parked(threaded: ThreadDispatcher) -> ThreadDispatcher:
    """A dispatcher with both of its workers started and parked."""
    both = [Block(), Block()]
    refs = [start(Doer, threaded), start(Doer, threaded)]
    for ref, one in zip(refs, both, strict=True):
        ref.tell(Do(one))
        assert one.entered.wait(PATIENCE_S)
    for one in both:
        one.release.set()
    for _ in range(1_000_000):
        if len(threaded._parked) == 2:
            return threaded
    raise AssertionError("the workers never came to rest")


def test_another_actors_messages_are_handled(parked: ThreadDispatcher, block: Block) -> None:
    told = Countdown(10)
    stuck, other = start(Doer, parked), start(Doer, parked)
    stuck.tell(Do(block))
    assert block.entered.wait(PATIENCE_S)
    for _ in range(10):
        other.tell(Do(lambda _actor: told.count()))
    assert told.wait(SOON_S) == 0


def test_a_message_sent_right_behind_the_one_that_sticks_is_handled(parked: ThreadDispatcher, block: Block) -> None:
    told = Countdown(1)
    stuck, other = start(Doer, parked), start(Doer, parked)
    stuck.tell(Do(block))
    other.tell(Do(lambda _actor: told.count()))
    assert block.entered.wait(PATIENCE_S)
    assert told.wait(SOON_S) == 0, "one worker is stuck, the other one sleeps, and the message waits"


def test_what_a_handler_sent_before_it_stuck_is_handled(parked: ThreadDispatcher, block: Block) -> None:
    told = Countdown(1)
    stuck, other = start(Doer, parked), start(Doer, parked)

    def send_and_stick(_actor: Doer) -> str:
        mailbox_of(other).tell(Do(lambda _other: told.count()))
        return block()

    stuck.tell(Do(send_and_stick))
    assert block.entered.wait(PATIENCE_S)
    assert told.wait(SOON_S) == 0, "one worker is stuck, the other one sleeps, and the message waits"


def test_an_answer_is_awaited_behind_what_a_stuck_handler_sent(parked: ThreadDispatcher, block: Block) -> None:
    stuck, other = start(Doer, parked), start(Doer, parked)

    def send_and_stick(_actor: Doer) -> str:
        mailbox_of(other).tell("from the stuck one")
        return block()

    stuck.tell(Do(send_and_stick))
    assert block.entered.wait(PATIENCE_S)

    async def main() -> Any:
        async def waited() -> Any:
            return await other.ask("word", block=False)

        return await asyncio.wait_for(waited(), SOON_S)

    assert asyncio.run(main()) == "word"


def test_what_is_left_by_a_helper_that_is_stuck_is_handled(parked: ThreadDispatcher, block: Block) -> None:
    told = Countdown(1)
    stuck, other = start(Doer, parked), start(Doer, parked)

    def send_and_stick(_actor: Doer) -> str:
        mailbox_of(other).tell(Do(lambda _other: told.count()))
        return block()

    future = stuck.ask(Do(send_and_stick), block=False)
    helper = threading.Thread(target=future.get, kwargs={"timeout": PATIENCE_S}, daemon=True)
    helper.start()
    assert block.entered.wait(PATIENCE_S)
    assert told.wait(SOON_S) == 0
    block.release.set()
    helper.join(PATIENCE_S)


def test_every_message_is_handled_once_the_handler_goes_on(parked: ThreadDispatcher, block: Block) -> None:
    told = Countdown(100)
    refs = [start(Doer, parked) for _ in range(10)]
    refs[0].tell(Do(block))
    for number in range(100):
        refs[number % 10].tell(Do(lambda _actor: told.count()))
    assert block.entered.wait(PATIENCE_S)
    block.release.set()
    assert told.wait() == 0
