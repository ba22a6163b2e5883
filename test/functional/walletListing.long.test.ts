/**
 * Compares the answers of a wallet with those of lbrycrd for the same wallet. lbrycrd's wallet has payments, claims, accounts,
 * conflicts and a reorganisation. It is imported row by row, and both get the same calls.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { networkPrefixes } from '../../src/client/claimOutputs.js';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { encodeDestination } from '../../src/script/address.js';
import { encodeSecret } from '../../src/script/wif.js';
import { signingKeyOf } from '../../src/signing/signingProvider.js';
import { WalletFile } from '../../src/wallet/store/walletFile.js';
import { readBerkeleyDb } from '../../src/wallet/transfer/berkeleyDb.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import {
  envelopeFrom,
  referenceBinary,
  startReference,
  type Envelope,
  type ReferenceNode,
} from './support/reference.js';

const binary = referenceBinary();
const KEY = signingKeyOf(sha256(Buffer.from('somebody else')), true);
const PREFIXES = networkPrefixes('regtest');
const FOREIGN_WIF = encodeSecret(KEY.privateKey, true, PREFIXES);
const FOREIGN = encodeDestination({ type: 'pubkeyhash', hash: hash160(KEY.publicKey) }, PREFIXES);
const UNOWNED = encodeDestination({ type: 'scripthash', hash: Buffer.alloc(20, 7) }, PREFIXES);

const less = (amount: number, by: number): number => Number((amount - by).toFixed(8));

type Rpc = ReferenceNode['rpc'];
interface Unspent {
  txid: string;
  vout: number;
  amount: number;
  scriptPubKey: string;
}

interface Life {
  readonly addresses: Record<string, string>;
  readonly txids: readonly string[];
  /** All blocks in hex, including stale ones, in the order of arrival. */
  readonly blocks: readonly string[];
  readonly stale: string;
  readonly early: string;
}

/** Operations on one node. `hashes` and `txids` collect all blocks and transactions made. */
function actor(rpc: Rpc) {
  const hashes: string[] = [];
  const txids: string[] = [];
  const mine = async (count: number, to: string): Promise<string[]> => {
    const made = await rpc<string[]>('generatetoaddress', [count, to]);
    hashes.push(...made);
    return made;
  };
  const noted = async (txid: Promise<unknown>): Promise<string> => {
    const made = await txid;
    txids.push(typeof made === 'string' ? made : (made as { txId: string }).txId);
    return txids[txids.length - 1]!;
  };
  const spend = async (
    coin: Unspent | { txid: string; vout: number; sequence?: number },
    outputs: object,
  ): Promise<string> => {
    const { txid, vout } = coin;
    const sequence = 'sequence' in coin ? coin.sequence : undefined;
    return rpc<string>('createrawtransaction', [
      [{ txid, vout, ...(sequence ? { sequence } : {}) }],
      outputs,
    ]);
  };
  const bySelf = async (raw: string): Promise<string> =>
    (await rpc<{ hex: string }>('signrawtransactionwithwallet', [raw])).hex;
  const bySomebody = async (raw: string): Promise<string> =>
    (await rpc<{ hex: string }>('signrawtransactionwithkey', [raw, [FOREIGN_WIF]])).hex;
  const send = (hex: string): Promise<string> => noted(rpc('sendrawtransaction', [hex]));
  return { rpc, hashes, txids, mine, noted, spend, bySelf, bySomebody, send };
}

