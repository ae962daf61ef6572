"""The journal, and the scenarios that are made of it."""
