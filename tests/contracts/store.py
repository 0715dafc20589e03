"""What every tape store promises. A store's tests subclass this and say by `make` how to make one."""

from tests.contracts.store_attempts import AttemptContract
from tests.contracts.store_facts import FactsContract
from tests.contracts.store_merges import MergeContract


class StoreContract(FactsContract, MergeContract, AttemptContract):
    """All of it."""
