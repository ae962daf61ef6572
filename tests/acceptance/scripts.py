"""Short stories that random walks meet too rarely; each is followed in plain FIFO order and under random schedules."""

from __future__ import annotations

from .walk import TTL, WINDOW, Limits, Operation, Step, follow


def _register(request: str, session: str, *parents: str) -> Operation:
    return "register", request, session, tuple((parent, f"{request} {parent} source") for parent in parents)


def _ack(request: str, parent: str) -> Operation:
    return "ack", request, parent, "accepted"


SCRIPTS: dict[str, tuple[Limits, list[Step]]] = {
    "activation after another began to wait saves from being passed over": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1"), _register("r1", "s1", "p1")]),
            (0, [_ack("r1", "p1")]),
            (WINDOW // 2, [("activate", "r0")]),
            (WINDOW // 2, [_ack("r0", "p1")]),
        ],
    ),
    "a complete request does not expire while it waits": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1"), _register("r1", "s1", "p1")]),
            (0, [("activate", "r1")]),
            (WINDOW // 2, [_ack("r1", "p1"), ("activate", "r0")]),
            (WINDOW // 2, [_ack("r0", "p1")]),
            (WINDOW, []),
        ],
    ),
    "a registration that may yet be refused takes no room": (
        Limits(max_sessions=2, max_open_handles=2),
        [
            (0, [_register("r0", "s1", "p1")]),
            (0, [_register("r1", "s2", "p1"), _register("r2", "s3", "p1"), _register("r3", "s1", "p1")]),
        ],
    ),
    "one id in two sessions": (
        Limits(max_sessions=1),
        [
            (0, [_register("r0", "s1", "p1")]),
            (0, [_register("r1", "s2", "p1"), _register("r1", "s1", "p1"), _register("r1", "s3", "p1")]),
        ],
    ),
    "a commit in flight and the end of the request": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1", "p2"), _register("r1", "s1", "p1")]),
            (0, [_ack("r1", "p1")]),
            (0, [_ack("r0", "p1"), ("cancel", "r0"), ("read", "s1", 10)]),
        ],
    ),
    "repeated answers behind the one that closes": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1"), _register("r1", "s1", "p1", "p2")]),
            (0, [_ack("r1", "p1")]),
            (0, [_ack("r0", "p1"), _ack("r0", "p1"), ("read", "s1", 10), ("cancel", "r1")]),
        ],
    ),
    "a clear among the answers": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1", "p2"), _register("r1", "s1", "p1")]),
            (0, [_ack("r0", "p1"), ("clear", "s1"), _ack("r1", "p1")]),
            (0, [_register("r2", "s1", "p1"), ("claim", "s1"), _ack("r2", "p1")]),
        ],
    ),
    "a session in use does not end, one that waits does": (
        Limits(),
        [
            (0, [_register("r0", "s1", "p1", "p2"), _register("r1", "s2", "p1")]),
            (TTL, [_ack("r0", "p1")]),
            (1, [("read", "s1", 1), _ack("r1", "p1")]),
        ],
    ),
}


def follow_script(name: str, schedules: int) -> None:
    """Follow one story in the listed order, then under that many random schedules."""
    limits, steps = SCRIPTS[name]
    follow(lambda _now: iter(steps), limits, 0, shuffled=False)
    for seed in range(schedules):
        follow(lambda _now: iter(steps), limits, seed, shuffled=True)
