"""One Hypothesis profile: shared machines are too uneven for deadlines. An interrupt interrupts."""

import signal

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts what runs in its background so, and every command under test would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
