from hypothesis import given
from hypothesis import strategies as st

from trueness.table.rowkeys import RowKeys

KEYS = st.tuples(st.sampled_from("abc"), st.integers(-1, 3), st.sampled_from(["none", "the:8"]))


@given(st.lists(KEYS), st.lists(KEYS))
def test_row_keys_are_a_set(
    added: list[tuple[str, int, str]], gone: list[tuple[str, int, str]]
) -> None:
    keys, plain = RowKeys(added), set(added)
    for key in gone:
        keys.discard(key)
        plain.discard(key)
    assert set(keys) == plain
    assert len(keys) == len(plain)
    assert all((key in keys) == (key in plain) for key in (*added, *gone, ("z", 1, "none")))
