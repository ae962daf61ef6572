"""Load runs in short: clean in every mode and profile, the same in virtual time, flat in memory; the long forms are
`dragoman load --count 100000 --callers 8 --faults hardest`, the same with `--switch-interval 1e-6`, and with
`--duration 10min`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman import InvalidArgument
from dragoman.scenarios import load as loading
from dragoman.scenarios.load import LoadReport, run_load
from dragoman.scenarios.load_faults import PROFILES
from dragoman.scenarios.load_latencies import Latencies
from dragoman.scenarios.load_options import MODES, LoadOptions
from dragoman.scenarios.load_recorder import Recorder
from dragoman.scenarios.load_report import as_json, as_lines

SHORT: dict[str, Any] = {"parents": 12, "sessions": 8, "requests": 60}


def clean(options: LoadOptions) -> LoadReport:
    report = run_load(options)
    assert report.verdict.clean, [breach.lines() for breach in report.verdict.breaches]
    assert report.verdict.ambiguous == 0
    return report


@pytest.mark.parametrize("faults", PROFILES)
@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_clean_in_every_mode_and_profile(mode: Any, faults: str) -> None:
    report = clean(LoadOptions(mode=mode, faults=faults, **SHORT))
    assert report.requests == 60
    assert report.verdict.accepted > 60


@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_clean_with_an_order_within_requests_alone(mode: Any) -> None:
    clean(LoadOptions(mode=mode, faults="hardest", commit_order="request", **SHORT))


@pytest.mark.parametrize("switch_interval_s", [None, 1e-6])
def test_eight_threads_and_the_hardest_profile_are_clean(switch_interval_s: float | None) -> None:
    before = sys.getswitchinterval()
    clean(LoadOptions(count=3_000, callers=8, faults="hardest", seed=3, switch_interval_s=switch_interval_s))
    assert sys.getswitchinterval() == before


def test_many_callers_in_few_sessions_can_be_followed() -> None:
    clean(LoadOptions(requests=150, parents=8, sessions=2, faults="hardest", mode="simulated"))


def test_without_faults_every_parent_commits() -> None:
    report = clean(LoadOptions(faults="none", **SHORT))
    assert report.verdict.accepted == 60 * 12


def test_what_the_run_keeps_does_not_grow_with_its_length() -> None:
    known = []
    for requests in (60, 240):
        options = LoadOptions(requests=requests, parents=6, sessions=4, faults="hardest", mode="simulated")
        run = loading._Run(options, None)
        loading._run(run, options)
        assert run.judge.finish().clean
        known.append((run.judge.known, len(run.recorder.log), len(run.recorder.took_ns), len(run.crew._users)))
    (short, *_), (long, *rest) = known
    assert long < 2 * short + 20
    assert rest == [0, 0, 0]


ONE_RUN = """
from dragoman.scenarios.load import run_load
from dragoman.scenarios.load_options import LoadOptions
print(run_load(LoadOptions(mode="simulated", faults="hardest", requests=30, parents=8, sessions=4, seed=5)).digest)
"""


def test_the_same_seed_gives_the_same_digest_in_any_process(tmp_path: Path) -> None:
    digests = set()
    for hash_seed in ("0", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LOGURU_AUTOINIT": "False"}
        done = subprocess.run(
            [sys.executable, "-c", ONE_RUN], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1
    options = LoadOptions(mode="simulated", faults="hardest", requests=30, parents=8, sessions=4, seed=5)
    assert {f"{run_load(options).digest}\n" for _run in range(2)} == digests


def test_another_seed_gives_another_digest() -> None:
    digests = {
        run_load(LoadOptions(mode="simulated", faults="light", requests=5, seed=seed)).digest for seed in range(3)
    }
    assert len(digests) == 3


def test_only_virtual_time_has_a_digest() -> None:
    assert run_load(LoadOptions(requests=2)).digest is None


def test_a_duration_ends_a_run() -> None:
    report = clean(LoadOptions(duration_s=0.3, parents=5, sessions=4, faults="hardest"))
    assert report.requests > 0
    assert 0.3 <= report.seconds < 20


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 30, 64])
def test_a_count_is_kept_to_the_parent(mode: Any, count: int) -> None:
    report = clean(LoadOptions(mode=mode, count=count, parents=30, sessions=2, faults="hardest"))
    assert report.parents == count
    assert report.requests == -(-count // 30)
    assert report.verdict.accepted <= count


def count_events_as_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a run is over after so much that happened, however fast the machine is."""
    monkeypatch.setattr(loading._Run, "seconds", property(lambda run: float(run.events)))


