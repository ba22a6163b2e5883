// A program with peers that shake hands with a node and then send the same bytes repeatedly, as fast as the socket accepts
// them. Its input is one line of JSON: {port, connections, greetingHex, bytesHex, reads}. Prints `ready` when all peers are
// sending, and then every 200 ms the number of accepted bytes so far. A disconnected peer reconnects. Ends when its input ends.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** The command of the node's version message, as in its header. */
const VERSION = Buffer.from('version\0');

const lines = createInterface({ input: process.stdin });
const [line] = await new Promise((resolve) => lines.once('line', (text) => resolve([text])));
const { port, connections, greetingHex, bytesHex, reads } = JSON.parse(line);
const greeting = Buffer.from(greetingHex, 'hex');
const once = Buffer.from(bytesHex, 'hex');
/** Large writes, so that the sender is not the bottleneck. */
const bytes = Buffer.concat(
  Array.from({ length: Math.max(1, Math.floor((256 << 10) / once.length)) }, () => once),
);
let flooding = 0;
let taken = 0;

function flood() {
  const socket = connect({ port, host: '127.0.0.1' });
  let greeted = Buffer.alloc(0);
  let isFlooding = false;
  const pour = () => {
    while (!socket.destroyed && socket.write(bytes, () => (taken += bytes.length)));
  };
  socket.on('error', () => undefined);
  socket.on('connect', () => socket.write(greeting));
  socket.on('data', (chunk) => {
    if (isFlooding) return;
    greeted = Buffer.concat([greeted, chunk]);
    if (!greeted.includes(VERSION)) return;
    isFlooding = true;
    if (!reads) socket.pause();
    if (++flooding === connections) process.stdout.write('ready\n');
    socket.on('drain', () => setImmediate(pour));
    pour();
  });
  socket.on('close', () => setTimeout(flood, 20));
}
for (let i = 0; i < connections; i++) flood();
setInterval(() => process.stdout.write(`${taken}\n`), 200);
lines.on('close', () => process.exit(0));
