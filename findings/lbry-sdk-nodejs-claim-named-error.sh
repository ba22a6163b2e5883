#!/usr/bin/env bash
# Package: lbry-sdk-nodejs 0.101.0 of npm, a client for the API of lbrynet; lbry-redux of LBRY Desktop reads answers the same way.
# Input: `resolve` of two names; the answer of lbrynet has each URL as it was given as a key of the result, and its claim as the value.
# Expected: the result of the call.
# Real: with the name `error` the call rejects, and what it rejects with is the claim. The client takes a field `error` of any
# successful result for a failure, because lbrynet's `get` reports some failures so. With the URL `lbry://error` it resolves.
# Seen: error,test: rejected with the claim 1111; lbry://error,test: resolved with lbry://error,test
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts lbry-sdk-nodejs@0.101.0
cat >seen.cjs <<'JS'
const { createServer } = require('node:http');
const { Lbry } = require('lbry-sdk-nodejs/lib/sdk');

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    const { urls } = JSON.parse(body).params;
    const result = Object.fromEntries(urls.map((url, at) => [url, { claim_id: String(at + 1).repeat(4), name: url }]));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', result, id: 1 }));
  });
});

async function seen(urls) {
  const text = await Lbry.resolve({ urls }).then(
    (result) => `resolved with ${Object.keys(result)}`,
    (reason) => `rejected with the claim ${reason.claim_id}`,
  );
  return `${urls}: ${text}`;
}

server.listen(0, '127.0.0.1', async () => {
  Lbry.setDaemonConnectionString(`http://127.0.0.1:${server.address().port}/`);
  console.log(`${await seen(['error', 'test'])}; ${await seen(['lbry://error', 'test'])}`);
  server.close();
});
JS
seen=$(node seen.cjs)
echo "$seen"
expected='error,test: rejected with the claim 1111; lbry://error,test: resolved with lbry://error,test'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
