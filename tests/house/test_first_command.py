"""README's first command, word by word, on a machine that has never seen the project."""

import asyncio
import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

from tests.house.code import REPOSITORY, files
from tests.support.gateway import Gateway
from tests.support.page import Page

PATIENCE = 500.0
"""Seconds: some sixty megabytes come over somebody's network first."""

KEPT = re.compile(r"PIP_.*|SSL_.*|LANG|.*_PROXY|.*_proxy")


def first_command() -> str:
    """The first block of README that a shell can run."""
    found = re.search(r"```sh\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    assert found
    return found[1]


async def test_the_first_command_of_the_readme_ends_in_a_chat_page_that_answers(tmp_path: Path) -> None:
    """Done when 1: a clean copy, an empty home, only Python and pip."""
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", *files("gateway", "channels", ending="")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, clone / name)
    python = Path(sys.base_prefix) / "bin"
    world = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    world |= {"PATH": f"{python}:{os.defpath}", "HOME": str(home), "GATEWAY_WEB__PORT": "0"}
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", first_command()),
        cwd=clone,
        env=world,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    gateway = Gateway(process)
    try:
        await gateway.until(lambda: any("Open the chat page: " in line for line in gateway.out), PATIENCE)
        async with Page(gateway) as page:
            hello = await page.asks("hello")
            time = await page.asks("what time is it in Asia/Tokyo?")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)  # bash and the gateway, which takes its embedded server along
        await gateway.ended()

    assert "demo model" in hello
    assert "OPENAI_API_KEY" in hello
    assert "Asia/Tokyo" in time
    assert (home / ".local/share/gateway/tapes/store.json").exists()
