"""Files that are put into the sandbox; they run there, on the instance's own Python (3.6 or newer)."""
