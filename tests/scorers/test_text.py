from __future__ import annotations

import importlib
import random

import pytest

from proctor.scorers import f1, rouge, translation
from scorers.scoring import score

WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "mat", "and", "7", "dogs'", "state-of-the-art,", "end.")


def _texts(seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    return tuple(" ".join(chance.choices(WORDS, k=chance.randint(1, 40))) for _ in range(2))


def test_rouge_is_the_published_one():
    reference = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2", "rougeL"])
    for seed in range(200):
        said, wanted = _texts(seed)
        theirs = {kind: marks.fmeasure for kind, marks in reference.score(wanted, said).items()}
        assert rouge.rouge(said, wanted) == pytest.approx(theirs, abs=1e-12)


def test_rouge_reads_scripts_without_spaces():
    assert rouge.rouge("今天天气好", "今天天气好")["rougeL"] == 1
    assert 0 < rouge.rouge("今天天气好", "明天天气好")["rouge1"] < 1


def test_f1_counts_words_as_squad_does():
    scorer = f1.create()
    assert score(scorer, "The Eiffel Tower!", "eiffel tower").value == 1
    assert score(scorer, "the big red dog", ("red dog", "cat")).value == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))
    assert score(f1.create_precision(), "the big red dog", "red dog").value == pytest.approx(2 / 3)
    assert score(f1.create_recall(), "the big red dog", "red dog").value == 1
    assert score(scorer, "cat", "dog").value == 0


def test_bleu_and_chrf_are_those_of_sacrebleu():
    sacrebleu = importlib.import_module("sacrebleu")
    for seed in range(30):
        said, wanted = _texts(seed)
        theirs = sacrebleu.sentence_bleu(said, [wanted]).score / 100
        assert score(translation.create_bleu(), said, wanted).value == pytest.approx(min(1, theirs), abs=1e-9)
        theirs = sacrebleu.sentence_chrf(said, [wanted]).score / 100
        assert score(translation.create_chrf(), said, wanted).value == pytest.approx(min(1, theirs), abs=1e-9)
