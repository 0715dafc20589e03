import pytest
from aiogram.exceptions import TelegramAPIError, TelegramNetworkError
from aiogram.methods import GetMe
from aiohttp import (
    ClientConnectorDNSError,
    ClientOSError,
    ClientPayloadError,
    ConnectionTimeoutError,
    ServerDisconnectedError,
    ServerTimeoutError,
)

from channels.telegram.failures import of_polling, of_sending
from channels.telegram.outgoing import address, message, receipt, simpler
from channels.telegram.render import REPEATED, render
from gateway.channel import Ambiguous, Part
from gateway.errors import Refused, Retryable
from gateway.message import Route
from tests.channels.telegram.checker import check
from tests.channels.telegram.rig import reply_to


def _network(cause: BaseException) -> TelegramNetworkError:
    error = TelegramNetworkError(method=GetMe(), message="https://api.telegram.org/bot42:TEST/sendMessage")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "outcome"),
    [
        (ClientConnectorDNSError(None, OSError(1, "x")), Retryable),  # type: ignore[arg-type]
        (ConnectionTimeoutError(), Retryable),
        (ServerDisconnectedError(), Ambiguous),
        (ServerTimeoutError(), Ambiguous),
        (TimeoutError(), Ambiguous),
        (ClientOSError(104, "reset"), Ambiguous),
        (ClientPayloadError(), Ambiguous),
    ],
)
def test_only_what_surely_was_not_written_may_be_sent_again(cause: BaseException, outcome: type[Exception]) -> None:
    found = of_sending(_network(cause))
    assert type(found) is outcome
    assert "TEST" not in str(found)
    assert "TEST" not in of_polling(_network(cause)).health.detail


def test_an_answer_nobody_can_decode_is_unknown() -> None:
    assert type(of_sending(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"))) is Ambiguous


def test_an_odd_refusal_is_shown_in_telegrams_words() -> None:
    assert "Odd" in of_polling(TelegramAPIError(method=GetMe(), message="Odd")).health.detail


@pytest.mark.parametrize(("answer", "name"), [({"message_id": 9}, "9"), ({"message_id": 0}, "0"), ({}, None)])
def test_a_receipt_is_the_id_of_the_message(answer: dict[str, object], name: str | None) -> None:
    assert receipt(answer) == name


@pytest.mark.parametrize("route", [Route("telegram", "42", "x"), Route("telegram", "42", "1", "x")])
def test_a_route_that_is_none_of_telegrams_is_refused(route: Route) -> None:
    with pytest.raises(Refused):
        address(route)


def test_what_is_simpler_is_so_once() -> None:
    request = message(reply_to(-5, answers="7"), render("**b**")[0], index=0, repeated=False)
    plain = simpler(request, "Bad Request: can't parse entities: x")
    assert plain is not None
    assert simpler(plain, "Bad Request: can't parse entities: x") is None
    bare = simpler(plain, "Bad Request: message to be replied not found")
    assert bare is not None
    assert bare.reply_parameters is None
    assert simpler(bare, "Bad Request: message to be replied not found") is None
    assert simpler(request, "Bad Request: chat not found") is None


def test_a_part_without_a_body_is_plain_text() -> None:
    request = message(reply_to(1), Part("hi"), index=0, repeated=True)
    assert (request.text, request.entities) == (REPEATED + "hi", None)


@pytest.mark.parametrize("text", ["**a** `b`", "```\n@bob\n```", "x" * 9000])
def test_every_part_is_one_that_telegram_takes(text: str) -> None:
    for part in render(text):
        check(part)
