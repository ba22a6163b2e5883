// Sends requests to an RPC server on a number of connections for some time, one after the other on each, and prints one line of
// JSON: answers, seconds, latencies. It runs on the same machine as the server, so it uses little processor time: requests are
// made beforehand, and only the end of each answer is searched for. A line `GET <path>` is requested as such. Part of rpc.mjs.
//
//   node rpcLoad.mjs <port> <user:password> <connections> <seconds> < one body a line
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [port, auth, connections, seconds] = process.argv.slice(2);
const requests = readFileSync(0, 'utf8')
  .trimEnd()
  .split('\n')
  .map((body) =>
    Buffer.from(
      body.startsWith('GET ')
        ? `${body} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
        : `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${Buffer.from(auth).toString('base64')}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );

const LAST_CHUNK = '0\r\n\r\n';
const latencies = [];
let next = 0;
let isOver = false;
let bytes = 0;

function fail(what) {
  console.error(what);
  process.exit(1);
}

function run() {
  return new Promise((resolve) => {
    let began = 0;
    /** Number of missing bytes of the answer; null before the end of its head, NaN for a chunked answer. */
    let missing = null;
    let tail = '';
    const ask = () => {
      began = performance.now();
      missing = null;
      socket.write(requests[next++ % requests.length]);
    };
    const finish = () => {
      latencies.push(performance.now() - began);
      if (!isOver) return ask();
      socket.destroy();
      resolve();
    };
    const take = (count, buffer) => {
      bytes += count;
      if (missing === null) {
        const head = buffer.latin1Slice(0, Math.min(count, 1024));
        if (!head.startsWith('HTTP/1.1 200 ')) fail(head);
        const length = /\r\ncontent-length: *(\d+)/i.exec(head);
        missing = length ? head.indexOf('\r\n\r\n') + 4 + Number(length[1]) : NaN;
        tail = '';
      }
      if (Number.isNaN(missing)) {
        tail = (tail + buffer.latin1Slice(Math.max(0, count - 5), count)).slice(-5);
        if (tail === LAST_CHUNK) finish();
      } else if ((missing -= count) <= 0) finish();
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(1 << 18), callback: take };
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true, onread }, ask);
    socket.on('error', (error) => fail(error.message));
    socket.on('end', () => fail('the server closed a connection'));
  });
}

const began = performance.now();
setTimeout(() => (isOver = true), Number(seconds) * 1000);
await Promise.all(Array.from({ length: Number(connections) }, run));
const took = (performance.now() - began) / 1000;
latencies.sort((a, b) => a - b);
const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
console.log(JSON.stringify({ answers: latencies.length, seconds: took, p50: at(0.5), p99: at(0.99), bytes }));
