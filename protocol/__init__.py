"""The vocabulary: immutable messages and values, state tables, pure rules. No thread, no clock, no I/O."""
