/**
 * Claims in the mempool, as clients of the hub and of the node see them: from the acceptance of the transaction, from each source,
 * until it is mined, replaced, expires, or conflicts with a block.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutputsSchema, type Output, type Outputs } from '../../src/metadata/messages/result_pb.js';
import { formatTransaction, parseTransaction } from '../../src/primitives/transaction.js';
import { fromHex, hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { Reader } from '../../src/util/reader.js';
import { abandon, claim, support, update, type Step } from './scenarios/claimLives.js';
import { ClaimActor, FundingCoins, MATURITY, OPEN_ADDRESS } from './support/claimActor.js';
import { HubClient } from './support/hubClient.js';
import { connect, startPeer } from './support/network.js';
import { ADDRESS, freePort, HANG_MS, type RegtestNode } from './support/node.js';

const HOUR_SEC = 3600;
/** Replaceable, by BIP125. */
const REPLACEABLE = 0xfffffffd;

let node: RegtestNode;
let peer: RegtestNode;
let client: HubClient;
let actor: ClaimActor;
let funding: FundingCoins;
/** The source of transactions. */
let broadcast: (hex: string) => Promise<unknown>;

const byRpc = (hex: string): Promise<unknown> => node.rpc('sendrawtransaction', [hex, true]);
const byHub = (hex: string): Promise<unknown> => client.call('blockchain.transaction.broadcast', [hex]);
const byPeer = (hex: string): Promise<unknown> => peer.rpc('sendrawtransaction', [hex, true]);

beforeAll(async () => {
  const port = await freePort();
  node = await startPeer({
    args: ['-hub', `-hubport=${port}`, '-hubudpport=0', '-mempoolexpiry=1', '-maxmempool=5'],
  });
  peer = await startPeer();
  broadcast = byRpc;
  funding = new FundingCoins({
    rpc: (method, params = []) =>
      method === 'sendrawtransaction'
        ? broadcast((params as readonly unknown[])[0] as string)
        : node.rpc(method, params),
  } as RegtestNode);
  await funding.fill();
  actor = new ClaimActor(funding, 'unnamed');
  await connect(peer, node);
  client = await open(port);
});
afterAll(async () => {
  await client?.close();
  await Promise.all([node?.stop(), peer?.stop()]);
});

async function open(port: number): Promise<HubClient> {
  for (;;) {
    try {
      return await HubClient.open(port);
    } catch {
      await node.rpc('getblockcount');
    }
  }
}

async function act(...steps: Step[]): Promise<void> {
  for (const step of steps) await actor.act(step as never);
}

async function mine(...steps: Step[]): Promise<string> {
  await act(...steps);
  const [hash] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
  return hash!;
}

async function outputs(method: string, params: unknown): Promise<Outputs> {
  for (;;) {
    try {
      const text = await client.call<string>(`blockchain.claimtrie.${method}`, params as never);
      return fromBinary(OutputsSchema, Buffer.from(text, 'base64'));
    } catch (error) {
      if ((error as Error).message !== 'The search index is being built') throw error;
    }
  }
}

const txidOf = ({ txHash }: Output): string => hashToHex(txHash);

/** The result of a URL: the transaction, with `0` before it if it is in the mempool, or the error text. */
async function leads(url: string): Promise<string> {
  const { txos } = await outputs('resolve', [url]);
  const [row] = txos;
  if (row!.meta.case === 'error') return row!.meta.value.text;
  const byHubClient = `${row!.height === 0 ? '0 ' : ''}${txidOf(row!)}`;
  const answer = await node.rpc<Record<string, { txid: string; height: number; is_waiting?: true }>>(
    'resolve',
    [url],
  );
  const { txid, height, is_waiting } = answer[url]!;
  expect(`${height === 0 ? '0 ' : ''}${txid}`).toBe(byHubClient);
  expect(is_waiting ?? false).toBe(height === 0);
  return byHubClient;
}

const waits = (label: string): string => `0 ${hashToHex(actor.of(label).txid)}`;
const stands = (label: string): string => hashToHex(actor.of(label).txid);

/** The rows of a search in the form of `leads`, with the total. Hub and node return the same. */
async function finds(constraints: Record<string, unknown>): Promise<{ rows: string[]; total: number }> {
  const shown = (txid: string, height: number): string => `${height === 0 ? '0 ' : ''}${txid}`;
  const { txos, total } = await outputs('search', constraints);
  const rows = txos.map((row) => shown(txidOf(row), row.height));
  const answer = await node.rpc<{ claims: { txid: string; height: number }[]; total: number }>(
    'searchclaims',
    [constraints],
  );
  expect(answer.claims.map(({ txid, height }) => shown(txid, height))).toEqual(rows);
  expect(answer.total).toBe(total);
  return { rows, total };
}

