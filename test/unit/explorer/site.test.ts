/**
 * The web server of the explorer without a browser: connections, limits, requests that other sites caused, and which visitors are
 * on the machine of the node.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { AskError } from '../../../src/explorer/explorerRpcClient.js';
import type { ErrorPages } from '../../../src/explorer/errorPages.js';
import type { SiteState } from '../../../src/explorer/pageRenderer.js';
import { Site } from '../../../src/explorer/site.js';
import { securityHeaders } from '../../../src/explorer/siteRequests.js';
import type { SiteFiles } from '../../../src/explorer/siteFiles.js';
import { renderedOf } from '../../../src/explorer/rendered.js';
import { answers, HASH } from '../../support/hostileAnswers.js';

let assetFolder: string;
let site: Site;
let port: number;
let state: SiteState;
/** Time of a stopped clock; null if the clock runs. */
let stoppedMs: number | null;
/** Results by method that replace the answers of the node. */
let instead: Record<string, unknown>;

beforeAll(() => {
  assetFolder = mkdtempSync(join(tmpdir(), 'lbcnode-site-'));
  writeFileSync(join(assetFolder, 'manifest.json'), '{"style": "a.css", "script": null}');
  writeFileSync(join(assetFolder, 'a.css'), '');
});
afterAll(() => rmSync(assetFolder, { recursive: true, force: true }));

beforeEach(async () => {
  const known = answers('harmless');
  instead = {};
  stoppedMs = null;
  state = { tip: { height: 10, hash: HASH, timeSec: 1 }, sync: null, taken: [], status: null };
  const ask = ((method: string) => {
    const answer = instead[method] ?? known[method];
    return answer instanceof AskError ? Promise.reject(answer) : Promise.resolve(answer);
  }) as never;
  site = new Site(
    {
      host: '127.0.0.1',
      port: 0,
      network: 'main',
      spacingSec: 150,
      hostNames: [],
      proxies: ['127.0.0.2'],
      showsImages: true,
      isIndexable: false,
      showsPeers: false,
      lacking: [],
      command: 'lbcnode-cli',
      methods: [{ name: 'getblock', category: 'chain', help: 'getblock', params: [] }],
      closedMethods: [],
    },
    {
      node: { ask, askExactly: ask },
      state,
      assetFolder,
      log: (text) => expect.fail(text),
      nowMs: () => stoppedMs ?? performance.now(),
      workedMs: () => 0,
    },
  );
  await new Promise<void>((resolve) => site.server.listen(0, resolve));
  port = (site.server.address() as AddressInfo).port;
});
afterEach(async () => {
  site.live.close();
  site.server.closeAllConnections();
  await new Promise((resolve) => site.server.close(resolve));
});

/** Sends a request over a connection that stays open. Resolves to the response. */
async function ask(socket: Socket, path: string, headers = ''): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  let text = '';
  for (;;) {
    const [data] = (await once(socket, 'data')) as [Buffer];
    text += data.toString('latin1');
    const [head, body] = text.split('\r\n\r\n', 2);
    const length = /^content-length: (\d+)/im.exec(head!)?.[1];
    if (body !== undefined && body.length >= Number(length ?? 0)) return text;
  }
}

/** The text of a page, without its tags and with single spaces. */
const textIn = (page: string): string =>
  page
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .replaceAll('( ', '(');

async function opened(localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  return socket;
}

test.each([
  ['Block 5 is not available yet: the node was started from a snapshot of block 8', 2000],
  ['The claim index is not complete: block 3 of 10', 2000],
  ['Block not available (pruned data)', 60_000],
])('a page without a part because of “%s” is rendered again after %i ms', async (message, ms) => {
  instead['getblock'] = Promise.reject(new AskError(-1, message));
  (instead['getblock'] as Promise<never>).catch(() => undefined);
  const socket = await opened();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    expect(await ask(socket, `/block/${HASH}`)).toContain(message);
    delete instead['getblock'];
    vi.advanceTimersByTime(ms - 1);
    expect(await ask(socket, `/block/${HASH}`)).toContain(message);
    vi.advanceTimersByTime(1);
    expect(await ask(socket, `/block/${HASH}`)).not.toContain(message);
  } finally {
    vi.useRealTimers();
  }
  socket.destroy();
});

