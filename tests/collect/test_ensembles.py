"""Ensembles are views: what rows say together, and what may be compared with what."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness import api
from trueness.backends import open_model
from trueness.collect import ask, facts_of, parse_conditions
from trueness.collect.elections import voted
from trueness.collect.ensembles import KINDS, LOGITS, PROBABILITIES, parse_view, with_views
from trueness.collect.means import LAW, first_tokens, law_of, law_text, likeliest
from trueness.collect.questions import Quiz, questions
from trueness.collect.votes import vote
from trueness.contract.errors import InputError, ProtocolError
from trueness.decide.replay import replay_choice
from trueness.table import OUTCOMES, AnswerTable, Outcome, Protocol

CITIES = ["Paris", "Rome", "Madrid"]


def table(
    answers: dict[str, Sequence[str | None]],
    *,
    wordings: int = 1,
    laws: dict[str, list[str | None]] | None = None,
) -> AnswerTable:
    """Conditions with an answer for each entity and wording; None is no answer."""
    rows = [
        {
            "entity": f"e{at // wordings}",
            "template": f"t{at % wordings}",
            "condition": condition,
            "outcome": "answered" if said else "no_answer",
            "answer": said,
            **({LAW: laws[condition][at]} if laws else {}),
        }
        for condition, each in answers.items()
        for at, said in enumerate(each)
    ]
    return api.read(rows)


def answers_of(found: AnswerTable, condition: str) -> list[str | None]:
    return found.only(condition).answer.values()


def test_a_vote_takes_the_most_frequent_key_and_a_tie_is_no_answer() -> None:
    base = table({"none": "xxxx", "a": "pppq", "b": "pqqr", "c": ["p", "q", "r", None]})
    found = with_views(base, ["vote:a,b,c"])
    assert answers_of(found, "vote:a,b,c") == ["p", "q", None, None]
    view = found.only("vote:a,b,c")
    assert view.reason.values() == [None, None, "tie", "tie"]
    assert answers_of(found, "none") == list("xxxx")
    assert len(found) == len(base) + 4


def test_a_star_is_every_condition_but_none_and_patterns_name_some() -> None:
    base = table({"none": "x", "prose:1": "p", "prose:2": "p", "the:1": "q"})
    found = with_views(base, ["vote:*", "vote:prose:*"])
    assert answers_of(found, "vote:*") == ["p"]
    assert answers_of(found, "vote:prose:*") == ["p"]


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("vote:none", r"single member 'none'.*several conditions are wanted, or several draws"),
        ("vote:*", r"single member 'a'.*e\.g\. vote:\* for every"),
        ("mean_logits:a", r"single member 'a'.*several conditions are wanted\. Name"),
        ("mean_probabilities:a", "single member 'a'"),
        ("wordings:none", "a single row about each entity.*several wordings"),
    ],
)
def test_an_ensemble_of_a_single_member_is_refused(view: str, words: str) -> None:
    law: list[str | None] = [json.dumps({"p": -1.0})] * 2
    base = table({"none": "xx", "a": "xx"}, laws={"none": law, "a": law})
    with pytest.raises(InputError, match=words):
        with_views(base, [view])


def test_draws_of_one_condition_become_one_answer() -> None:
    rows = [
        {"item": "q", "epoch": e, "condition": "noise:0.4", "answer": a, "outcome": "answered"}
        for e, a in enumerate("ppq", start=1)
    ]
    found = with_views(api.read(rows), ["vote:noise:0.4"])
    view = found.only("vote:noise:0.4")
    assert (len(view), view.answer[0], view.epoch.tolist()) == (1, "p", [1])


def test_the_vote_of_wordings_answers_every_wording_alike() -> None:
    base = table({"none": ["p", "p", "q", "r", "r", "s"]}, wordings=3)
    found = with_views(base, ["wordings:none"])
    assert answers_of(found, "wordings:none") == ["p", "p", "p", "r", "r", "r"]
    assert found.only("wordings:none").item.values() == base.item.values()


@given(
    st.lists(
        st.lists(st.sampled_from(["p", "q", "r", None, "!"]), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    )
)
def test_a_vote_is_the_count_of_what_came_back(columns: list[list[str | None]]) -> None:
    rows = [
        {
            "item": f"i{at}",
            "condition": f"c{k}",
            "outcome": {"!": "error", None: "no_answer"}.get(said, "answered"),
            "answer": None if said == "!" else said,
        }
        for k, column in enumerate(columns)
        for at, said in enumerate(column)
    ]
    base = api.read(rows)
    view = voted([base.only(c) for c in base.conditions], "v")
    for at in range(3):
        came = [column[at] for column in columns if column[at] != "!"]
        outcome = OUTCOMES[int(view.outcome[at])]
        size = Counter(said for said in came if said is not None).most_common(2)
        if not came:
            assert outcome is Outcome.ERROR
        elif not size or (len(size) > 1 and size[0][1] == size[1][1]):
            assert (outcome, view.answer[at]) == (Outcome.NO_ANSWER, None)
        else:
            assert view.answer[at] == size[0][0]


@given(st.lists(st.lists(st.floats(-9, 0), min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_constant_on_one_law_moves_no_mean_of_logits(laws: list[list[float]]) -> None:
    given_ = [np.array([law]) for law in laws]
    once = likeliest(given_)
    moved = likeliest([law + 8.0 * at for at, law in enumerate(given_)])
    tops = np.sort(np.mean(given_, axis=0)[0])
    if tops[-1] - tops[-2] > 1e-9:
        assert once == moved


def test_one_confident_outlier_wins_the_mean_of_logits_and_not_the_vote() -> None:
    laws = [np.log([[0.9, 0.1]])] * 4 + [np.log([[1e-9, 1 - 1e-9]])]
    assert likeliest(laws) == [1]
    assert likeliest(laws, probabilities=True) == [0]
    assert vote(["a"] * 4 + ["b"], [None] * 5).winner == "a"
    assert likeliest([np.zeros((1, 2))]) == [None]


def recorded(tmp_path: Path, **given_: Any) -> AnswerTable:
    """A scripted model asked behind two passages and a repeated word, laws beside it."""
    quiz = Quiz("capital", ("The capital of {e} is",), ("France", "Italy", "Spain"), tuple(CITIES))
    out = tmp_path / "t.jsonl"
    ask(
        quiz,
        open_model("scripted:right", facts=facts_of(quiz)),
        parse_conditions("prose:8@1,prose:8@2,allowed:first_token"),
        out=out,
        observable=f"first_token,{LAW}",
        **given_,
    )
    return api.read(out)


def test_means_are_of_the_recorded_law_and_allow_its_answers_alone(tmp_path: Path) -> None:
    base = recorded(tmp_path)
    found = with_views(base, [f"{kind}:prose:*" for kind in KINDS])
    for kind in KINDS:
        assert answers_of(found, f"{kind}:prose:*") == answers_of(base, "none")
    said: Any = {kind: found.protocols[f"{kind}:prose:*"].fields["condition"] for kind in KINDS}
    assert "allowed" not in said["vote"]
    assert said["vote"]["n_tokens"] == 16
    for kind in (LOGITS, PROBABILITIES):
        assert said[kind]["allowed"]["answers"] == sorted(
            {str(said) for said in answers_of(base, "none")}
        )
    assert said["vote"]["members"] == {
        name: base.protocols[name].fingerprint for name in ("prose:8@1", "prose:8@2")
    }
    prints = [found.protocols[name].fingerprint for name in found.conditions]
    assert len(set(prints)) == len(prints)


def test_choose_takes_a_free_vote_and_excludes_a_mean_over_a_list(tmp_path: Path) -> None:
    base = recorded(tmp_path)
    decision = api.choose(
        base,
        ensemble=["vote:prose:*", "mean_logits:prose:*"],
        admissible=[str(said) for said in answers_of(base, "none")],
    )
    assert decision.details["excluded"] == {
        "allowed:first_token": "answer space differs from the baseline",
        "mean_logits:prose:*": "answer space differs from the baseline",
    }
    assert "vote:prose:*" in str(decision.details["scores"])


@pytest.mark.parametrize(("n_tokens", "length"), [(128, 128), (None, 128)])
def test_a_vote_costs_what_its_members_cost_together(n_tokens: int | None, length: int) -> None:
    repeated: Any = {"kind": "repeated", "n_tokens": n_tokens, "length": length}
    base = replace(
        table({"none": "xxx", "the:128": "pqr"}),
        protocols={
            "none": Protocol({"condition": {"kind": "none"}}),
            "the:128": Protocol({"condition": repeated}),
        },
    )
    decision = api.choose(base, ensemble="vote:none,the:128", admissible=["p", "q", "r"])
    assert decision.details["added_tokens"] == {"none": 0, "the:128": 128, "vote:none,the:128": 128}


def test_a_vote_whose_members_do_not_say_their_length_costs_what_is_not_known() -> None:
    base = replace(
        table({"none": "xxx", "the:128": "pqr", "system": "pqr"}),
        protocols={
            "none": Protocol({"condition": {"kind": "none"}}),
            "the:128": Protocol({"condition": {"kind": "repeated", "n_tokens": 128}}),
            "system": Protocol({"condition": {"kind": "system"}}),
        },
    )
    decision = api.choose(base, ensemble="vote:the:128,system", admissible=["p", "q", "r"])
    assert decision.details["added_tokens"] == {
        "none": 0,
        "the:128": None,
        "system": None,
        "vote:the:128,system": None,
    }
    assert "at least one candidate" in str(decision.details["added_tokens_unknown"])
    assert "decided by order, for added tokens are not known" in decision.reason
    assert replay_choice(decision) == ()
    assert replay_choice(json.loads(decision.to_json())) == ()


def test_certify_measures_a_view_as_a_condition_of_its_own() -> None:
    base = table({"none": "xxx", "a": "pqx", "b": "pqr", "c": "xqr"})
    readings = api.certify_each(base, relation="injective", ensemble="vote:*")
    assert readings["none"].details["certified_errors"] == 2
    assert readings["vote:*"].details["certified_errors"] == 0
    reading = api.certify(base, relation="injective", ensemble=("vote:*",), condition="vote:*")
    assert reading.details == readings["vote:*"].details


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("vote:missing", "no condition of the table"),
        ("vote", "is no ensemble"),
        ("mode:a", "is no ensemble"),
        ("assignment:a", "by construction"),
        ("mean_logits:a,b", f"--observe first_token,{LAW}"),
        ("wordings:a", "template"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence(view: str, words: str) -> None:
    rows = [{"item": "q", "condition": c, "answer": "x", "outcome": "answered"} for c in ("a", "b")]
    with pytest.raises(InputError, match=words):
        with_views(api.read(rows), [view])


def test_members_that_were_not_asked_alike_are_refused() -> None:
    base = table({"a": "x", "b": "x"})
    others: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"temperature": 1}, ProtocolError),
        ({"condition": {"allowed": "some"}}, InputError),
    ]
    for fields, error in others:
        protocols = {"a": Protocol({"model": "m"}), "b": Protocol({"model": "m", **fields})}
        asked = api.read(base)
        object.__setattr__(asked, "protocols", protocols)
        with pytest.raises(error, match=r"not asked alike|do not allow the same"):
            with_views(asked, ["vote:a,b"])


def test_one_name_is_taken_once_and_counted_draws_are_refused() -> None:
    base = table({"a": "x", "b": "x"})
    with pytest.raises(InputError, match="is there already"):
        with_views(base, ["vote:a,b", "vote:a,b"])
    rows = [{"item": "q", "answer": "x", "count": 3}, {"item": "q", "answer": "y", "count": 1}]
    with pytest.raises(InputError, match="several draws"):
        with_views(api.read(rows), ["vote:none"])


@pytest.mark.parametrize("cell", ["[]", "{}", "no", '{"a": "b"}', '{"a": NaN}', '{"a": true}'])
def test_a_law_that_cannot_be_read_names_its_row(cell: str) -> None:
    assert law_of(cell) is None
    base = table({"a": "x", "b": "x"}, laws={"a": [cell], "b": [cell]})
    with pytest.raises(InputError, match="row 1 has the"):
        with_views(base, ["mean_logits:a,b"])


def test_laws_of_other_answers_are_refused_and_missing_ones_leave_the_item_missing() -> None:
    one, two = json.dumps({"p": -1.0, "q": -2.0}), json.dumps({"p": -1.0, "r": -2.0})
    base = table({"a": "x", "b": "x"}, laws={"a": [one], "b": [two]})
    with pytest.raises(InputError, match="other answers"):
        with_views(base, ["mean_logits:a,b"])
    base = table({"a": "xx", "b": "xx"}, laws={"a": [one, one], "b": [None, one]})
    view = with_views(base, ["mean_probabilities:a,b"]).only("mean_probabilities:a,b")
    assert view.answer.values() == [None, "p"]
    assert [OUTCOMES[o].value for o in view.outcome.tolist()] == ["error", "answered"]


def test_a_recorded_law_sums_to_at_most_one_and_needs_tokens_and_golds() -> None:
    rng = np.random.default_rng(0)
    found = law_of(law_text(rng.normal(size=50), [3, 4, 3]))
    assert found is not None
    assert set(found) == {"tok:3", "tok:4"}
    assert sum(np.exp(list(found.values()))) < 1
    law = law_of(law_text(np.array([0.0, -np.inf]), [1]))
    assert law == {"tok:1": -1e9}
    asked = {q.item: q for q in questions(Quiz("r", ("{e} is",), ("a",)))}
    for tokenizer, words in (
        (None, "no tokens"),
        (open_model("scripted:empty").tokenizer, "golds"),
    ):
        with pytest.raises(InputError, match=words):
            first_tokens(asked, tokenizer, LAW)


def test_a_view_is_named_as_it_was_typed() -> None:
    assert parse_view(" vote : a , b,a").name == "vote:a,b"
    assert {parse_view(f"{kind}:x").kind for kind in KINDS} == set(KINDS)
