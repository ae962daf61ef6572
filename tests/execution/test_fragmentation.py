"""The fragmentation invariant (C3.4): what comes of a request does not depend on how it was cut, asked or mended."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import ProviderPolicy
from dragoman.protocol.content import is_clean_result

from ..strategies import segment_lists
from .fragments import Limits, Sources, mapped, translate_in_fragments, translate_whole

words = st.lists(st.text("abcdmxyz", min_size=1, max_size=12), min_size=1, max_size=9).map(" ".join)
plain_sources = st.lists(st.one_of(words, st.lists(words, min_size=1, max_size=4).map(tuple)), min_size=1, max_size=5)
any_sources = st.lists(
    st.one_of(segment_lists.map("".join), segment_lists.map(tuple)).filter(lambda source: bool("".join(source))),
    min_size=1,
    max_size=4,
)


def _by_name(found: list[str | tuple[str, ...]]) -> Sources:
    return {f"p{place}": source for place, source in enumerate(found)}


def _limits(policy: ProviderPolicy, *, scalars: bool) -> st.SearchStrategy[Limits]:
    return st.builds(
        Limits,
        batch_chars=st.integers(1, 30),
        batch_units=st.integers(1, 6),
        max_concurrent_calls=st.integers(1, 5),
        policy=st.just(policy),
        scalars=st.just(scalars),
    )


POLICIES = {
    "selective": ProviderPolicy(keys=2),
    "full": ProviderPolicy(recovery="full"),
    "machine": ProviderPolicy(kind="machine"),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_request_in_fragments_ends_as_the_whole_one(policy: str) -> None:
    @settings(max_examples=50, deadline=None)
    @given(plain_sources.map(_by_name), _limits(POLICIES[policy], scalars=True), st.integers(0, 2**32))
    def check(sources: Sources, limits: Limits, seed: int) -> None:
        result = translate_in_fragments(sources, limits, random.Random(seed), trouble=0.3)
        assert result.document == {
            name: list(mapped(source)) if isinstance(source, tuple) else mapped(source)
            for name, source in sources.items()
        }
        if policy == "machine":
            assert result.turns == ()
            return
        assert result == translate_whole(sources)
        assert [turn[0] for turn in result.turns] == list(sources), "one parent is one turn, in source order"

    check()


@settings(max_examples=80, deadline=None)
@given(any_sources.map(_by_name), _limits(ProviderPolicy(), scalars=False), st.integers(0, 2**32))
def test_no_text_depends_on_where_it_is_cut(sources: Sources, limits: Limits, seed: int) -> None:
    result = translate_in_fragments(sources, limits, random.Random(seed), trouble=0.2)
    assert result == translate_whole(sources)
    clean = {name: "".join(mapped(source)) for name, source in sources.items()}
    expected = [
        (name, "".join(sources[name]), text)
        for name, text in clean.items()
        if is_clean_result(text, "".join(sources[name]))
    ]
    assert list(result.turns) == expected


def test_one_parent_of_five_batches_and_nine_responses_is_one_turn() -> None:
    source = "aa bb cc ee ff"
    for seed in range(200):
        rng = random.Random(seed)
        result = translate_in_fragments({"p1": source}, Limits(2, 1, 3), rng, trouble=0.6)
        assert result.turns == (("p1", source, mapped(source)),)