test.each([
  [0, 'The node is syncing: 1,200 headers downloaded.'],
  [300, 'Block 300 of 1,200 (1970-01-01), 25.0 %'],
])('the strip of a sync at block %i shows the progress: “%s”', async (height, words) => {
  state.tip = { height, hash: HASH, timeSec: 1 };
  state.sync = { headers: 1200, etaSec: null };
  const socket = await opened();
  const page = await ask(socket, '/help');
  expect(textIn(page)).toContain(words);
  expect(page.includes('<progress')).toBe(height > 0);
  socket.destroy();
});

test.each([
  ['/no-such-page', 404],
  ['/block/500', 404],
  ['/claims?kind=x', 400],
])('the error page %s has the strip of a sync', async (path, status) => {
  const socket = await opened();
  expect(textIn(await ask(socket, path))).not.toContain('The node is syncing.');
  state.sync = { headers: 1200, etaSec: null };
  const page = await ask(socket, path);
  expect(page).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(textIn(page)).toContain('The node is syncing. Block 10 of 1,200');
  socket.destroy();
});

test('the first page shows the size of the mempool, and “not yet” during a sync', async () => {
  instead['getmempoolinfo'] = { size: 7, bytes: 900 };
  const socket = await opened();
  const mempoolOf = (page: string): string | undefined =>
    /Mempool<\/span><strong>(.*?)<\/strong>/.exec(page)?.[1];
  expect(mempoolOf(await ask(socket, '/'))).toContain('7 tx');
  state.sync = { headers: 1200, etaSec: null };
  expect(mempoolOf(await ask(socket, '/'))).toBe('not yet');
  socket.destroy();
});

test('an idle connection stays open for longer than Keep-Alive states', async () => {
  const socket = await opened();
  const announced = /^keep-alive: timeout=(\d+)\r$/im.exec(await ask(socket, '/robots.txt'))?.[1];
  // A client that sends at the end of the announced time has this margin for delays of both programs and of the network.
  expect(site.server.keepAliveTimeout - Number(announced) * 1000).toBeGreaterThanOrEqual(2000);
  socket.destroy();
});

test('the server closes a connection only after it was idle for its limit since the last response', async () => {
  const limitMs = 60;
  site.server.keepAliveTimeout = limitMs;
  // Newer versions of Node add this time to the limit.
  Reflect.set(site.server, 'keepAliveTimeoutBuffer', 0);
  const socket = await opened();
  const closed = once(socket, 'close');
  let answeredMs = 0;
  for (let n = 0; n < 3; n++) {
    expect(await ask(socket, '/robots.txt')).toMatch(/^HTTP\/1.1 200 /);
    answeredMs = performance.now();
  }
  await closed;
  // Timers of Node may be a millisecond early.
  expect(performance.now() - answeredMs).toBeGreaterThan(limitMs - 2);
});

test.each([
  ['directly', '127.0.0.1', '', true],
  ['through an unknown proxy', '127.0.0.1', 'X-Forwarded-For: 127.0.0.1\r\n', false],
  ['through an unknown proxy with the standard header', '127.0.0.1', 'Forwarded: for=127.0.0.1\r\n', false],
  ['from this machine through a trusted proxy', '127.0.0.2', 'X-Forwarded-For: 127.0.0.1\r\n', true],
  ['from elsewhere through a trusted proxy', '127.0.0.2', 'X-Forwarded-For: 203.0.113.5\r\n', false],
])('addresses of peers are shown to visitors on the machine alone: %s', async (_, from, headers, isShown) => {
  const socket = await opened(from);
  expect((await ask(socket, '/node', headers)).includes('Addresses of peers are shown only')).toBe(!isShown);
  socket.destroy();
});

