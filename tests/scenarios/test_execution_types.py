"""What `then` says of an execution has types: what is none of them makes the file invalid, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.scenarios import replay_file

from .marked import unmarked

THEN = "scenario: x\ntimeline: []\nthen: "


@pytest.mark.parametrize(
    "then",
    [
        "{calls: {r1: [{units: [▸1]}]}}",
        "{calls: {r1: [{units: ▸p1}]}}",
        "{calls: {r1: [{key: ▸one}]}}",
        "{calls: {r1: [{history: ▸5}]}}",
        "{calls: {r1: [{purpose: ▸5}]}}",
        "{calls: {r1: [{provider: ▸[a]}]}}",
        "{outcomes: {r1: {error: ▸5}}}",
        "{outcomes: {r1: {retries: ▸many}}}",
        "{outcomes: {r1: {failover: ▸0}}}",
        "{outcomes: {r1: {failover: ▸maybe}}}",
        "{document: {r1: {p1: ▸5}}}",
        "{document: {r1: {p1: [a, ▸5]}}}",
        "{feature_history: [{source: ▸5}]}",
        "{stats: {openai: {calls: ▸one}}}",
    ],
)
def test_a_wrong_type_is_told_at_its_place(tmp_path: Path, then: str) -> None:
    text, place = unmarked(THEN + then)
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    told = replay_file(path).invalid
    assert told is not None
    assert told.startswith(f"{path}:{place}: ")
