"""The parts of `gateway init`: who is asked, what is asked, what was chosen, and the files that come of it."""
