'use strict';

const KEPT = 200;
const MOST_WAITING = 1024 * 1024;
const HEARTBEAT_MILLISECONDS = 1000;

/** An event as lines of a stream. */
function formatEvent({ id, type, data }) {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `id: ${id}\nevent: ${type}\n${lines.join('')}\n`;
}

/** The block that tells a client how many events it has missed for good. */
function formatGap(lost) {
  return `event: gap\ndata: ${lost}\n\n`;
}

/** The kept events of a topic and those who listen to it. */
class Topic {
  latest = 0;
  events = [];
  streams = new Set();

  keep(event) {
    this.latest = event.id;
    this.events.push(event);
    if (this.events.length > KEPT) {
      this.events.shift();
    }
  }

  /** The kept events with greater ids than this one. */
  after(id) {
    const oldest = this.latest - this.events.length + 1;
    return this.events.slice(Math.max(0, id + 1 - oldest));
  }
}

/** Takes events in, keeps the latest, and passes them on. */
class Relay {
  #journal;
  #topics = new Map();
  #heartbeat;

  constructor(journal) {
    this.#journal = journal;
    for (const { topic, ...event } of journal.read()) {
      this.#topic(topic).keep(event);
    }
    journal.rewrite(this.#everything());
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MILLISECONDS);
  }

  #topic(name) {
    let topic = this.#topics.get(name);
    if (topic === undefined) {
      topic = new Topic();
      this.#topics.set(name, topic);
    }
    return topic;
  }

  #everything() {
    return [...this.#topics].flatMap(([name, topic]) =>
      topic.events.map((event) => ({ topic: name, ...event })),
    );
  }

  #beat() {
    for (const topic of this.#topics.values()) {
      for (const stream of topic.streams) {
        stream.output.write(':\n\n');
      }
    }
  }

  /** Take an event in; gives its id. */
  publish(name, type, data) {
    const topic = this.#topic(name);
    const event = { id: topic.latest + 1, type, data };
    this.#journal.add({ topic: name, ...event });
    topic.keep(event);
    const text = formatEvent(event);
    for (const stream of topic.streams) {
      this.#send(topic, stream, type, text);
    }
    return event.id;
  }

  #send(topic, stream, type, text) {

    stream.output.write(text);
    if (stream.output.writableLength > MOST_WAITING) {
      // It does not read; it may come back and resume.
      topic.streams.delete(stream);
      stream.output.destroy();
    }
  }

  /**
   * Write a topic's events to an output from now on, and before that the kept
   * ones after an id unless it is null; only those of some types unless null.
   */
  subscribe(name, output, lastId, types) {
    const topic = this.#topic(name);
    const stream = { output, types };
    topic.streams.add(stream);
    output.on('close', () => topic.streams.delete(stream));
    if (lastId === null) {
      return;
    }
    const seen = Math.min(lastId, topic.latest);
    const events = topic.after(seen);
    const lost = topic.latest - seen - events.length;
    if (lost > 0) {
      output.write(formatGap(lost));
    }
    const wanted = events.filter(({ type }) => types?.has(type) ?? true);
    output.write(wanted.map(formatEvent).join(''));
  }

  /** The first kept events after an id. */
  list(name, after, limit) {
    return this.#topic(name).after(after).slice(0, limit);
  }

  /** End all streams. */
  close() {
    clearInterval(this.#heartbeat);
    for (const topic of this.#topics.values()) {
      for (const stream of topic.streams) {
        stream.output.end();
      }
    }
    this.#journal.close();
  }
}

module.exports = { Relay };
