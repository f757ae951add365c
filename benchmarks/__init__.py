"""What a check costs, beside bare torch running the same programs; nothing here is shipped or needed to
grade.
"""