/** Polls the search, because its index may be behind the last block. */
const untilFinds = (constraints: Record<string, unknown>, answer: object): Promise<void> =>
  expect.poll(() => finds(constraints), { timeout: HANG_MS }).toEqual(answer);

describe('a new claim', () => {
  it.each([
    ['the hub', byHub],
    ['a call of the node', byRpc],
  ] as const)('is shown when %s has answered its broadcast', async (_way, send) => {
    broadcast = send;
    const label = `new by ${_way}`;
    const name = label.replaceAll(' ', '-');
    await act(claim(label, 7, { name }));
    expect(await leads(name)).toBe(waits(label));
    const { txos } = await outputs('resolve', [name]);
    const { meta, nout } = txos[0]!;
    expect(nout).toBe(0);
    expect(meta.value).toMatchObject({
      shortUrl: `${name}#${actor.idOf(label).slice(0, 10)}`,
      canonicalUrl: `${name}#${actor.idOf(label).slice(0, 10)}`,
      isControlling: true,
      takeOverHeight: 0,
      creationHeight: 0,
      activationHeight: 0,
      expirationHeight: 0,
      effectiveAmount: 70_000n,
      supportAmount: 0n,
    });
    expect(await finds({ name })).toEqual({ rows: [waits(label)], total: 1 });
    expect(await finds({ claim_ids: [actor.idOf(label)], no_totals: true })).toEqual({
      rows: [waits(label)],
      total: 1,
    });
    for (const url of [
      `${name}#${actor.idOf(label)}`,
      `${name}#${actor.idOf(label).slice(0, 3)}`,
      `${name}$1`,
    ])
      expect(await leads(url), url).toBe(waits(label));
    broadcast = byRpc;
  });

  it('is shown when a peer has sent it', async () => {
    broadcast = byPeer;
    await act(claim('of a peer', 1, { name: 'of-a-peer' }));
    broadcast = byRpc;
    await expect.poll(() => leads('of-a-peer'), { timeout: HANG_MS }).toBe(waits('of a peer'));
  });

  it('is left out if only confirmed claims are requested', async () => {
    const id = actor.idOf('of a peer');
    const found = await node.rpc<Record<string, object>>('resolve', ['of-a-peer', true]);
    expect(found['of-a-peer']).toMatchObject({ error: { name: 'NOT_FOUND' } });
    expect(await node.rpc('getclaim', [id])).toMatchObject({ claim_id: id, is_waiting: true, height: 0 });
    expect(await node.rpc('getclaimstates', [[id]])).toMatchObject([{ claimId: id, state: 'waiting' }]);
    await expect(node.rpc('getclaim', [id, true])).rejects.toMatchObject({ code: -5 });
    expect(await finds({ claim_ids: [id], confirmed_only: true })).toEqual({ rows: [], total: 0 });
    expect((await outputs('getclaimbyid', [id])).txos[0]).toMatchObject({ height: 0 });
  });

  it('is a confirmed claim once it is mined', async () => {
    await mine();
    expect(await leads('of-a-peer')).toBe(stands('of a peer'));
    await untilFinds({ name: 'of-a-peer' }, { rows: [stands('of a peer')], total: 1 });
  });
});

