"""/stop: its work is done by the control lane and by the worker that holds the session; here are its words."""

from collections.abc import Sequence

from gateway.turn.commands.command import Acted, Asked, Handler, anyone

NOTHING = "Nothing is running and nothing waits."
NOTHING_OF_YOURS = "Nothing of yours is running, and nothing of yours waits."


async def _stop(_asked: Asked) -> Acted:
    return Acted(NOTHING)


def stopped(outcomes: Sequence[str]) -> str:
    """What /stop says, from what the tape recorded for each message that it marked."""
    cancelled = sum(outcome == "cancelled" for outcome in outcomes)
    answered = len(outcomes) - cancelled
    if not cancelled:
        return "Too late to stop: that was already answered."
    words = "Stopped." if cancelled == 1 else f"Stopped: {cancelled} messages will not be answered."
    return words + (f" {answered} had already been answered." if answered else "")


STOP = Handler("stop", "stop", "stop the running turn and what waits", anyone, _stop, control=True)
