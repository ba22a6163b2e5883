// A program with clients of a hub that send the same bytes repeatedly, as fast as the socket accepts them. Its input is one
// line of JSON: {port, connections, bytesHex, reads}. Without `reads` the clients do not read from their sockets. Prints
// `ready` when all have connected, and then every 200 ms the number of bytes that were read so far and the number of closed
// connections. A disconnected client does not reconnect. Ends when its input ends.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin });
const [line] = await new Promise((resolve) => lines.once('line', (text) => resolve([text])));
const { port, connections, bytesHex, reads } = JSON.parse(line);
const bytes = Buffer.from(bytesHex, 'hex');
let connected = 0;
let taken = 0;
let closed = 0;

for (let n = 0; n < connections; n++) {
  const socket = connect({ port, host: '127.0.0.1' });
  const pour = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('error', () => undefined);
  socket.on('connect', () => {
    if (reads) socket.on('data', (chunk) => (taken += chunk.length));
    else socket.pause();
    if (++connected === connections) process.stdout.write('ready\n');
    socket.on('drain', () => setImmediate(pour));
    pour();
  });
  socket.on('close', () => closed++);
}
setInterval(() => process.stdout.write(`${taken} ${closed}\n`), 200);
lines.on('close', () => process.exit(0));