describe('beside confirmed claims', () => {
  beforeAll(async () => {
    await mine(claim('first', 5, { name: 'taken' }), claim('room', 5, { name: '@room', isChannel: true }));
    await mine(claim('in room', 2, { name: 'inside', by: 'room' }), claim('old', 3, { name: 'old' }));
  });

  it('mempool claims are found too', () => untilFinds({ name: 'old' }, { rows: [stands('old')], total: 1 }));

  it('a greater bid does not win the name, its position or the beginning of an id', async () => {
    const digit = actor.idOf('first')[0]!;
    await act(claim('greater', 50, { name: 'taken', digits: digit }));
    for (const url of ['taken', 'taken$1', `taken#${digit}`])
      expect(await leads(url), url).toBe(stands('first'));
    expect(await leads('taken$2')).toBe('Could not find claim at "taken$2".');
    expect(await leads(`taken#${actor.idOf('greater')}`)).toBe(waits('greater'));
    expect(await finds({ name: 'taken' })).toEqual({ rows: [waits('greater'), stands('first')], total: 2 });
    expect(await finds({ name: 'taken', is_controlling: true })).toEqual({
      rows: [stands('first')],
      total: 1,
    });
  });

  it('an update replaces the claim at its position', async () => {
    const former = actor.of('old');
    await act(update('old', 4));
    for (const url of ['old', `old#${actor.idOf('old')}`, `old#${actor.idOf('old')[0]}`, 'old$1'])
      expect(await leads(url), url).toBe(waits('old'));
    expect(await finds({ name: 'old' })).toEqual({ rows: [waits('old')], total: 1 });
    const shown = await node.rpc<Record<string, Record<string, unknown>>>('resolve', ['old', true]);
    expect(shown['old']).toMatchObject({ txid: hashToHex(former.txid) });
    const { creation_height: creation } = shown['old']!;
    const { txos } = await outputs('resolve', ['old']);
    expect(txos[0]!.meta.value).toMatchObject({ creationHeight: creation, isControlling: true });
    // The answer has the confirmed claim if the waiting update does not match.
    expect((await finds({ name: 'old', amount: '30000' })).rows).toEqual([hashToHex(former.txid)]);
    expect((await finds({ name: 'old', amount: '40000' })).rows).toEqual([waits('old')]);
  });

  it('a channel contains its unconfirmed claims, and they are counted', async () => {
    await act(
      claim('waits in room', 1, { name: 'waits-inside', by: 'room' }),
      claim('new room', 1, { name: '@new-room', isChannel: true }),
    );
    await act(claim('in new room', 1, { name: 'deep', by: 'new room' }));
    expect(await leads('@room/waits-inside')).toBe(waits('waits in room'));
    expect(await leads('@room/inside')).toBe(stands('in room'));
    expect(await leads('@new-room/deep')).toBe(waits('in new room'));
    expect(await leads('@new-room/other')).toBe('Could not find channel in "@new-room/other".');
    const { txos, extraTxos } = await outputs('resolve', ['@new-room/deep']);
    const { value } = txos[0]!.meta as { value: { channel?: Output; canonicalUrl: string } };
    expect(txidOf(value.channel!)).toBe(stands('new room'));
    expect(extraTxos.map(txidOf)).toContain(stands('new room'));
    const short = actor.idOf('new room').slice(0, 10);
    expect(value.canonicalUrl).toBe(`@new-room#${short}/deep#${actor.idOf('in new room').slice(0, 10)}`);
    const channel = (await outputs('resolve', ['@new-room'])).txos[0]!.meta.value;
    expect(channel).toMatchObject({ claimsInChannel: 1 });
    const signed = { has_channel_signature: true, signature_valid: true };
    for (const [room, ...labels] of [
      ['room', '0 waits in room', 'in room'],
      ['new room', '0 in new room'],
    ] as const) {
      const rows = labels.map((label) => (label.startsWith('0 ') ? waits(label.slice(2)) : stands(label)));
      const wanted = { channel_ids: [actor.idOf(room)], ...signed };
      expect(await finds(wanted)).toEqual({ rows, total: rows.length });
      expect(await finds({ channel: `@${room.replace(' ', '-')}`, ...signed })).toEqual({
        rows,
        total: rows.length,
      });
    }
  });

  it('a repost shows the reposted claim', async () => {
    await act(claim('repost', 1, { name: 'again', reposts: 'old' }));
    const { txos, extraTxos } = await outputs('resolve', ['again']);
    const { value } = txos[0]!.meta as { value: { repost?: Output } };
    expect(txidOf(value.repost!)).toBe(stands('old'));
    expect(extraTxos.map(({ height, ...row }) => [txidOf(row as Output), height])).toEqual([
      [stands('old'), 0],
    ]);
    expect(await finds({ reposted_claim_id: actor.idOf('old') })).toEqual({
      rows: [waits('repost')],
      total: 1,
    });
    expect((await outputs('resolve', ['old'])).txos[0]!.meta.value).toMatchObject({ reposted: 1 });
  });

  it('supports of unconfirmed claims count, and an unconfirmed abandon changes nothing', async () => {
    await act(support('gift', 'waits in room', 9));
    expect((await outputs('resolve', ['waits-inside'])).txos[0]!.meta.value).toMatchObject({
      effectiveAmount: 100_000n,
      supportAmount: 90_000n,
    });
    await act(abandon('in room'));
    expect(await leads('@room/inside')).toBe(stands('in room'));
  });

  it('a mempool claim is at the beginning of the first page, in the requested order, and on no other page', async () => {
    const all = await finds({ name: ['taken', 'old', 'waits-inside', 'deep'], order_by: ['^name'] });
    expect(all).toEqual({
      rows: [waits('in new room'), waits('greater'), waits('waits in room'), waits('old'), stands('first')],
      total: 5,
    });
    const page = { name: ['taken', 'old', 'waits-inside', 'deep'], order_by: ['^name'], limit: 2 };
    // Mempool claims come first on a page. An update takes the place of its claim, so it is not counted as a new claim.
    expect(await finds(page)).toEqual({ rows: [waits('in new room'), waits('old')], total: 3 });
    expect(await finds({ ...page, offset: 1 })).toEqual({ rows: [stands('first')], total: 2 });
    expect((await finds({ ...page, limit: 9, remove_duplicates: true })).rows).toHaveLength(2);
    expect((await finds({ ...page, limit: 9, limit_claims_per_channel: 1 })).rows).toHaveLength(2);
    const walk = await node.rpc<{ claims: { txid: string }[]; next: string }>('searchclaims', [page, '']);
    const rest = await node.rpc<{ claims: { txid: string }[] }>('searchclaims', [page, walk.next]);
    expect([...walk.claims, ...rest.claims].map(({ txid }) => txid)).toEqual(
      all.rows.slice(0, 4).map((row) => row.replace('0 ', '')),
    );
  });
});

