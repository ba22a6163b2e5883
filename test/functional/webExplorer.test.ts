/** The pages of `-explorer` over a regtest chain with claims, in the real process. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode;
let base: string;
let claimId: string;
let otherId: string;
let claimTx: string;

interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}
async function get(path: string, headers: Record<string, string> = {}): Promise<Page> {
  const response = await fetch(base + path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
beforeAll(async () => {
  const port = await freePort();
  node = await startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002'] });
  base = `http://127.0.0.1:${port}`;
  const address = await node.rpc<string>('getnewaddress');
  await node.rpc('generatetoaddress', [360, address]);
  claimTx = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
  await node.rpc('generatetoaddress', [1, address]);
  const other = await node.rpc<string>('claimname', ['mindblown', '01', 2.5]);
  await node.rpc('claimname', ['<script>alert(1)</script>', '02', 1]);
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

  it('show the chain, its blocks and what they did', async () => {
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

  it('show a transaction with what it claims', async () => {
    const { status, text } = await get(`/tx/${claimTx}`);
    expect(status).toBe(200);
    expect(text).toContain(`href="/claim/${claimId}"`);
    expect(text).toContain('href="/name/mindblown"');
  });

  it('answer what is malformed, missing, too long or not allowed', async () => {
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
      ['/address/nothing', 404],
      [`/find?q=${'a'.repeat(5000)}`, 414],
    ] as const)
      expect([path, (await get(path)).status]).toEqual([path, status]);
    const posted = await fetch(`${base}/`, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('are sent again only when they changed', async () => {
    const first = await get('/blocks');
    const again = await get('/blocks', { 'If-None-Match': first.headers.get('etag')! });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('lead searches to what is meant', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    for (const [query, place] of [
      [claimId, `/claim/${claimId}`],
      [claimTx, `/tx/${claimTx}`],
      [tip, `/block/${tip}`],
      ['17', '/block/17'],
      ['', '/'],
      [await node.rpc<string>('getnewaddress'), null],
    ] as const) {
      const { status, headers } = await get(`/find?q=${encodeURIComponent(query)}`);
      expect([query, status]).toEqual([query, 302]);
      expect(headers.get('location')).toBe(place ?? `/address/${query}`);
    }
    expect((await get('/find?q=mindb')).text).toContain('href="/name/mindblown"');
  });

  it('keep the colours that the visitor chose, and lead back to this site only', async () => {
    const chosen = await get('/look?scheme=dark&back=/blocks');
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/blocks']);
    const cookie = chosen.headers.get('set-cookie')!.split(';')[0]!;
    expect((await get('/blocks', { Cookie: cookie })).text).toContain('data-scheme="dark"');
    for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:1'])
      expect((await get(`/look?scheme=dark&back=${encodeURIComponent(back)}`)).headers.get('location')).toBe(
        '/',
      );
  });

  it('show names, claims and what comes', async () => {
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
