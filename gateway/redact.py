"""The one redactor: what is secret leaves this program as `[redacted]`, in a log, on a tape or in a chat."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from urllib.parse import quote, quote_plus

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
"""What JSON can hold."""

_MARK = "[redacted]"
_SHORTEST = 6  # characters; replacing a shorter secret would tear holes into ordinary words
_DEEPEST = 32  # levels of nesting


def _start(word: str) -> str:
    """Matches the word where it begins one, also after an escape, as in `\nsk-...`.

    The word comes first and is looked back at, since a search for a literal is fast.
    """
    before = (r"(?<![A-Za-z0-9]", r"(?<=\\[nrt]", r"(?<=\\x[0-9a-f]{2}", r"(?<=\\u[0-9a-f]{4}")
    return word + f"(?:{'|'.join(f'{look}{word})' for look in before)})"


# Secrets known by their shape: the words of which one must be in the (lower case) text for the expression to be tried,
# and the expression, whose group is what stays. On no text does one take more than linear time: no two neighbouring
# parts can match the same character.
_SHAPES = (
    (("/bot",), r"(/bot)\d+(?::|%3[Aa])[\w%-]+"),  # https://api.telegram.org/bot<token>/getMe
    ((":", "%3a"), r"\d(?<!\d\d)\d{4,}(?::|%3[Aa])[A-Za-z0-9_-]{30,}"),  # a Telegram bot's token
    (("://",), r"(://)[\w.~%!$&*+;=^-]*:[\w.~%!$&*+;=^:@-]*(?=@)"),  # user:password@ in a URL
    (
        ("authorization",),
        r"""([Aa](?i:uthorization)[\\"']*\s*[:=,]\s*b?[\\"']*(?i:bearer|basic|bot|token)\s+)[\w.~+/=:-]+""",
    ),
    (("bearer ",), rf"({_start('[Bb](?i:earer)')} +)(?=[A-Za-z_.~+/=-]*\d)[\w.~+/=-]{{16,}}"),
    (("sk-",), _start("sk-") + r"[\w-]{8,}"),  # OpenAI and those who copy it
    (("xox",), _start("xox[a-z]") + r"(?:\.xox[a-z])?-[A-Za-z0-9-]{8,}"),  # Slack
    (("xapp-",), _start("xapp-") + r"[A-Za-z0-9-]{8,}"),
)


class Redactor:
    """Replaces secrets by `[redacted]`: the given ones, in every spelling likely to be met, and those of known shape.

    A given secret of fewer than 6 characters is not looked for. Immutable; may be used from any thread.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret) if len(secret) >= _SHORTEST}
        # The longest first: the start of one secret may be another.
        known = [re.escape(spelling) for spelling in sorted(spellings, key=len, reverse=True)]
        self._known = re.compile("|".join(known)) if known else None
        self._shapes = [(words, re.compile(shape, re.ASCII)) for words, shape in _SHAPES]

    def redact(self, text: str) -> str:
        """The text without secrets. Repeating it changes nothing."""
        if self._known:
            # By itself and first: a shape may end in the middle of a given secret.
            text = self._known.sub(_MARK, text)
        lower = text.lower()
        for words, shape in self._shapes:
            if any(word in lower for word in words):
                text = shape.sub(_mark, text)
        return text

    def redact_values(self, value: object) -> Plain:
        """The same value without secrets, made of what JSON can hold; never raises.

        Text, also that of keys, is redacted. Mappings become dicts, sequences and sets lists; of anything else, and of
        what is nested deeper than 32 levels, its redacted `repr` is kept.
        """
        return self._plain(value, _DEEPEST)

    def _plain(self, value: object, levels: int) -> Plain:
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self.redact(value)
            case Mapping() if levels:
                return {self._key(key): self._plain(item, levels - 1) for key, item in value.items()}
            case list() | tuple() | AbstractSet() if levels:
                return [self._plain(item, levels - 1) for item in value]
            case _:
                return self.redact(_repr(value))

    def _key(self, key: object) -> str:
        return self.redact(key if isinstance(key, str) else _repr(key))


def _mark(match: re.Match[str]) -> str:
    return match[match.lastindex] + _MARK if match.lastindex else _MARK


def _spellings(secret: str) -> Iterator[str]:
    """As it is, and as it stands in a URL, in JSON, in a `repr` and in base64."""
    yield secret
    data = secret.encode(errors="surrogatepass")
    for quoted in (quote(data), quote(data, safe=""), quote_plus(data)):
        yield quoted
        yield re.sub("%..", lambda match: match[0].lower(), quoted)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # somebody else's __repr__ may raise anything, and a log line must not fail
        return f"<{type(value).__name__}>"
