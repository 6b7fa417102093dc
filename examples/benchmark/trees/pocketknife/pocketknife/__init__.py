"""A pocketful of small functions, written as the demo's benchmark. Some of them have bugs on purpose."""
