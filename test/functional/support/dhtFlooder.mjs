/**
 * Sends datagrams to a DHT node from many sockets: `node dhtFlooder.mjs PORT PER_SECOND`. The datagrams are valid requests of
 * each kind, malformed requests and random bytes. Prints a line when it has begun, and the number of sent datagrams when its
 * input ends.
 */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const [port, perSecond] = process.argv.slice(2).map(Number);
const SOCKETS = 100;
const TICK_MS = 10;

const text = (bytes) => Buffer.concat([Buffer.from(`${bytes.length}:`), bytes]);
const VERSION = Buffer.from('d15:protocolVersioni1ee');

/** A request in the format of lbry-sdk: `{0: 0, 1: rpc id, 2: node id, 3: method, 4: arguments}`. */
function request(nodeId, method, ...args) {
  return Buffer.concat([
    Buffer.from('di0ei0ei1e'),
    text(randomBytes(20)),
    Buffer.from('i2e'),
    text(nodeId),
    Buffer.from('i3e'),
    text(Buffer.from(method)),
    Buffer.from('i4el'),
    ...args,
    VERSION,
    Buffer.from('ee'),
  ]);
}

const id = () => randomBytes(48);
const KINDS = [
  () => request(id(), 'ping'),
  () => request(id(), 'findNode', text(id())),
  () => request(id(), 'findValue', text(id())),
  () => request(id(), 'store', text(id()), text(id()), Buffer.from('i3333e'), text(id()), Buffer.from('i0e')),
  () => request(id(), 'nonsense', Buffer.from('i1e')),
  // A response without a request.
  () =>
    Buffer.concat([
      Buffer.from('di0ei1ei1e'),
      text(randomBytes(20)),
      Buffer.from('i2e'),
      text(id()),
      Buffer.from('i3e4:ponge'),
    ]),
  () => randomBytes(200),
  () => Buffer.from('l'.repeat(1400)),
  () => Buffer.from('d'.repeat(1400)),
  () => Buffer.from(`i${'9'.repeat(1390)}e`),
  () => request(id(), 'findNode', text(id())).subarray(0, 90),
];

const sockets = [];
for (let n = 0; n < SOCKETS; n++) {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('error', () => undefined);
  sockets.push(socket);
}
// Making random datagrams takes longer than sending them.
const datagrams = Array.from({ length: 5000 }, (_, n) => KINDS[n % KINDS.length]());
let sent = 0;
const begunMs = performance.now();
const timer = setInterval(() => {
  const due = Math.floor(((performance.now() - begunMs) * perSecond) / 1000);
  // Limits the burst after a late tick to a tenth of a second.
  for (let n = Math.min(due - sent, perSecond / 10); n > 0; n--) {
    sockets[sent % SOCKETS].send(datagrams[(sent * 7) % datagrams.length], port, '127.0.0.1');
    sent++;
  }
}, TICK_MS);
console.log('begun');
process.stdin.resume();
process.stdin.on('end', () => {
  clearInterval(timer);
  console.log(JSON.stringify({ sent, seconds: (performance.now() - begunMs) / 1000 }));
  for (const socket of sockets) socket.close();
});