/** Operations that produce every kind of list entry. */
async function live(rpc: Rpc): Promise<Life> {
  const act = actor(rpc);
  const { hashes, txids, mine, noted, spend, bySomebody, send } = act;
  const addresses: Record<string, string> = {};
  for (const [name, type] of [
    ['alice', 'legacy'],
    ['bob', 'bech32'],
    ['bob', 'p2sh-segwit'],
    ['', 'legacy'],
    ['żółw', 'bech32'],
    ['unused', 'legacy'],
  ] as const) {
    addresses[`${name} ${type}`] = await rpc('getnewaddress', [name, type]);
  }
  const [alice, bob, wrapped, plain, turtle] = Object.values(addresses) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await mine(120, alice);
  await rpc('importaddress', [FOREIGN, 'watched', false]);
  const early = (await mine(1, FOREIGN))[0]!;
  await rpc('setlabel', [UNOWNED, 'a shop']);
  const toForeign = await noted(rpc('sendtoaddress', [FOREIGN, 5, 'for the road', 'somebody']));
  await noted(rpc('sendmany', ['alice', { [bob]: 1, [wrapped]: 2, [UNOWNED]: 0.5 }, 1, 'many']));
  await noted(rpc('sendfrom', ['alice', UNOWNED, 3, 1, 'from alice', 'the shop']));
  await rpc('move', ['alice', 'bob', 1.5, 1, 'a loan']);
  await mine(1, plain);
  await noted(rpc('claimname', ['name', 'c0ffee', 1]));
  await mine(1, UNOWNED);
  const claim = await rpc<{ claimId: string }>('getvalueforname', ['name']);
  await noted(rpc('supportclaim', ['name', claim.claimId, 0.4]));
  await noted(rpc('updateclaim', [txids[txids.length - 2], 'beef', 0.9]));
  await mine(2, UNOWNED);
  await noted(rpc('abandonsupport', [txids[txids.length - 2], turtle]));
  // Another user pays back, partly to an address that was already used.
  const found = await rpc<{ vout: { n: number; value: number; scriptPubKey: { addresses?: string[] } }[] }>(
    'getrawtransaction',
    [toForeign, true],
  );
  const { n } = found.vout.find(({ scriptPubKey }) => scriptPubKey.addresses?.[0] === FOREIGN)!;
  await send(
    await bySomebody(
      await spend({ txid: toForeign, vout: n }, { [bob]: 1, [turtle]: 0.7, [FOREIGN]: 3.2, data: 'c0ffee' }),
    ),
  );
  await rpc('move', ['bob', '', 0.25]);
  await mine(3, wrapped);
  // Blocks that will be disconnected, with a payment that the next blocks do not contain.
  const stale = (await mine(2, plain))[0]!;
  const unlucky = await noted(rpc('sendtoaddress', [wrapped, 0.125]));
  await mine(1, UNOWNED);
  await rpc('invalidateblock', [stale]);
  await mine(4, bob);
  // The payment may not be in the mempool, because its lock time was not final.
  const { hex } = await rpc<{ hex: string }>('gettransaction', [unlucky]);
  await rpc('sendrawtransaction', [hex]).catch(() => undefined);
  await replaceTransactions(act, { alice, bob, plain, turtle });
  await rpc('getaccountaddress', ['carol']);
  const blocks: string[] = [];
  for (const hash of hashes) blocks.push(await rpc('getblock', [hash, 0]));
  return { addresses, txids, blocks, stale, early };
}

async function replaceTransactions(
  { rpc, txids, mine, noted, spend, bySelf, bySomebody, send }: ReturnType<typeof actor>,
  { alice, bob, plain, turtle }: Readonly<Record<'alice' | 'bob' | 'plain' | 'turtle', string>>,
): Promise<void> {
  // A transaction whose replacement is confirmed, one that was replaced and abandoned, and an unconfirmed one.
  const coins = async (): Promise<Unspent[]> => rpc<Unspent[]>('listunspent', [100, 9999, [alice]]);
  const [one, two] = (await coins()) as [Unspent, Unspent];
  const amount = one.amount;
  const low = await bySelf(await spend({ ...one, sequence: 1 }, { [FOREIGN]: less(amount, 0.001) }));
  await send(low);
  await send(await bySelf(await spend({ ...one, sequence: 1 }, { [plain]: less(amount, 0.01) })));
  await mine(1, FOREIGN);
  await send(
    await bySelf(await spend({ ...two, sequence: 2 }, { [FOREIGN]: 0.3, [alice]: less(two.amount, 0.301) })),
  );
  const replaced = txids[txids.length - 1]!;
  await send(await bySelf(await spend({ ...two, sequence: 2 }, { [bob]: less(two.amount, 0.02) })));
  await rpc('abandontransaction', [replaced]);
  await noted(rpc('sendtoaddress', [UNOWNED, 0.0625, '', '', true, true]));
  const bumped = await rpc<{ txid: string }>('bumpfee', [txids[txids.length - 1]]);
  txids.push(bumped.txid);
  await noted(rpc('sendtoaddress', [turtle, 0.03125]));
  const foreignCoins = await rpc<Unspent[]>('listunspent', [1, 9999, [FOREIGN]]);
  const big = foreignCoins.find((coin) => coin.amount === 3.2)!;
  await send(await bySomebody(await spend(big, { [alice]: 1.1, [FOREIGN]: 2 })));
}

