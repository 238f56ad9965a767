"""Scorers that run the answer: HumanEval, MBPP, their plus versions, test files, programs that read and print."""
