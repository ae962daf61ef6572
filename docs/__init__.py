"""The documentation: plain pages, what makes some of them (`generate`), and what the built site adds (`site_parts`)."""
