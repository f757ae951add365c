"""Errors that belong to no rule, in PyTorch's words."""


def told(*calls):
    """Return the kind and the first line of the error of each call, nothing where there is none."""
    found = []
    for call in calls:
        try:
            call()
            found.append("")
        except Exception as error:
            line = str(error).partition("\n")[0]
            found.append(f"{type(error).__name__}: {line}")
    return found


def said(*calls):
    """Return the first line of the error of each call, whose kind some releases of PyTorch changed."""
    return [each.partition(": ")[2] for each in told(*calls)]
