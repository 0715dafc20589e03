"""What to look for on a tape: an immutable chain, and the pure filter that it stands for."""
