import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["channels.telegram", "channels.telegram.render", "channels.markdown"])
def test_the_sdk_is_loaded_by_build_alone(module: str) -> None:
    """It costs seconds and 160 MB: who renders a text, or asks what there is to build, must not pay for it."""
    program = f"import sys, {module}; sys.exit('aiogram' in sys.modules or 'aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
