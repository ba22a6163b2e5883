/**
 * Compares the figures on the pages of the explorer with the answers of methods, after random operations on the chain: names, bids,
 * claims, blocks, transactions, addresses, the mempool and totals. All links up to three steps from the first page work.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { ClaimSource } from './support/claimSource.js';
import { OPEN, OPEN_ADDRESS } from './support/network.js';
import { blockHex, makeBlock, makeCoinbase, mine, type Template } from './support/templateMiner.js';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode;
let base: string;
let visitors = 0;

const rpc = <T>(method: string, ...params: unknown[]): Promise<T> => node.rpc<T>(method, params);

/** Requests a page. Each request is that of another visitor, so that the limits for visitors do not apply. */
async function load(path: string): Promise<{ status: number; html: string; location: string | null }> {
  const from = `10.1.${(visitors >> 8) & 255}.${visitors++ & 255}`;
  const answer = await fetch(base + path, { headers: { 'X-Forwarded-For': from }, redirect: 'manual' });
  return { status: answer.status, html: await answer.text(), location: answer.headers.get('location') };
}

async function htmlOf(path: string): Promise<string> {
  const { status, html } = await load(path);
  expect([path, status]).toEqual([path, 200]);
  return html;
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** The text of a piece of a page, without tags. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot);/g, (entity) => ENTITIES[entity]!)
    .replaceAll(/\s+/g, ' ')
    .trim();

interface Row {
  readonly cells: readonly string[];
  readonly links: readonly string[];
}

/** The rows of the table with this caption; none if the page has no such table. */
function rowsOf(html: string, caption: string): Row[] {
  const [, after] = html.split(`<caption class="unseen">${caption}</caption>`);
  const [, body = ''] = (after ?? '').split(/<\/?tbody>/);
  return body
    .split('</tr>')
    .filter((row) => row !== '')
    .map((row) => ({
      cells: [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => textOf(cell!)),
      links: [...row.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!),
    }));
}

/** The value of a figure or a fact by its label. */
function labelled(html: string, label: string): string {
  const found = new RegExp(`<(span|dt)(?: title="[^"]*")?>${label}</\\1><(strong|dd)>(.*?)</\\2>`, 's').exec(
    html,
  );
  expect([label, found !== null]).toEqual([label, true]);
  return textOf(found![3]!);
}

/** The number at the beginning of a text. */
const numberOf = (text: string): number => parseFloat(text.replaceAll(',', '').replace('−', '-'));
const numbersOf = (cells: readonly string[], ...places: readonly number[]): number[] =>
  places.map((place) => numberOf(cells[place] ?? ''));

interface Listed {
  readonly name: string;
  readonly normalized_name: string;
}
/** A claim of `getclaimsforname`, with amounts in satoshis. */
interface RpcClaim {
  readonly claimId: string;
  readonly amount: number;
  readonly effectiveAmount: number;
  readonly bid: number;
  readonly supports: readonly { readonly amount: number; readonly validAtHeight: number }[];
  readonly validAtHeight: number;
}

async function names(): Promise<Listed[]> {
  const { names: found } = await rpc<{ names: Listed[] }>('listnames', '', 1000);
  expect(found.length).toBeGreaterThan(5);
  return found;
}

const pathOf = (name: string): string => `/name/${encodeURIComponent(name)}`;
const round = (amount: number): number => Math.round(amount * 1e8) / 1e8;

/** An id that no claim has. */
const UNMADE = 'fe'.repeat(20);

/** A support that names an id without a claim. */
async function makeStray(source: ClaimSource): Promise<void> {
  const id = Buffer.from(UNMADE, 'hex').reverse();
  const { hex } = await source.stake(buildSupportPrefix(Buffer.from('a'), id), 5_000_000n);
  await rpc('sendrawtransaction', hex, true);
  await rpc('generatetoaddress', 1, OPEN_ADDRESS);
}

