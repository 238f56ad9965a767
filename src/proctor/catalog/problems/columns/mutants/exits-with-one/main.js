"use strict";

const fs = require("node:fs");
const { parseArguments, UsageError } = require("./lib/arguments.js");
const { linedUp } = require("./lib/table.js");

/** Read the input that the command line names. */
function readInput(file) {
  try {
    return fs.readFileSync(file === null ? 0 : file, "utf8");
  } catch (error) {
    if (file === null && error.code === "EOF") return "";
    throw new UsageError(`${file ?? "standard input"} cannot be read: ${error.code}`);
  }
}

/** Do what the command line says and return the exit code. */
function main(words) {
  try {
    const options = parseArguments(words);
    process.stdout.write(linedUp(readInput(options.file), options));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

process.exitCode = main(process.argv.slice(2));
