"""The tools of the agent, one file a tool. A new one is a new file and one name in `TOOLS`."""

from gateway.tools.clock_now import CLOCK_NOW
from gateway.tools.tape_handoff import TAPE_HANDOFF
from gateway.tools.tape_info import TAPE_INFO
from gateway.tools.tape_search import TAPE_SEARCH

TOOLS = (TAPE_SEARCH, TAPE_INFO, TAPE_HANDOFF, CLOCK_NOW)
