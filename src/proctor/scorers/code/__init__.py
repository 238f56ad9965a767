"""Scorers that run the answer: HumanEval, MBPP and their plus versions, test files, and programs that read and print."""
