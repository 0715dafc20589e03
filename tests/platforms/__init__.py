"""Fake platforms: servers on this machine that the real SDKs talk to, with the platforms' own rules and refusals.

`telegram.FakeTelegram` and `openai.FakeOpenAI` are the doors; `python -m tests.platforms` runs both with a console.
"""