/** Items that only one of the lists has. */
function apart(ours: Envelope, theirs: Envelope): object {
  if (!Array.isArray(ours.result) || !Array.isArray(theirs.result)) return { ours, theirs };
  const [a, b] = [ours.result, theirs.result].map((list) => list.map((item) => JSON.stringify(item)));
  return {
    ours: a!.filter((item) => !b!.includes(item)),
    theirs: b!.filter((item) => !a!.includes(item)),
  };
}

type Ask = (method: string, ...params: unknown[]) => void;

const LABELS = ['alice', 'bob', '', 'żółw', 'unused', 'watched', 'a shop', 'carol', 'nobody', '*'];

function questions(life: Life, withAccounts: boolean): [string, unknown[]][] {
  const list: [string, unknown[]][] = [];
  const ask: Ask = (method, ...params) => void list.push([method, params]);
  const every = [...Object.values(life.addresses), FOREIGN, UNOWNED];
  askLists(ask, life, every);
  askByName(ask, every);
  askInvalid(ask);
  // Calls that change the wallet come last.
  ask('setlabel', UNOWNED, 'another shop');
  ask('listlabels');
  ask('getaddressesbylabel', 'another shop');
  if (withAccounts) {
    ask('getaccountaddress', 'carol');
    ask('getaccountaddress', 'bob');
    ask('setaccount', life.addresses['alice legacy'], 'bob');
    ask('listtransactions', 'bob', 100);
    ask('listaccounts');
    ask('getaddressesbyaccount', 'carol');
  }
  return list;
}

/** Lists and sums in all depths, with and without watched outputs. */
function askLists(ask: Ask, { txids, stale, early }: Life, every: readonly string[]): void {
  for (const watched of [false, true]) {
    for (const minconf of [0, 1, 2, 6, 200]) {
      ask('getbalance', null, minconf, watched);
      ask('getbalance', '*', minconf, watched);
      for (const label of LABELS) ask('getbalance', label, minconf, watched);
      for (const empty of [false, true]) {
        ask('listreceivedbyaddress', minconf, empty, watched);
        ask('listreceivedbylabel', minconf, empty, watched);
        ask('listreceivedbyaccount', minconf, empty, watched);
      }
      ask('listaccounts', minconf, watched);
    }
    for (const address of every) ask('listreceivedbyaddress', 0, true, watched, address);
    for (const txid of txids) ask('gettransaction', txid, watched);
    for (const label of LABELS)
      for (const [count, skip] of [
        [10, 0],
        [3, 2],
        [1000, 0],
        [1, 1],
        [0, 0],
        [7, 30],
      ])
        ask('listtransactions', label, count, skip, watched);
    for (const removed of [true, false]) {
      ask('listsinceblock', '', 1, watched, removed);
      ask('listsinceblock', stale, 6, watched, removed);
      ask('listsinceblock', early, 1000, watched, removed);
    }
  }
}

function askByName(ask: Ask, every: readonly string[]): void {
  for (const minconf of [0, 1, 6]) {
    for (const address of every) ask('getreceivedbyaddress', address, minconf);
    for (const label of LABELS) {
      ask('getreceivedbylabel', label, minconf);
      ask('getreceivedbyaccount', label, minconf);
    }
  }
  for (const label of LABELS) {
    ask('getaddressesbylabel', label);
    ask('getaddressesbyaccount', label);
  }
  for (const address of every) ask('getaccount', address);
  for (const purpose of ['', 'send', 'receive', 'refund']) ask('listlabels', purpose);
  ask('getbalance');
  ask('getunconfirmedbalance');
  ask('listaddressgroupings');
  ask('listtransactions');
  ask('listaccounts');
}

