"""The timeline language and its replayer."""
