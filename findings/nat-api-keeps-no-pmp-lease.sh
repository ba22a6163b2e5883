#!/usr/bin/env bash
# Package: @silentbot1/nat-api 0.4.9 of npm, which maps ports at a gateway by UPnP or NAT-PMP.
# Input: a port mapped for 1,200 seconds with autoUpdate, at a NAT-PMP gateway on the loopback interface that answers as RFC 6886
# says. The timers of the package run on a mocked clock for an hour.
# Expected: the mapping is asked for again before it ends, every 600 seconds as the package's comment says: 7 requests.
# Real: one request. The timer of NAT-PMP binds the function that would ask and never calls it, so the port closes after its
# lifetime. The timer of UPnP does call it.
# Seen: requests for the mapping in an hour: 1
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @silentbot1/nat-api@0.4.9
cat >seen.mjs <<'JS'
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mock } from 'node:test';
import NatAPI from '@silentbot1/nat-api';
import NatPMP from './node_modules/@silentbot1/nat-api/lib/pmp/index.js';

let requests = 0;
const gateway = createSocket('udp4');
gateway.on('message', (request, { port, address }) => {
  if (request[1] !== 2) return;
  requests++;
  // Version 0, opcode + 128, result 0, seconds since start, the two ports, the lifetime.
  const answer = Buffer.alloc(16);
  answer[1] = 130;
  answer.writeUInt32BE(1, 4);
  request.copy(answer, 8, 4, 8);
  request.copy(answer, 12, 8, 12);
  gateway.send(answer, port, address);
});
gateway.bind(5351, '127.0.0.1');
await once(gateway, 'listening');

mock.timers.enable({ apis: ['setInterval'] });
const api = new NatAPI({ ttl: 1200, autoUpdate: true, enablePMP: false, enableUPNP: false });
api._pmpClient = new NatPMP('127.0.0.1');
if (!(await api.map({ publicPort: 4444, privatePort: 4444, protocol: 'TCP' }))) throw new Error('not mapped');
for (let minutes = 0; minutes < 60; minutes += 10) {
  mock.timers.tick(600_000);
  // Time for a datagram and its answer.
  await new Promise((resolve) => setTimeout(resolve, 100));
}
console.log(`requests for the mapping in an hour: ${requests}`);
process.exit(0);
JS
seen=$(node seen.mjs)
echo "@silentbot1/nat-api 0.4.9: $seen"
[ "$seen" = 'requests for the mapping in an hour: 1' ]
