"""Finding words on a tape, before and after its anchors. Pure, and slow on long tapes: run it in a thread."""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from rapidfuzz import fuzz

from gateway.tape.codec import encode_fact, kind_of, load, texts
from gateway.tape.entries import Call, Entry, Event, Fact, ToolCall

RECENT = 500
"""How many of the newest entries are looked through for words that are nearly the ones asked for."""

_NEAR = 75.0  # of 100
_LONGEST = 4_000  # characters of one entry that the fuzzy search reads
_AROUND = 80  # characters of a snippet on each side of the match
_REPEATS = frozenset({"turn", "delivery", "model.call", "run", "command"})
_FRAME = frozenset({"role", "content", "calls", "results", "call_ids", "name", "state", "data", "kind", "message"})


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that a search found, and the words around the match on one line."""

    entry: Entry
    snippet: str


def search(entries: Sequence[Entry], words: str, *, limit: int, kinds: Container[str] | None = None) -> Sequence[Hit]:
    """At most `limit` hits: entries with exactly these words, then with each of them, then with nearly these.

    Each group is newest first; upper and lower case, full and half width are one. Never raises for odd words.
    Events that repeat what other entries say are passed over.
    """
    wanted = fold(words).strip()
    if not wanted or limit <= 0:
        return []
    pool = [
        (e, haystack(e)) for e in reversed(entries) if not _repeats(e.fact) and (not kinds or kind_of(e.fact) in kinds)
    ]
    folded = [(entry, text, fold(text)) for entry, text in pool]
    found = [(entry, text) for entry, text, plain in folded if wanted in plain]
    terms = wanted.split()
    if len(found) < limit and len(terms) > 1:
        found += [(e, t) for e, t, plain in folded if wanted not in plain and all(term in plain for term in terms)]
    if len(found) < limit and len(wanted) > 2:
        known = {id(entry) for entry, _ in found}
        near = [(e, t, _nearness(wanted, plain)) for e, t, plain in folded[:RECENT] if id(e) not in known]
        found += [(e, t) for e, t, score in sorted(near, key=lambda item: -item[2]) if score >= _NEAR]
    return [Hit(entry, _snippet(text, words, terms)) for entry, text in found[:limit]]


def haystack(entry: Entry) -> str:
    """All that an entry says, payload and meta, as one text, without the frame of its kind (`role`...)."""
    return "\n".join([*_payload(entry.fact), *_values(entry)])


def fold(text: str) -> str:
    """The text as comparisons see it: without case, and with one width of each letter."""
    return normalize("NFKC", text).casefold()


def _payload(fact: Fact) -> Iterable[str]:
    if isinstance(fact, ToolCall):
        yield fact.content
        for call in fact.calls:
            yield from _call(call)
        yield from texts(fact.more)
        return
    _, payload = encode_fact(fact)
    for key, value in payload.items():
        if key == "role":
            continue
        if key not in _FRAME:
            yield key
        yield from texts(value)


def _call(call: Call) -> Iterable[str]:
    yield call.name
    arguments = load(call.arguments.encode(errors="replace"))
    yield from [call.arguments] if arguments is None else texts(arguments)


def _values(entry: Entry) -> Iterable[str]:
    meta = entry.meta
    yield from (text for text in (meta.author, meta.message) if text)
    yield from texts(list(meta.more.values()))


def _repeats(fact: Fact) -> bool:
    return isinstance(fact, Event) and (fact.name in _REPEATS or fact.name.startswith("loop."))


def _nearness(wanted: str, plain: str) -> float:
    return fuzz.partial_ratio(wanted, plain[:_LONGEST], score_cutoff=_NEAR) if len(plain) >= 2 else 0.0


def _snippet(text: str, words: str, terms: Sequence[str]) -> str:
    for wanted in (words.strip(), *terms):
        if match := re.search(re.escape(wanted), text, re.IGNORECASE):
            start, end = match.span()
            break
    else:
        start, end = 0, 0
    left, right = max(start - _AROUND, 0), min(end + _AROUND, len(text))
    line = " ".join(text[left:right].split())
    return ("…" if left else "") + line + ("…" if right < len(text) else "")
