"""One Hypothesis profile: shared machines are too uneven for deadlines."""

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
