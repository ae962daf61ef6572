"""Planted faults of the mailbox. Where only the right moment shows one, the moment is made longer (`let_others_in`)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from dragoman.actors import mailbox as mailboxes
from dragoman.actors.mailbox import LATER, FaultAtOnce, Mailbox

from .registry import planted

_HERE = "actors/mailbox.py"


def let_others_in() -> None:
    """Give the interpreter lock away for a moment, as any bytecode may: a call of the system does."""
    for _ in range(3):
        os.stat(os.curdir)


def let_others_in_instead(_self: object) -> None:
    let_others_in()


@planted("mailbox", _HERE)
def delivers_without_the_right_to_run(patch: pytest.MonkeyPatch) -> None:
    """Who finds a prompt actor at rest does not take the right to run it: two threads handle its messages at once."""

    put = Mailbox.put

    def put_beside(self: Mailbox, envelope: Any, /) -> None:
        if self._prompt and hasattr(self, "_at_rest") and not self._incoming and not self._closed:
            let_others_in()
            self._deliver(envelope)
        else:
            put(self, envelope)

    patch.setattr(Mailbox, "put", put_beside)


@planted("mailbox", _HERE)
def answers_at_once_without_the_right_to_run(patch: pytest.MonkeyPatch) -> None:
    """A question is answered at once though another thread is in the middle of a handler of that actor."""

    def ask_at_once(self: Mailbox, message: object) -> Any:
        actor = self.actor
        if actor is None or self._closed:
            return LATER
        let_others_in()
        try:
            answer = actor.answer_at_once(message)
        except FaultAtOnce:
            raise
        except BaseException as error:
            raise FaultAtOnce(actor.fail_at_once(message, error)) from None
        if answer is not LATER:
            self._at_once += 1
        return answer

    patch.setattr(Mailbox, "ask_at_once", ask_at_once)


@planted("mailbox", _HERE)
def rests_without_looking_again(patch: pytest.MonkeyPatch) -> None:
    """What came while a sender handled its message is left behind as it gives the right to run back."""
    patch.setattr(Mailbox, "_resume", let_others_in_instead)


@planted("mailbox", _HERE)
def rests_without_the_lock(patch: pytest.MonkeyPatch) -> None:
    """The runner looks for messages and gives its right back in two steps, between which a message may come."""

    def run(self: Mailbox, limit: int, until: Any) -> bool:
        if not self._outgoing and not self._incoming:
            let_others_in()
            self._at_rest = None
            return False
        return _run_to_the_last(self, limit, until)

    def _run_to_the_last(self: Mailbox, limit: int, until: Any) -> bool:
        actor = self.actor
        while True:
            if not self._outgoing:
                if not self._incoming:
                    let_others_in()
                    self._at_rest = None
                    return False
                with self._lock:
                    self._turn(self._incoming or [])
            try:
                envelope = (self._outgoing or []).pop()
            except IndexError:
                continue
            self._handled += 1
            limit -= 1
            self._current = envelope
            if actor is None or self._closed:
                mailboxes._answer_stopped(envelope)
            else:
                actor.receive(envelope)
            self._current = None
            if (limit <= 0 or (until is not None and until.done)) and (self._outgoing or self._incoming):
                return True

    patch.setattr(Mailbox, "run", run)


@planted("mailbox", _HERE)
def delivers_the_newest_first(patch: pytest.MonkeyPatch) -> None:
    """Messages that waited together are handled in the reverse of the order in which they came."""

    def turn(self: Mailbox, incoming: list[Any]) -> list[Any]:
        self._incoming, self._outgoing = self._outgoing, incoming
        return incoming

    patch.setattr(Mailbox, "_turn", turn)


@planted("mailbox", _HERE)
def closing_loses_a_message(patch: pytest.MonkeyPatch) -> None:
    """The oldest message that waits in a mailbox as it closes is neither answered nor counted as dead."""
    close = Mailbox.close

    def forgetful(self: Mailbox, *, abandon: bool = False) -> int | None:
        with self._lock:
            if not self._closed and self._incoming:
                del self._incoming[0]
        return close(self, abandon=abandon)

    patch.setattr(Mailbox, "close", forgetful)


@planted("mailbox", _HERE)
def takes_messages_after_its_close(patch: pytest.MonkeyPatch) -> None:
    """What comes after the close is swallowed: no answer, no dead letter."""
    refuse = Mailbox._refuse

    def swallow(self: Mailbox, envelope: Any, reason: Any) -> None:
        if reason != "closed":
            refuse(self, envelope, reason)

    patch.setattr(Mailbox, "_refuse", swallow)
