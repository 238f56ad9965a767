'use strict';

const path = require('node:path');
const { Journal } = require('./journal.js');
const { Relay } = require('./relay.js');
const { createService } = require('./service.js');

/** Serve until a TERM signal arrives. */
function main() {
  const file = path.join(process.env.DATA_DIR ?? '.', 'events.ndjson');
  const journal = new Journal(file);
  const relay = new Relay(journal);
  const server = createService(relay);
  server.listen(Number(process.env.PORT), '127.0.0.1');
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
  });
}

main();
