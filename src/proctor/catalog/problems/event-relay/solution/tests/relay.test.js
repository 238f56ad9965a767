'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { once } = require('node:events');
const { afterEach, beforeEach, test } = require('node:test');
const { Journal } = require('../journal.js');
const { Relay } = require('../relay.js');
const { createService } = require('../service.js');

let folder;
let relay;
let server;
let base;

async function start() {
  relay = new Relay(new Journal(path.join(folder, 'events.ndjson')));
  server = createService(relay).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${server.address().port}`;
}

async function stop() {
  relay.close();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'relay-'));
  await start();
});

afterEach(async () => {
  await stop();
  fs.rmSync(folder, { recursive: true });
});

const post = (topic, body) =>
  fetch(`${base}/topics/${topic}/events`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Read a stream until a text has arrived. */
async function readUntil(response, text) {
  let seen = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  while (!seen.includes(text)) {
    const { value, done } = await reader.read();
    assert.ok(!done, `the stream ended with ${seen}`);
    seen += value;
  }
  await reader.cancel();
  return seen;
}

test('events are passed on line by line', async () => {
  const response = await fetch(`${base}/topics/a/stream`);
  const posted = await post('a', { type: 'note', data: 'one\ntwo' });
  assert.deepStrictEqual(await posted.json(), { id: 1 });
  const seen = await readUntil(response, 'two\n\n');
  assert.strictEqual(seen, 'id: 1\nevent: note\ndata: one\ndata: two\n\n');
});

test('a client resumes after an id, by type', async () => {
  for (const type of ['x', 'y', 'x']) {
    await post('a', { type, data: type });
  }
  const headers = { 'Last-Event-ID': '1' };
  const response = await fetch(`${base}/topics/a/stream?types=x`, { headers });
  assert.match(await readUntil(response, 'id: 3'), /^id: 3/);
  const all = await fetch(`${base}/topics/a/stream?after=99`);
  await post('a', { data: 'new' });
  assert.match(await readUntil(all, 'new'), /^id: 4/);
});

test('a gap is told', async () => {
  for (let number = 0; number < 205; number += 1) {
    relay.publish('a', 'x', String(number));
  }
  const response = await fetch(`${base}/topics/a/stream?after=1`);
  const seen = await readUntil(response, 'id: 6\n');
  assert.match(seen, /^event: gap\ndata: 4\n\nid: 6\n/);
});

test('idle streams get comments', async () => {
  const response = await fetch(`${base}/topics/a/stream`);
  assert.match(await readUntil(response, ':\n\n'), /^:/);
});

test('events survive a restart and half a line at the end', async () => {
  await post('a', { data: 'kept' });
  await stop();
  fs.appendFileSync(path.join(folder, 'events.ndjson'), '{"topic":"a","id"');
  await start();
  const listed = await fetch(`${base}/topics/a/events?after=0&limit=5`);
  const expected = { id: 1, type: 'message', data: 'kept' };
  assert.deepStrictEqual(JSON.parse(await listed.text()), expected);
  assert.deepStrictEqual(await (await post('a', { data: '' })).json(), { id: 2 });
});

test('a client that does not read is let go', () => {
  const output = {
    writableLength: 2 ** 21,
    write: () => false,
    on: () => undefined,
    end: () => undefined,
    destroy() {
      this.isDestroyed = true;
    },
  };
  relay.subscribe('a', output, null, null);
  relay.publish('a', 'x', 'data');
  assert.ok(output.isDestroyed);
});

test('mistakes have their status', async () => {
  assert.strictEqual((await post('a', '[]')).status, 400);
  assert.strictEqual((await post('a', '{')).status, 400);
  assert.strictEqual((await post('a', { data: 'a\rb' })).status, 422);
  assert.strictEqual((await post('a', { data: '', type: '' })).status, 422);
  assert.strictEqual((await post('A', { data: '' })).status, 422);
  for (const [place, status] of [
    ['health', 200],
    ['nothing', 404],
    ['topics/a/events?limit=0', 400],
    ['topics/a/stream?after=x', 400],
  ]) {
    assert.strictEqual((await fetch(`${base}/${place}`)).status, status);
  }
});
