"""Errors with which calls are refused: kinds and words of errors, few enough to stand in a line."""


def words_of(call):
    """Return the kind of the error of a call and the first of its words; None without an error."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}".split("\n")[0][:80].strip()


def told(*calls):
    """Return that for each of several calls."""
    return [words_of(call) for call in calls]
