#!/usr/bin/env bash
# Package: bitcoin-core 5.0.0 of npm, a client for the JSON-RPC of Bitcoin Core and of nodes that are derived from it.
# Input: an answer as Bitcoin Core 0.17 writes it: amounts with eight decimals, the difficulty with up to 17 digits.
# Expected: numbers, as the JSON says. All of these values are exact enough in a double.
# Real: json-bigint turns every number whose text has more than 15 characters into a string; the decimal point, the exponent and
# zeros at the end count. So an amount is a number up to 999999.99999999 and a string from 1000000.00000000 on, and a sum made with
# `+` becomes a text. A supply of 21 million coins hides this; LBRY has a billion, and a balance above a million is common. The
# difficulty of a regtest chain is a string, too.
# Seen: 999999.99999999 number; 1000000.00000000 string; sum 1000000.000000001; difficulty string
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts bitcoin-core@5.0.0
cat >seen.cjs <<'JS'
const { createServer } = require('node:http');
const Client = require('bitcoin-core');

const answer = '{"result":{"small":999999.99999999,"large":1000000.00000000,"difficulty":4.656542373906925e-10},"error":null,"id":"1"}';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${answer}\n`);
  });
});
server.listen(0, '127.0.0.1', async () => {
  const client = new Client({ host: `http://127.0.0.1:${server.address().port}`, username: 'user', password: 'pass', version: '0.17.0' });
  const { small, large, difficulty } = await client.command('getwalletinfo');
  console.log(`${small} ${typeof small}; ${large} ${typeof large}; sum ${large + 1}; difficulty ${typeof difficulty}`);
  server.close();
});
JS
seen=$(node seen.cjs)
echo "$seen"
expected='999999.99999999 number; 1000000.00000000 string; sum 1000000.000000001; difficulty string'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
