// A number of viewers of one page, each with a live socket from an address of its own behind a proxy. Like a browser, a viewer
// that receives a hint waits up to 1.5 seconds and requests the page again with its tag. Prints "ready", and when its input
// ends, one line of JSON: hints, answers by status. Part of explorer.mjs.
//
//   node explorerViewers.mjs <port> <viewers> <path>
import { Agent, get } from 'node:http';
import { WebSocket } from 'ws';

const [portText, countText, path] = process.argv.slice(2);
const [port, count] = [Number(portText), Number(countText)];
const SPREAD_MS = 1500;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const counts = { hints: 0, statuses: {}, failed: 0, again: 0, errors: {}, hashes: new Set() };

class Viewer {
  etag = '';
  isDue = false;
  isBusy = false;

  constructor(n) {
    this.headers = { 'X-Forwarded-For': `10.1.${n >> 8}.${n & 255}` };
  }

  open() {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, {
        headers: { ...this.headers, Origin: `http://127.0.0.1:${port}` },
      });
      socket.on('error', reject);
      socket.on('open', () => {
        socket.send('{"topics": ["tip"]}');
        socket.once('message', () => {
          socket.on('message', () => this.hint());
          resolve();
        });
      });
    });
  }

  hint() {
    counts.hints++;
    if (this.isDue) return;
    this.isDue = true;
    setTimeout(() => void this.look(), Math.random() * SPREAD_MS);
  }

  look() {
    this.isDue = false;
    return this.ask();
  }

  ask() {
    return new Promise((resolve) => {
      const headers = { ...this.headers, 'Accept-Encoding': 'br', 'If-None-Match': this.etag };
      const asked = get({ agent, port, host: '127.0.0.1', path, headers }, (answer) => {
        counts.statuses[answer.statusCode] = (counts.statuses[answer.statusCode] ?? 0) + 1;
        this.etag = answer.headers.etag ?? '';
        counts.hashes.add(this.etag);
        answer.resume().on('end', resolve);
      });
      asked.on('error', ({ code }) => {
        // An idle connection was closed while the request was sent. A browser sends it again.
        if (asked.reusedSocket && code === 'ECONNRESET') {
          counts.again++;
          return void this.ask().then(resolve);
        }
        counts.failed++;
        counts.errors[code] = (counts.errors[code] ?? 0) + 1;
        resolve();
      });
    });
  }
}

const viewers = Array.from({ length: count }, (_, n) => new Viewer(n));
for (let at = 0; at < count; at += 50) {
  await Promise.all(viewers.slice(at, at + 50).map((viewer) => viewer.open()));
}
console.log('ready');
process.stdin.resume().on('end', () => {
  console.log(JSON.stringify({ ...counts, hashes: counts.hashes.size }));
  process.exit();
});
