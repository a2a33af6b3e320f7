"""Writes the shipped slices of claims from the files that their authors published.

HaluEval's question answering keeps sentences of its knowledge glued together ("century.First"): a
space is set where a full stop stands between a small letter, digit or bracket and a capital.
Nothing else is changed.

Run: python bench/make_claims.py qa_one-turn_data.json ori_pqal.json
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CLAIMS = Path(__file__).parents[1] / "src" / "trueness" / "data" / "claims"
GLUED = re.compile(r"(?<=[a-z0-9)\]\"”’'])\.(?=[A-Z])")


def halueval(source: Path) -> Iterator[dict[str, object]]:
    for number, line in enumerate(source.read_text("utf-8").splitlines(), 1):
        row = json.loads(line)
        for name, label in (("right", "supported"), ("hallucinated", "unsupported")):
            answer = row[f"{name}_answer"]
            yield {
                "item": f"h{number:03d}.{name}",
                "group": f"h{number:03d}",
                "claim": f"{row['question'].strip()} {answer.strip()}",
                "evidence": GLUED.sub(". ", row["knowledge"]),
                "label": label,
                "question": row["question"],
                "answer": answer,
            }


def pubmedqa(source: Path) -> Iterator[dict[str, object]]:
    for number, row in json.loads(source.read_text("utf-8")).items():
        yield {
            "item": f"p{number}",
            "group": f"p{number}",
            "claim": row["LONG_ANSWER"],
            "evidence": row["CONTEXTS"],
            "label": "supported",
            "question": row["QUESTION"],
            "decision": row["final_decision"],
        }


def main(halueval_source: str, pubmedqa_source: str) -> None:
    made = {
        "halueval_qa": halueval(Path(halueval_source)),
        "pubmedqa": pubmedqa(Path(pubmedqa_source)),
    }
    for name, rows in made.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (CLAIMS / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{name}: {len(lines)} claims")


if __name__ == "__main__":
    main(*sys.argv[1:])
