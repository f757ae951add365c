"""The cost of a check, beside bare torch running the same programs. Not shipped, and not needed to grade."""
