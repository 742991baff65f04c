"""Not yet."""


def credentials(folder, options):
    "not yet"
    return []
