"""Shares of a whole."""


def percent(part, whole):
    """`part` of `whole` in percent, rounded to one digit."""
    return round(part / whole, 1) * 100
