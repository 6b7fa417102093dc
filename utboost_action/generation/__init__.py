"""UTGenerator: where augmented tests belong, what they say, and which of them may enter the bank."""
