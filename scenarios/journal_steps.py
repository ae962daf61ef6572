"""The steps of a timeline that is made from a journal: of each item the verb, its arguments, and what was answered.

Verdicts that depend on texts are brought about again: an ACK whose result was not clean gets one that is not, an answer
that violated the contract in a unit leaves that unit out, a follow-up names the call that it chose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ..actors.journal_reader import Line
from ..protocol.settings import Settings
from .journal_items import Item
from .journal_story import Story
from .journal_values import error_like, value_like
from .placeholders import NEVER_CLEAN

__all__ = ["Steps"]

Step = dict[str, Any]
"""A step without its instant: one verb with its argument, and perhaps `expect`."""

_UNKNOWN_REF = f"content:{'a' * 26}"
_TENTH = 10
"""The last ordinal that a follow-up knows."""
_DEFAULTS = {
    "provider": "openai",
    "mode": "select-element",
    "purpose": "PRIMARY_TRANSLATION",
    "source_language": "en",
    "target_language": "de",
}
_LEFT, _NOT_CLEAN = "LEFT_TO_CALLER", "NOT_CLEAN"
_ACCEPT = {
    "REFUSED": "reject",
    "FAULTY": "reject",
    "ROLLED_BACK": "reject",
    "UNDELIVERABLE": "undeliverable",
    _LEFT: "manual",
}
"""What the application of a scenario is told of a parent, by what became of it."""


class Steps:
    """Makes steps, in the order of the timeline."""

    def __init__(self, lines: Sequence[Line], settings: Settings) -> None:
        self.story = Story(settings)
        self._words: dict[str, dict[str, str]] = defaultdict(dict)
        """What the application did with each parent of a request that was dispatched to it."""
        self._offered: Counter[str] = Counter()
        """How many calls a session has recorded, at most: a follow-up chooses from some of them."""
        for line in lines:
            if line["k"] == "dispatched":
                for word, parents in line["words"].items():
                    self._words[line["request"]].update(dict.fromkeys(parents, word))
        self._verbs: dict[str, Callable[[Line, Line | None], Step | None]] = {
            "register": self._register,
            "translate": self._translate,
            "direct": self._direct,
            "activate": _of_request("activate"),
            "cancel": _of_request("cancel"),
            "dispatch_failed": _of_request("dispatch_failed"),
            "time_out": _of_request("time_out", expects=False),
            "ack": self._ack,
            "reject": self._reject,
            "claim_turn": self._claim,
            "read_history": self._read,
            "clear_session": _clear,
            "configure": _configure,
            "fail_commits": _fail_commits,
            "record_call": self._record,
            "refer": self._refer,
            "fetch": self._fetch,
            "follow_up": self._follow_up,
            "propose": _propose,
            "approve": _act,
            "acknowledge": _act,
            "refuse": _act,
            "apply": _act,
        }

    def step(self, item: Item) -> Step | None:
        """The step of an item; None for what no verb is there for, since it changes nothing."""
        if item.kind == "answer":
            return self._answer(item.line)
        make = self._verbs.get(item.line["op"])
        return None if make is None else make(item.line, item.reply)

    def _register(self, line: Line, reply: Line | None) -> Step:
        if "request" not in line:
            return _invalid("register", line)
        if reply is None or reply.get("status") != "REGISTERED":
            # The texts of a request that was refused are not those of the one that has its id.
            parents: Any = {parent: self.story.placeholders.text(told) for parent, told in line["parents"].items()}
        else:
            parents = self.story.register(line)
        return _with_status({"register": {**_identity(line), "parents": parents}}, reply)

    def _translate(self, line: Line, reply: Line | None) -> Step:
        if "request" not in line:
            return _invalid("translate", line)
        started = reply is None or reply.get("status") == "STARTED"
        parents = self.story.translate(line) if started else dict.fromkeys(line["parents"], "x")
        argument = {**_identity(line), "parents": parents}
        if line.get("history_until") is not None:
            argument["history_until"] = line["history_until"]
        accept = self._accept(line)
        if accept is not None and started:
            argument["accept"] = accept
        return _with_status({"translate": argument}, reply)

    def _accept(self, line: Line) -> Any:
        words = self._words[line["request"]]
        usual = _LEFT if line["by_hand"] else "APPLIED"
        if all(word in (usual, _NOT_CLEAN) for word in words.values()):
            return "manual" if line["by_hand"] else None
        accept: dict[str, list[str]] = {}
        for parent in line["parents"]:
            key = _ACCEPT.get(words.get(parent, usual))
            if key is not None:
                accept.setdefault(key, []).append(parent)
        return accept

    def _direct(self, line: Line, reply: Line | None) -> Step:
        if "request" not in line:
            return _invalid("direct", line)
        identity = {key: value for key, value in _identity(line).items() if not key.endswith("language")}
        started = reply is None or reply.get("status") == "STARTED"
        source = self.story.direct(line) if started else "x"
        return _with_status({"direct": {**identity, "source": source}}, reply)

    def _ack(self, line: Line, reply: Line | None) -> Step:
        request, parent, told = line["request"], line["parent"], line.get("result")
        status = None if reply is None else reply.get("status")
        result = None if told is None else self.story.placeholders.text(told)
        if status == "INVALID_RESULT" and told is not None:
            result = NEVER_CLEAN
        if status == "ACCEPTED" and result is not None:
            self.story.accepted(request, parent, result)
        return _acked({"ack": {"request": request, "parent": parent, "result": result}}, reply)

    def _reject(self, line: Line, reply: Line | None) -> Step:
        return _acked({"reject": {"request": line["request"], "parent": line["parent"]}}, reply)

    def _claim(self, line: Line, reply: Line | None) -> Step:
        step: Step = {"claim_turn": _asker(line)}
        if reply is not None and "error" not in reply:
            step["expect"] = reply.get("number", reply.get("status"))
        return step

    def _read(self, line: Line, reply: Line | None) -> Step:
        argument = {**_asker(line), "max_turns": line["max_turns"]}
        if line.get("max_chars") is not None:
            argument["max_chars"] = line["max_chars"]
        step: Step = {"read_history": argument}
        if reply is not None and "turns" in reply:
            for request, parent, ref in reply["turns"]:
                if ref is not None:
                    self.story.refs[ref] = line["session"], f"{request}/{parent}"
            expected = self.story.turns(reply["turns"], line.get("max_chars"))
            if expected is not None:
                step["expect"] = expected
        return step

    def _answer(self, line: Line) -> Step:
        call = line["call"]
        request = call.rpartition("/")[0]
        if "valid" not in line:
            failed = {"call": call, "error": line["error"]}
            if line.get("retry_after") is not None:
                failed["retry_after"] = duration(line["retry_after"])
            return {"fail": failed}
        unclean = frozenset(parent for parent, word in self._words[request].items() if word == _NOT_CLEAN)
        answer: dict[str, Any] = {"call": call}
        if line.get("unsafe") == "UNPARSEABLE" and line["format"] == "STRUCTURED":
            answer["text"] = "no envelope"
        else:
            answer["translations"] = self.story.answered(request, line["valid"], unclean)
        if line["termination"] != "NORMAL":
            answer["termination"] = line["termination"]
        return {"respond": answer}

    def _record(self, line: Line, reply: Line | None) -> Step:
        argument = {key: line[key] for key in ("session", "id", "role", "method", "depth")}
        if line.get("parent") is not None:
            argument["parent"] = line["parent"]
        if line["keep"]:
            argument["keep"] = True
        if line["status"] == "error":
            argument["error"] = value = error_like(line)
        else:
            argument["value"] = value = value_like(line, self.story.placeholders)
        step: Step = {"call": argument}
        if reply is not None and "error" not in reply:
            self._note_value(line["session"], line["id"], value, reply)
            step["expect"] = _stored(reply)
        return step

    def _note_value(self, session: str, name: str, value: Any, reply: Line) -> None:
        if reply.get("reason") != "duplicate_call":
            self.story.values[session, name] = value
            self._offered[session] += 1
        if "ref" in reply:
            self.story.refs[reply["ref"]] = session, name

    def _refer(self, line: Line, reply: Line | None) -> Step:
        step: Step = {"refer": {"session": line["session"], "from": line["from"], "to": line["to"]}}
        if reply is not None and "error" not in reply:
            if "ref" in reply:
                self.story.refs[reply["ref"]] = line["session"], line["to"]
            step["expect"] = _stored(reply)
        return step

    def _fetch(self, line: Line, reply: Line | None) -> Step | None:
        if line.get("max_bytes") is not None:
            return None  # a tool of a model asked, for no more than that; the language has no word for it
        name = line.get("name")
        if name is None:
            name = self.story.refs.get(line.get("ref", ""), ("", _UNKNOWN_REF))[1]
        step: Step = {"fetch": {"session": line["session"], "ref": name}}
        if reply is None or "error" in reply:
            return step
        if reply.get("miss") is not None:
            step["expect"] = {"miss": "content_ref_not_found", "reason": reply["miss"]}
        else:
            known, value = self._value(line["session"], name)
            if known:
                step["expect"] = {"value": value}
        return step

    def _value(self, session: str, name: str) -> tuple[bool, Any]:
        if (session, name) in self.story.values:
            value = self.story.values[session, name]
            return not _has_opaque(value), value
        request, slash, parent = name.rpartition("/")
        result = self.story.results.get((request, parent)) if slash else None
        return result is not None, result

    def _follow_up(self, line: Line, reply: Line | None) -> Step | None:
        if reply is None or "error" in reply:
            return None
        argument: dict[str, Any] = {"session": line["session"]}
        max_bytes = line.get("max_bytes")
        if max_bytes is not None:
            argument["max_bytes"] = max_bytes
        if reply.get("miss") == "low_utility":
            if reply["reason"] != "no_follow_up_intent" and self._offered[line["session"]] >= _TENTH:
                return None  # it changes nothing, and what was said to find nothing among so many is not known
            argument["say"] = "hm" if reply["reason"] == "no_follow_up_intent" else "tenth"
            return {"follow_up": argument, "expect": {"miss": reply["miss"], "reason": reply["reason"]}}
        chosen = reply.get("call") or reply.get("candidate") or _UNKNOWN_REF
        if (line["session"], chosen) not in self.story.values and "/" in chosen:
            return {"fetch": {"session": line["session"], "ref": chosen}}
        by_size = max_bytes is not None and (reply.get("bytes") or 0) > max_bytes
        asks = reply.get("decision") == "SUMMARY_ONLY" and not by_size
        argument["say"] = f"how long is {chosen}" if asks else chosen
        if reply.get("miss") is not None:
            return {"follow_up": argument, "expect": {"miss": reply["miss"], "reason": reply["reason"]}}
        return {"follow_up": argument, "expect": {"call": reply["call"], "decision": reply["decision"]}}


def duration(microseconds: int) -> str:
    """An instant or a time as the language writes it."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{seconds}.{rest:06d}".rstrip("0").rstrip(".") + "s"


