#!/bin/sh
# A program is a model: the prompt comes on standard input, the answer goes to standard output.
printf 'ANSWER: '
tail -n 1
