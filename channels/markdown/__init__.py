"""What every renderer shares: one Markdown parser that gives a small tree, and one splitter.

`parse` turns a model's Markdown into blocks and inlines (tree.py); a channel writes them in its platform's form.
`next_cut` and `cuts` find where a text may be cut; `split` cuts Markdown source and keeps its code fences whole.
Everything here is pure. No text is lost on the way: what Markdown would drop is shown as it was written.
"""

from channels.markdown.blank import is_blank
from channels.markdown.fences import split
from channels.markdown.parser import parse
from channels.markdown.splitter import MINIMUM, Measure, check_limit, cuts, next_cut, utf16

__all__ = ["MINIMUM", "Measure", "check_limit", "cuts", "is_blank", "next_cut", "parse", "split", "utf16"]
