"""Names of tapes are hashes, and nothing that leaves a folder."""

from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Refused
from gateway.tape.name import is_safe, is_sidecar, safe, service_name, sidecar_name, tape_name


def test_a_session_s_tape_is_named_as_bub_names_it() -> None:
    first, second = (md5(text.encode(), usedforsecurity=False).hexdigest()[:16] for text in ("/home/me", "cli/me/1"))

    assert tape_name("/home/me", "cli/me/1") == f"{first}__{second}"
    assert service_name("/home/me") == f"{first}__service"
    assert sidecar_name("a__b", "spill") == "a__b__sidecar__spill"


def test_a_sidecar_is_told_from_a_tape() -> None:
    assert is_sidecar(sidecar_name(tape_name("w", "s"), "views"))
    assert not is_sidecar(tape_name("w", "s"))


@given(st.text(), st.text())
def test_every_session_has_a_safe_name(workspace: str, session: str) -> None:
    assert is_safe(tape_name(workspace, session))


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/../b", "a\n", "a.b", "ä", "~", "x" * 201, "a b", "-" * 500])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        safe(name)
    with pytest.raises(Refused):
        sidecar_name("a", name) if name else safe(name)
