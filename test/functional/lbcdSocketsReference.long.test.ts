/**
 * Compares lbcd's WebSocket protocol with lbcd: both have the same chain and get the same commands. Answers, notifications and
 * their order must be equal. `LBCD` names the binary.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LbcdSocket, type LbcdMessage } from './support/lbcdSocket.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { referenceBinary, startLbcd, type ReferenceNode } from './support/reference.js';

const lbcd = referenceBinary('LBCD');
/** Past the height from which blocks hold witnesses. */
const HEIGHT = 160;
/** Time after which no further notification of a step is expected. */
const QUIET_MS = 300;

describe.runIf(lbcd)('the WebSocket protocol beside lbcd', () => {
  let node: RegtestNode;
  let reference: ReferenceNode;
  let ours: LbcdSocket;
  let theirs: LbcdSocket;
  const addresses: string[] = [];

  beforeAll(async () => {
    node = await startRegtest({
      args: ['-compat=lbcd', '-fallbackfee=0.001', '-txindex', '-mintxfee=0.001'],
    });
    reference = await startLbcd(lbcd!, ['--txindex', '--relaynonstd']);
    const { username, password } = new URL(node.url);
    ours = await new LbcdSocket(`ws://127.0.0.1:${node.rpcPort}/ws`, `${username}:${password}`).opened();
    theirs = await new LbcdSocket(`ws://127.0.0.1:${reference.rpcPort}/ws`, null).opened();
    for (const type of ['legacy', 'p2sh-segwit', 'bech32', 'legacy'])
      addresses.push(await node.rpc<string>('getnewaddress', ['', type]));
    for (let height = 0; height < HEIGHT; height++) await mine(addresses[3]);
  });
  afterAll(async () => {
    await ours?.end();
    await theirs?.end();
    await node?.stop();
    await reference?.stop();
  });

  /** A block of ours, which lbcd gets too. */
  async function mine(to = ADDRESS): Promise<string> {
    const [hash] = await node.rpc<string[]>('generatetoaddress', [1, to]);
    const raw = await node.rpc('getblock', [hash, 0]);
    expect(await reference.rpc('submitblock', [raw])).toBeNull();
    return hash!;
  }

  /** A transaction of our wallet, which lbcd gets too. */
  async function send(method: string, ...params: unknown[]): Promise<string> {
    const txid = await node.rpc<string>(method, params);
    await reference.rpc('sendrawtransaction', [await node.rpc('getrawtransaction', [txid]), true]);
    return txid;
  }

  /** Sends a command to both. The answers must be equal. */
  async function both(method: string, ...params: unknown[]): Promise<LbcdMessage> {
    const [one, two] = await Promise.all([ours.ask(method, ...params), theirs.ask(method, ...params)]);
    expect({ ...one, id: 0 }, `${method} ${JSON.stringify(params)}`).toEqual({ ...two, id: 0 });
    return one;
  }

  /** Notifications of both since the last call, which must be equal. */
  async function reported(what: string): Promise<string[]> {
    await ours.result('getblockcount');
    await theirs.untilTrue(() => theirs.notes.length >= ours.notes.length, `as many notifications: ${what}`);
    // Waits for further notifications of lbcd, in case ours are too few.
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const [one, two] = [ours.notes.splice(0), theirs.notes.splice(0)];
    expect(one, what).toEqual(two);
    return one.map(({ method }) => method!);
  }

  it('authenticates by the first request', async () => {
    expect(await theirs.ask('authenticate', 'u', 'p')).toEqual({
      jsonrpc: '1.0',
      result: null,
      error: null,
      id: 1,
    });
    await ours.result('getblockcount');
  });

  it.each([
    ['nosuch'],
    ['notifyblocks', 1],
    ['notifyreceived'],
    ['notifyreceived', 5],
    ['notifyreceived', 'text'],
    ['notifyreceived', { a: 1 }],
    ['notifyreceived', ['a', 5]],
    ['notifyreceived', ['nonsense']],
    ['notifyspent', [{ hash: 'zz', index: 0 }]],
    ['notifyspent', [{ hash: '00', index: -1 }]],
    ['notifyspent', [{ hash: 5, index: 0 }]],
    ['notifyspent', [{ hash: '00', index: 'x' }]],
    ['notifyspent', [5]],
    ['notifyspent', [{ hash: '0'.repeat(65), index: 0 }]],
    ['loadtxfilter', true, [], [{ hash: 'zz', index: 0 }]],
    ['loadtxfilter', true, []],
    ['loadtxfilter', 'x', [], []],
    ['rescanblocks', []],
    ['rescan', 'zz', [], []],
    ['rescan', '00'.repeat(32), ['x'], []],
    ['stopnotifyspent', [{ hash: 'zz', index: 0 }]],
    ['stopnotifyreceived', ['nonsense']],
    ['notifynewtransactions', 'x'],
    ['notifynewtransactions', 0],
    ['notifynewtransactions', null],
    ['loadtxfilter', 1, [], []],
    ['notifyreceived', [` ${ADDRESS}`]],
    ['notifyreceived', [`02${'05'.padStart(64, '0')}`]],
    ['stopnotifynewtransactions'],
    ['getblockhash', 1],
    ['getblockhash', 1_000_000],
    ['getblockcount'],
    ['getbestblock'],
    ['getcurrentnet'],
  ])('answers %s %j as lbcd does', async (method, ...params) => {
    await both(method as string, ...params);
  });

  it('reports blocks, transactions, addresses and outputs as lbcd does', async () => {
    await both('notifyblocks');
    await both('notifynewtransactions');
    await both('notifyreceived', addresses.slice(0, 3));
    expect(await reported('nothing yet')).toEqual([]);
    for (const address of addresses.slice(0, 3)) {
      await send('sendtoaddress', address, 1);
      expect(await reported(`a payment to ${address}`)).toContain('recvtx');
    }
    await mine();
    expect(await reported('a block with payments')).toContain('filteredblockconnected');
    await both('notifynewtransactions', true);
    await both('stopnotifyreceived', [addresses[1]]);
    await send('claimname', 'mindblown', '00', 0.5);
    await reported('a claim');
    const all =
      await node.rpc<{ txid: string; vout: number; amount: number; address: string }[]>('listunspent');
    const coins = all.filter(({ address }) => addresses.slice(0, 3).includes(address));
    const spent = coins.map(({ txid, vout }) => ({ txid, vout }));
    const amount = coins.reduce((sum, coin) => sum + coin.amount, -0.01);
    const raw = await node.rpc('createrawtransaction', [spent, { [ADDRESS]: Number(amount.toFixed(8)) }]);
    const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
    await node.rpc('sendrawtransaction', [hex]);
    await reference.rpc('sendrawtransaction', [hex, true]);
    expect(await reported('what was received is spent')).toContain('redeemingtx');
    const [first] = spent;
    await both('notifyspent', [{ hash: first!.txid, index: first!.vout }]);
    expect(await reported('an output that is spent already')).toEqual(['redeemingtx']);
    await mine();
    expect(await reported('a block that spends')).toContain('redeemingtx');
    await both('stopnotifynewtransactions');
    await send('sendtoaddress', ADDRESS, 1);
    expect(await reported('a payment elsewhere')).toEqual([]);
    await mine();
    await reported('another block');
  });

  it('filters as lbcd does', async () => {
    await both('loadtxfilter', true, [addresses[0], 'nonsense'], []);
    await send('sendtoaddress', addresses[0], 2);
    expect(await reported('a payment that is filtered')).toContain('relevanttxaccepted');
    const hashes = [await mine(), await mine()];
    expect(await reported('blocks')).toContain('filteredblockconnected');
    const { result } = await both('rescanblocks', hashes);
    expect(result).toHaveLength(1);
    await both('rescanblocks', [...hashes].reverse());
    await both('rescanblocks', ['00']);
    await both('rescanblocks', ['zz']);
    await both('loadtxfilter', false, [addresses[2]], []);
    await both('rescanblocks', hashes);
    await both('loadtxfilter', true, [], []);
    await both('rescanblocks', hashes);
  });

  it('rescans as lbcd does', async () => {
    const hash = (height: number): Promise<string> => node.rpc('getblockhash', [height]);
    const tip = await node.rpc<number>('getblockcount');
    await both('rescan', await hash(0), addresses.slice(0, 3), []);
    expect((await reported('a rescan of all')).at(-1)).toBe('rescanfinished');
    await both('rescan', await hash(HEIGHT), addresses, [], await hash(tip));
    expect(await reported('a rescan of some blocks')).toContain('redeemingtx');
    await both('rescan', await hash(tip), addresses, [], await hash(tip));
    expect(await reported('a rescan of no block')).toEqual([]);
    await both('rescan', await hash(tip), [], []);
    expect(await reported('a rescan for nothing')).toEqual(['rescanfinished']);
    await both('rescan', await hash(tip), [], [], null);
    expect(await reported('a rescan without an end')).toEqual(['rescanfinished']);
    await send('sendtoaddress', addresses[1], 1);
    expect(await reported('what is watched after a rescan')).toContain('recvtx');
  });

  it('reports a reorganisation as lbcd does', async () => {
    const lost = await mine();
    await reported('a block');
    await node.rpc('invalidateblock', [lost]);
    expect(await ours.take(2)).toMatchObject([
      { method: 'blockdisconnected', params: [lost, {}, {}] },
      { method: 'filteredblockdisconnected' },
    ]);
    // lbcd leaves its block when it knows a longer branch.
    const branch = await node.rpc<string[]>('generatetoaddress', [2, addresses[3]!]);
    for (const hash of branch)
      await reference.rpc('submitblock', [await node.rpc('getblock', [hash, 0])]).catch(() => undefined);
    await theirs.untilTrue(
      () => theirs.notes.some(({ params }) => params?.[0] === branch[1]),
      'the other branch',
    );
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const shown = theirs.notes.splice(0);
    expect(shown.slice(0, 2)).toMatchObject([{ method: 'blockdisconnected', params: [lost, {}, {}] }, {}]);
    expect(ours.notes.splice(0)).toEqual(shown.slice(2));
  });
});