/** Claim operations without effect: an update that spends no claim, and a claim in a coinbase. */
async function makeRefused(source: ClaimSource): Promise<void> {
  const { hex } = await source.stake(
    buildUpdatePrefix(Buffer.from('a'), Buffer.alloc(20, 7), Buffer.of(1, 2)),
    5_000_000n,
  );
  await rpc('sendrawtransaction', hex, true);
  await rpc('generatetoaddress', 1, OPEN_ADDRESS);
  const template = await rpc<Template>('getblocktemplate', { rules: ['segwit'] });
  const script = Buffer.concat([
    buildClaimPrefix(Buffer.from('coinbase'), Buffer.of(1)),
    scriptForDestination(OPEN),
  ]);
  const block = mine(makeBlock(template, makeCoinbase(template, script)), template.target);
  expect(await rpc('submitblock', blockHex(block))).toBeNull();
}

beforeAll(async () => {
  const port = await freePort();
  node = await startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-explorerproxy=127.0.0.1'] });
  base = `http://127.0.0.1:${port}`;
  await rpc('generatetoaddress', 230, OPEN_ADDRESS);
  const source = new ClaimSource(node, 33);
  const send = async (count: number): Promise<void> => {
    for (const hex of await source.take(count)) await rpc('sendrawtransaction', hex, true);
  };
  for (let block = 0; block < 45; block++) {
    await send(3);
    await rpc('generatetoaddress', 1, OPEN_ADDRESS);
  }
  await makeRefused(source);
  await makeStray(source);
  await send(5);
  // The indexes may be a block behind.
  const isBehind = async (): Promise<boolean> =>
    Object.values(await rpc<Record<string, { synced: boolean }>>('getindexinfo')).some(
      ({ synced }) => !synced,
    );
  while (await isBehind()) await new Promise((resolve) => setTimeout(resolve, 50));
});
afterAll(() => node?.stop());

it('shows the totals, the latest blocks, the newest claims and the next takeovers', async () => {
  const html = await htmlOf('/');
  const tip = await rpc<number>('getblockcount');
  const { size } = await rpc<{ size: number }>('getmempoolinfo');
  expect(size).toBe(5);
  for (const [label, value] of [
    ['Height', tip],
    ['Names', await rpc<number>('gettotalclaimednames')],
    ['Claims', await rpc<number>('gettotalclaims')],
    ['LBC in claims', await rpc<number>('gettotalvalueofclaims')],
    ['Mempool', size],
  ] as const)
    expect([label, numberOf(labelled(html, label))]).toEqual([label, value]);
  const blocks = rowsOf(html, 'The latest blocks');
  expect(blocks.length).toBe(10);
  for (const [n, { cells }] of blocks.entries()) {
    const hash = await rpc<string>('getblockhash', tip - n);
    const block = await rpc<{ nTx: number; size: number }>('getblock', hash);
    const { counts } = await rpc<{ counts: Record<string, number> }>('getblockevents', hash);
    const count = (...kinds: string[]): number => kinds.reduce((sum, kind) => sum + counts[kind]!, 0);
    expect(numbersOf(cells, 0, 2, 4, 5, 6, 7)).toEqual([
      ...[tip - n, block.nTx],
      ...[count('claim', 'update'), count('support'), count('abandon', 'expiration'), count('takeover')],
    ]);
    expect(cells[3]).toMatch(block.size < 1000 ? `${block.size} B` : /kB$/);
  }
  const { claims } = await rpc<{ claims: RpcClaim[] }>('listnewclaims', 10);
  const newest = rowsOf(html, 'The newest claims');
  expect(newest.map(({ links }) => links[0])).toEqual(claims.map(({ claimId }) => `/claim/${claimId}`));
  expect(newest.map(({ cells }) => numberOf(cells[1]!))).toEqual(claims.map(({ amount }) => amount));
  const { events } = await rpc<{ events: { height: number }[] }>('listupcoming', 576, 'takeover', 10);
  expect(rowsOf(html, 'The next takeovers').map(({ cells }) => numberOf(cells[2]!))).toEqual(
    events.map(({ height }) => height - tip),
  );
});

