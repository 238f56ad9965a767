'use strict';

const http = require('node:http');

const TOPIC = /^[a-z0-9-]{1,40}$/;
const TYPE = /^[A-Za-z0-9_-]{1,40}$/;
const NUMBER = /^[0-9]{1,15}$/;
const LONGEST_DATA = 100000;
const MOST_LISTED = 200;

/** An error that is answered with a status and a JSON object. */
class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A parameter or header as a number; the fallback if it is absent. */
function readNumber(text, fallback, name) {
  if (text === null || text === undefined) {
    return fallback;
  }
  if (!NUMBER.test(text)) {
    throw new HttpError(400, `${name} is not a whole number`);
  }
  return Number(text);
}

/** The whole body of a request as a JSON object. */
async function readObject(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  let value = null;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new HttpError(400, 'the body is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new HttpError(400, 'the body is not a JSON object');
  }
  return value;
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Whether a value is a string of so many characters at most. */
function isText(value, longest) {
  return typeof value === 'string' && [...value].length <= longest;
}

async function publish(relay, topic, request, response) {
  const { type = 'message', data } = await readObject(request);
  if (typeof type !== 'string' || !TYPE.test(type)) {
    throw new HttpError(422, 'the type is not a short word');
  }
  if (!isText(data, LONGEST_DATA) || data.includes('\r')) {
    throw new HttpError(422, 'the data is not a text without carriage returns');
  }
  sendJson(response, 201, { id: relay.publish(topic, type, data) });
}

function list(relay, topic, query, response) {
  const after = readNumber(query.get('after'), 0, 'after');
  const limit = readNumber(query.get('limit'), MOST_LISTED, 'limit');
  if (limit < 1 || limit > MOST_LISTED) {
    throw new HttpError(400, `limit is not between 1 and ${MOST_LISTED}`);
  }
  const lines = relay
    .list(topic, after, limit)
    .map((event) => `${JSON.stringify(event)}\n`);
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  response.end(lines.join(''));
}

function stream(relay, topic, query, request, response) {
  const given = request.headers['last-event-id'] ?? query.get('after');
  const lastId = readNumber(given, null, 'the id');
  const types = query.get('types');
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
  });
  response.flushHeaders();
  relay.subscribe(
    topic,
    response,
    lastId,
    types === null ? null : new Set(types.split(',')),
  );
}

async function answer(relay, request, response) {
  const url = new URL(request.url, 'http://relay');
  const [, root, topic, leaf, ...rest] = url.pathname.split('/');
  if (url.pathname === '/health') {
    sendJson(response, 200, { status: 'ok' });
    return;
  }
  const route = `${request.method} ${leaf}`;
  const routes = {
    'POST events': () => publish(relay, topic, request, response),
    'GET events': () => list(relay, topic, url.searchParams, response),
    'GET stream': () =>
      stream(relay, topic, url.searchParams, request, response),
  };
  if (root !== 'topics' || rest.length > 0 || !Object.hasOwn(routes, route)) {
    throw new HttpError(404, 'there is no such path');
  }
  if (!TOPIC.test(topic)) {
    throw new HttpError(422, 'this cannot be a topic');
  }
  await routes[route]();
}

/** An HTTP server that serves a relay. */
function createService(relay) {
  return http.createServer((request, response) => {
    response.on('error', () => response.destroy());
    answer(relay, request, response).catch((error) => {
      if (!(error instanceof HttpError)) {
        console.error(error);
      }
      sendJson(response, error.status ?? 500, { error: error.message });
    });
  });
}

module.exports = { createService };