def _identity(line: Line) -> dict[str, Any]:
    argument = {"request": line["request"], "session": line["session"]}
    return {**argument, **_others(line)}


def _asker(line: Line) -> dict[str, Any]:
    return {"session": line["session"], **_others(line)}


def _others(line: Line) -> dict[str, Any]:
    """What is not as the language supplies it."""
    return {key: line[key] for key, usual in _DEFAULTS.items() if line.get(key, usual) != usual}


def _invalid(verb: str, line: Line) -> Step:
    """A call that was refused before any actor saw it, whatever was wrong with it: nothing has no parents."""
    argument: dict[str, Any] = {"request": line["id"], "session": "s"}
    if verb == "direct":
        argument["source"] = ""
    else:
        argument["parents"] = {}
    return {verb: argument, "expect": "INVALID_HANDOFF"}


def _with_status(step: Step, reply: Line | None) -> Step:
    if reply is not None and reply.get("status") is not None:
        step["expect"] = reply["status"]
    return step


def _acked(step: Step, reply: Line | None) -> Step:
    if reply is not None and "status" in reply:
        step["expect"] = {"status": reply["status"], "committed": list(reply.get("committed", ()))}
    return step


def _of_request(verb: str, *, expects: bool = True) -> Callable[[Line, Line | None], Step]:
    def make(line: Line, reply: Line | None) -> Step:
        step: Step = {verb: line["request"]}
        return _with_status(step, reply) if expects else step

    return make