it('shows the bids, the holder and the history of each name', async () => {
  let supported = 0;
  for (const { name, normalized_name: filed } of await names()) {
    const html = await htmlOf(pathOf(name));
    const { claims } = await rpc<{ claims: RpcClaim[] }>('getclaimsforname', name);
    const best = await rpc<Record<string, unknown>>('getvalueforname', name);
    const bids = rowsOf(html, 'Bids');
    const tip = await rpc<number>('getblockcount');
    expect(bids.map(({ links }) => links[0])).toEqual(claims.map(({ claimId }) => `/claim/${claimId}`));
    for (const [n, { cells }] of bids.entries()) {
      const { effectiveAmount, amount, supports } = claims[n]!;
      const active = supports.filter(({ validAtHeight }) => validAtHeight <= tip);
      const shown = cells[5] === '–' ? [0, 0] : cells[5]!.split(', ').map(numberOf);
      supported += supports.length;
      expect([filed, ...numbersOf(cells, 0, 3, 4), shown[1]]).toEqual([
        ...[filed, n + 1, effectiveAmount / 1e8, amount / 1e8],
        active.reduce((sum, support) => sum + support.amount, 0) / 1e8,
      ]);
    }
    expect(html).toContain(`<a href="/claim/${best['claimId'] as string}"><strong>`);
    const history = await rpc<{ blocks: { events: unknown[] }[] }>('getnamehistory', name, 0, tip, 10_000);
    const events = history.blocks.reduce((sum, block) => sum + block.events.length, 0);
    expect(rowsOf(html, 'What happened to the name, the latest first').length).toBe(Math.min(30, events));
  }
  expect(supported).toBeGreaterThan(3);
});

it('shows the amounts and the rank of each claim', async () => {
  for (const { name } of await names()) {
    const { claims } = await rpc<{ claims: RpcClaim[] }>('getclaimsforname', name);
    for (const { claimId, amount, effectiveAmount, bid } of claims) {
      const html = await htmlOf(`/claim/${claimId}`);
      const place = labelled(html, 'Place');
      expect([numberOf(place), place.split(' of ')[1]]).toEqual([
        bid + 1,
        `${claims.length} ${claims.length === 1 ? 'bid' : 'bids'}`,
      ]);
      expect(numberOf(labelled(html, 'Effective amount'))).toBe(effectiveAmount / 1e8);
      expect(numberOf(labelled(html, 'Own amount'))).toBe(amount / 1e8);
      const { total } = await rpc<{ total: number }>('listsupports', claimId);
      expect(html).toContain(`<h2>Supports (${total})</h2>`);
    }
  }
});

it('shows the sizes, fees and amounts of blocks and transactions', async () => {
  const tip = await rpc<number>('getblockcount');
  for (let height = tip; height > tip - 12; height--) {
    const hash = await rpc<string>('getblockhash', height);
    const stats = await rpc<Record<string, number>>('getblockstats', hash);
    const block = await htmlOf(`/block/${hash}`);
    expect(numberOf(labelled(block, 'Transactions'))).toBe(stats['txs']);
    expect(numberOf(labelled(block, 'Moved'))).toBe(stats['total_out']! / 1e8);
    expect(numberOf(labelled(block, 'Fees'))).toBe(stats['totalfee']! / 1e8);
    expect(numberOf(labelled(block, 'Confirmations'))).toBe(tip - height + 1);
    const { tx } = await rpc<{ tx: string[] }>('getblock', hash);
    expect(rowsOf(block, 'Transactions of the block').map(({ links }) => links[0])).toEqual(
      tx.map((id) => `/tx/${id}`),
    );
    let paid = 0;
    for (const id of tx) {
      const html = await htmlOf(`/tx/${id}`);
      const raw = await rpc<{ vout: { value: number }[]; vin: { txid?: string; vout: number }[] }>(
        'getrawtransaction',
        id,
        true,
      );
      const outputs = rowsOf(html, 'Outputs').map(({ cells }) => numberOf(cells[2]!));
      expect(outputs).toEqual(raw.vout.map(({ value }) => value));
      const inputs = rowsOf(html, 'Inputs').map(({ cells }) => cells[2]!);
      for (const [n, { txid, vout }] of raw.vin.entries()) {
        if (txid === undefined) continue;
        const spent = await rpc<{ vout: { value: number }[] }>('getrawtransaction', txid, true);
        expect(numberOf(inputs[n]!)).toBe(spent.vout[vout]!.value);
      }
      if (raw.vin[0]!.txid === undefined) continue;
      const fee = round(inputs.map(numberOf).reduce((a, b) => a + b) - outputs.reduce((a, b) => a + b));
      expect(numberOf(labelled(html, 'Fee'))).toBe(fee);
      paid += fee;
    }
    expect(round(paid)).toBe(stats['totalfee']! / 1e8);
  }
});

