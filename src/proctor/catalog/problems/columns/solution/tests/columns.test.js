"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { parseArguments, UsageError } = require("../lib/arguments.js");
const { linedUp } = require("../lib/table.js");

const plain = (...words) => parseArguments(words);

test("columns are lined up", () => {
  assert.equal(linedUp("a\tb\n\nccc\td\n", plain("--right", "2", "--header")), "a    b\n---  -\n\nccc  d\n");
});

test("long cells are cut", () => {
  assert.equal(linedUp("😀😀😀\nab\r\n", plain("--width", "2")), "😀…\nab\n");
});

test("wrong command lines are refused", () => {
  for (const words of [["--x"], ["--width"], ["--width", "1"], ["--right", "0"], ["--separator", ""], ["a", "b"]]) {
    assert.throws(() => plain(...words), UsageError);
  }
});