def _clear(line: Line, reply: Line | None) -> Step:
    return _with_status({"clear_session": line["session"]}, reply)


def _configure(line: Line, reply: Line | None) -> Step:
    return _with_status({"configure": {"history_enabled": line["history_enabled"]}}, reply)


def _fail_commits(line: Line, _reply: Line | None) -> Step:
    return {"fail_commits": {"session": line["session"], "times": line["times"]}}


def _propose(line: Line, reply: Line | None) -> Step:
    argument = {"id": line["id"], "by": line.get("by", "x"), "change": line.get("change", {})}
    # One that was refused was not valid; without evidence none is.
    return _with_status({"propose": {**argument, "evidence": "x" if "by" in line else "", "rollback": "x"}}, reply)


def _act(line: Line, reply: Line | None) -> Step:
    return _with_status({line["op"]: {"id": line["id"], "by": line["by"]}}, reply)


def _stored(reply: Line) -> Any:
    reason = reply.get("reason")
    if reason == "OVERLOADED":
        return reason
    if reason is not None or "ref" not in reply:
        return {"stored": False, "reason": reason}
    return {"stored": True, "kind": reply["kind"], "bytes": reply["bytes"], "mode": reply["mode"]}


def _has_opaque(value: Any) -> bool:
    """Whether a value is not what is read back: JSON cannot express a part of it."""
    if isinstance(value, dict):
        return any(map(_has_opaque, value.values()))
    if isinstance(value, list):
        return any(map(_has_opaque, value))
    return not isinstance(value, str | int | float | None)
