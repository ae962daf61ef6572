"""What YAML does that a writer may not expect, and files that are none."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman.scenarios import replay_file

from .conftest import Failures, Refusal

STEP = "scenario: x\ntimeline:\n  - "


def test_a_merge_key_brings_what_the_mapping_has_not_itself(failures: Failures) -> None:
    text = """\
scenario: x
timeline:
  - at: 0s
    register: &first {request: r1, session: s1, parents: {p1: Hello}}
    expect: REGISTERED
  - {at: 1s, register: {<<: *first, request: r2}, expect: REGISTERED}
  - {at: 2s, register: {request: r3, <<: [{session: s2}, *first]}, expect: REGISTERED}
then:
  sessions: [s1, s2]
  handles: {r2: {p1: PENDING}, r3: {p1: PENDING}}
"""
    assert failures(text) == ()


def test_a_merge_key_takes_mappings_only(refusal: Refusal) -> None:
    assert refusal(STEP + "{at: 0s, ack: {<<: 5, request: r1}}").startswith("3:24: a merge key")


def test_an_equals_sign_is_text(failures: Failures) -> None:
    assert failures(STEP + "{at: 0s, register: {request: r1, session: s1, parents: {p1: =}}, expect: REGISTERED}") == ()


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85"])
def test_places_are_counted_as_editors_count_lines(refusal: Refusal, failures: Failures, odd: str) -> None:
    text = f'scenario: "one{odd}two"\ntimeline:\n  - {{at: 0s, activate: r1, expect: ACTIVATED}}\n'
    (failure,) = failures(text)
    assert failure.line == 3
    assert refusal(text + "  - {at: 1s, activat: r1}\n").startswith("4:14: unknown key activat")


@pytest.mark.parametrize("text", ["1:30", "12:30:45"])
def test_a_number_to_the_base_60_is_no_duration(refusal: Refusal, text: str) -> None:
    assert refusal(STEP + f"{{at: {text}, wait: }}").startswith("3:10: ")


def test_the_ids_of_an_expected_commit_are_ids(refusal: Refusal) -> None:
    text = "{at: 0s, ack: {request: r1, parent: p1, result: a}, expect: {committed: [1]}}"
    assert "quote it" in refusal(STEP + text)


def test_a_setting_of_one_value_takes_no_mapping(refusal: Refusal) -> None:
    line = refusal("scenario: x\nsettings: {max_sessions: {a: b}}\ntimeline: []\n")
    assert line == "2:26: the setting max_sessions must be a single value, not a mapping"


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert replay_file(pipe).invalid == f"{pipe}:1:1: is a pipe, and no file"


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("scenario: x\ntimeline: []\n")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    done = run(tmp_path, "replay", ".")
    assert done.returncode == 2
    assert "dangling.yaml:1:1: cannot be read" in done.stderr


def test_an_output_that_is_full_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("scenario: x\ntimeline: []\n")
    with Path("/dev/full").open("w") as full:
        done = run(tmp_path, "replay", ".", stdout=full)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_a_timeline_is_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    text = """\
scenario: several names
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: Hello}}}
  - {at: 0s, register: {request: r2, session: s2, parents: {p1: Hello}}}
then: {handles: {r1: {p1: PENDING}, r2: {p1: PENDING}, r3: {}}, closed: {r2: null, r1: null, r9: null}}
"""
    (tmp_path / "names.yaml").write_text(text)
    outputs = {run(tmp_path, "replay", ".", "--timeline", PYTHONHASHSEED=seed).stdout for seed in ("1", "2", "3")}
    assert len(outputs) == 1


def test_a_step_costs_the_same_however_many_requests_are_open(tmp_path: Path) -> None:
    """Doubling the steps may not quadruple the time; with room for noise."""

    def seconds(count: int) -> float:
        path = tmp_path / f"{count}.yaml"
        steps = (
            f"  - {{at: 0s, register: {{request: r{n}, session: s1, parents: {{p1: Hello}}}}, expect: REGISTERED}}\n"
            for n in range(count)
        )
        path.write_text("scenario: many\ntimeline:\n" + "".join(steps))
        began = time.perf_counter()
        assert replay_file(path).passed
        return time.perf_counter() - began

    assert any(seconds(1600) / seconds(400) < 10 for _ in range(3))


def run(
    folder: Path, *arguments: str, stdout: object = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dragoman", *arguments],
        cwd=folder,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )
