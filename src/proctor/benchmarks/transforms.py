"""Rows of published data sets that take more than naming their fields; each function is one `dataset.transform`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.domain.identity import rank

Row = Mapping[str, Any]
THINK = "Let's think step by step."

_CALCULATION = re.compile(r"<<[^>]*>>")
_BRACKETED = re.compile(r"\[.*?\]")
_OPTION = re.compile(r"\b(?:Answer|Solution|Option|Ending)(\d+): ?", re.IGNORECASE)
_FORMAT = re.compile(r"\s*Answer format: \S+\s*$")
_CANARY = re.compile(r"\A.*?canary GUID.*?\n-{3,}\n", re.DOTALL)
_WORKED = re.compile(r"^Q: (.*?)\nA: (.*?)(?=\n\nQ: |\Z)", re.DOTALL | re.MULTILINE)
_FINAL = re.compile(r"[Ss]o the answer is (.*?)\.?\s*\Z", re.DOTALL)


def gsm8k(row: Row) -> Row:
    """The worked solution without its calculator notes, and the number after ####."""
    solution, mark, number = str(row["answer"]).rpartition("####")
    if not mark:
        raise ValueError("the answer has no line that begins with ####")
    text = _CALCULATION.sub("", solution).strip()
    return {"question": row["question"], "number": number.strip().replace(",", ""), "solution": text}


def hellaswag(row: Row) -> Row:
    """Activity and context as one text, without the marks of WikiHow."""
    if "activity_ctx" in row:
        return row
    context = f"{row['activity_label']}: {row['ctx_a']} {row['ctx_b']}"
    endings = [_clean(str(ending)) for ending in row["endings"]]
    return {**row, "activity_ctx": _clean(context), "endings": endings, "label": int(row["label"])}


def _clean(text: str) -> str:
    return " ".join(_BRACKETED.sub("", text.strip().replace(" [title]", ". ")).split())


def instruction(row: Row) -> Row:
    """'…: question Answer1: … Answer2: … Answer format: …' becomes question, choices and the place of the right one."""
    text = _FORMAT.sub("", str(row["instruction"]))
    marks = _numbered(list(_OPTION.finditer(text)))
    if len(marks) < 2:
        raise ValueError("fewer than two numbered options in the instruction")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    choices = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    question = text[: marks[0].start()].partition(": ")[2].strip()
    place = int(re.sub(r"\D", "", str(row["answer"])) or 0) - 1
    if not 0 <= place < len(choices):
        raise ValueError(f"the answer {row['answer']!r} is none of the {len(choices)} options")
    return {"question": question, "choices": choices, "answer": place}


