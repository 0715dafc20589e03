import aiohttp
import pytest

from tests.channels.web.rig import TOKEN, Rig, post

pytestmark = pytest.mark.asyncio(loop_scope="module")


class TestLogin:
    async def test_the_link_logs_in_and_leaves_no_token_in_the_address(
        self, rig: Rig, stranger: aiohttp.ClientSession
    ) -> None:
        async with stranger.get(rig.links[0], allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        async with stranger.get("/") as page:
            assert "What is on your mind?" in await page.text()

    async def test_without_it_there_is_a_page_that_asks_for_the_token(self, stranger: aiohttp.ClientSession) -> None:
        async with stranger.get("/") as answer:
            assert answer.status == 401
            assert 'name="token"' in await answer.text()

    async def test_the_token_typed_there_logs_in(self, stranger: aiohttp.ClientSession) -> None:
        async with stranger.post("/login", data={"token": f" {TOKEN} "}) as answer:
            assert answer.status == 200
            assert "What is on your mind?" in await answer.text()

    async def test_a_wrong_token_is_told_and_opens_nothing(self, stranger: aiohttp.ClientSession) -> None:
        async with stranger.post("/login", data={"token": "wröng"}) as answer:
            assert answer.status == 403
            assert "This is not the token" in await answer.text()
        async with stranger.get("/?token=%ff") as answer:
            assert answer.status == 403
        async with stranger.get("/api/history") as answer:
            assert answer.status == 401

    @pytest.mark.parametrize("path", ["/api/history", "/api/events", "/api/commands"])
    async def test_nothing_is_told_to_a_stranger(self, stranger: aiohttp.ClientSession, path: str) -> None:
        async with stranger.get(path) as answer:
            assert answer.status == 401
            assert "log" in (await answer.json())["error"]

    async def test_a_stranger_can_say_nothing(self, rig: Rig, stranger: aiohttp.ClientSession) -> None:
        async with stranger.post("/api/messages", json=post()) as answer:
            assert answer.status == 401
        assert rig.received == []

    async def test_a_chat_named_in_the_link_is_kept(self, rig: Rig, stranger: aiohttp.ClientSession) -> None:
        async with stranger.get(f"{rig.links[0]}&chat=work", allow_redirects=False) as answer:
            assert answer.headers["Location"] == "/?chat=work"


class TestForeigners:
    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "[bad"])
    async def test_a_foreign_name_for_this_machine_is_refused(
        self, owner: aiohttp.ClientSession, rig: Rig, host: str
    ) -> None:
        for path in ("/", "/healthz", "/api/history", "/static/chat.js"):
            async with owner.get(path, headers={"Host": host}) as answer:
                assert answer.status == 403

    @pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:80"])
    async def test_names_of_this_machine_are_answered(self, stranger: aiohttp.ClientSession, host: str) -> None:
        async with stranger.get("/healthz", headers={"Host": host}) as answer:
            assert answer.status == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://[::1"},
            {"Origin": "http://127.0.0.1:1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    async def test_another_page_cannot_post(
        self, owner: aiohttp.ClientSession, rig: Rig, headers: dict[str, str]
    ) -> None:
        async with owner.post("/api/messages", json=post(), headers=headers) as answer:
            assert answer.status == 403
        assert rig.received == []

    async def test_our_own_page_can(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        headers = {"Origin": rig.url, "Sec-Fetch-Site": "same-origin"}
        async with owner.post("/api/messages", json=post(), headers=headers) as answer:
            assert answer.status == 202

    async def test_bound_to_all_addresses_every_name_is_answered(self) -> None:
        async with Rig(host="0.0.0.0") as rig, aiohttp.ClientSession(rig.url) as client:
            assert rig.url.startswith("http://127.0.0.1:")
            async with client.get("/healthz", headers={"Host": "chat.example"}) as answer:
                assert answer.status == 200


class TestFiles:
    async def test_every_answer_allows_nothing_from_elsewhere(
        self, owner: aiohttp.ClientSession, stranger: aiohttp.ClientSession
    ) -> None:
        for path in ("/", "/static/chat.js", "/api/history", "/healthz", "/nowhere"):
            async with owner.get(path) as answer:
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Server"] == "gateway"

    async def test_a_file_that_the_browser_has_is_not_sent_again(self, stranger: aiohttp.ClientSession) -> None:
        async with stranger.get("/static/style.css") as answer:
            tag = answer.headers["ETag"]
            assert answer.content_type == "text/css"
        async with stranger.get("/static/style.css", headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304

    @pytest.mark.parametrize("path", ["/static/index.html", "/static/..%2fadapter.py", "/static/adapter.py", "/x"])
    async def test_nothing_else_is_served(self, owner: aiohttp.ClientSession, path: str) -> None:
        async with owner.get(path) as answer:
            assert answer.status == 404
            assert await answer.text() == "There is nothing at this address.\n"

    async def test_health_is_told_to_anyone_on_this_machine(self, stranger: aiohttp.ClientSession, rig: Rig) -> None:
        async with stranger.get("/healthz") as answer:
            assert await answer.json() == {
                "ok": True,
                "parts": {"web": {"state": "connected", "detail": rig.url}},
            }
