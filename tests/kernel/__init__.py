"""The kernel's tests (design, section 3): mailboxes, futures, timers, dispatchers, failures and shutdown."""
