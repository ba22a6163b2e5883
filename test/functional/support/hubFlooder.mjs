// A program of its own: clients of a hub that send the same bytes for ever, as fast as the socket takes them. Told by one
// line of JSON on its input: {port, connections, bytesHex, reads}; of those that do not read nothing is taken from the
// socket. Says `ready` once all have connected, and then every 200 ms how many bytes were taken from the sockets so far
// and how many connections were closed by the hub. Who is disconnected does not come again. Ends with its input.
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
