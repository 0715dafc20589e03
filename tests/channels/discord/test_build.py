import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["channels.discord", "channels.discord.render", "channels.discord.parse"])
def test_the_sdk_is_loaded_by_build_alone(module: str) -> None:
    """Who renders a text, or asks what there is to build, must not pay for it."""
    program = f"import sys, {module}; sys.exit('discord.client' in sys.modules or 'aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