test.each([
  ['http://localhost/help', '200', 'Words'],
  ['http://localhost', '200', ''],
  ['http://other.example/help', '403', 'This host name is not allowed'],
  ['HTTP://LOCALHOST/nothing', '404', 'There is no such page'],
])('the target of a request may be a whole URL: %s', async (target, status, text) => {
  const socket = await opened();
  const answer = await ask(socket, target);
  socket.destroy();
  expect(answer.split(' ')[1]).toBe(status);
  expect(answer).toContain(text);
});

test('a request with several Host headers is refused', async () => {
  const socket = await opened();
  const answer = await ask(socket, '/help', 'Host: other.example\r\n');
  socket.destroy();
  expect(answer.split(' ')[1]).toBe('400');
  expect(answer).toContain('Several Host headers');
});

test('a compressed page has a weak ETag, since its bytes differ', async () => {
  const socket = await opened();
  const etagOf = async (headers: string): Promise<string> =>
    /^etag: (.*)\r$/im.exec(await ask(socket, '/help', headers))![1]!;
  const plain = await etagOf('');
  expect(await etagOf('Accept-Encoding: gzip\r\n')).toBe(`W/${plain}`);
  expect(await etagOf(`Accept-Encoding: gzip\r\nIf-None-Match: ${plain}\r\n`)).toBe(`W/${plain}`);
  socket.destroy();
});

test('an unchanged page is not sent again to proxies that weaken its ETag or send several', async () => {
  const socket = await opened();
  const etag = /^etag: (.*)\r$/im.exec(await ask(socket, '/help'))![1]!;
  for (const [header, status] of [
    [etag, '304'],
    [`W/${etag}`, '304'],
    [`"other", W/${etag}`, '304'],
    ['*', '304'],
    ['"other"', '200'],
    [etag.replaceAll('"', ''), '200'],
  ])
    expect([header, (await ask(socket, '/help', `If-None-Match: ${header}\r\n`)).split(' ')[1]]).toEqual([
      header,
      status,
    ]);
  socket.destroy();
});

test.each([
  ['gzip, br', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br; q=0.000, gzip;q=0', undefined],
  ['BR;q=0.5', 'br'],
  ['xbr', undefined],
])('an answer has a compression that the client accepts: %s', async (accepted, encoding) => {
  const socket = await opened();
  const answer = await ask(socket, '/help', `Accept-Encoding: ${accepted}\r\n`);
  socket.destroy();
  expect(/^content-encoding: (.*)\r$/im.exec(answer)?.[1]).toBe(encoding);
});

test('a parameter of an address may contain question marks', async () => {
  instead['listclaims'] = { ...(answers('harmless')['listclaims'] as object), claims: 0 };
  const socket = await opened();
  const text = await ask(socket, '/find?q=a?b?c');
  socket.destroy();
  expect(text).toContain('Search for <bdi>a?b?c</bdi>');
});

/** Loads a page over a connection of its own. Resolves to its topics with their versions, and its text. */
async function loaded(path: string): Promise<{ topics: string; tip: string; text: string }> {
  const socket = await opened();
  const text = await ask(socket, path);
  socket.destroy();
  const [, tip, topics] = /data-tip="([^"]*)" data-topics(?:="([^"]*)")?/.exec(text)!;
  return { topics: topics ?? '', tip: tip!, text };
}

const NO_NAMES = { names: [], height: 10, blockhash: HASH };
const waiting = (total: number): object => ({ total, claims: [] });

test('a page from before a change of the mempool is not sent after the change, even if it was just rendered', async () => {
  instead['listmempoolclaims'] = waiting(0);
  const before = await loaded('/name/one');
  instead['listmempoolclaims'] = waiting(7);
  expect(await loaded('/name/one')).toEqual(before);
  site.live.changed('mempool');
  const after = await loaded('/name/one');
  expect(after.text).toContain('Waiting in the mempool (7)');
  expect(after.topics).toBe(`${site.live.versioned('tip')} ${site.live.versioned('mempool')}`);
  expect(after.topics).not.toBe(before.topics);
});