def _numbered(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The last run 1, 2, 3, …: a question may itself speak of an 'option 1: …'."""
    runs: list[list[re.Match[str]]] = []
    for mark in marks:
        number = int(mark[1])
        if number == 1:
            runs.append([mark])
        elif runs and number == len(runs[-1]) + 1:
            runs[-1].append(mark)
    return runs[-1] if runs else []


def truthfulqa(row: Row) -> Row:
    """The choices of both settings, in an order of their own for each question: as published, true ones stand first."""
    made: dict[str, Any] = {"question": row["question"]}
    for name in ("mc1", "mc2"):
        marked = row[f"{name}_targets"]
        listed = dict(zip(marked["choices"], marked["labels"], strict=True)) if "choices" in marked else dict(marked)
        order = sorted(listed, key=lambda text: rank(0, f"{row['question']}\0{text}"))
        made[f"{name}_choices"] = order
        made[f"{name}_true"] = [text for text in order if listed[text]]
    return made


def truthfulqa_answers(row: Row) -> Row:
    """The table's columns in the hub's names, its lists of answers split."""
    return {
        "question": row["Question"],
        "category": row["Category"],
        "best_answer": row["Best Answer"],
        "correct_answers": _split(row["Correct Answers"]),
        "incorrect_answers": _split(row["Incorrect Answers"]),
    }


def _split(text: str) -> list[str]:
    return [part.strip() for part in str(text).split(";") if part.strip()]


def boxed(row: Row) -> Row:
    """The answer of a solution: what stands in its last \\boxed or \\fbox."""
    return {**row, "boxed": last_boxed(str(row["solution"]))}


def last_boxed(text: str) -> str:
    """The content of the last box, braces balanced; raises ValueError when there is none."""
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        raise ValueError("the solution has no boxed answer")
    rest = text[start:].partition("box")[2].removeprefix("ed")
    if not rest.startswith("{"):
        return rest.split("$")[0].strip()  # \boxed 2$
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return rest[1:place].strip()
    raise ValueError("the box of the solution is never closed")


def mgsm(row: Row) -> Row:
    """One question in one language: questions of the same place in each language are the same question."""
    language, place = row.get("lang", row.get("config")), row.get("idx", row.get("row"))
    return {
        "id": f"{language}-{place}",
        "question": row["question"],
        "number": str(row["answer_number"]).replace(",", ""),
        "language": language,
        "group": str(place),
    }


def bbh_worked(row: Row) -> list[Row]:
    """A prompt of the authors, taken apart: the task's description, and questions with their worked answers."""
    text = _CANARY.sub("", str(row["prompt"])).strip()
    preamble, _, rest = text.partition("\n\nQ: ")
    made: list[Row] = []
    for number, match in enumerate(_WORKED.finditer(f"Q: {rest}"), start=1):
        final = _FINAL.search(match[2])
        if final is None:
            raise ValueError(f"the worked answer {number} does not end with 'So the answer is …'")
        steps = match[2][: final.start()].removeprefix(THINK).strip()
        made.append(
            {
                "id": f"{row['task']}-{number}",
                "task": row["task"],
                "input": match[1].strip(),
                "target": final[1].strip(),
                "steps": steps,
                "preamble": preamble,
            }
        )
    if not made:
        raise ValueError("no 'Q: … A: …' in the prompt")
    return made


def kobest_boolq(row: Row) -> Row:
    """The folder's table in the hub's names; truth is written in several ways there."""
    return {"id": row["ID"], "paragraph": row["Text"], "question": row["Question"], "label": _truth(row["Answer"])}


def kobest_wic(row: Row) -> Row:
    return {
        "id": row["ID"],
        "word": row["Target"],
        "context_1": row["SENTENCE1"],
        "context_2": row["SENTENCE2"],
        "label": _truth(row["ANSWER"]),
    }


def _truth(text: Any) -> int:
    try:
        return {"true": 1, "false": 0}[str(text).strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def bfcl(row: Row) -> Row:
    """The functions as JSON schemas, under names that endpoints accept; the published ones stay beside them."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": re.sub(r"[^\w-]", "_", function["name"]),
                "description": function.get("description", ""),
                "parameters": json_schema(function["parameters"]),
            },
        }
        for function in row["function"]
    ]
    return {**row, "tools": tools}


def json_schema(value: Any) -> Any:
    """A parameter description of the leaderboard as a JSON schema."""
    if isinstance(value, list):
        return [json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    made: dict[str, Any] = {}
    for key, inner in value.items():
        if key == "properties" and isinstance(inner, Mapping):
            made[key] = {name: json_schema(one) for name, one in inner.items()}
        elif key == "type" and isinstance(inner, str):
            if (kind := _TYPES.get(inner, inner)) is not None:
                made[key] = kind
        elif key in ("items", "additionalProperties") and isinstance(inner, Mapping):
            made[key] = json_schema(inner)
        elif key != "optional":
            made[key] = inner
    return made


def mt_bench(row: Row) -> Row:
    """Turns and reference answers, in the names of the hub's copy or of the authors' files."""
    turns = row.get("turns") or row["prompt"]
    reference = row["choices"][0]["turns"] if row.get("choices") else row.get("reference") or []
    return {
        "id": row.get("question_id", row.get("prompt_id")),
        "category": row["category"],
        "turns": list(turns),
        "reference": list(reference),
        "target": reference[-1] if reference else None,
    }


def agieval(row: Row) -> Row:
    """Passage and question together, and the options without their letters."""
    if "query" in row:  # the hub's copy has them in one text
        text = str(row["query"]).partition("Answer Choices:")[0].removeprefix("Q: ").strip()
        choices, label = row["choices"], "ABCDEFG"[row["gold"][0]]
    else:
        text = "\n\n".join(part for part in (row["passage"], row["question"]) if part)
        choices, label = row["options"], row["label"]
    return {"question": text, "choices": [re.sub(r"^\([A-G]\)\s*", "", choice) for choice in choices], "label": label}


def evalplus(row: Row) -> Row:
    """The inputs as text: they hold numbers that JSON proper does not have, and no store may change them."""
    return {**row, **{name: json.dumps(row[name]) for name in ("base_input", "plus_input")}}


TRANSFORMS: dict[str, Callable[[Row], Row | list[Row]]] = {
    function.__name__: function
    for function in (
        agieval,
        bbh_worked,
        bfcl,
        boxed,
        evalplus,
        gsm8k,
        hellaswag,
        instruction,
        kobest_boolq,
        kobest_wic,
        mgsm,
        mt_bench,
        truthfulqa,
        truthfulqa_answers,
    )
}
EXPANDING = frozenset({"bbh_worked"})
"""Those that make several rows of one."""
