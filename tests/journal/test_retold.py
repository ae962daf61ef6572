"""A journal retold: the scenario that is made from it comes to the same states, order and statuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dragoman.scenarios import SHIPPED
from dragoman.scenarios.journal_scenario import retell

from ..acceptance.mutants import MUTANTS
from .kept import journal_of, load_journal, replayed, retold_load

EACH = 4
"""Of so many shipped scenarios one is retold; in a run by itself all of them take half a minute."""
SCENARIOS = sorted(SHIPPED.rglob("*.yaml"))[::EACH]


@pytest.mark.parametrize("path", SCENARIOS, ids=[path.stem for path in SCENARIOS])
def test_a_shipped_scenario_retold_replays_to_the_same(path: Path, tmp_path: Path) -> None:
    retold = retell(journal_of(path), "again")
    result = replayed(retold, tmp_path)
    assert result.invalid is None
    assert result.failures == ()
    assert (retold.lost, retold.left_out, retold.misplaced) == (0, 0, 0)


def test_a_threaded_run_of_10_000_parents_with_faults_replays_green(tmp_path: Path) -> None:
    retold, result = retold_load(tmp_path, count=10_000, faults="light", seed=11)
    assert result.invalid is None
    assert result.failures == ()
    assert retold.steps > 10_000
    assert retold.together > 0


@pytest.mark.parametrize("mode", ["threads", "async"])
def test_a_run_of_another_kind_replays_green(mode: str, tmp_path: Path) -> None:
    _retold, result = retold_load(tmp_path, requests=20, parents=20, faults="light", mode=mode, seed=3)
    assert result.failures == ()


@pytest.mark.parametrize(
    "mutant",
    ["commits_in_arrival_order", "commits_again_on_a_duplicate", "does_not_wait_for_earlier_requests"],
)
def test_a_planted_fault_of_the_order_makes_it_red(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retold = retell(load_journal(tmp_path, requests=40, parents=20, faults="light", seed=5), "again")
    assert replayed(retold, tmp_path).passed
    MUTANTS[mutant](monkeypatch)
    assert not replayed(retold, tmp_path).passed


def test_the_end_holds_the_histories_states_and_causes(tmp_path: Path) -> None:
    retold = retell(load_journal(tmp_path, requests=20, parents=10, faults="light", seed=1), "again")
    then = yaml.safe_load(retold.text)["then"]
    assert sum(map(len, then["history"].values())) > 100
    assert len(then["handles"]) == len(then["closed"]) == 20
    assert then["open_handles"] == 0


def test_no_text_of_the_run_is_in_the_scenario(tmp_path: Path) -> None:
    retold = retell(load_journal(tmp_path, requests=10, parents=10, faults="light", seed=2), "again")
    assert not re.search(r"source \d|accepted source|approved source|text \d", retold.text)


def test_equal_texts_have_equal_placeholders_of_the_same_length(tmp_path: Path) -> None:
    path = tmp_path / "texts.yaml"
    path.write_text(
        "scenario: texts\n"
        "timeline:\n"
        "  - {at: 0s, register: {request: r1, session: s1, parents: {p1: Hello, p2: World, p3: Hello}}}\n"
        "  - {at: 1s, ack: {request: r1, parent: p1, result: 'grüß dich'}}\n",
        encoding="utf-8",
    )
    timeline = yaml.safe_load(retell(journal_of(path), "again").text)["timeline"]
    parents = timeline[0]["register"]["parents"]
    assert parents["p1"] == parents["p3"] != parents["p2"]
    assert [len(text) for text in parents.values()] == [5, 5, 5]
    result = timeline[1]["ack"]["result"]
    assert (len(result), len(result.encode())) == (9, len("grüß dich".encode()))


def test_one_session_can_be_retold_by_itself(tmp_path: Path) -> None:
    journal = load_journal(tmp_path, requests=40, parents=10, sessions=4, faults="light", seed=4)
    retold = retell(journal, "again", sessions=["s2"])
    assert replayed(retold, tmp_path).passed
    named = set(re.findall(r"session: (\w+)", retold.text))
    assert named == {"s2"}
