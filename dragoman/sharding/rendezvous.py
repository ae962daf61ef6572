"""Rendezvous hashing: which shard a key belongs to, the same in every process.

Each shard has a score for each key, and the highest one wins. So one shard more takes its share of the keys from all
the others and moves nothing else; one less gives its keys to all the others.
"""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["Rendezvous", "shard_of"]

_BITS_64 = (1 << 64) - 1


class Rendezvous:
    """Places keys on the shards from 0 to `shards` - 1; each look-up takes time in proportion to their number."""

    def __init__(self, shards: int) -> None:
        self._seeds = tuple(_hash(b"shard %d" % shard) for shard in range(shards))

    def shard_of(self, key: str) -> int:
        """The shard that `key` belongs to."""
        hashed = _hash(key.encode("utf-8", "surrogatepass"))
        best = best_score = -1
        for shard, seed in enumerate(self._seeds):
            # The finaliser of splitmix64: a hash of its own for every pair would cost several times as much.
            score = hashed ^ seed
            score = (score ^ (score >> 30)) * 0xBF58476D1CE4E5B9 & _BITS_64
            score = (score ^ (score >> 27)) * 0x94D049BB133111EB & _BITS_64
            score ^= score >> 31
            if score > best_score:
                best, best_score = shard, score
        return best


def shard_of(key: str, shards: int) -> int:
    """The shard, of so many, that `key` belongs to."""
    return Rendezvous(shards).shard_of(key)


def _hash(key: bytes) -> int:
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
