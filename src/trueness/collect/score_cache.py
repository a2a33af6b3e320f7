"""Texts whose likelihood was taken before: the key is prompt, text and model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trueness.backends.cache_file import open_cache
from trueness.backends.protocol import Model
from trueness.backends.scoring import Continuation, Scored, Scorer
from trueness.backends.weights import text_sha256
from trueness.contract.serial import Json, canonical

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS scores "
    "(key TEXT PRIMARY KEY, logprob REAL NOT NULL, n_tokens INTEGER NOT NULL)"
)
_TOGETHER = 16
"""Scores that are put on the disk at a time: an interrupted run loses fewer."""


def score_key(continuation: Continuation, model: Model) -> str:
    """SHA-256 (hexadecimal) of all that a score depends on."""
    identity = model.identity
    prompt = continuation.prompt
    said: dict[str, Json] = {
        "backend": f"{identity.get('backend')}/{identity.get('backend_version')}",
        "model": model.name if "file_hash" not in identity else None,
        "revision": identity.get("revision", identity.get("file_hash")),
        "quantisation": identity.get("quantisation"),
        "dtype": identity.get("dtype"),
        "prompt": prompt if isinstance(prompt, str) else list(prompt),
        "text": continuation.text,
        **({"request": identity["request"]} if "request" in identity else {}),
    }
    return text_sha256(canonical(said))


@dataclass(frozen=True, slots=True)
class CachedScorer:
    """A scorer that asks its model only for what no earlier run has asked.

    Parameters
    ----------
    model : Model
    scorer : Scorer
        The same model, as it scores.
    path : Path
        A file of earlier scores; made when it is not there. Failures are never stored.
    """

    model: Model
    scorer: Scorer
    path: Path

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """One score for each continuation, those that are known first.

        Raises
        ------
        InputError
            When the file cannot be used as a cache.
        BackendError
            When none of the rest could be tried.
        """
        keys = {c.key: score_key(c, self.model) for c in continuations}
        known = self._known(keys)
        yield from known.values()
        rest = [c for c in continuations if c.key not in known]
        waiting: list[Scored] = []
        try:
            for scored in self.scorer.score(rest) if rest else ():
                waiting.append(scored)
                if len(waiting) >= _TOGETHER:
                    self._put(waiting, keys)
                yield scored
        finally:
            self._put(waiting, keys)

    def _known(self, keys: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], Scored]:
        found = {}
        with open_cache(self.path, _SCHEMA) as db:
            for place, key in keys.items():
                asked = db.execute("SELECT logprob, n_tokens FROM scores WHERE key = ?", (key,))
                row = asked.fetchone()
                if row is not None:
                    found[place] = Scored(place, float(row[0]), int(row[1]))
        return found

    def _put(self, waiting: list[Scored], keys: Mapping[tuple[str, str], str]) -> None:
        """Store what was scored, and forget that it waits."""
        done = [
            (keys[s.key], s.logprob, s.n_tokens)
            for s in waiting
            if s.error is None and s.logprob is not None
        ]
        waiting.clear()
        if done:
            with open_cache(self.path, _SCHEMA) as db:
                db.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", done)
