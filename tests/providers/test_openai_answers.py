"""What the body of a chat completion is taken for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Completion, Termination
from dragoman.providers.openai_answers import completion_in


def read(message: dict[str, Any], finish: object = "stop", **facts: Any) -> Completion | None:
    body = {"choices": [{"message": message, "finish_reason": finish}], **facts}
    answer = completion_in(json.dumps(body).encode())
    assert answer is None or isinstance(answer, Completion)
    return answer


@pytest.mark.parametrize(
    ("finish", "termination"),
    [
        ("stop", "NORMAL"),
        ("STOP", "NORMAL"),
        ("end_turn", "NORMAL"),
        ("length", "TRUNCATED"),
        ("content_filter", "POLICY"),
        ("error", "PROVIDER_ERROR"),
        ("insufficient_system_resource", "PROVIDER_ERROR"),
        ("tool_calls", "UNKNOWN"),
        (None, "UNKNOWN"),
        (["stop"], "UNKNOWN"),
    ],
)
def test_why_it_ended_is_normalised(finish: object, termination: str) -> None:
    answer = read({"content": "Hallo"}, finish)
    assert answer is not None
    assert (answer.text, answer.termination) == ("Hallo", Termination(termination))


def test_a_refusal_is_one_of_policy() -> None:
    assert read({"content": None, "refusal": "I cannot."}) == Completion(None, termination=Termination.POLICY)


@pytest.mark.parametrize(("finish", "termination"), [("length", "TRUNCATED"), ("content_filter", "POLICY")])
def test_an_answer_without_text_is_one_where_it_tells_why(finish: str, termination: str) -> None:
    assert read({"content": None}, finish) == Completion(None, termination=Termination(termination))


@pytest.mark.parametrize("finish", ["stop", "tool_calls", None])
def test_an_answer_without_text_and_without_a_reason_is_none(finish: str | None) -> None:
    assert read({"content": None}, finish) is None
    assert read({}, finish) is None
    assert read({"content": []}, finish) is None


def test_usage_and_model_are_told_where_the_server_tells_them() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    answer = read({"content": "x"}, model="gpt-x-2030", usage=usage)
    assert answer is not None
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("gpt-x-2030", 12, 3)


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "12", "completion_tokens": -1}, {"prompt_tokens": True}])
def test_odd_usage_is_none(usage: object) -> None:
    answer = read({"content": "x"}, model=5, usage=usage)
    assert answer is not None
    assert (answer.model, answer.input_tokens, answer.output_tokens) == (None, None, None)


def test_the_parts_of_a_text_are_one_text() -> None:
    parts = [{"type": "text", "text": "Hal"}, {"type": "thinking", "text": "hm"}, {"type": "text", "text": "lo"}]
    answer = read({"content": parts})
    assert answer is not None
    assert answer.text == "Hallo"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>\nHello is Hallo.\n</think>\n\nHallo", "Hallo"),
        ("\n<think></think>Hallo", "Hallo"),
        ("<think>Hello is", ""),
        ("Hallo <think>x</think>", "Hallo <think>x</think>"),
    ],
)
def test_thoughts_before_an_answer_are_no_part_of_it(content: str, text: str) -> None:
    answer = read({"content": content})
    assert answer is not None
    assert answer.text == text
