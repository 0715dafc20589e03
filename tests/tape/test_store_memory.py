"""The memory store keeps the contract."""

from gateway.tape.store import TapeStore
from gateway.tape.store_memory import MemoryTapeStore
from tests.contracts.store import StoreContract


class TestMemoryTapeStore(StoreContract):
    def make(self) -> TapeStore:
        return MemoryTapeStore(clock=self.clock)
