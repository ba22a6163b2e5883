// Keeps so many connections of the explorer busy with pages that no cache has, each from an address of its own behind a proxy, and
// prints one line of JSON when its input ends: answers by status. Belongs to explorer.mjs.
//
//   node explorerFlood.mjs <port> <connections>
import { Agent, get } from 'node:http';

const [port, connections] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statuses = {};
let next = 0;
let isOver = false;

/** A different address for each request, so that the limits for one visitor do not apply. */
const visitor = (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const PATHS = ['/', '/blocks', '/names', '/block/tip', '/upcoming'];

function ask() {
  return new Promise((resolve) => {
    const n = next++;
    const request = get(
      {
        agent,
        port,
        host: '127.0.0.1',
        path: `${PATHS[n % PATHS.length]}?flood=${n}`,
        headers: { 'X-Forwarded-For': visitor(n) },
      },
      (answer) => {
        statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
        answer.resume().on('end', resolve);
      },
    );
    request.on('error', () => {
      statuses.failed = (statuses.failed ?? 0) + 1;
      setTimeout(resolve, 100);
    });
  });
}

async function run() {
  while (!isOver) await ask();
}

process.stdin.resume().on('end', () => {
  isOver = true;
  console.log(JSON.stringify(statuses));
  process.exit();
});
await Promise.all(Array.from({ length: connections }, run));
