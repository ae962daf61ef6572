"""The quickest way of noticing each fault with its budget, and why a way does not notice one.

A budget is in the unit of its way, and leaves room for scenarios that are added: a fault is noticed well within it.
"""

from __future__ import annotations

from typing import Final

from .ways import Way

__all__ = ["QUICKEST", "UNSEEN"]

_SCENARIOS, _EXPLORER, _LOAD, _PROPERTIES = Way

_ONE_THREAD: Final = "one thread plays it, and this takes two"
_PLAIN: Final = "no file comes to it in the order as listed"
_NO_SCENE: Final = "none of its scenarios comes to it"
_RARE: Final = "the moment is too rare for so few"
_LOOSE: Final = "judged only by what must hold in any order"
_PROMPT: Final = "the actors of a load hardly use the ready queue"
_AT_REST: Final = "a runtime closes its actors when nothing waits"
_ONCE: Final = "nobody in a runtime answers twice"
_TABLE: Final = "the state of the handle or session stops it"
_LATE: Final = "on threads a late timer is no breach"
_OTHER: Final = "its dispatcher has a clock of its own"

QUICKEST: dict[str, tuple[Way, int]] = {
    "an_ack_overtakes_its_registration": (_PROPERTIES, 9),
    "an_expiry_does_not_pass_along_the_lane": (_EXPLORER, 51),
    "clears_the_session_before_its_handles": (_EXPLORER, 78),
    "does_not_pass_the_turn_on": (_SCENARIOS, 8),
    "does_not_wait_for_earlier_requests": (_SCENARIOS, 8),
    "forgets_closed_requests": (_SCENARIOS, 7),
    "forgets_what_is_on_its_way": (_PROPERTIES, 12),
    "releases_the_holds_of_others": (_SCENARIOS, 332),
    "answers_at_once_though_something_commits": (_PROPERTIES, 17),
    "answers_before_the_coordinator_knows": (_PROPERTIES, 11),
    "commits_again_on_a_duplicate": (_SCENARIOS, 45),
    "commits_in_arrival_order": (_SCENARIOS, 10),
    "commits_twice_when_its_turn_comes": (_SCENARIOS, 8),
    "does_not_await_a_commit_in_flight": (_EXPLORER, 8),
    "expires_complete_requests": (_PROPERTIES, 7),
    "forgets_what_waited_behind_a_commit": (_LOAD, 378),
    "restarts_the_window_on_a_second_activation": (_SCENARIOS, 38),
    "a_session_outlives_its_ttl_by_a_tick": (_EXPLORER, 51),
    "does_not_pin_sessions": (_EXPLORER, 51),
    "drops_a_session_that_was_used_meanwhile": (_EXPLORER, 53),
    "evicts_the_most_recently_used_session": (_SCENARIOS, 32),
    "keeps_every_turn": (_SCENARIOS, 33),
    "looks_content_up_without_holding_the_session": (_PROPERTIES, 10),
    "releases_its_session_twice": (_PROPERTIES, 19),
    "stores_turns_before_their_commit_is_decided": (_SCENARIOS, 173),
    "leaves_its_calls_open": (_PROPERTIES, 6),
    "reports_a_timeout_as_a_cancellation": (_PROPERTIES, 6),
    "retries_after_a_cancel": (_SCENARIOS, 28),
    "takes_a_late_answer_for_the_next_attempt": (_SCENARIOS, 118),
    "takes_no_lane": (_SCENARIOS, 12),
    "commits_a_recovery": (_PROPERTIES, 16),
    "recovers_a_second_time": (_SCENARIOS, 107),
    "reuses_the_valid_units_of_a_failed_attempt": (_SCENARIOS, 5),
    "shows_the_history_to_a_recovery": (_PROPERTIES, 17),
    "an_entry_dies_at_the_very_instant": (_SCENARIOS, 7),
    "does_not_bound_all_sessions": (_SCENARIOS, 107),
    "evicts_in_order_of_writing": (_SCENARIOS, 15),
    "evicts_what_it_writes": (_SCENARIOS, 55),
    "loses_a_note_as_it_is_opened": (_SCENARIOS, 15),
    "shrinks_at_the_next_write": (_PROPERTIES, 12),
    "a_cancelled_timer_that_has_fired_counts": (_PROPERTIES, 32),
    "a_superseded_timer_counts": (_PROPERTIES, 32),
    "does_not_tell_of_an_earlier_timer": (_PROPERTIES, 22),
    "forgets_when_a_timer_counts_as_started": (_SCENARIOS, 596),
    "leaves_its_timers": (_PROPERTIES, 12),
    "ties_fire_in_reverse": (_PROPERTIES, 12),
    "a_timer_sees_the_end_of_the_step": (_PROPERTIES, 60),
    "forgets_a_mailbox_that_has_more": (_PROPERTIES, 32),
    "leaves_the_rest_to_nobody": (_PROPERTIES, 20),
    "parks_without_looking_again": (_PROPERTIES, 200),
    "stops_with_messages_left": (_PROPERTIES, 76),
    "wakes_nobody": (_PROPERTIES, 14),
    "answers_at_once_without_the_right_to_run": (_PROPERTIES, 48),
    "closing_loses_a_message": (_PROPERTIES, 32),
    "delivers_the_newest_first": (_PROPERTIES, 12),
    "delivers_without_the_right_to_run": (_PROPERTIES, 48),
    "rests_without_looking_again": (_PROPERTIES, 54),
    "rests_without_the_lock": (_PROPERTIES, 200),
    "takes_messages_after_its_close": (_PROPERTIES, 32),
    "calls_back_before_its_answer_is_there": (_LOAD, 12),
    "forgets_a_late_callback": (_PROPERTIES, 46),
    "is_done_before_its_answer_is_there": (_PROPERTIES, 160),
    "takes_a_second_answer": (_PROPERTIES, 12),
}

