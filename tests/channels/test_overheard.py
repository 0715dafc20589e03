"""What a group says among itself comes along, once, with what is said to the bot."""

from channels.overheard import LONGEST, Aside, Overheard
from gateway.message import Quote, Route

ROOM, OTHER = Route("x", "bot", "room"), Route("x", "bot", "other")


def test_the_last_ones_are_kept_in_order_and_given_once() -> None:
    heard = Overheard(2)
    for words in ("one", "two", " ", "three"):
        heard.hears(Aside(ROOM, Quote("Ben", words)))
    heard.hears(Aside(OTHER, Quote("Cid", "elsewhere")))

    assert heard.quotes(ROOM) == (Quote("Ben", "two"), Quote("Ben", "three"))
    assert heard.quotes(ROOM) == ()
    assert heard.quotes(OTHER) == (Quote("Cid", "elsewhere"),)


def test_nothing_is_kept_unless_it_is_wanted() -> None:
    heard = Overheard(0)
    heard.hears(Aside(ROOM, Quote("Ben", "one")))
    assert heard.quotes(ROOM) == ()


def test_a_long_message_and_many_places_do_not_grow_for_ever() -> None:
    heard = Overheard(1)
    heard.hears(Aside(ROOM, Quote("Ben", "x" * 10_000)))
    assert len(heard.quotes(ROOM)[0].text) == LONGEST
    for number in range(1001):
        heard.hears(Aside(Route("x", "bot", str(number)), Quote("Ben", "hello")))
    assert heard.quotes(Route("x", "bot", "0")) == ()
    assert heard.quotes(Route("x", "bot", "1000")) != ()
