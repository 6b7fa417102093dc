"""The GitHub side: reads events and pull requests, writes comments, statuses, summaries, badges and data.

Nothing outside this package imports it but the entry points (docs/github.md).
"""
