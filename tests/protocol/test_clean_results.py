"""What counts as a clean result (C3.2, design "ACK", language page "Smaller rulings")."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocol.content import is_blank, is_clean_anyhow, is_clean_result, is_envelope
from dragoman.protocol.markers import join

from ..strategies import segment_lists, texts, tokens

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
items = st.builds(
    lambda extra, number, text: {**extra, "id": number, "text": text},
    st.dictionaries(texts, json_values, max_size=2),
    json_values,
    json_values,
)
item_lists = st.lists(items, min_size=1, max_size=3)
outer = st.text(" \n\t\u00a0", max_size=3)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0", "\u2003\u3000", "\u2028", "\x85"])
def test_unicode_white_space_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "\u200b", "0", "…"])
def test_anything_that_shows_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@settings(max_examples=50)
@given(item_lists, outer, outer, st.sampled_from([None, 2]))
def test_a_bare_list_of_items_is_an_envelope(found: list[object], left: str, right: str, indent: int | None) -> None:
    assert is_envelope(left + json.dumps(found, indent=indent) + right)


@settings(max_examples=50)
@given(item_lists, st.dictionaries(texts, json_values, max_size=2), outer, outer)
def test_a_mapping_with_translations_is_an_envelope(
    found: list[object], extra: dict[str, object], left: str, right: str
) -> None:
    assert is_envelope(left + json.dumps({**extra, "translations": found}) + right)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text",
        "[1] a footnote",
        "[a] list, [b] list",
        "{name}",
        "[]",
        "{}",
        "null",
        "42",
        '"translations"',
        '{"answer": 42}',
        "[1, 2]",
        '["id", "text"]',
        '{"id": "p1", "text": "eins"}',
        '{"translations": []}',
        '{"translations": null}',
        '{"translations": "eins"}',
        '{"translations": {"p1": "eins"}}',
        '{"translations": {"id": "p1", "text": "eins"}}',
        '{"translations": [{"id": "p1"}]}',
        '{"translations": [{"text": "eins"}]}',
        '{"translations": ["eins"]}',
        '{"Translations": [{"id": "p1", "text": "eins"}]}',
        '{"result": {"translations": [{"id": "p1", "text": "eins"}]}}',
        '[[{"id": "p1", "text": "eins"}]]',
        '[{"id": "p1", "text": "eins"}, "zwei"]',
        '[{"id": "p1", "text": "eins"}, {"id": "p2"}]',
    ],
)
def test_other_json_is_an_ordinary_text(text: str) -> None:
    assert not is_envelope(text)
    assert is_clean_result(text, "source") == bool(text)


@pytest.mark.parametrize(
    "text",
    [
        'Here: {"translations": [{"id": "p1", "text": "eins"}]}',
        '{"translations": [{"id": "p1", "text": "eins"}]} and so on',
        '```json\n{"translations": [{"id": "p1", "text": "eins"}]}\n```',
        '[{"id": "p1", "text": "eins"}] [{"id": "p2", "text": "zwei"}]',
    ],
)
def test_an_envelope_is_the_whole_text_and_not_a_part_of_it(text: str) -> None:
    assert not is_envelope(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"translations": [{"id": "p1", "text": "eins"}',
        '{"translations": [{"id": "p1", "text": "eins"},]}',
        "{'translations': [{'id': 'p1', 'text': 'eins'}]}",
        '[{"id": "p1", "text": "ei\nns"}]',
        '[{"id": "p1" "text": "eins"}]',
        "[{id: p1, text: eins}]",
    ],
)
def test_broken_json_is_an_ordinary_text(text: str) -> None:
    assert not is_envelope(text)


def test_json_of_any_depth_is_an_ordinary_text() -> None:
    for text in ("[" * 100_000 + "]" * 100_000, '{"translations":' * 100_000 + "1" + "}" * 100_000):
        assert not is_envelope(text)
        assert is_clean_result(text, "source")


@pytest.mark.parametrize(
    ("text", "envelope"),
    [
        ('{"translations": [], "translations": [{"id": "p1", "text": "eins"}]}', True),
        ('[{"id": "p1", "id": "p2", "text": "eins", "text": "zwei"}]', True),
        ('{"answer": 1, "answer": 2}', False),
    ],
)
def test_a_doubled_key_hides_nothing(text: str, envelope: bool) -> None:
    assert is_envelope(text) == envelope


DEEP = 5_000
"""Levels that no reader of JSON goes down to."""


@pytest.mark.parametrize(("open_", "close"), ["[]", ('{"a": ', "}"), ('[{"[": ', "}]"), ('["]", [', "]]")])
@pytest.mark.parametrize("levels", [1, 99, 100, 101, DEEP])
def test_what_is_nested_in_an_envelope_does_not_hide_it(open_: str, close: str, levels: int) -> None:
    deep = open_ * levels + "1" + close * levels
    assert is_envelope(f'{{"translations": [{{"id": "p1", "more": {deep}, "text": "eins"}}]}}')
    assert is_envelope(f'{{"more": {deep}, "translations": [{{"id": "p1", "text": "eins"}}], "less": {deep}}}')
    assert not is_envelope(f'{{"translations": [{{"id": "p1", "more": {deep}}}]}}')
    assert not is_envelope(deep)


@pytest.mark.parametrize("text", ["[" * DEEP, "[" * DEEP + "]", "]" * DEEP + "[" * DEEP + "]", "{" * DEEP + "}" * DEEP])
def test_brackets_alone_are_no_envelope(text: str) -> None:
    assert not is_envelope(text)


@given(texts.filter(lambda text: not is_blank(text)))
def test_a_text_equal_to_its_source_is_clean(text: str) -> None:
    assert is_clean_result(text, text)


@pytest.mark.parametrize("result", [None, 1, True, b"eins", ["eins"], {"text": "eins"}, object()])
def test_what_is_no_text_is_not_clean(result: object) -> None:
    assert not is_clean_result(result, "source")


@pytest.mark.parametrize("result", ["", " ", "\u2003\n"])
def test_a_blank_result_is_clean_for_a_blank_source_only(result: str) -> None:
    assert not is_clean_result(result, "source")
    assert is_clean_result(result, "\u3000")


@given(segment_lists.filter(lambda segments: len(segments) > 1), tokens)
def test_a_result_with_markers_is_not_clean(segments: list[str], token: str) -> None:
    assert not is_clean_result(join(segments, token), "source")


@settings(max_examples=50)
@given(item_lists)
def test_a_result_that_is_an_envelope_is_not_clean_even_for_a_blank_source(found: list[object]) -> None:
    assert not is_clean_result(json.dumps(found), " ")


def test_a_literal_of_the_source_that_looks_like_a_marker_is_no_marker() -> None:
    source = "Write <dm-abcdefgh-1/> between two segments."
    assert is_clean_result("Zwischen zwei Segmente kommt <dm-abcdefgh-1/>.", source)
    assert not is_clean_result("Zwischen zwei Segmente kommt <dm-abcdefgh-2/>.", source)
    assert not is_clean_result("Zwischen zwei Segmente kommt <dm-abcdefgh-1/>.", "Between two segments.")


scraps = st.sampled_from(
    ["<dm-abcdefgh-1/>", "<", "{", '[{"id": 1, "text": "a"}]', " ", "\u3000", "\n", "a", "ß", "{}"]
)


@given(st.lists(scraps, max_size=4).map("".join) | texts, st.lists(scraps, max_size=3).map("".join))
def test_what_is_clean_anyhow_is_clean_for_every_source(text: str, source: str) -> None:
    assert not is_clean_anyhow(text) or is_clean_result(text, source)


@pytest.mark.parametrize("text", ["Ein ganz gewöhnlicher Satz.", "a", "译文", "[1, 2]", "\u200b"])
def test_an_ordinary_text_is_clean_anyhow(text: str) -> None:
    assert is_clean_anyhow(text)


@pytest.mark.parametrize("value", [None, b"text", 7, "", " ", "\u3000", "a < b", "{", '[{"id": 1, "text": "a"}]'])
def test_what_needs_a_closer_look_is_not_clean_anyhow(value: object) -> None:
    assert not is_clean_anyhow(value)
