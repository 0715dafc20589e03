"""The gateway: one chat bot in many rooms, whose memory is an append-only tape.

Reading order: `message` (what travels), `tape/entries` and `tape/fork` (what is remembered), `tape/store` and
`session/inbox` (the two ports that a message's life hangs on), `turn/turn` (what is answered next), `turn/work` and
`turn/pipeline` (the way of a message), `agent/loop` (model and tools), `turn/delivery` (the way out), `main` (how the
parts are put together). `channels/` holds the platforms.
"""

__version__ = "0.1.0"
