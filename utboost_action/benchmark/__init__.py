"""The instances of a benchmark and the bank of augmented tests."""
