"""Nothing unaccepted ever reaches a prompt (C3, C6): every prompt of random walks, beside what was committed before."""

from __future__ import annotations

import random

import pytest

from dragoman import Turn

from .operations import Step
from .stage import Stage
from .walk import draw_limits, draw_steps, follow


class Prompts:
    """Looks at every call, and knows of each request what was committed when it began."""

    def __init__(self, prompt_turns: int) -> None:
        self.seen = self.with_history = 0
        self._prompt_turns = prompt_turns
        self._may_hold: dict[str, set[Turn]] = {}
        self._must_be: dict[str, set[tuple[Turn, ...]]] = {}
        self._beginning: dict[str, str] = {}
        self._enabled: bool | None = True

    def watch(self, stage: Stage, group: Step) -> None:
        turns = {session.session_id: session.turns for session in stage.runtime.snapshot().sessions}
        committed = {turn for session in turns.values() for turn in session}
        for request in self._beginning:
            self._may_hold[request] |= committed
        self._look(stage)
        self._beginning = {}
        alone = len(group) == 1
        begun = [values[0] for kind, *values in group if kind in ("translate", "direct")]
        for kind, *values in group:
            if kind in ("translate", "direct") and values[0] not in self._may_hold:
                request, session, provider = values[:3]
                self._may_hold[request] = set(committed)
                takes_part = self._enabled and session and not provider.startswith("machine")
                newest = turns.get(session, ())[-self._prompt_turns :] if takes_part and self._prompt_turns else ()
                if alone and self._enabled is not None:
                    self._must_be[request] = {tuple(newest)}
                else:
                    self._beginning[request] = session
                # Of several that ask for one id in a group nobody knows which gets it.
                if begun.count(request) == 1 and (not session or provider.startswith("machine")):
                    self._must_be[request] = {()}
        switched = {values[0] for kind, *values in group if kind == "configure"}
        if switched:
            # Of two in one group that differ nobody knows which was the last.
            self._enabled = switched.pop() if len(switched) == 1 else None

    def _look(self, stage: Stage) -> None:
        histories: dict[str, set[tuple[Turn, ...]]] = {}
        for call in stage.provider.calls:
            if call.purpose == "STRUCTURED_RECOVERY":
                assert call.history == ()
                continue
            histories.setdefault(call.request_id, set()).add(call.history)
            assert set(call.history) <= self._may_hold[call.request_id], "a prompt holds what was not committed before"
            assert call.request_id not in {turn.request_id for turn in call.history}
        for request, seen in histories.items():
            assert len(seen) == 1, "the batches, retries and keys of a request see one history"
            assert request not in self._must_be or seen == self._must_be[request]
        self.seen = len(stage.provider.calls)
        self.with_history = sum(bool(call.history) for call in stage.provider.calls)


@pytest.mark.parametrize("shuffled", [False, True], ids=["listed", "shuffled"])
def test_a_prompt_holds_only_turns_that_were_committed_before_its_request_began(shuffled: bool) -> None:
    with_history = 0
    for seed in range(1000, 1020):
        rng = random.Random(seed)
        limits = draw_limits(rng, tight=False)
        prompts = Prompts(limits.prompt_turns)
        follow(
            lambda models, rng=rng: draw_steps(rng, models, 25),  # type: ignore[misc]
            limits,
            seed,
            shuffled=shuffled,
            watch=prompts.watch,
        )
        assert prompts.seen
        with_history += prompts.with_history
    assert with_history, "no prompt had a history: nothing was tested"
