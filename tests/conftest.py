"""How property tests draw: the same few examples in CI, fresh ones at a desk, many in slow runs."""

import os

from hypothesis import settings

settings.register_profile(
    "likely",
    deadline=None,  # the first call of a compiled loop may compile it
    max_examples=int(os.environ.get("LIKELY_EXAMPLES", "10")),
    derandomize="CI" in os.environ,
)
settings.load_profile("likely")
