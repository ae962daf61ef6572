"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from hypothesis import strategies as st

from dragoman.protocol.handoff import Parent
from dragoman.protocol.markers import TOKEN_BITS, token_from

__all__ = ["acknowledgements", "parents", "prose", "segment_lists", "texts", "tokens"]

texts = st.text(max_size=40)
"""Any text without lone surrogates."""

tokens = st.integers(0, 2**TOKEN_BITS - 1).map(token_from)
"""A token of the marker grammar, as a request draws one."""

_MARKER_SCRAPS = st.sampled_from(
    ["<", ">", "/>", "-", "\\", "\\\\", " ", "\n", "dm", "DM", "dm-", "<dm-", "< dm\\-", "abcdefgh", "1", "-1/>"]
)
_MARKERS = st.builds(
    "<{}dm-{}-{}{}>".format,
    st.sampled_from(["", " ", "\t"]),
    tokens,
    st.integers(0, 12),
    st.sampled_from(["/", " /", ""]),
)

segment_lists = st.lists(
    st.lists(st.one_of(texts, _MARKER_SCRAPS, _MARKERS), max_size=8).map("".join), min_size=1, max_size=6
)
"""The segments of one parent, rich in what looks like a marker or like an escaped one."""

prose = st.text(st.sampled_from("aab .!?\n\r\t\u00a0\u2028…"), max_size=30)
"""Short texts, dense in sentence marks, white space and line breaks."""


@st.composite
def parents(draw: st.DrawFn, max_size: int = 12) -> tuple[Parent, ...]:
    """Valid parents in source order, with gaps between their orders."""
    orders = draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=max_size, unique=True))
    return tuple(Parent(f"p{place}", order, f"source {place}") for place, order in enumerate(sorted(orders)))


@st.composite
def acknowledgements(draw: st.DrawFn, max_size: int = 12) -> tuple[tuple[Parent, ...], list[tuple[int, bool]]]:
    """Parents, and one ACK for each in any order: its place, and whether it accepts."""
    known = draw(parents(max_size))
    order = draw(st.permutations(range(len(known))))
    return known, [(place, draw(st.booleans())) for place in order]