def test_when_the_time_is_over_a_request_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    count_events_as_seconds(monkeypatch)
    report = clean(LoadOptions(mode="simulated", duration_s=200, parents=1_000, callers=1, faults="none"))
    assert (report.requests, report.parents) == (1, 0)
    assert 50 < report.verdict.accepted < 110


@pytest.mark.parametrize("mode", MODES)
def test_a_run_that_is_cut_short_is_clean(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    count_events_as_seconds(monkeypatch)
    report = clean(LoadOptions(mode=mode, duration_s=200, parents=500, sessions=4, faults="hardest"))
    assert report.requests > 0
    assert report.parents < report.requests * 500


def test_tasks_call_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, most = 0, 0
    call, answer = Recorder.call, Recorder.answer

    def calling(*arguments: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        return call(*arguments)

    def answering(*arguments: Any) -> Any:
        nonlocal under_way
        under_way -= 1
        return answer(*arguments)

    monkeypatch.setattr(Recorder, "call", calling)
    monkeypatch.setattr(Recorder, "answer", answering)
    clean(LoadOptions(mode="async", callers=5, faults="light", **SHORT))
    assert most == 5


@pytest.mark.parametrize("mode", ["threads", "async"])
def test_a_caller_that_fails_ends_the_run_with_its_error(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_arguments: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(Recorder, "answer", failing)
    with pytest.raises(RuntimeError, match="planted"):
        run_load(LoadOptions(mode=mode, duration_s=600))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sessions", 0),
        ("requests", True),
        ("parents", 1.5),
        ("callers", -1),
        ("mode", "processes"),
        ("faults", "worst"),
        ("duration_s", 0),
        ("count", 0),
        ("seed", "7"),
        ("commit_order", "none"),
        ("switch_interval_s", float("nan")),
        ("switch_interval_s", 60.5),
    ],
)
def test_a_bad_option_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as refused:
        LoadOptions(**{field: value})
    assert refused.value.field == field


@pytest.mark.parametrize("given", [("count", "duration_s"), ("requests", "count"), ("requests", "duration_s")])
def test_two_lengths_of_a_run_together_are_refused(given: tuple[str, str]) -> None:
    with pytest.raises(InvalidArgument, match="not both"):
        LoadOptions(**dict.fromkeys(given, 10))  # type: ignore[arg-type]


def test_virtual_time_has_no_switch_interval() -> None:
    with pytest.raises(InvalidArgument, match="virtual time") as refused:
        LoadOptions(mode="simulated", switch_interval_s=0.001)
    assert refused.value.field == "switch_interval_s"


def test_the_report_holds_figures_and_no_text() -> None:
    report = clean(LoadOptions(mode="simulated", faults="light", requests=4))
    told = json.dumps(as_json(report)) + "\n".join(as_lines(report))
    assert "source 1" not in told
    assert as_json(report)["latencies_us"]["ack"]["calls"] > 100
    assert any("parents/s" in line for line in as_lines(report))


def test_percentiles_are_within_two_percent() -> None:
    latencies = Latencies()
    for took_us in range(1, 10_001):
        latencies.add("ack", took_us * 1000)
    (ack,) = latencies.all()
    for found, due in ((ack.p50_us, 5_000), (ack.p99_us, 9_900), (ack.p999_us, 9_990)):
        assert due * 0.98 <= found <= due
    assert ack.max_us == 10_000
