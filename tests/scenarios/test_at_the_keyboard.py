"""Terminals on one data folder, and what a data folder must be."""

import asyncio

from tests.support.gateway import Home


async def test_two_terminals_in_one_conversation_do_not_take_each_others_answers():
    """The second is told; the first gets its answer."""
    async with Home() as home:
        first, second = await asyncio.gather(*(home.run("chat", stdin="what time is it?\n") for _ in range(2)))
        told = sorted([first, second], key=lambda one: one.status)

    assert [one.status for one in told] == [0, 1]
    assert "UTC" in told[0].out
    assert "another terminal is in the conversation 'main'" in told[1].err


async def test_terminals_in_two_conversations_get_their_own_answers():
    async with Home() as home:
        both = await asyncio.gather(
            *(home.run("chat", "--session", n, stdin=f"my name is {n}\n") for n in ("ann", "bob"))
        )
        for name, one in zip(("ann", "bob"), both, strict=True):
            shown = (await home.run("tape", "show", f"terminal/{name}/local", "--json")).out
            assert one.status == 0
            assert one.out.strip()
            assert f"my name is {name}" in shown


async def test_the_pages_token_typed_into_a_terminal_reaches_no_tape():
    """P14"""
    async with Home() as home:
        await home.start()
        token = (home.data / "web-token").read_text()
        answer = await home.run("chat", stdin=f"my link is {token}\n")
        kept = b"".join(
            path.read_bytes() for path in home.data.rglob("*") if path.is_file() and path.name != "web-token"
        )

    assert answer.status == 0
    assert token not in answer.out
    assert token.encode() not in kept


async def test_a_data_folder_that_cannot_be_one_is_a_line_and_exit_status_2(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    async with Home() as home:
        for words in (("run",), ("chat",), ("tape", "list"), ("access", "list")):
            answer = await home.run(*words, data_dir=str(file))
            assert answer.status == 2
            assert answer.err.startswith(f"gateway: data_dir: {file} cannot be used")
            assert len(answer.err.splitlines()) == 1


async def test_an_address_that_redis_cannot_have_is_a_line_and_exit_status_2():
    async with Home() as home:
        answer = await home.run("chat", redis__url="redis://127.0.0.1:1/0?nonsense=1")

    assert answer.status == 2
    assert answer.err.startswith("gateway: redis.url cannot be used")


async def test_a_token_file_that_is_not_whole_is_made_anew():
    async with Home() as home:
        home.data.mkdir(parents=True, exist_ok=True)
        (home.data / "web-token").write_bytes(b"")
        gateway = await home.start()
        assert gateway.link.endswith((home.data / "web-token").read_text())


async def test_a_search_without_a_hit_says_so_and_one_with_a_hit_steers_no_terminal():
    async with Home() as home:
        await home.run("chat", stdin="\x1b]0;pwned\x07 needle\n")
        hit = await home.run("tape", "search", "terminal/main/local", "needle")
        none = await home.run("tape", "search", "terminal/main/local", "zzzzqqqq")

    assert hit.status == 0
    assert "\x1b" not in hit.out
    assert (none.status, none.err) == (1, "gateway: nothing on that tape matches\n")
