"""Not yet."""


def disk(folder, options):
    "not yet"
    return []


def memory(folder, options):
    "not yet"
    return []
