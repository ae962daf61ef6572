"""Before and after content continuity: each flow beside its twin without a content store (P "Expected …")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.scenarios import SHIPPED, read_scenario
from dragoman.scenarios.continuity_verbs import FollowUp

FLOWS = SHIPPED / "continuity" / "flows"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "continuity.md"

WINDOW = "observation-window"
TWINS = sorted(path.stem.removesuffix("-baseline") for path in FLOWS.glob("*-baseline.yaml"))


@attrs.frozen
class Counted:
    """Follow-ups of some flows: in all, those that succeed without a store and with it, and the false misses.

    Each of them means a result that has been made. A miss is false unless it tells that the result was evicted or has
    expired.
    """

    follow_ups: int = 0
    without: int = 0
    with_store: int = 0
    false_without: int = 0
    false_with: int = 0

    def __add__(self, other: Counted) -> Counted:
        pairs = zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        return Counted(*(left + right for left, right in pairs))


def replies(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each follow-up said, and the reply that the file expects; that it gets it is tested with all that ship."""
    for moment in read_scenario(FLOWS / f"{name}.yaml").timeline:
        for step in moment.steps:
            if isinstance(step.verb, FollowUp):
                yield step.verb.say, step.expected


def is_false(reply: dict[str, Any]) -> bool:
    return "miss" in reply and reply["reason"] not in ("evicted", "expired")


def counted(name: str) -> Counted:
    with_store, without = list(replies(name)), list(replies(f"{name}-baseline"))
    assert [said for said, _reply in with_store] == [said for said, _reply in without]
    pairs = [(after, before) for (_said, after), (_same, before) in zip(with_store, without, strict=True)]
    return Counted(
        follow_ups=len(pairs),
        without=sum("decision" in before for _after, before in pairs),
        with_store=sum("decision" in after for after, _before in pairs),
        false_without=sum(is_false(before) for _after, before in pairs),
        false_with=sum(is_false(after) for after, _before in pairs),
    )


def total(names: list[str]) -> Counted:
    return sum(map(counted, names), Counted())


FLOW_NAMES = [name for name in TWINS if name != WINDOW]


def test_the_three_flows_of_the_plan_are_there_for_each_role() -> None:
    asked = ("format-a-prior-algorithm-in-markdown", "summarise-the-previous", "rewrite-the-previous-explanation")
    for flow in asked:
        for role in ("assistant", "calculator", "debate"):
            assert any(name.startswith(flow) and role in name for name in TWINS), (flow, role)


@pytest.mark.parametrize("name", TWINS)
def test_follow_ups_fail_without_a_store_and_succeed_with_it(name: str) -> None:
    found = counted(name)
    assert found.follow_ups
    assert found.without == 0
    assert found.with_store >= 0.95 * found.follow_ups


def test_false_no_prior_content_is_down_by_four_fifths() -> None:
    found = total(TWINS)
    assert found.false_without
    assert found.false_with <= 0.2 * found.false_without


def test_the_window_has_forty_follow_ups_in_four_sessions() -> None:
    verbs = [step.verb for moment in read_scenario(FLOWS / f"{WINDOW}.yaml").timeline for step in moment.steps]
    follow_ups = [verb for verb in verbs if isinstance(verb, FollowUp)]
    assert (len(follow_ups), len({verb.session for verb in follow_ups})) == (40, 4)


@pytest.mark.parametrize(("row", "names"), [("the flows", FLOW_NAMES), ("the window", [WINDOW])])
def test_the_documentation_has_the_figures(row: str, names: list[str]) -> None:
    line = re.search(rf"^\| {row} \|(.*)\|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    assert [int(cell) for cell in line[1].split("|")] == list(attrs.astuple(total(names)))
