"use strict";

const GAP = "  ";

function length(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function trimmed(text) {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function cut(text, width) {
  if (text.length <= width) return text;
  const points = [...text];
  return points.length <= width ? text : `${points.slice(0, width - 1).join("")}…`;
}

function toLines(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function toRow(line, { separator, width }) {
  if (trimmed(line) === "") return [];
  return line.split(new RegExp(separator)).map((cell) => cut(trimmed(cell), width));
}

function measured(rows) {
  const widths = [];
  for (const row of rows) {
    row.forEach((cell, place) => {
      widths[place] = Math.max(widths[place] ?? 0, length(cell));
    });
  }
  return widths;
}

function printed(row, widths, right) {
  const cells = row.map((cell, place) => {
    const fill = " ".repeat(widths[place] - length(cell));
    return right.has(place) ? fill + cell : cell + fill;
  });
  return cells.join(GAP).replace(/ +$/, "");
}

/** The text with its columns lined up. */
function linedUp(text, options) {
  const rows = toLines(text).map((line) => toRow(line, options));
  const widths = measured(rows);
  const lines = [];
  let isUnderlined = !options.header;
  for (const row of rows) {
    lines.push(printed(row, widths, options.right));
    if (!isUnderlined && row.length > 0) {
      lines.push(widths.map((width) => "-".repeat(width)).join(GAP));
      isUnderlined = true;
    }
  }
  return lines.map((line) => `${line}\n`).join("");
}

module.exports = { linedUp };