test.each(['/', '/claims', '/find?q=no%20name', '/mempool', '/tx/' + HASH, '/name/one'])(
  'page %s shows the mempool, so a change of the mempool renders it again',
  async (path) => {
    // No name is found, so the search does not redirect to one.
    instead['listclaims'] = { ...(answers('harmless')['listclaims'] as object), claims: 0 };
    const { topics } = await loaded(path);
    expect(topics).toContain('mempool:');
    site.live.changed('mempool');
    expect((await loaded(path)).topics).not.toBe(topics);
  },
);

const UNKNOWN = new AskError(-5, 'unknown');

test.each([
  ['/block/500', {}, ['tip']],
  ['/block/' + HASH, { getblockheader: UNKNOWN }, ['tip']],
  ['/blocks?from=500', {}, ['tip']],
  ['/tx/' + HASH, { gettxinfo: UNKNOWN }, ['tip', 'mempool']],
  ['/claim/' + 'cd'.repeat(20), { getclaim: UNKNOWN, getclaimstatus: UNKNOWN }, ['tip', 'mempool']],
  ['/no-such-page', {}, []],
  ['/tx/1', {}, []],
])(
  'the error page %s has the topics of the object that the node may get later',
  async (path, errors, topics) => {
    for (const sync of [null, { headers: 1200, etaSec: null }]) {
      state.sync = sync;
      instead = { ...errors };
      const found = await loaded(path);
      expect(found.text).toMatch(/^HTTP\/1.1 404 /);
      expect(found.topics).toBe(topics.map((topic) => site.live.versioned(topic as 'tip')).join(' '));
    }
  },
);

test('an error page whose data was read before a block has the version from before it', async () => {
  let refuse: (error: Error) => void = () => undefined;
  instead['gettxinfo'] = new Promise((_, reject) => (refuse = reject));
  const started = loaded('/tx/' + HASH);
  await expect.poll(() => site.counters.rendered).toBe(1);
  const before = site.live.versioned('tip');
  site.live.changed('tip');
  refuse(UNKNOWN);
  const { topics, text } = await started;
  expect(text).toMatch(/^HTTP\/1.1 404 /);
  expect(topics.split(' ')[0]).toBe(before);
  expect(before).not.toBe(site.live.versioned('tip'));
});

test.each(['/help', '/console', '/console?method=getblock'])('the header of %s is live', async (path) => {
  expect((await loaded(path)).topics).toBe(site.live.versioned('tip'));
});

test('the answer of a method in the console is not replaced after a block', async () => {
  expect((await loaded('/console?method=getblock&run=1')).topics).toBe('');
});

test.each([
  ['/names', '/names?utm_source=mail', 1],
  ['/names?prefix=a', '/names?x=1&prefix=a&&y=%3F', 1],
  ['/names?prefix=a', '/names?prefix=b', 2],
  ['/%6eames?x=1', '/%6eames?x=2', 1],
  ['/console?method=getblock&p0=1', '/console?method=getblock&p0=2', 2],
])('the pages %s and %s are rendered %i times', async (one, other, rendered) => {
  const { text } = await loaded(one);
  const again = await loaded(other);
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  expect(again.text).toMatch(/^HTTP\/1.1 200 /);
  expect(site.counters.rendered).toBe(rendered);
  const bodyOf = (answer: string): string | undefined => answer.split('\r\n\r\n')[1];
  expect(bodyOf(again.text) === bodyOf(text)).toBe(rendered === 1);
});

test('a page does not contain the parameters that no page has, because other visitors get it too', async () => {
  expect((await loaded('/names?secret=5&prefix=a')).text).not.toContain('secret');
  expect((await loaded('/names?secret=5&block=x')).text).toMatch(/^HTTP\/1.1 400 /);
});

test('a page that depends on blocks alone is rendered once a block', async () => {
  await loaded('/names');
  const { rendered } = site.counters;
  site.live.changed('mempool');
  await loaded('/names');
  expect(site.counters.rendered).toBe(rendered);
  site.live.changed('tip');
  await loaded('/names');
  expect(site.counters.rendered).toBe(rendered + 1);
});

