/** The pages of `-explorer` for a regtest chain with claims, in the real process. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode;
let base: string;
let claimId: string;
let otherId: string;
let claimTx: string;

/** Names with characters that have a meaning in a URL. */
const ODD_NAMES = ['a/b', 'c#d?e', '50%', '%2f', '..', 'end.', '//evil.example', '\\', ' '];

interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}
async function ask(path: string, headers: Record<string, string> = {}): Promise<Page> {
  const response = await fetch(base + path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
/** Requests a page. Waits and repeats the request if the rate limit is reached. */
async function get(path: string, headers?: Record<string, string>): Promise<Page> {
  for (;;) {
    const page = await ask(path, headers);
    if (page.status !== 429) return page;
    await new Promise((resolve) => setTimeout(resolve, Number(page.headers.get('retry-after')) * 1000));
  }
}

beforeAll(async () => {
  const port = await freePort();
  node = await startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002'] });
  base = `http://127.0.0.1:${port}`;
  const address = await node.rpc<string>('getnewaddress');
  await node.rpc('generatetoaddress', [120, address]);
  await node.rpc('claimname', ['early', '00', 0.1]);
  await node.rpc('generatetoaddress', [239, address]);
  for (const name of ODD_NAMES) await node.rpc('claimname', [name, '02', 0.1]);
  await node.rpc('generatetoaddress', [1, address]);
  claimTx = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
  await node.rpc('generatetoaddress', [1, address]);
  const other = await node.rpc<string>('claimname', ['mindblown', '01', 2.5]);
  for (const name of ['<script>alert(1)</script>', 'MiXed', '.', '17'])
    await node.rpc('claimname', [name, '02', 0.5]);
  await node.rpc('generatetoaddress', [1, address]);
  const idOf = async (txid: string): Promise<string> =>
    (await node.rpc<{ claimId: string }[]>('getclaimsfortx', [txid]))[0]!.claimId;
  [claimId, otherId] = [await idOf(claimTx), await idOf(other)];
  await node.rpc('supportclaim', ['mindblown', claimId, 0.5]);
  await node.rpc('generatetoaddress', [1, address]);
});
afterAll(() => node?.stop());

describe('pages', () => {
  it('have headers that keep everything from the chain harmless', async () => {
    for (const path of ['/', '/names', '/nothing', '/robots.txt']) {
      const { headers } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "trusted-types 'none'",
        "frame-ancestors 'none'",
      ])
        expect(policy).toContain(part);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('show the chain, blocks and their events', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    const home = await get('/');
    expect(home.status).toBe(200);
    expect(home.text).toContain(`data-tip="${tip}"`);
    expect((await get('/blocks')).text).toContain('363');
    const byHeight = await get('/block/361');
    expect([byHeight.status, byHeight.headers.get('location')]).toEqual([
      302,
      `/block/${await node.rpc<string>('getblockhash', [361])}`,
    ]);
    const block = await get(byHeight.headers.get('location')!);
    expect(block.text).toContain('mindblown');
    expect(block.text).toContain(claimTx.slice(0, 8));
    expect((await get('/block/tip')).status).toBe(200);
  });

  it('show a transaction with its claim operations', async () => {
    const { status, text } = await get(`/tx/${claimTx}`);
    expect(status).toBe(200);
    expect(text).toContain(`href="/claim/${claimId}"`);
    expect(text).toContain('href="/name/mindblown"');
  });

  it('escape all texts of the chain', async () => {
    const { status, text } = await get(`/name/${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(status).toBe(200);
    expect(text).toContain('&lt;script>alert(1)&lt;/script>');
    expect(text).not.toContain('<script>alert');
    const found = await get(`/find?q=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`);
    expect(found.text).not.toContain('<img src=x');
  });

  it('answer requests that are malformed, unknown, too long or not allowed', async () => {
    for (const [path, status] of [
      ['/nothing', 404],
      ['/block/zz', 404],
      ['/block/99999999', 404],
      [`/block/${'0'.repeat(64)}`, 404],
      [`/tx/${'0'.repeat(64)}`, 404],
      [`/claim/${'0'.repeat(40)}`, 404],
      ['/claim/xyz', 404],
      ['/name/%zz', 400],
      ['/name-hex/xyz', 400],
      ['/blocks?from=x', 400],
      ['/name/mindblown?after=zz', 400],
      ['/upcoming?kind=zzz', 400],
      ['/claims?order=nope', 400],
      ['/claims?channel=zz', 400],
      ['/charts?from=zz', 400],
      ['/name/mindblown?order=zz', 400],
      ['/block/tip?skip=zz', 400],
      ['/proof/mindblown?root=zz', 400],
      ['/look?scheme=zz', 400],
      ['/?utm_source=zz', 200],
      ['/blocks?from=99999999', 404],
      ['/name/', 302],
      ['/name-hex/', 200],
      ['/proof-hex/', 200],
      ['/name/mindblown?block=zz', 400],
      ['/name/mindblown?block=99999999', 404],
      ['/mempool?after=zz', 400],
      ['/claims?after=zz', 400],
      ['/upcoming?from=9999999999', 400],
      [`/tx/${claimTx}?from=9999999999`, 400],
      ['/name/mindblown?before=1-9999999999', 400],
      [`/claim/${claimId}?after=zz`, 400],
      ['/address/mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8?after=zz', 400],
      ['/address/mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8?coins=zz', 400],
      [`/name/${'a'.repeat(256)}`, 400],
      ['/name/a/b', 400],
      ['/upcoming?block=350', 200],
      ['/node/x', 404],
      ['/block/0', 302],
      ['/block/007', 302],
      ['/block/-1', 404],
      ['/block/1e3', 404],
      ['/block/99999999999999999999', 404],
      ['/blocks?from=-1', 400],
      ['/name/mindblown?block=-1', 400],
      ['/name/mindblown?block=007', 200],
      [`/claim/${claimId.toUpperCase()}`, 200],
      [`/claim/${claimId.slice(0, 12)}`, 404],
      [`/tx/${claimTx}?from=9999`, 200],
      ['/address/nothing', 404],
      [`/find?q=${'a'.repeat(5000)}`, 414],
    ] as const)
      expect([path, (await get(path)).status]).toEqual([path, status]);
    const refused = await get('/upcoming?kind=%3Cb%3E&from=370');
    expect(refused.text).toContain('“&lt;b>” is not a value of “kind”');
    expect(refused.text).toContain('<a href="/upcoming?from=370">The page without “kind”</a>');
    const begins = await get(`/claim/${claimId.slice(0, 12)}`);
    expect(begins.text).toContain(`href="/claim/${claimId}"`);
    const unknown = await get(`/name/mindblown?block=${'f'.repeat(64)}`);
    expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('The block is unknown')]);
    const posted = await fetch(`${base}/`, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('have links to names with any characters', async () => {
    const { text } = await get('/names');
    const links = [...text.matchAll(/href="(\/name(?:-hex)?\/[^"]+)"/g)].map(([, href]) => href!);
    expect(new Set(links).size).toBeGreaterThan(ODD_NAMES.length);
    for (const link of new Set(links)) {
      const page = await get(link);
      expect([link, page.status, page.text.includes('To take the name over')]).toEqual([link, 200, true]);
      for (const [, proof] of page.text.matchAll(/href="(\/proof[^"]+)"/g))
        expect([proof, (await get(proof!)).status]).toEqual([proof, 200]);
    }
    for (const name of ODD_NAMES.filter((one) => one.trim() !== '' && one !== '..')) {
      const found = await get(`/find?q=${encodeURIComponent(name)}`);
      expect([name, found.status, found.headers.get('location')]).toEqual([
        name,
        302,
        `/name/${encodeURIComponent(name)}`,
      ]);
    }
  });

  it('are sent again only after a change', async () => {
    const first = await get('/blocks');
    const again = await get('/blocks', { 'If-None-Match': first.headers.get('etag')! });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('find an object by a search', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    for (const [query, place] of [
      ['mindblown', '/name/mindblown'],
      [claimId, `/claim/${claimId}`],
      [claimTx, `/tx/${claimTx}`],
      [tip, `/block/${tip}`],
      ['18', '/block/18'],
      ['99999999', '/block/99999999'],
      ['lbry://nobodyhasit', '/name/nobodyhasit'],
      ['', '/'],
      [await node.rpc<string>('getnewaddress'), null],
    ] as const) {
      const { status, headers } = await get(`/find?q=${encodeURIComponent(query)}`);
      expect([query, status]).toEqual([query, 302]);
      expect(headers.get('location')).toBe(place ?? `/address/${query}`);
    }
    expect((await get('/find?q=mindb')).text).toContain('href="/name/mindblown"');
    const both = await get('/find?q=17');
    expect(both.text).toContain('href="/block/17"');
    expect(both.text).toContain('href="/name/17"');
  });

  it('keep the colours chosen by the visitor, and redirect to this site only', async () => {
    const chosen = await get('/look?scheme=dark&back=/blocks');
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/blocks']);
    const cookie = chosen.headers.get('set-cookie')!.split(';')[0]!;
    expect((await get('/blocks', { Cookie: cookie })).text).toContain('data-scheme="dark"');
    for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:1'])
      expect((await get(`/look?scheme=dark&back=${encodeURIComponent(back)}`)).headers.get('location')).toBe(
        '/',
      );
  });

  it('show who controls a name, the bids and the amount of a new bid', async () => {
    const { status, text } = await get('/name/mindblown');
    expect(status).toBe(200);
    expect(text).toContain(`href="/claim/${claimId}"`);
    expect(text).toContain(`href="/claim/${otherId}"`);
    expect(text).toContain('To take the name over');
    expect(text).toContain('id="history"');
    expect((await get('/name/mindblown?before=362')).text).toContain('claimed');
    const then = await get('/name/mindblown?block=361');
    expect(then.text).toContain('This is how it was after block 361');
    expect(then.text).not.toContain(otherId);
    const free = await get('/name/notclaimed');
    expect([free.status, free.text.includes('No claim holds this name')]).toEqual([200, true]);
    expect((await get('/name-hex/ff00')).status).toBe(200);
  });

  it('lead to the proof of a name that is normalized or has a path of its own', async () => {
    expect((await get('/name/MiXed')).text).toContain('href="/proof/mixed"');
    const steps = 'The steps lead to the root in the header.';
    expect((await get('/proof/mixed')).text).toContain(steps);
    const spelled = await get('/proof/MiXed');
    expect(spelled.text).toContain('The claim trie keeps this name as');
    expect(spelled.text).toContain('href="/proof/mixed"');
    const dot = await get('/name-hex/2e');
    expect(dot.text).toContain('<h1><bdi>.</bdi></h1>');
    expect(dot.text).toContain('href="/proof-hex/2e"');
    expect((await get('/proof-hex/2e')).text).toContain(steps);
  });

  it('explain why the transaction of the genesis block has no page', async () => {
    const genesis = await node.rpc<string>('getblockhash', [0]);
    const { merkleroot } = await node.rpc<{ merkleroot: string }>('getblockheader', [genesis]);
    expect((await get(`/block/${genesis}`)).text).not.toContain(`href="/tx/${merkleroot}"`);
    const page = await get(`/tx/${merkleroot}`);
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('does not index')]);
  });

  it('list new claims without metadata, which a search does not find', async () => {
    const [, newest = ''] = (await get('/')).text.split('Newest claims');
    expect(newest).toContain(`href="/claim/${claimId}"`);
    expect(newest).toContain('no metadata');
    expect((await get('/claims')).text).toContain('No claim with metadata matches.');
  });

  it('prove the controlling claim of a name by the header', async () => {
    const { text } = await get('/proof/mindblown');
    expect(text).toContain('The steps lead to the root in the header.');
    expect(text).toContain('data-proof=');
    // Below the fork for all claims proofs have another form, which also shows that a name has no claim.
    const steps = 'The steps lead to the root in the header.';
    for (const [name, block, shown] of [
      ['early', 130, steps],
      ['earl', 130, steps],
      ['nothing', 130, steps],
      ['nothing', 100, 'The root in the header is that of a trie without names.'],
    ] as const) {
      const page = await get(`/proof/${name}?block=${block}`);
      expect([name, block, page.text.includes(shown)]).toEqual([name, block, true]);
    }
  });

  it('prove a name as of a block, and compare a root of the visitor', async () => {
    const hash = await node.rpc<string>('getblockhash', [361]);
    const { nameclaimroot } = await node.rpc<{ nameclaimroot: string }>('getblockheader', [hash]);
    for (const [query, text] of [
      [`block=361&root=${nameclaimroot}`, 'It is the same root.'],
      [`block=361&root=${'0'.repeat(64)}`, 'It is another root.'],
    ] as const) {
      const page = await get(`/proof/mindblown?${query}`);
      expect([page.status, page.text.includes(text)]).toEqual([200, true]);
      expect(page.text).toContain('The steps lead to the root in the header.');
    }
    expect((await get('/proof/mindblown?block=99999999')).status).toBe(404);
  });

  it('let visitors call reading methods, and no others', async () => {
    expect((await get('/console')).text).toContain('getblockheader');
    const asked = await get('/console?method=getblockhash&p0=361&run=1');
    expect(asked.text).toContain(await node.rpc<string>('getblockhash', [361]));
    expect(asked.text).toContain('lbcnode-cli getblockhash');
    for (const method of [
      'stop',
      'getnewaddress',
      'generatetoaddress',
      'dumpprivkey',
      'getpeerinfo',
      'nothing',
    ])
      expect([method, (await get(`/console?method=${method}&run=1`)).status]).toEqual([method, 404]);
    expect((await get('/console?method=getblockhash&p0=x&run=1')).status).toBe(400);
  });

  it('report changes over a socket, to pages of this site only', async () => {
    const host = base.slice('http://'.length);
    const foreign = new WebSocket(`ws://${host}/live`, { headers: { Origin: 'http://evil.example' } });
    await new Promise((resolve) => foreign.on('error', resolve));
    const socket = new WebSocket(`ws://${host}/live`, { headers: { Origin: base } });
    const hints: { tip?: string; changed?: string[] }[] = [];
    const next = (): Promise<unknown> => new Promise((resolve) => socket.once('message', resolve));
    socket.on('message', (data) => hints.push(JSON.parse(String(data)) as (typeof hints)[number]));
    await new Promise((resolve) => socket.on('open', resolve));
    const first = next();
    socket.send('{"topics": ["tip"]}');
    await first;
    expect(hints).toEqual([{ tip: await node.rpc<string>('getbestblockhash') }]);
    const second = next();
    await node.rpc('generatetoaddress', [1, await node.rpc<string>('getnewaddress')]);
    await second;
    expect(hints[1]).toEqual({
      tip: await node.rpc<string>('getbestblockhash'),
      changed: [expect.stringMatching(/^tip:\d+$/)],
    });
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    socket.send('{"topics": 5}');
    expect(await closed).toBe(1008);
  });

  it('are counted, and /health reports them', async () => {
    const answer = await fetch(`http://127.0.0.1:${node.rpcPort}/health`);
    const { explorer } = (await answer.json()) as { explorer: object };
    expect(explorer).toEqual({
      running: true,
      port: Number(new URL(base).port),
      viewers: expect.any(Number),
    });
  });

  it('have no dead link within three steps from the first', async () => {
    const seen = new Set<string>();
    let level = ['/'];
    for (let step = 0; step < 3; step++) {
      const found: string[] = [];
      for (const path of level) {
        const { status, headers, text } = await get(path);
        expect([path, status < 400 || (path.startsWith('/charts') && status === 404)]).toEqual([path, true]);
        const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
        const all = headers.has('location') ? [...links, headers.get('location')!] : links;
        for (const link of all) {
          const [plain = ''] = link.split('#');
          if (
            !plain.startsWith('/') ||
            plain.startsWith('/assets') ||
            plain.startsWith('/look') ||
            seen.has(plain)
          )
            continue;
          seen.add(plain);
          found.push(plain);
        }
      }
      // Pages of blocks, transactions and the console are alike, so only some are tested.
      level = found.filter((path, index) => index < 40 || !/^\/(block|console|tx)/.test(path)).slice(0, 60);
    }
    expect(seen.size).toBeGreaterThan(50);
  });

  it('show names, claims and upcoming events', async () => {
    expect((await get('/names?prefix=mind')).text).toContain('href="/name/mindblown"');
    const claim = await get(`/claim/${claimId}`);
    expect([claim.status, claim.text.includes('mindblown')]).toEqual([200, true]);
    for (const path of [
      '/upcoming',
      '/claims',
      '/node',
      `/address/${await node.rpc<string>('getnewaddress')}`,
    ])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect(otherId).toHaveLength(40);
  });
});

describe('a claim that one block created and spent', () => {
  it('has a page that says so, also after a reorganisation', async () => {
    const address = await node.rpc<string>('getnewaddress');
    const made = await node.rpc<string>('claimname', ['brief', '00', 0.1]);
    const ended = await node.rpc<string>('abandonclaim', [made, address]);
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, address]);
    const { events } = await node.rpc<{ events: { event: string; claimId: string }[] }>('getblockevents', [
      block,
    ]);
    const id = events.find(({ event }) => event === 'claim')!.claimId;
    const says = 'of the same block made this output, so it was never active';
    const page = await get(`/claim/${id}`);
    expect(page.status).toBe(200);
    for (const text of [says, `href="/tx/${made}`, `href="/tx/${ended}`, 'was abandoned'])
      expect(page.text).toContain(text);
    await node.rpc('invalidateblock', [block]);
    const without = await get(`/claim/${id}`);
    expect([without.status, without.text.includes(says)]).toEqual([404, false]);
    await node.rpc('reconsiderblock', [block]);
    expect((await get(`/claim/${id}`)).text).toContain(says);
  });
});