it('shows the answers of the methods for an address, the mempool and a chart', async () => {
  const html = await htmlOf(`/address/${OPEN_ADDRESS}`);
  const balance = await rpc<{ balance: number; received: number }>('getaddressbalance', OPEN_ADDRESS);
  expect(numberOf(labelled(html, 'Balance in blocks'))).toBe(balance.balance / 1e8);
  expect(numberOf(labelled(html, 'Received in all'))).toBe(balance.received / 1e8);
  const mempool = await htmlOf('/mempool');
  const entries = await rpc<Record<string, { fee: number; size: number }>>('getrawmempool', true);
  const waiting = Object.values(entries);
  expect(numberOf(labelled(mempool, 'Transactions'))).toBe(waiting.length);
  expect(numberOf(labelled(mempool, 'Fees'))).toBe(round(waiting.reduce((sum, { fee }) => sum + fee, 0)));
  const [, total] = /<h2>Claim operations \((\d+)\)<\/h2>/.exec(mempool)!;
  expect(rowsOf(mempool, 'Claim operations in the mempool').length).toBe(Number(total));
  const operations = [...mempool.matchAll(/<span class="tag info">[A-Z][a-z ]+: (\d+)<\/span>/g)];
  expect(operations.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(Number(total));
  const claims = await rpc<number>('gettotalclaims');
  expect(await htmlOf('/charts/claims')).toMatch(new RegExp(`to ${claims} at block \\d+\\.`));
});

interface HeldOutput {
  readonly txid: string;
  readonly outputIndex: number;
  readonly claim?: { readonly op: string; readonly claimId: string; readonly state: string };
}

it('shows the claim operations in the outputs of an address with the states that gettxinfo returns', async () => {
  const states = new Map<string, number>();
  let next: string | undefined = `/address/${OPEN_ADDRESS}`;
  let after: string | undefined;
  while (next !== undefined) {
    const html = await htmlOf(next);
    const rows = rowsOf(html, 'Unspent outputs');
    const page: { utxos: HeldOutput[]; next?: string } = await rpc('getaddressutxos', {
      ...{ addresses: [OPEN_ADDRESS], limit: 50, claims: true, mempool: true },
      ...(after !== undefined && { after }),
    });
    expect(rows).toHaveLength(page.utxos.length);
    for (const [i, { txid, outputIndex, claim }] of page.utxos.entries()) {
      const { cells, links } = rows[i]!;
      if (claim === undefined) {
        expect(cells[1]).toBe('–');
        continue;
      }
      const { outputs } = await rpc<{ outputs: HeldOutput[] }>('gettxinfo', txid, outputIndex, 1);
      expect(claim).toEqual(outputs[0]!.claim);
      const { claimId, state } = claim;
      states.set(state, (states.get(state) ?? 0) + 1);
      // The state is shown unless the claim is active. The claim is linked unless it was refused or does not exist.
      expect([claimId, cells[1]!.includes(state), links.includes(`/claim/${claimId}`)]).toEqual([
        ...[claimId, state !== 'active', state !== 'refused' && claimId !== UNMADE],
      ]);
      expect(cells[1]!.includes('no such claim')).toBe(claimId === UNMADE);
    }
    next = /href="(\/address\/[^"]*coins=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    after = page.next;
  }
  expect(states.get('refused')).toBe(2);
  expect(states.get('active')).toBeGreaterThan(10);
});

it('has no dead link within three steps from the first page', async () => {
  const seen = new Set(['/']);
  let level = ['/'];
  for (let step = 0; step <= 3; step++) {
    const found: string[] = [];
    for (const path of level) {
      const { status, html, location } = await load(path);
      expect([path, status < 400]).toEqual([path, true]);
      for (const [, href] of html.matchAll(/href="([^"]*)"/g)) found.push(href!.replaceAll('&amp;', '&'));
      if (location !== null) found.push(location);
    }
    const next = found.map((href) => href.split('#')[0]!).filter((href) => /^\/(?!assets|look)/.test(href));
    level = [...new Set(next)].filter((path) => !seen.has(path));
    level.forEach((path) => seen.add(path));
    // Pages of one kind are alike, so only the first pages of each kind are loaded.
    const kinds = new Map<string, number>();
    level = level.filter((path) => {
      const kind = path.split(/[/?]/)[1]!;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      return kinds.get(kind)! <= 25;
    });
  }
  expect(seen.size).toBeGreaterThan(200);
});
