"""Titles into parts of a URL."""


def slugify(title):
    """Lower-case words of a title, joined by single hyphens."""
    return title.lower().replace(" ", "-")
