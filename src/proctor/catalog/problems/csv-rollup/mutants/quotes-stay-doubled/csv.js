'use strict';

/** A record that cannot be used; the message names its number. */
class DataError extends Error {
  constructor(number, reason) {
    super(`record ${number}: ${reason}`);
  }
}

/** Where the first of these texts occurs from a place on, or the end. */
function endOfPlain(text, from, delimiter) {
  let place = from;
  while (
    place < text.length &&
    text[place] !== '\n' &&
    !text.startsWith(delimiter, place)
  ) {
    place += 1;
  }
  return place;
}

/** The place of the quote that closes the field whose text starts here. */
function closingQuote(text, from, number) {
  let place = text.indexOf('"', from);
  while (place >= 0 && text[place + 1] === '"') {
    place = text.indexOf('"', place + 2);
  }
  if (place < 0) {
    throw new DataError(number, 'a quoted field is not closed');
  }
  return place;
}

/** Whether a record ends here, and how many characters its end takes. */
function lineEnd(text, place) {
  if (text[place] === '\n') {
    return 1;
  }
  return text[place] === '\r' && text[place + 1] === '\n' ? 2 : 0;
}

/** Read the field that starts at a place; gives its value and where it ends. */
function readField(text, from, delimiter, number) {
  if (text[from] !== '"') {
    let end = endOfPlain(text, from, delimiter);
    if (text[end] === '\n' && end > from && text[end - 1] === '\r') {
      end -= 1;
    }
    return [text.slice(from, end), end];
  }
  const close = closingQuote(text, from + 1, number);
  const end = close + 1;
  const isEnd =
    end === text.length ||
    lineEnd(text, end) > 0 ||
    text.startsWith(delimiter, end);
  if (!isEnd) {
    throw new DataError(number, 'something follows the end of a quoted field');
  }
  return [text.slice(from + 1, close), end];
}

/** Read the record that starts at a place; gives its fields and what follows. */
function readRecord(text, from, delimiter, number) {
  const fields = [];
  let place = from;
  for (;;) {
    const [value, end] = readField(text, place, delimiter, number);
    fields.push(value);
    if (!text.startsWith(delimiter, end)) {
      return [fields, end + lineEnd(text, end)];
    }
    place = end + delimiter.length;
  }
}

/** The records of a CSV text, one by one; empty lines are skipped. */
function* parseCsv(text, delimiter) {
  let place = text.startsWith('\uFEFF') ? 1 : 0;
  let number = 0;
  while (place < text.length) {
    const skipped = lineEnd(text, place);
    if (skipped > 0) {
      place += skipped;
      continue;
    }
    number += 1;
    const [fields, next] = readRecord(text, place, delimiter, number);
    place = next;
    yield fields;
  }
}

/** Write one record, with quotes where they are needed. */
function formatRecord(fields, delimiter) {
  const needsQuotes = (field) =>
    ['"', '\r', '\n', delimiter].some((part) => field.includes(part));
  const written = fields.map((field) =>
    needsQuotes(field) ? `"${field.replaceAll('"', '""')}"` : field,
  );
  return `${written.join(delimiter)}\n`;
}

module.exports = { DataError, formatRecord, parseCsv };
