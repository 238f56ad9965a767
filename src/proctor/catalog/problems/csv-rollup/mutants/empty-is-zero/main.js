'use strict';

const fs = require('node:fs');
const { parseCsv, formatRecord, DataError } = require('./csv.js');
const { Amounts } = require('./amounts.js');

const USAGE =
  'usage: main --by COLUMN --sum COLUMN [--delimiter CHARACTER] [--sort]';

/** The program was called in a way it cannot serve. */
class UsageError extends Error {}

/** Read the options; throws UsageError for anything else. */
function parseArguments(args) {
  const options = { delimiter: ',', sort: false };
  const withValue = {
    '--by': 'by',
    '--sum': 'sum',
    '--delimiter': 'delimiter',
  };
  const rest = [...args];
  while (rest.length > 0) {
    const argument = rest.shift();
    if (argument === '--sort') {
      options.sort = true;
    } else if (Object.hasOwn(withValue, argument) && rest.length > 0) {
      options[withValue[argument]] = rest.shift();
    } else {
      throw new UsageError(`cannot use ${argument}\n${USAGE}`);
    }
  }
  if (options.by === undefined || options.sum === undefined) {
    throw new UsageError(`--by and --sum are needed\n${USAGE}`);
  }
  if ([...options.delimiter].length !== 1) {
    throw new UsageError(`the delimiter is one character\n${USAGE}`);
  }
  return options;
}

/** The place of a column in the header. */
function findColumn(header, name) {
  const place = header.indexOf(name);
  if (place < 0) {
    throw new UsageError(`no column is called ${name}`);
  }
  return place;
}

/** Count and add up the records by value of a column, in order of appearance. */
function rollUp(records, options) {
  const header = records.next().value ?? [];
  const by = findColumn(header, options.by);
  const sum = findColumn(header, options.sum);
  const groups = new Map();
  let number = 1;
  for (const record of records) {
    number += 1;
    if (record.length !== header.length) {
      throw new DataError(
        number,
        `${record.length} fields where the header has ${header.length}`,
      );
    }
    let group = groups.get(record[by]);
    if (group === undefined) {
      group = { name: record[by], count: 0, amounts: new Amounts() };
      groups.set(group.name, group);
    }
    group.count += 1;
    if (!group.amounts.add(record[sum] || '0')) {
      throw new DataError(number, `${record[sum]} is not an amount`);
    }
  }
  return [...groups.values()];
}

/** The output table as text. */
function format(groups, options) {
  const rows = [[options.by, 'count', 'sum', 'min', 'max']];
  for (const { name, count, amounts } of groups) {
    rows.push([name, String(count), amounts.sum, amounts.min, amounts.max]);
  }
  return rows.map((row) => formatRecord(row, options.delimiter)).join('');
}

/** Turn the text of one table into that of the other. */
function convert(text, options) {
  const records = parseCsv(text, options.delimiter);
  const groups = rollUp(records, options);
  if (options.sort) {
    groups.sort((a, b) => b.amounts.compareSum(a.amounts));
  }
  return format(groups, options);
}

/** Run the command; gives the exit code. */
function main(args, { read, print, complain }) {
  try {
    print(convert(read(), parseArguments(args)));
    return 0;
  } catch (error) {
    if (error instanceof UsageError || error instanceof DataError) {
      complain(`${error.message}\n`);
      return error instanceof UsageError ? 2 : 1;
    }
    throw error;
  }
}

if (require.main === module) {
  process.exitCode = main(process.argv.slice(2), {
    read: () => fs.readFileSync(0, 'utf8'),
    print: (text) => process.stdout.write(text),
    complain: (text) => process.stderr.write(text),
  });
}

module.exports = { convert, main, parseArguments };
