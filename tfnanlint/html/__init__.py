"""The parts of the HTML report: its page, style and script, and the numbers behind a range."""
