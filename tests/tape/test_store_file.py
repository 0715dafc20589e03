"""The file store keeps the contract: as it is, and where nothing is remembered between two looks."""

from pathlib import Path

import pytest

from gateway.tape.store import TapeStore
from gateway.tape.store_file import FileTapeStore
from gateway.tape.tapefile import TapeFile
from tests.contracts.store import StoreContract


class TestFileTapeStore(StoreContract):
    folder: Path

    @pytest.fixture
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "tapes"

    def make(self) -> TapeStore:
        return FileTapeStore(self.folder, clock=self.clock)


class Forgetful(FileTapeStore):
    """Opens every tape cold, as another process would."""

    def _file(self, tape: str) -> TapeFile:
        super()._file(tape)
        return TapeFile(self._folder, tape)


class TestFileTapeStoreThatRemembersNothing(TestFileTapeStore):
    def make(self) -> TapeStore:
        return Forgetful(self.folder, clock=self.clock)
