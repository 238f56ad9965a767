'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { convert, main } = require('../main.js');

const OPTIONS = { by: 'k', sum: 'v', delimiter: ',', sort: false };

const rows = (text, options = {}) =>
  convert(text, { ...OPTIONS, ...options }).split('\n').slice(1, -1);

function run(args, text = 'k,v\na,1\n') {
  let out = '';
  let err = '';
  const code = main(args, {
    read: () => text,
    print: (part) => (out += part),
    complain: (part) => (err += part),
  });
  return { code, out, err };
}

test('rows come in the order of first occurrence', () => {
  assert.deepStrictEqual(rows('k,v\nb,1\n10,2\nb,3\n9,4\n'), [
    'b,2,4,1,3',
    '10,1,2,2,2',
    '9,1,4,4,4',
  ]);
});

test('quoted fields are read and written', () => {
  const text = '\uFEFFk,v\r\n"a, ""b""",1\r\n\r\n"a, ""b""","2"';
  assert.deepStrictEqual(rows(text), ['"a, ""b""",2,3,1,2']);
});

test('sums are exact', () => {
  assert.deepStrictEqual(rows('k,v\nx,0.1\nx,0.20\nx,-7\n'), [
    'x,3,-6.7,-7,0.2',
  ]);
  assert.deepStrictEqual(rows('k,v\nx,9007199254740993\nx,-0\nx,\n'), [
    'x,3,9007199254740993,0,9007199254740993',
  ]);
  assert.deepStrictEqual(rows('k,v\nx,\n'), ['x,1,0,,']);
});

test('rows are sorted by sum on demand', () => {
  const found = rows('k,v\na,1\nb,2.5\nc,1.0\n', { sort: true });
  assert.deepStrictEqual(
    found.map((row) => row[0]),
    ['b', 'a', 'c'],
  );
});

test('the command prints the table', () => {
  const done = run(['--by', 'k', '--sum', 'v', '--delimiter', ';', '--sort'], 'k;v\na;1');
  assert.deepStrictEqual(done, {
    code: 0,
    out: 'k;count;sum;min;max\na;1;1;1;1\n',
    err: '',
  });
});

test('faulty tables are refused with the number of the record', () => {
  for (const text of ['k,v\na', 'k,v\na,x', 'k,v\n"a,1', 'k,v\n"a"b,1']) {
    const done = run(['--by', 'k', '--sum', 'v'], text);
    assert.strictEqual(done.code, 1);
    assert.match(done.err, /^record 2:/);
  }
});

test('wrong arguments are refused', () => {
  const wrong = [
    ['--by', 'k'],
    ['--by', 'k', '--sum'],
    ['--by', 'k', '--sum', 'w'],
    ['--by', 'k', '--sum', 'v', '--delimiter', '::'],
    ['x'],
  ];
  for (const args of wrong) {
    assert.strictEqual(run(args).code, 2);
  }
});
