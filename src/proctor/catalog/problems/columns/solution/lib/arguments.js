"use strict";

/** A command line that makes no sense, or a file that cannot be read. */
class UsageError extends Error {}

function toSeparator(value) {
  if (value === "") throw new UsageError("--separator must not be empty");
  return value;
}

function toColumns(value) {
  const parts = value.split(",");
  if (!parts.every((part) => /^[1-9][0-9]*$/.test(part))) {
    throw new UsageError("--right takes column numbers from 1 on, set apart by commas");
  }
  return new Set(parts.map((part) => Number(part) - 1));
}

function toWidth(value) {
  if (!/^[0-9]+$/.test(value) || Number(value) < 2) {
    throw new UsageError("--width takes a number from 2 on");
  }
  return Number(value);
}

const READERS = {
  "--separator": ["separator", toSeparator],
  "--right": ["right", toColumns],
  "--width": ["width", toWidth],
};

/** The options of a command line; throws a UsageError. */
function parseArguments(words) {
  const options = { separator: "\t", right: new Set(), header: false, width: Infinity, file: null };
  const waiting = [...words];
  while (waiting.length > 0) takeWord(options, waiting);
  return options;
}

function takeWord(options, waiting) {
  const word = waiting.shift();
  if (word in READERS) {
    const [name, read] = READERS[word];
    if (waiting.length === 0) throw new UsageError(`${word} needs a value`);
    options[name] = read(waiting.shift());
  } else if (word === "--header") {
    options.header = true;
  } else if (word.startsWith("-")) {
    throw new UsageError(`there is no option ${word}`);
  } else if (options.file !== null) {
    throw new UsageError("one file at most");
  } else {
    options.file = word;
  }
}

module.exports = { parseArguments, UsageError };
