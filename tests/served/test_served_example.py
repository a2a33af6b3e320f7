"""The server that the documents start, and the command that they show for it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = (ROOT / "docs" / "asking.md").read_text("utf-8").partition("\n## A server\n")[2]
SHOWN = SHELL.findall(SECTION.partition("\n## ")[0])


def test_the_document_shows_how_to_start_a_server_and_to_ask_it() -> None:
    start, ask = (block.strip() for block in SHOWN)
    assert start == "python docs/examples/llama_server.py 8080"
    assert ask.startswith("trueness ask ")
    assert "http://127.0.0.1:8080/v1" in ask


@pytest.mark.real
def test_the_documents_server_answers_the_documents_question(tmp_path: Path) -> None:
    start, ask = (block.strip() for block in SHOWN)
    server = [sys.executable, str(ROOT / start.split()[1]), "0"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as child:
        try:
            url = child.stdout.readline().strip() if child.stdout else ""
            argv = shlex.split(ask.replace("http://127.0.0.1:8080/v1", url))[1:]
            more = ["--limit", "3", "--max-tokens", "3", "--no-cache", "--no-progress"]
            command = [sys.executable, "-m", "trueness", *argv, *more]
            environment = {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"}
            ran = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
        finally:
            child.terminate()
    assert ran.returncode == 0, ran.stderr
    assert "same answers" in ran.stdout
    lines = (tmp_path / "served.jsonl").read_text("utf-8").splitlines()[1:]
    rows = [json.loads(line) for line in lines]
    assert {row["outcome"] for row in rows} == {"answered"}
    assert any(row["answer"] in row["target"] for row in rows)