/** Calls that fail. */
function askInvalid(ask: Ask): void {
  ask('getbalance', 'x', 1, 2);
  ask('getbalance', 7);
  ask('gettransaction', '00');
  ask('gettransaction', 'zz');
  ask('listtransactions', '*', -1);
  ask('listtransactions', '*', 1, -1);
  ask('listsinceblock', '00');
  ask('listsinceblock', 'zz', 0);
  ask('listsinceblock', '', 0);
  ask('getreceivedbyaddress', 'x');
  ask('getreceivedbyaddress', encodeDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20) }, PREFIXES));
  ask('listreceivedbyaddress', 0, false, false, 'x');
  ask('listreceivedbyaddress', 0, false, false, '');
  ask('setlabel', 'x', 'y');
  ask('setlabel', UNOWNED, '*');
  ask('setaccount', 'x', 'y');
  ask('setaccount', UNOWNED, '*');
  ask('getaccount', 'x');
  ask('getaccountaddress', '*');
  ask('move', '*', 'a', 1);
  ask('move', 'a', '*', 1);
  ask('move', 'a', 'b', 0);
  ask('move', 'a', 'b', -1);
  ask('move', 'a', 'b', 1, 'x');
}

describe.skipIf(binary === undefined)('a wallet beside the reference', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it.each([true, false])(
    'gives the same answers, with accounts: %s',
    async (withAccounts) => {
      const folder = mkdtempSync(join(tmpdir(), 'lbcnode-listing-'));
      ends.push(async () => rmSync(folder, { recursive: true, force: true }));
      const option = '-deprecatedrpc=accounts';
      const reference = await startReference(binary!, [
        '-disablewallet=0',
        '-txindex',
        '-fallbackfee=0.0002',
        option,
      ]);
      ends.push(() => reference.stop());
      const life = await live(reference.rpc);
      const backup = join(folder, 'wallet.dat');
      await reference.rpc('backupwallet', [backup]);

      mkdirSync(join(folder, 'regtest'));
      const file = await WalletFile.create(join(folder, 'regtest', 'wallet.db'));
      const rows = [...readBerkeleyDb(readFileSync(backup), 'main')];
      await file.commit(
        rows
          .map(([key, value]): [string, Buffer] => [key.toString('latin1'), value])
          // Without these rows, the wallet reads only the given blocks of the chain.
          .filter(([key]) => !key.includes('bestblock')),
      );
      await file.close();
      const node: RegtestNode = await startRegtest({
        dataDir: folder,
        args: ['-txindex', ...(withAccounts ? [option] : [])],
      });
      ends.push(() => node.stop());
      for (const block of life.blocks) await node.rpc('submitblock', [block]);
      expect(await node.rpc('getbestblockhash')).toBe(await reference.rpc('getbestblockhash'));
      const pool = await reference.rpc<Record<string, { depends: string[] }>>('getrawmempool', [true]);
      const sent = new Set<string>();
      const sendOne = async (txid: string): Promise<void> => {
        if (sent.has(txid)) return;
        sent.add(txid);
        for (const parent of pool[txid]!.depends) await sendOne(parent);
        await node.rpc('sendrawtransaction', [await reference.rpc('getrawtransaction', [txid])]);
      };
      for (const txid of Object.keys(pool)) await sendOne(txid);

      const ours = envelopeFrom(`http://127.0.0.1:${node.rpcPort}/`, 'regtest:regtest');
      const differences: unknown[] = [];
      let asked = 0;
      for (const [method, params] of questions(life, withAccounts)) {
        const isAccountCall = /account|^move$/.test(method);
        const hasAccounts = ['listtransactions', 'listsinceblock', 'gettransaction', 'getbalance'].includes(
          method,
        );
        if (!withAccounts && (isAccountCall || hasAccounts)) continue;
        asked++;
        const [a, b] = [await ours(method, params), await reference.call(method, params)];
        if (JSON.stringify(a) !== JSON.stringify(b))
          differences.push(JSON.stringify({ method, params, ...apart(a, b) }));
      }
      expect(asked).toBeGreaterThan(withAccounts ? 400 : 90);
      expect(differences.slice(0, 5)).toEqual([]);
    },
    600_000,
  );
});
