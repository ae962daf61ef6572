"""Write the generated pages anew: `python -m docs.generate`, in the folder of the checkout."""

from __future__ import annotations

from . import pages

for file, text in pages().items():
    file.write_text(text, encoding="utf-8")
