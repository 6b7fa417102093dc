"""What an audit tells: rates, report and badge; and the one place that escapes foreign text."""