test.each([
  ['/name/one', 'listmempoolclaims', waiting(0), waiting(7)],
  ['/names', 'listnames', answers('harmless')['listnames'], NO_NAMES],
])(
  'page %s whose data was read before a change has the versions from before it, and is not sent afterwards',
  async (path, method, old, changed) => {
    let answer: (result: unknown) => void = () => undefined;
    instead[method] = new Promise((resolve) => (answer = resolve));
    const started = loaded(path);
    await expect.poll(() => site.counters.rendered).toBe(1);
    const versions = [site.live.versioned('tip'), site.live.versioned('mempool')];
    instead[method] = changed;
    const next = { height: 11, hash: 'ef'.repeat(32), timeSec: 2 };
    state.tip = next;
    site.live.changed('tip');
    site.live.changed('mempool');
    // A request after the change does not wait for the page from before it.
    const after = await loaded(path);
    answer(old);
    const before = await started;
    expect(before.tip).toBe(HASH);
    expect(versions).toEqual(expect.arrayContaining(before.topics.split(' ')));
    expect(after.tip).toBe(next.hash);
    expect(after.text).not.toBe(before.text);
    expect((await loaded(path)).topics).toBe(after.topics);
  },
);

test('a page from before a reorganisation is not sent when the chain returns to its block', async () => {
  const gone = { event: 'claim', nameHex: '6f6e65', claimId: 'cd'.repeat(20) };
  const before = await loaded('/names');
  const first = state.tip;
  state.tip = { height: 11, hash: 'ef'.repeat(32), timeSec: 2 };
  site.live.changed('tip');
  state.taken = [{ height: 11, hash: 'ef'.repeat(32), events: [gone] }];
  state.tip = first;
  instead['listnames'] = NO_NAMES;
  site.live.changed('tip');
  const after = await loaded('/names');
  expect(after.tip).toBe(before.tip);
  expect(after.text).not.toContain('/claim/');
  expect(before.text).toContain('/claim/');
});

test.each(['/find?q=x', '/%66ind?q=x', '/lbry/x', '/proof/a', '/proof-hex/61', '/claims', '/%63onsole'])(
  '%s counts as an expensive page, in each spelling of its path',
  async (path) => {
    const socket = await opened();
    const statuses = new Set<string>();
    for (let n = 0; n < 40; n++) statuses.add((await ask(socket, path)).slice(9, 12));
    socket.destroy();
    expect([...statuses]).toContain('429');
  },
);

test('the page of refused requests is not rendered for each of them', async () => {
  stoppedMs = performance.now();
  const rendered = vi.spyOn(Reflect.get(site, 'errors') as ErrorPages, 'of');
  const socket = await opened();
  let refused = 0;
  for (let n = 0; n < 60; n++) if ((await ask(socket, `/find?q=${n}`)).startsWith('HTTP/1.1 429')) refused++;
  socket.destroy();
  // It is rendered again after a minute.
  expect([refused, rendered.mock.calls.length < 4]).toEqual([40, true]);
});

test.each([
  '/console?method=getblockhash&run=1',
  '/%63onsole?method=getblockhash&run=1',
  '/look?images=yes&back=/blocks',
])('%s is refused if another site caused it', async (path) => {
  const socket = await opened();
  const foreign = await ask(socket, path, 'Sec-Fetch-Site: cross-site\r\n');
  const own = await ask(socket, path, 'Sec-Fetch-Site: same-origin\r\n');
  socket.destroy();
  expect(foreign).toMatch(/^HTTP\/1.1 403 /);
  expect(foreign).not.toMatch(/^set-cookie/im);
  expect(own).not.toMatch(/^HTTP\/1.1 403 /);
});

