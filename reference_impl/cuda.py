"""``torch.cuda``, as far as scripts ask whether it is there: it is not."""


def is_available() -> bool:
    """False: everything is on the CPU."""
    return False


def device_count() -> int:
    """None at all."""
    return 0


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""


manual_seed = manual_seed_all