describe('is removed with its transaction', () => {
  it('if another one replaces it', async () => {
    funding.sequence = REPLACEABLE;
    await act(claim('replaced', 1, { name: 'replaced' }));
    funding.sequence = 0xffffffff;
    expect(await leads('replaced')).toBe(waits('replaced'));
    const raw = await node.rpc<string>('getrawtransaction', [stands('replaced')]);
    const tx = parseTransaction(new Reader(fromHex(raw)));
    tx.outputs[0]!.value -= 5_000n;
    const txid = await node.rpc<string>('sendrawtransaction', [toHex(formatTransaction(tx)), true]);
    expect(await leads('replaced')).toBe(`0 ${txid}`);
    expect((await finds({ name: 'replaced' })).rows).toEqual([`0 ${txid}`]);
    expect((await finds({ claim_ids: [actor.idOf('replaced')] })).rows).toEqual([]);
  });

  it('if a block is disconnected, and returns', async () => {
    const block = await mine(claim('taken back', 1, { name: 'taken-back' }));
    expect(await leads('taken-back')).toBe(stands('taken back'));
    await node.rpc('invalidateblock', [block]);
    await expect.poll(() => leads('taken-back'), { timeout: HANG_MS }).toBe(waits('taken back'));
    await node.rpc('reconsiderblock', [block]);
    await expect.poll(() => leads('taken-back'), { timeout: HANG_MS }).toBe(stands('taken back'));
  });

  it('but not an update in the mempool, if the block with its claim is disconnected', async () => {
    const block = await mine(claim('origin', 1, { name: 'origin' }));
    await act(update('origin', 2));
    expect(await leads('origin')).toBe(waits('origin'));
    await node.rpc('invalidateblock', [block]);
    expect(await node.rpc('getrawmempool')).toHaveLength(2);
    expect(await leads('origin')).toBe(waits('origin'));
    expect((await finds({ name: 'origin' })).rows).toEqual([waits('origin')]);
    expect(await leads(`origin#${actor.idOf('origin')}`)).toBe(waits('origin'));
    await node.rpc('reconsiderblock', [block]);
  });

  it('if a block of another branch conflicts with it', async () => {
    await node.rpc('setnetworkactive', [false]);
    await expect.poll(() => node.rpc('getconnectioncount'), { timeout: HANG_MS }).toBe(0);
    await act(claim('conflicts', 1, { name: 'conflicts' }));
    expect(await leads('conflicts')).toBe(waits('conflicts'));
    const raw = await node.rpc<string>('getrawtransaction', [stands('conflicts')]);
    const tx = parseTransaction(new Reader(fromHex(raw)));
    tx.outputs[0]!.value -= 5_000n;
    const rival = await peer.rpc<string>('sendrawtransaction', [toHex(formatTransaction(tx)), true]);
    await peer.rpc('generatetoaddress', [1, ADDRESS]);
    await node.rpc('setnetworkactive', [true]);
    await connect(peer, node);
    await expect.poll(() => leads('conflicts'), { timeout: HANG_MS }).toBe(rival);
    expect((await finds({ claim_ids: [actor.idOf('conflicts')] })).rows).toEqual([]);
  });

  it('if it expires', async () => {
    await act(claim('expires', 1, { name: 'expires' }));
    expect(await leads('expires')).toBe(waits('expires'));
    await node.rpc('setmocktime', [Math.floor(Date.now() / 1000) + 2 * HOUR_SEC]);
    await act(claim('behind it', 1, { name: 'behind-it' }));
    expect(await leads('expires')).toBe('Could not find claim at "expires".');
    expect(await leads('behind-it')).toBe(waits('behind it'));
    await node.rpc('setmocktime', [0]);
  });

  it('if a full mempool evicts it', async () => {
    await mine(claim('kept', 1, { name: 'kept' }));
    const kept = stands('kept');
    const coins = await largeCoins(7);
    await node.rpc('setnetworkactive', [false]);
    await act(
      claim('evicted', LOW_FEE_BID, { name: 'evicted' }),
      claim('@evicted', LOW_FEE_BID, { name: '@evicted', isChannel: true }),
      claim('by evicted', LOW_FEE_BID, { name: 'by-evicted', by: '@evicted' }),
      update('kept', LOW_FEE_BID + 1),
      claim('stays', 1, { name: 'stays' }),
    );
    expect(await leads('@evicted/by-evicted')).toBe(waits('by evicted'));
    expect(await leads('kept')).toBe(waits('kept'));
    const lost = ['evicted', '@evicted', 'by evicted', 'kept'].map(stands);
    for (const [n, coin] of coins.entries()) await node.rpc('sendrawtransaction', [filling(coin, n), true]);
    const left = await node.rpc<string[]>('getrawmempool');
    expect(left.filter((txid) => lost.includes(txid))).toEqual([]);
    expect(left).toContain(stands('stays'));

    expect(await leads('stays')).toBe(waits('stays'));
    expect(await leads('evicted')).toBe('Could not find claim at "evicted".');
    expect(await leads('@evicted')).toBe('Could not find channel in "@evicted".');
    expect(await leads('kept')).toBe(kept);
    expect(await finds({ name: 'kept' })).toEqual({ rows: [kept], total: 1 });
    for (const gone of [
      { name: 'evicted' },
      { channel: '@evicted' },
      { claim_ids: [actor.idOf('by evicted')] },
    ])
      expect((await finds(gone)).rows).toEqual([]);
  });
});