UNSEEN: dict[str, dict[Way, str]] = {
    "an_ack_overtakes_its_registration": {_SCENARIOS: _PLAIN},
    "clears_the_session_before_its_handles": {_SCENARIOS: _PLAIN, _LOAD: _RARE},
    "forgets_what_is_on_its_way": {_SCENARIOS: _PLAIN, _LOAD: _RARE},
    "releases_the_holds_of_others": {_EXPLORER: _NO_SCENE, _LOAD: _RARE, _PROPERTIES: _RARE},
    "answers_at_once_though_something_commits": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD},
    "answers_before_the_coordinator_knows": {_SCENARIOS: _PLAIN, _LOAD: _RARE},
    "commits_again_on_a_duplicate": {_EXPLORER: _NO_SCENE},
    "expires_complete_requests": {_EXPLORER: _NO_SCENE},
    "forgets_what_waited_behind_a_commit": {_SCENARIOS: _PLAIN, _PROPERTIES: _RARE},
    "restarts_the_window_on_a_second_activation": {_EXPLORER: _NO_SCENE},
    "a_session_outlives_its_ttl_by_a_tick": {_LOAD: _RARE},
    "drops_a_session_that_was_used_meanwhile": {_SCENARIOS: _PLAIN, _LOAD: _RARE},
    "evicts_the_most_recently_used_session": {_EXPLORER: _NO_SCENE},
    "keeps_every_turn": {_EXPLORER: _NO_SCENE},
    "looks_content_up_without_holding_the_session": {_SCENARIOS: _PLAIN, _EXPLORER: _NO_SCENE},
    "releases_its_session_twice": {_EXPLORER: _NO_SCENE},
    "stores_turns_before_their_commit_is_decided": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE, _PROPERTIES: _RARE},
    "leaves_its_calls_open": {_LOAD: _LOOSE},
    "reports_a_timeout_as_a_cancellation": {_LOAD: _LOOSE},
    "retries_after_a_cancel": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "takes_a_late_answer_for_the_next_attempt": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "takes_no_lane": {_LOAD: _LOOSE},
    "commits_a_recovery": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "recovers_a_second_time": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "reuses_the_valid_units_of_a_failed_attempt": {_LOAD: _LOOSE},
    "shows_the_history_to_a_recovery": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "an_entry_dies_at_the_very_instant": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "does_not_bound_all_sessions": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "evicts_in_order_of_writing": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "evicts_what_it_writes": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "loses_a_note_as_it_is_opened": {_EXPLORER: _NO_SCENE, _LOAD: _LOOSE},
    "shrinks_at_the_next_write": {_LOAD: _LOOSE},
    "a_cancelled_timer_that_has_fired_counts": {_SCENARIOS: _TABLE, _EXPLORER: _TABLE, _LOAD: _TABLE},
    "a_superseded_timer_counts": {_SCENARIOS: _TABLE, _EXPLORER: _TABLE, _LOAD: _TABLE},
    "does_not_tell_of_an_earlier_timer": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _LATE},
    "forgets_when_a_timer_counts_as_started": {_EXPLORER: _NO_SCENE, _LOAD: _RARE, _PROPERTIES: _RARE},
    "leaves_its_timers": {_SCENARIOS: _PLAIN, _LOAD: _LOOSE},
    "ties_fire_in_reverse": {_EXPLORER: _NO_SCENE, _LOAD: _RARE},
    "a_timer_sees_the_end_of_the_step": {_EXPLORER: _OTHER, _LOAD: _PROMPT},
    "leaves_the_rest_to_nobody": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _PROMPT},
    "parks_without_looking_again": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _RARE},
    "stops_with_messages_left": {_SCENARIOS: _AT_REST, _EXPLORER: _AT_REST, _LOAD: _AT_REST},
    "wakes_nobody": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _RARE},
    "answers_at_once_without_the_right_to_run": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _RARE},
    "closing_loses_a_message": {_SCENARIOS: _AT_REST, _EXPLORER: _AT_REST, _LOAD: _AT_REST},
    "delivers_without_the_right_to_run": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD},
    "rests_without_looking_again": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD},
    "rests_without_the_lock": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD},
    "takes_messages_after_its_close": {_SCENARIOS: _AT_REST, _EXPLORER: _AT_REST, _LOAD: _AT_REST},
    "calls_back_before_its_answer_is_there": {_PROPERTIES: _RARE},
    "forgets_a_late_callback": {_EXPLORER: _NO_SCENE},
    "is_done_before_its_answer_is_there": {_SCENARIOS: _ONE_THREAD, _EXPLORER: _ONE_THREAD, _LOAD: _RARE},
    "takes_a_second_answer": {_SCENARIOS: _ONCE, _EXPLORER: _ONCE, _LOAD: _ONCE},
}
"""The ways that do not notice a fault, with the reason."""
