"""Not yet."""


def access(folder, options):
    "not yet"
    return []
