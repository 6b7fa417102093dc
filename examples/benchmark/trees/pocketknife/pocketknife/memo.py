"""A cache in memory."""


def memoise(function):
    """The function with its results kept by argument."""
    results = {}

    def cached(argument):
        if not results.get(argument):
            results[argument] = function(argument)
        return results[argument]

    return cached
