"""A declaration in canonical keys: what the certificate computes with."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from trueness.contract.errors import InputError
from trueness.sensors.orbits.declaration import Declaration, Key


@dataclass(frozen=True, slots=True)
class Params:
    """What `measure` needs beside the table: a declaration and the same in canonical keys.

    Parameters
    ----------
    declaration : Declaration
        As the caller said it; printed with the number.
    upper, lower : mapping of key to int
        Limits of listed answers.
    candidates : mapping of entity to frozenset of keys
    rows : mapping of entity to int
        Only entities that may have more than one right answer.
    identity : frozenset of entities or None
        Entities that may be their own answer; None when all may.
    filler : frozenset of keys
    asked_back : tuple of keys or None
    entities : tuple of entities or None
    number : callable or None
        From an answer key to the number it stands for; needed where answers are numbers.
    notes : tuple of str
        Where keying merged entries, in sentences.
    """

    declaration: Declaration = field(default_factory=Declaration)
    upper: Mapping[str, int] = field(default_factory=dict)
    lower: Mapping[str, int] = field(default_factory=dict)
    candidates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    identity: frozenset[str] | None = None
    filler: frozenset[str] = frozenset()
    asked_back: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    number: Callable[[str], Fraction | None] | None = None

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        *,
        key: Key,
        entity: Callable[[str], str] = str,
        number: Callable[[str], Fraction | None] | None = None,
    ) -> "Params":
        """The declaration with every answer keyed and every entity named as in the table.

        Parameters
        ----------
        declaration : Declaration
        key : callable
            The rules that keyed the table's answers.
        entity : callable
            The rules that normalised the table's entities.
        number : callable or None
            From an answer key to an exact number; None for any other text.

        Raises
        ------
        InputError
            When an entry has no key, limits contradict one another, or a filler is listed as
            somebody's answer.
        """
        upper, notes = _upper(declaration, key)
        lower = _lower(declaration, key)
        filler = frozenset(_keys("filler", declaration.filler, key))
        _check_filler(filler, Counter(upper) | Counter(lower))
        _check_lower(lower, upper, declaration)
        asked = declaration.answers_asked_back
        return cls(
            declaration=declaration,
            upper=upper,
            lower=lower,
            candidates={
                entity(e): frozenset(_keys(f"candidates of {e!r}", answers, key))
                for e, answers in declaration.candidates.items()
            },
            rows=_rows(declaration, entity),
            identity=_identity(declaration, entity),
            filler=filler,
            asked_back=None if asked is None else tuple(_keys("answers_asked_back", asked, key)),
            entities=_entities(declaration, entity),
            notes=notes,
            number=number,
        )


def _keys(name: str, answers: Collection[str], key: Key) -> list[str]:
    out = []
    for answer in answers:
        found = key(answer)
        if found is None:
            msg = (
                f"{name} holds {answer!r}, of which nothing is left as an answer key. "
                "Remove it or spell it as an answer."
            )
            raise InputError(msg)
        out.append(found)
    return out


def _upper(d: Declaration, key: Key) -> tuple[dict[str, int], tuple[str, ...]]:
    if d.golds is not None:
        upper = dict(Counter(_keys("golds", d.golds, key)))
        return upper | _limits("capacities", d.capacities, key), ()
    upper, notes = {}, []
    spellings: dict[str, set[str]] = {}
    for answer, found in zip(
        d.admissible or (), _keys("admissible", d.admissible or (), key), strict=True
    ):
        spellings.setdefault(found, set()).add(" ".join(answer.split()))
    for found, texts in spellings.items():
        upper[found] = len(texts)
        if len(texts) > 1:
            notes.append(
                f"{len(texts)} listed answers have the key {found!r} "
                f"({', '.join(sorted(map(repr, texts))[:5])}): it may be right for so many."
            )
    return upper | _limits("capacities", d.capacities, key), tuple(notes)


def _limits(name: str, limits: Mapping[str, int], key: Key) -> dict[str, int]:
    out: dict[str, int] = {}
    spelled: dict[str, str] = {}
    for answer, found in zip(limits, _keys(name, limits, key), strict=True):
        if found in out:
            msg = (
                f"{name} lists {spelled[found]!r} and {answer!r}, which are one answer "
                f"({found!r}). Keep one entry with the limit that you mean."
            )
            raise InputError(msg)
        out[found], spelled[found] = int(limits[answer]), answer
    return out


def _lower(d: Declaration, key: Key) -> dict[str, int]:
    if d.golds is not None and not d.many_rows and not d.slack:
        return dict(Counter(_keys("golds", d.golds, key)))
    return _limits("lower", d.lower, key)


def _check_filler(filler: frozenset[str], upper: Mapping[str, int]) -> None:
    both = sorted(k for k in filler if upper.get(k, 0) > 0)
    if both:
        msg = (
            f"{', '.join(map(repr, both))} stand among the fillers and among the answers that "
            "may be right. Remove them from one of the two lists."
        )
        raise InputError(msg)


def _check_lower(lower: Mapping[str, int], upper: Mapping[str, int], d: Declaration) -> None:
    for answer, least in lower.items():
        most = upper.get(answer, d.unlisted_capacity)
        if most is not None and least > most:
            msg = (
                f"{answer!r} is declared right for at least {least} and at most {most} entities. "
                "Correct one of the two limits."
            )
            raise InputError(msg)


def _rows(d: Declaration, entity: Callable[[str], str]) -> dict[str, int]:
    if isinstance(d.rows_per_entity, Mapping):
        return {entity(e): int(r) for e, r in d.rows_per_entity.items() if r > 1}
    return {}


def _identity(d: Declaration, entity: Callable[[str], str]) -> frozenset[str] | None:
    if d.identity is None or d.identity == "allowed":
        return None
    if d.identity == "never":
        return frozenset()
    return frozenset(map(entity, d.identity))


def _entities(d: Declaration, entity: Callable[[str], str]) -> tuple[str, ...] | None:
    if d.entities is None:
        return None
    names = tuple(map(entity, d.entities))
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        msg = f"entities lists {twice[0]!r} more than once; list every entity once."
        raise InputError(msg)
    return names
