"""Makes the logs of Inspect in this folder's parent: python capitals_inspect.py OUT, where inspect-ai is installed."""

import sys

import inspect_ai
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match

CAPITALS = {"France": "Paris", "Germany": "Berlin", "Japan": "Tokyo", "Korea": "Seoul", "Canada": "Ottawa"}


@task
def capitals():
    samples = [
        Sample(
            id=name.lower(),
            input=f"Capital of {name}?",
            target=city,
            metadata={"category": "asia" if name in ("Japan", "Korea") else "other"},
        )
        for name, city in CAPITALS.items()
    ]
    return Task(dataset=samples, scorer=[match(), includes()], epochs=2)


def model(form, knows):
    def answer(messages, tools, choice, config):
        name = messages[-1].text.removeprefix("Capital of ").removesuffix("?")
        if name == "Canada" and len(knows) < 4 and form == "json":
            raise RuntimeError("the provider is down")
        output = ModelOutput.from_content("mockllm/model", f"It is {CAPITALS[name] if name in knows else 'Rome'}")
        output.usage = ModelUsage(input_tokens=12, output_tokens=4, total_tokens=16)
        return output

    return get_model("mockllm/model", custom_outputs=answer)


countries = list(CAPITALS)
for form in ("eval", "json"):
    for name, knows in (("good", countries[:4]), ("weak", countries[:2])):
        inspect_ai.eval(
            capitals(),
            model=model(form, knows),
            log_dir=f"{sys.argv[1]}/{form}-{name}",
            log_format=form,
            display="none",
            fail_on_error=False,
            max_connections=1,
            log_realtime=False,
        )
