"""Several models' answers in one row, an object each, become one row a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trueness.table.aliases import ALIASES, EVIDENCE
from trueness.table.cells import CellSource

TEXTS = ("solution", *ALIASES["completion"])
"""Under one of these names an object holds what its model answered."""
_ELSEWHERE = frozenset({*ALIASES["completion"], *ALIASES["draws"], *ALIASES["answers"], "answer"})


def by_model(source: CellSource) -> CellSource:
    """The source with a row for every model whose answers stand in a column of objects.

    The name of such a column becomes the model and the condition of its rows, so that each is a
    cloud of its own. Any other source is returned as it is.

    Examples
    --------
    >>> row = {"question": "2+2?", "small": {"solution": "5"}, "large": {"solution": "4"}}
    >>> wide = CellSource({name: [cell] for name, cell in row.items()}, [1])
    >>> by_model(wide).cells["model"], by_model(wide).cells["completion"]
    (['small', 'large'], ['5', '4'])
    """
    if _ELSEWHERE & {name.casefold() for name in source.names}:
        return source
    texts = {name: _text_name(column) for name, column in source.cells.items()}
    models = {name: text for name, text in texts.items() if text is not None}
    if not models:
        return source
    rows = [(i, m) for i in range(source.n_rows) for m in models if source.cells[m][i] is not None]
    others = [name for name in source.names if name not in models]
    cells: dict[str, Sequence[object]] = {n: [source.cells[n][i] for i, _ in rows] for n in others}
    objects = [_object(source.cells[model][i]) for i, model in rows]
    for name in sorted({key for o in objects for key in o if key in EVIDENCE}):
        cells[name] = [o.get(name) for o in objects]
    cells["model"] = cells["condition"] = [model for _, model in rows]
    cells["completion"] = [o[models[m]] for o, (_, m) in zip(objects, rows, strict=True)]
    note = f"Columns {', '.join(models)} hold one model's answers each: a condition each."
    numbers = [source.row_numbers[i] for i, _ in rows]
    return replace(source, cells=cells, row_numbers=numbers, notes=(*source.notes, note))


def _text_name(column: Sequence[object]) -> str | None:
    """The name under which every object of a column holds a text; None for any other column."""
    objects = [value for value in column if value is not None]
    if not objects or not all(isinstance(value, Mapping) for value in objects):
        return None
    named = (t for t in TEXTS if all(isinstance(_object(o).get(t), str) for o in objects))
    return next(named, None)


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
