"""The tool by which a model reads earlier results: its schemas, and that nothing a model writes raises (P phase 2)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Call, ContentTool, Outcome, Runtime, RuntimeClosed, WaitTimeout
from dragoman.protocol.prompt_refs import MISS_GUIDANCE

from .stage import simulated

PLAN = {"steps": ["mix", "knead"], "Länge": 40, "note": None}
JSON_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}

Run = Callable[[ContentTool, Any], dict[str, Any]]


@pytest.fixture
def tool(runtime: Runtime) -> ContentTool:
    return runtime.content_tool("s1")


def stored(runtime: Runtime, name: str = "c1", value: Any = PLAN, session: str = "s1") -> str:
    """The ref of a value that was stored."""
    ref = runtime.record_call(session, Call(name), Outcome.ok(value)).get().content_ref
    assert ref is not None
    return ref


def awaited(tool: ContentTool, arguments: Any) -> dict[str, Any]:
    return asyncio.run(tool.arun(arguments))


both_ways = pytest.mark.parametrize("run", [ContentTool.run, awaited], ids=["run", "arun"])


def check_schema(schema: Any) -> None:
    """That `schema` is a JSON schema of an object as strict mode wants it, all the way down."""
    assert schema["type"] in JSON_TYPES
    if "description" in schema:
        assert isinstance(schema["description"], str)
    if schema["type"] != "object":
        assert set(schema) <= {"type", "description", "enum"}
        return
    assert set(schema) <= {"type", "description", "properties", "required", "additionalProperties"}
    assert schema["additionalProperties"] is False
    assert sorted(schema["required"]) == sorted(schema["properties"])
    for name, inner in schema["properties"].items():
        assert re.fullmatch(r"\w+", name)
        check_schema(inner)


def test_the_definition_is_a_function_of_one_strict_argument(tool: ContentTool) -> None:
    definition = json.loads(json.dumps(tool.definition))
    assert (set(definition), definition["type"]) == ({"type", "function"}, "function")
    function = definition["function"]
    assert set(function) == {"name", "description", "parameters", "strict"}
    assert function["strict"] is True
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
    assert 0 < len(function["description"]) <= 1024
    check_schema(function["parameters"])
    assert list(function["parameters"]["properties"]) == ["ref"]
    assert function["parameters"]["properties"]["ref"]["type"] == "string"


def test_the_mcp_tool_is_the_same_and_says_that_it_only_reads(tool: ContentTool) -> None:
    mcp = json.loads(json.dumps(tool.mcp))
    function = tool.definition["function"]
    assert set(mcp) == {"name", "description", "inputSchema", "annotations"}
    assert (mcp["name"], mcp["description"]) == (function["name"], function["description"])
    assert mcp["inputSchema"] == function["parameters"]
    assert mcp["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    check_schema(mcp["inputSchema"])


@pytest.mark.parametrize("face", ["definition", "mcp"])
def test_a_program_may_change_what_it_was_given(tool: ContentTool, face: str) -> None:
    before = json.dumps(getattr(tool, face))
    given = getattr(tool, face)
    schema = given.get("inputSchema") or given["function"]["parameters"]
    schema["properties"]["ref"].clear()
    schema["required"].clear()
    given.clear()
    assert json.dumps(getattr(tool, face)) == before


@both_ways
def test_a_ref_gives_the_value_however_the_arguments_come(runtime: Runtime, tool: ContentTool, run: Run) -> None:
    ref = stored(runtime)
    mapping = {"ref": ref}
    for arguments in (mapping, json.dumps(mapping), json.dumps(mapping, indent=2) + "\n"):
        assert run(tool, arguments) == {"value": PLAN}
    assert run(tool, {"ref": f" {ref}\n"}) == {"value": PLAN}
    assert run(tool, {"ref": "c1"}) == {"value": PLAN}


@both_ways
@pytest.mark.parametrize("value", [None, "", False, 0, [], {}, float("inf"), "a\ud800b"], ids=repr)
def test_what_it_answers_can_be_sent_back_as_json(runtime: Runtime, tool: ContentTool, run: Run, value: Any) -> None:
    answer = run(tool, {"ref": stored(runtime, value=value)})
    assert set(answer) == {"value"}
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert answer["value"] == ("Infinity" if value == float("inf") else value)


@both_ways
def test_of_what_is_too_large_it_tells_kind_and_size(runtime: Runtime, run: Run) -> None:
    ref, size = stored(runtime), len(json.dumps(PLAN, ensure_ascii=False, separators=(",", ":")).encode())
    answer = run(runtime.content_tool("s1", max_bytes=size - 1), {"ref": ref})
    assert (answer.pop("guidance"), answer) == (ANY, {"error": "too_large", "kind": "object", "bytes": size})
    assert run(runtime.content_tool("s1", max_bytes=size), {"ref": ref}) == {"value": PLAN}
    counters = runtime.snapshot().store.counters
    assert (counters.hits, counters.misses) == (1, 0)


@both_ways
def test_without_a_limit_of_its_own_it_reads_a_hundred_thousand_bytes(runtime: Runtime, run: Run) -> None:
    for name, chars in (("fits", 99_998), ("too large", 99_999)):
        stored(runtime, name, "x" * chars)
    tool, unlimited = runtime.content_tool("s1"), runtime.content_tool("s1", max_bytes=None)
    assert [set(run(tool, {"ref": name})) for name in ("fits", "too large")] == [
        *({"value"}, {"error", "kind", "bytes", "guidance"}),
    ]
    assert len(run(unlimited, {"ref": "too large"})["value"]) == 99_999


@both_ways
def test_what_was_answered_may_be_changed(runtime: Runtime, tool: ContentTool, run: Run) -> None:
    ref = stored(runtime)
    run(tool, {"ref": ref})["value"]["steps"].clear()
    assert run(tool, {"ref": ref}) == {"value": PLAN}


GARBAGE: list[Any] = [
    *("", " ", "null", "5", '"content:abc"', "[]", '["content:abc"]', "{}", "{", '{"ref"}', "{'ref': 'content:abc'}"),
    *(
        '{"ref": null}',
        '{"ref": 5}',
        '{"ref": ""}',
        '{"ref": "  "}',
        '{"ref": ["content:abc"]}',
        '{"Ref": "content:a"}',
    ),
    *('{"ref": "content:abc", "more": 1}', '{"ref": {"ref": "content:abc"}}', "content:abc", "\ufeff{}", "NaN"),
    *('{"ref": "content:abc"} {"ref": "content:abc"}', "[" * 100_000, '{"ref":' * 50_000, "9" * 10_000, "\x00"),
    *({}, {"ref": None}, {"ref": 5}, {"ref": ""}, {"ref": b"content:abc"}, {"ref": "content:abc", "session": "s2"}),
    *({"name": "content:abc"}, {5: "content:abc"}, None, 5, b'{"ref": "content:abc"}', ["content:abc"], object()),
]


@both_ways
@pytest.mark.parametrize("arguments", GARBAGE, ids=range(len(GARBAGE)))
def test_other_arguments_are_told_to_be_invalid_and_looked_up_by_nobody(
    runtime: Runtime, tool: ContentTool, run: Run, arguments: Any
) -> None:
    answer = run(tool, arguments)
    assert set(answer) == {"error", "guidance"}
    assert answer["error"] == "invalid_arguments"
    assert '{"ref":' in answer["guidance"]
    answer.clear()
    assert run(tool, arguments)["error"] == "invalid_arguments"
    assert runtime.snapshot().store.counters.misses == 0


def miss(reason: str) -> dict[str, Any]:
    guidance = {told.value: text for told, text in MISS_GUIDANCE.items()}[reason]
    return {"error": "content_ref_not_found", "reason": reason, "guidance": guidance}


@both_ways
@pytest.mark.parametrize(
    "ref", ["content:", "content:" + "a" * 32, "c9", "r1/p1", "../s2", "*", "\ud800", "\x00", "x" * 100_000]
)
def test_a_ref_that_nobody_has_is_unknown(runtime: Runtime, tool: ContentTool, run: Run, ref: str) -> None:
    stored(runtime)
    assert run(tool, {"ref": ref}) == miss("unknown")
    assert run(tool, json.dumps({"ref": ref})) == miss("unknown")


@both_ways
def test_content_of_another_session_is_unknown(runtime: Runtime, tool: ContentTool, run: Run) -> None:
    ref = stored(runtime, "c2", session="s2")
    stored(runtime)
    assert {json.dumps(run(tool, {"ref": name})) for name in (ref, "c2")} == {json.dumps(miss("unknown"))}


@both_ways
def test_content_that_has_gone_comes_with_guidance_for_its_reason(run: Run) -> None:
    with simulated(store_max_entries=2, store_ttl=10) as runtime:
        tool = runtime.content_tool("s1")
        first, *_, last = (stored(runtime, f"c{number}") for number in range(3))
        runtime.record_call("s1", Call("nested", depth=1), Outcome.ok(PLAN)).get()
        assert run(tool, {"ref": first}) == miss("evicted")
        assert run(tool, {"ref": "nested"}) == miss("not_stored")
        assert run(tool, {"ref": last}) == {"value": PLAN}
        runtime.dispatcher.advance(11_000_000)  # type: ignore[attr-defined]
        assert run(tool, {"ref": last}) == miss("expired")
        runtime.clear_session("s1").get()
        assert run(tool, {"ref": last}) == miss("unknown")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("content:abc"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["ref", "name"]), inner, max_size=2),
    max_leaves=6,
)


def test_nothing_that_a_model_writes_raises() -> None:
    with simulated() as runtime:
        tool = runtime.content_tool("s1")

        @given(json_values | st.text(max_size=30))
        def write(arguments: Any) -> None:
            for given_as in (arguments, json.dumps(arguments), json.dumps(json.dumps(arguments))):
                answer = tool.run(given_as)
                assert answer["error"] in ("invalid_arguments", "content_ref_not_found")
                assert json.loads(json.dumps(answer)) == answer

        write()


def test_it_reads_and_does_nothing_else(runtime: Runtime, tool: ContentTool) -> None:
    ref = stored(runtime)
    before = runtime.calls("s1").get(), runtime.history("s1").get(), runtime.snapshot().store.sessions
    tool.run({"ref": ref})
    tool.run({"ref": "nobody"})
    assert (runtime.calls("s1").get(), runtime.history("s1").get(), runtime.snapshot().store.sessions) == before
    public = {name for name in dir(tool) if not name.startswith("_")}
    assert public == {"name", "description", "definition", "mcp", "run", "arun"}


def test_the_runtime_that_is_over_is_no_fault_of_the_model(runtime: Runtime, tool: ContentTool) -> None:
    runtime.close()
    with pytest.raises(RuntimeClosed):
        tool.run({"ref": "c1"})
    assert tool.run("garbage")["error"] == "invalid_arguments"


def test_a_wait_ends_in_time_and_may_be_repeated() -> None:
    with Runtime() as runtime:
        tool, ref = runtime.content_tool("s1"), stored(runtime)
        try:
            first: Mapping[str, Any] = tool.run({"ref": ref}, timeout=0)
        except WaitTimeout:
            first = {"value": PLAN}
        assert first == tool.run({"ref": ref}, timeout=20) == {"value": PLAN}


def test_it_shows_no_content(runtime: Runtime, tool: ContentTool) -> None:
    stored(runtime, value="Bernina Zephyr")
    assert repr(tool) == "<ContentTool of s1>"
