"""The channel contract: what people may expect of the bot wherever they talk to it, over the real SDKs and the fakes.

It runs against a gateway as a process of its own that serves all channels together. What differs between platforms is
their stand (stand.py); a line that cannot hold on one of them is exempt there, with the reason, also in
channels/README.md.
"""

from tests.contracts.channel_news import NewsContract
from tests.contracts.channel_rooms import RoomsContract
from tests.contracts.channel_trouble import TroubleContract
from tests.contracts.channel_words import WordsContract


class ChannelContract(WordsContract, RoomsContract, NewsContract, TroubleContract):
    """Subclass it and provide `ground`, with a gateway that is connected everywhere, and `stand`: one of the ground's.

    What needs a process of its own to stop, kill or mislead is in channel_lives.py.
    """
