"""Which shard a session belongs to."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dragoman.sharding.rendezvous import Rendezvous, shard_of

KEYS = [f"session {number}" for number in range(4_000)]


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_every_key_has_one_shard_and_keeps_it(key: str, shards: int) -> None:
    assert 0 <= shard_of(key, shards) < shards
    assert shard_of(key, shards) == Rendezvous(shards).shard_of(key)


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_one_shard_more_takes_keys_and_moves_no_other(key: str, shards: int) -> None:
    assert shard_of(key, shards + 1) in (shard_of(key, shards), shards)


def test_one_shard_more_takes_its_share() -> None:
    moved = sum(shard_of(key, 9) != shard_of(key, 8) for key in KEYS)
    assert 0.8 < moved / (len(KEYS) / 9) < 1.2


def test_keys_are_spread_evenly() -> None:
    place = Rendezvous(8).shard_of
    counts = Counter(map(place, KEYS))
    assert len(counts) == 8
    assert all(0.8 < count / (len(KEYS) / 8) < 1.2 for count in counts.values())


def test_the_shard_of_a_key_is_the_same_in_every_process() -> None:
    program = "from dragoman.sharding.rendezvous import shard_of; print([shard_of(f'k{n}', 7) for n in range(9)])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([shard_of(f"k{number}", 7) for number in range(9)])


def test_the_shard_of_a_key_is_the_same_in_every_version() -> None:
    """Programs of two versions may share a cluster, and a key that moved would be two."""
    assert [shard_of(f"s{number}", 5) for number in range(12)] == [4, 3, 1, 2, 0, 0, 1, 0, 3, 4, 1, 1]