/** The bid of a new claim that leaves a fee of 10,000 satoshis. */
const LOW_FEE_BID = 499;
/** The script of the first filling transaction, and how much shorter each next one is, so that its fee rate is higher. */
const [FILLING_BYTES, SHORTER_BYTES] = [900_000, 40_000];

/** The ids of coinbases that may be spent. */
async function largeCoins(count: number): Promise<string[]> {
  const hashes = await node.rpc<string[]>('generatetoaddress', [count, OPEN_ADDRESS]);
  await node.rpc('generatetoaddress', [MATURITY, ADDRESS]);
  const blocks = hashes.map((hash) => node.rpc<{ tx: string[] }>('getblock', [hash]));
  return (await Promise.all(blocks)).map(({ tx }) => tx[0]!);
}

/** The n-th large transaction, with a fee rate above that of the low bids. The coinbase is its fee. */
function filling(coinbase: string, n: number): string {
  const script = Buffer.alloc(FILLING_BYTES - n * SHORTER_BYTES, 0x6a);
  const input = {
    prevout: { hash: hashFromHex(coinbase), index: 0 },
    scriptSig: Buffer.of(1, 0x51),
    sequence: 0xffffffff,
    witness: [],
  };
  return toHex(
    formatTransaction({ version: 2, inputs: [input], outputs: [{ value: 0n, script }], lockTime: 0 }),
  );
}

it('warns in the log of constraints that the hub does not know', async () => {
  await outputs('search', { name: 'old', content_aspect_rati: '<=1' });
  await expect.poll(() => node.output(), { timeout: HANG_MS }).toContain('"content_aspect_rati"');
  await expect(node.rpc('searchclaims', [{ content_aspect_rati: '<=1' }])).rejects.toMatchObject({
    code: -8,
  });
});
