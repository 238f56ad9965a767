"""A model in six lines: `proctor run puzzles -m python/function:answer`."""


def answer(prompt: str) -> str:
    """Whatever is returned is the model's answer."""
    numbers = [int(word) for word in prompt.replace("?", " ").split() if word.isdigit()]
    return f"ANSWER: {sum(numbers)}"
