'use strict';

const fs = require('node:fs');

/** A file of events, one JSON object per line, that is only ever added to. */
class Journal {
  #file;
  #descriptor;

  constructor(file) {
    this.#file = file;
    this.#descriptor = null;
  }

  /** All events that were added, oldest first; half a line at the end is none. */
  *read() {
    if (!fs.existsSync(this.#file)) {
      return;
    }
    const text = fs.readFileSync(this.#file, 'utf8');
    const complete = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of complete.split('\n')) {
      if (line !== '') {
        yield JSON.parse(line);
      }
    }
  }

  /** Replace everything by these events; a kill leaves the old or the new file. */
  rewrite(events) {
    const draft = `${this.#file}.draft`;
    const lines = events.map((event) => `${JSON.stringify(event)}\n`);
    fs.writeFileSync(draft, lines.join(''));
    fs.renameSync(draft, this.#file);
    this.#descriptor = fs.openSync(this.#file, 'a');
  }

  /** Add an event; it is in the file when this returns. */
  add(event) {
    fs.writeSync(this.#descriptor, `${JSON.stringify(event)}\n`);
  }

  close() {
    fs.closeSync(this.#descriptor);
  }
}

module.exports = { Journal };
