"""The intramorphic oracle: differences between gold and candidate, and the verdicts they support."""
