// A reporter for `node --test`: one result per test, and the share of the program's lines they reach.
// What it says is the program's word, and never counted.
import { relative } from "node:path";

const MAX_RESULTS = 500;
const named = (path) => relative(process.cwd(), path ?? "");
const percent = (files) => {
  const sum = (name) => files.reduce((total, file) => total + file[name], 0);
  return (100 * sum("coveredLineCount")) / sum("totalLineCount");
};

function result(type, data) {
  const status = data.skip || data.todo ? "not run" : type === "test:pass" ? "passed" : "failed";
  const error = data.details.error?.cause ?? data.details.error;
  return {
    name: data.name === data.file ? named(data.file) : `${named(data.file)}::${data.name}`,
    status,
    message: status === "failed" ? String(error?.message ?? error) : "",
    seconds: data.details.duration_ms / 1000,
  };
}

function coverage(files) {
  const shares = files.map((file) => [named(file.path), { percent_covered: file.coveredLinePercent }]);
  return files.length ? { percent: percent(files), files: Object.fromEntries(shares.slice(0, MAX_RESULTS)) } : null;
}

export default async function* report(events) {
  const results = [];
  const tests = new Set();
  let reached = [];
  for await (const { type, data } of events) {
    if (type === "test:coverage") reached = data.summary.files;
    if (type !== "test:pass" && type !== "test:fail") continue;
    tests.add(data.file);
    if (data.details.type !== "suite" && results.length < MAX_RESULTS) results.push(result(type, data));
  }
  yield JSON.stringify({ results, coverage: coverage(reached.filter((file) => !tests.has(file.path))) });
}
