"""Writes the made column of support addresses and its hidden truth, the same bytes every time.

Two thousand invented companies, each with one right address of its own; the filled-in column is
right in part, and wrong in the ways in which models fill columns: one address for many, the address
of a neighbour, an address of nobody, a refusal, nothing. All draws come from SHA-256, so that no
library version changes them.

Run: python bench/make_filled_column.py
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
COLUMN = ROOT / "src" / "trueness" / "data" / "filled_column.csv"
TRUTH = ROOT / "tests" / "data" / "filled_column_truth.csv"

SEED = "filled column 1"
N_ROWS = 2_000
HEAD = ("Brav", "Cleth", "Dwyn", "Elvor", "Fenth", "Grusk", "Hovel", "Ithra", "Jorv", "Kelmy")
MIDDLE = ("a", "e", "i", "o", "u", "an", "el", "ir", "os", "um")
TAIL = ("bant", "corv", "drel", "fosk", "gath", "lund", "mirr", "nesk", "pold", "quim")
TRADE = ("Freight", "Looms", "Optics", "Pumps", "Seeds", "Tiles", "Timber", "Valves")
SHARED = (
    "support@helpdesk.example",
    "support@service-centre.example",
    "info@customer-care.example",
    "contact@company.example",
)
REFUSALS = (
    "I'm sorry, but I can't find a support address for this company.",
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I cannot verify contact details.",
)
SHARES = {"right": 1150, "shared": 380, "neighbour": 150, "invented": 120, "refused": 120}
"""Rows of each kind; the rest is left empty."""


def draw(*parts: object) -> int:
    text = ":".join(map(str, (SEED, *parts)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def companies() -> list[str]:
    stems = ["".join(p) for p in product(HEAD, MIDDLE, TAIL)]
    names = [
        f"{stem} {TRADE[draw('trade', stem, i) % len(TRADE)]}" for i in (0, 1) for stem in stems
    ]
    names = list(dict.fromkeys(names))
    spare = (f"{stem} {trade}" for stem in stems for trade in TRADE)
    while len(names) < N_ROWS:
        name = next(spare)
        if name not in names:
            names.append(name)
    return sorted(names[:N_ROWS], key=lambda name: draw("order", name))


def right_address(company: str) -> str:
    return f"support@{company.lower().replace(' ', '-')}.example"


def kinds(names: list[str]) -> dict[str, str]:
    order = sorted(names, key=lambda name: draw("kind", name))
    labels = [kind for kind, count in SHARES.items() for _ in range(count)]
    labels += ["empty"] * (len(names) - len(labels))
    return dict(zip(order, labels, strict=True))


def answer(company: str, kind: str, names: list[str]) -> str:
    pick = draw("answer", company)
    if kind == "right":
        return styled(right_address(company), pick)
    if kind == "shared":
        return styled(SHARED[min(pick % 8, len(SHARED) - 1)], pick)
    if kind == "neighbour":
        others = [n for n in names if n != company]
        return right_address(others[pick % len(others)])
    if kind == "invented":
        return f"help@{company.lower().replace(' ', '')}-{pick % 90 + 10}.example"
    return REFUSALS[pick % len(REFUSALS)] if kind == "refused" else ""


def styled(address: str, pick: int) -> str:
    """One address in twelve is written otherwise: the same answer to a reader."""
    return {0: address.capitalize(), 1: f"{address}.", 2: f"{address} "}.get(pick % 36, address)


def text_of(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def make() -> tuple[str, str]:
    """The text of the column's file and of the truth's."""
    names = companies()
    kind = kinds(names)
    filled = [(name, answer(name, kind[name], names)) for name in names]
    truth = [(name, right_address(name), kind[name]) for name in names]
    return (
        text_of(("company", "support_email"), filled),
        text_of(("company", "support_email", "kind"), truth),
    )


def counts(column: str) -> dict[str, int]:
    """What a reader of the column counts: answers that are equal but for case, ends and stops."""
    cells = [row["support_email"] for row in csv.DictReader(io.StringIO(column))]
    texts = [c for c in cells if c and c not in REFUSALS]
    answered = [c.strip().rstrip(".").lower() for c in texts]
    sizes = Counter(answered)
    return {
        "rows": len(cells),
        "empty": cells.count(""),
        "refused": sum(c in REFUSALS for c in cells),
        "answered": len(answered),
        "distinct": len(sizes),
        "collisions": len(answered) - len(sizes),
        "shared": sum(s for s in sizes.values() if s > 1),
        "largest": max(sizes.values()),
        "distinct_texts": len(set(texts)),
    }


if __name__ == "__main__":
    column, truth = make()
    COLUMN.write_text(column, encoding="utf-8", newline="\n")
    TRUTH.write_text(truth, encoding="utf-8", newline="\n")
    print(counts(column))