test('a connection reset during an upgrade does not end the server', async () => {
  for (let n = 0; n < 20; n++) {
    const socket = await opened();
    socket.write(
      `GET ${n % 2 ? '/live' : '/'} HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    // The server receives the request before the end of the connection.
    await new Promise((resolve) => setTimeout(resolve, n % 4));
    socket.resetAndDestroy();
  }
  // An error of a socket without a listener would fail the test.
  expect((await loaded('/names')).text).toMatch(/^HTTP\/1.1 200 /);
});

test('upgrades count as requests of their visitor, and are refused with a reason above the limit', async () => {
  stoppedMs = performance.now();
  const socket = await opened('127.0.0.5');
  for (let n = 0; n < 59; n++) expect((await ask(socket, '/help')).slice(9, 12)).toBe('200');
  socket.destroy();
  const live = async (localAddress: string): Promise<WebSocket> => {
    const client = new WebSocket(`ws://localhost:${port}/live`, { localAddress, family: 4 });
    await once(client, 'open');
    return client;
  };
  const first = await live('127.0.0.5');
  first.send('{"topics":["tip"]}');
  expect(JSON.parse(String((await once(first, 'message'))[0]))).toEqual({ tip: HASH });
  const [code, reason] = (await once(await live('127.0.0.5'), 'close')) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1013, 'too many requests']);
  expect(site.counters).toMatchObject({ refused: 1, viewers: 1 });
  const other = await live('127.0.0.6');
  expect(site.counters.viewers).toBe(2);
  first.terminate();
  other.terminate();
});

test.each([
  ['a long address', `GET /find?q=${'a'.repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 414],
  ['a long header', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(300_000)}\r\n\r\n`, 414],
  ['a blank in its address', 'GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
])(
  'a request that cannot be read because of %s gets a page, and its connection is closed',
  async (_, text, status) => {
    const socket = await opened();
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString('utf8')));
    const closed = once(socket, 'close');
    socket.write(text);
    await closed;
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
    expect(head).toContain('\r\nConnection: close');
    for (const [name, value] of Object.entries(securityHeaders(false)))
      expect(head).toContain(`\r\n${name}: ${value}\r\n`);
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
    expect(body).toContain(status === 414 ? 'This address is too long' : 'This request is malformed');
    expect(body).toContain('</html>');
  },
);

test('a malformed request after one that waits for its response gets no page', async () => {
  let answerNode: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    instead['getblock'] = {
      then: (_: unknown, reject: (error: Error) => void) => {
        answerNode = () => reject(new AskError(-5, 'Block not found'));
        resolve();
      },
    };
  });
  const socket = await opened();
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString()));
  const closed = once(socket, 'close');
  socket.write(`GET /block/${HASH} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await asked;
  socket.write('GET /a b HTTP/1.1\r\n\r\n');
  await closed;
  answerNode();
  expect(answer).toBe('');
});

test('a request that offers HTTP/2 is answered over HTTP/1.1', async () => {
  const socket = await opened();
  const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  expect(await ask(socket, '/names', offer)).toMatch(/^HTTP\/1.1 200 /);
  socket.destroy();
});

test('without a new block a page is rendered again after a minute, because it shows ages', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    await loaded('/names');
    const { rendered } = site.counters;
    vi.advanceTimersByTime(59_000);
    await loaded('/names');
    expect(site.counters.rendered).toBe(rendered);
    vi.advanceTimersByTime(2000);
    await loaded('/names');
    expect(site.counters.rendered).toBe(rendered + 1);
  } finally {
    vi.useRealTimers();
  }
});

test('requests of connections that were closed before their responses are not counted as pending', async () => {
  instead['listnames'] = new Promise(() => undefined);
  for (let n = 0; n < 5; n++) {
    const socket = await opened();
    socket.write('GET /help HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(16));
    socket.resetAndDestroy();
  }
  await expect.poll(() => Reflect.get(site, 'underWay') as number).toBe(0);
});

test('a connection with too many requests that wait for their responses is closed', async () => {
  const socket = await opened();
  const closed = once(socket, 'close');
  instead['listnames'] = new Promise(() => undefined);
  socket.resume().on('error', () => undefined);
  socket.write('GET /names HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(17));
  await closed;
});

test('a flood during a sync is refused with a waiting time, and another visitor is answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    site.syncLimit.isSyncing = true;
    instead['listnames'] = new Promise(() => undefined);
    const sockets = await Promise.all(Array.from({ length: 90 }, () => opened()));
    // Two requests wait for the node, 64 wait in the queue, and 24 are refused.
    const answers = sockets.map((socket, n) => ask(socket, `/names?flood=${n}`));
    await expect.poll(() => site.counters.refused).toBe(24);
    const late = new Set<string>();
    for (const answer of answers) void answer.then((text) => late.add(text.split('\r\n\r\n')[0]!));
    const other = await opened('127.0.0.3');
    const answered = ask(other, '/help');
    await expect.poll(() => site.counters.refused).toBe(25);
    await vi.advanceTimersByTimeAsync(5000);
    await expect.poll(() => late.size).toBeGreaterThan(0);
    for (const head of late) {
      expect(head).toMatch(/^HTTP\/1.1 503 /);
      expect(head).toMatch(/^retry-after: 5$/im);
    }
    instead['listnames'] = NO_NAMES;
    site.syncLimit.isSyncing = false;
    expect(await answered).toMatch(/^HTTP\/1.1 200 /);
    for (const socket of [...sockets, other]) socket.destroy();
  } finally {
    vi.useRealTimers();
  }
});

test('a flood during the start renders one page, and is answered after a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    state.status = 'Loading block index…';
    stoppedMs = performance.now();
    const rendered = vi.spyOn(Reflect.get(site, 'errors') as ErrorPages, 'of');
    const sockets = await Promise.all(Array.from({ length: 40 }, () => opened('127.0.0.2')));
    const texts: string[] = [];
    for (const [n, socket] of sockets.entries()) {
      socket.on('data', (data) => texts.push(data.toString('latin1')));
      const requests = Array.from(
        { length: 5 },
        (_, m) =>
          `GET /names?flood=${m} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.${n}.${m}\r\n\r\n`,
      );
      socket.write(requests.join(''));
    }
    await expect.poll(() => site.counters.pages).toBe(200);
    expect(rendered).toHaveBeenCalledTimes(64);
    await vi.advanceTimersByTimeAsync(1000);
    const answers = (): number => texts.join('').split('HTTP/1.1 503 ').length - 1;
    await expect.poll(answers).toBe(200);
    expect(rendered).toHaveBeenCalledTimes(65);
    expect(texts.join('')).toContain('Loading block index…'.slice(0, 19));
    for (const socket of sockets) socket.destroy();
  } finally {
    vi.useRealTimers();
  }
});

test('a connection whose client does not read the response is closed after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const accepted = once(site.server, 'connection') as Promise<[Socket]>;
    const socket = await opened();
    const [served] = await accepted;
    socket.pause().on('error', () => undefined);
    // More than the buffers of a connection hold.
    const large = renderedOf(200, 'text/css', Buffer.alloc(16 << 20, '/'), {}, true);
    const file = { rendered: large, caching: 'no-store' };
    vi.spyOn(Reflect.get(site, 'files') as SiteFiles, 'find').mockReturnValue(file);
    socket.write('GET /assets/large.css HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => served.writableLength).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(served.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(served.destroyed).toBe(true);
    socket.destroy();
  } finally {
    vi.useRealTimers();
  }
});

test('limits count the visitor that a trusted proxy names last, and ignore the header of others', async () => {
  stoppedMs = performance.now();
  const statusesOf = async (from: string, forwarded: (n: number) => string): Promise<Set<string>> => {
    const socket = await opened(from);
    const statuses = new Set<string>();
    for (let n = 0; n < 70; n++)
      statuses.add((await ask(socket, '/help', `X-Forwarded-For: ${forwarded(n)}\r\n`)).slice(9, 12));
    socket.destroy();
    return statuses;
  };
  expect([...(await statusesOf('127.0.0.5', (n) => `10.0.0.${n}`))]).toContain('429');
  expect([...(await statusesOf('127.0.0.2', (n) => `10.0.0.${n}, 203.0.113.9`))]).toContain('429');
  expect([...(await statusesOf('127.0.0.2', (n) => `203.0.113.9, 10.1.0.${n}`))]).toEqual(['200']);
});
