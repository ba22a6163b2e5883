/**
 * The folders that are corrupted: one chain with claims, supports, updates, branches, a wallet, every index, unconfirmed
 * transactions, fee history, addresses and bans. The node was stopped cleanly once and killed in several states. Also blocks
 * that a peer could send: all blocks, the next valid ones, and blocks that spend a coin twice.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { randomBytes, randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PeerAddressBook } from '../../../../src/net/addressBook/peerAddressBook.js';
import { PeersFile } from '../../../../src/net/addressBook/peersFile.js';
import { parseNetAddress } from '../../../../src/net/netAddress.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { quietLogger } from './quietLogger.js';
import { ClaimSource } from '../claimSource.js';
import { OPEN_ADDRESS } from '../network.js';
import { mineBlock, placeAt, transaction } from '../rawChain.js';
import { hashOf } from '../rawMessages.js';
import { CorruptedNode, INDEX_ARGS, type RpcAnswer } from './runner.js';
import { untilIndexed } from './untilIndexed.js';

export interface State {
  readonly name: string;
  readonly folder: string;
  /** The same folder some blocks earlier. */
  readonly earlier: string;
}

export interface CorruptionFixture {
  readonly states: readonly State[];
  /** Hashes of the active chain by height. */
  readonly hashes: readonly string[];
  readonly staleHashes: readonly string[];
  readonly txids: readonly string[];
  /** Claims that are live at the tip. */
  readonly claimIds: readonly string[];
  /** Every block that was mined, in hex, in the order of arrival. */
  readonly arrivals: readonly string[];
  /** Blocks after the tip, in hex. */
  readonly next: readonly string[];
  /** Blocks at valid heights after the tip whose transactions spend outputs that are already spent. */
  readonly doubleSpends: readonly string[];
  remove(): void;
}

/** Number of coinbases from height 2 on that pay to the wallet. */
const WALLET_COINS = 3;

interface NamedClaims {
  readonly claims: readonly { readonly claimId: string }[];
}

class Rpc {
  readonly node: CorruptedNode;
  constructor(node: CorruptedNode) {
    this.node = node;
  }
  rpc = async <T = unknown>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const { result, error }: RpcAnswer = await this.node.call(method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  };
}

async function begin(
  dataDir: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Rpc> {
  const node = await CorruptedNode.start(dataDir, [...INDEX_ARGS, ...args], env);
  if (!node.isRunning) throw new Error(`the fixture's node does not start: ${node.stderr}`);
  return new Rpc(node);
}

const mine = ({ rpc }: Rpc, blocks: number): Promise<string[]> =>
  rpc('generatetoaddress', [blocks, OPEN_ADDRESS]);

async function send(on: Rpc, source: ClaimSource, count: number): Promise<void> {
  for (const hex of await source.take(count)) await on.rpc('sendrawtransaction', [hex]);
}

/** Rounds of claims. Some of their blocks are disconnected, and the claims are mined again in other blocks. */
async function live(on: Rpc, source: ClaimSource, rounds: number, arrivals: string[]): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await send(on, source, 4);
    if (round % 4 === 1) await on.rpc('sendtoaddress', [await on.rpc('getnewaddress', [`${round}`]), '0.01']);
    if (round % 8 === 3) await on.rpc('claimname', ['ab', '6f6d67', '0.001']);
    const hashes = await mine(on, 1);
    if (round % 7 === 4) {
      const height = await on.rpc<number>('getblockcount');
      const away = await on.rpc<string>('getblockhash', [height - 1]);
      arrivals.push(...hashes);
      await on.rpc('invalidateblock', [away]);
      hashes.splice(0, hashes.length, ...(await mine(on, 3)));
      await on.rpc('reconsiderblock', [away]);
    }
    arrivals.push(...hashes);
  }
}

/** Pays coins that anyone can spend to the wallet. */
async function fillWallet(on: Rpc): Promise<void> {
  for (let height = 2; height < 2 + WALLET_COINS; height++) {
    const hash = await on.rpc<string>('getblockhash', [height]);
    const { tx } = await on.rpc<{ tx: string[] }>('getblock', [hash]);
    const address = await on.rpc<string>('getnewaddress');
    const { scriptPubKey } = await on.rpc<{ scriptPubKey: string }>('getaddressinfo', [address]);
    const script = Buffer.from(scriptPubKey, 'hex');
    const payment = transaction([{ txid: hashOf(tx[0]!) }], [{ valueSat: 99_990_000n, script }]);
    await on.rpc('sendrawtransaction', [payment.toString('hex')]);
  }
}

function copyOf(folder: string, to: string): string {
  cpSync(folder, to, { recursive: true });
  return to;
}

async function writePeers(folder: string): Promise<void> {
  const nowSec = (): number => Math.floor(Date.now() / 1000);
  const random = {
    int: (below: number) => randomInt(below),
    u64: () => randomBytes(8).readBigUInt64LE(),
    bytes: (count: number) => randomBytes(count),
  };
  const book = new PeerAddressBook({ random, nowSec, log: quietLogger });
  const source = parseNetAddress('8.8.4.4', 9246)!;
  for (let i = 0; i < 60; i++) {
    const address = parseNetAddress(`5.${i}.7.${i + 1}`, 9246)!;
    book.add([{ address, services: 9n, timeSec: nowSec() - 60 }], source);
  }
  expect(book.size).toBeGreaterThan(40);
  await new PeersFile(join(folder, 'regtest', 'peers.dat'), regtestParams.magic, quietLogger).save(book);
}

/** Builds all folders; `remove` deletes them. */
export async function buildFixture(): Promise<CorruptionFixture> {
  const work = mkdtempSync(join(tmpdir(), 'corrupted-'));
  const base = join(work, 'base');
  mkdirSync(base);
  const chain = new FixtureChain(await begin(base));
  await chain.build(base);
  await writePeers(base);

  // The chain is continued once without interruption. The nodes on the other states receive these blocks.
  const stopped = copyOf(base, join(work, 'stopped'));
  chain.on = await begin(stopped);
  const from = chain.arrivalHashes.length;
  const facts = await chain.continue();
  chain.on = await begin(copyOf(stopped, join(work, 'ahead')));
  const next = await chain.blocksAhead(4);

  const killed = await killedStates(work, base, facts.arrivals.slice(from));
  const staleHashes = chain.arrivalHashes.filter((hash) => !facts.hashes.includes(hash));
  expect(staleHashes.length).toBeGreaterThan(3);
  return {
    ...facts,
    states: [{ name: 'stopped', folder: stopped, earlier: base }, ...killed],
    staleHashes,
    next,
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}

type ChainFacts = Pick<CorruptionFixture, 'hashes' | 'txids' | 'claimIds' | 'arrivals' | 'doubleSpends'>;

/** The chain of the fixture, which several nodes make one after the other. */
class FixtureChain {
  /** Every block that was mined, in the order of arrival. */
  readonly arrivalHashes: string[] = [];
  on: Rpc;
  private source: ClaimSource | null = null;

  constructor(on: Rpc) {
    this.on = on;
  }

  /** Makes the chain up to the state before the last blocks, and stops the node. */
  async build(folder: string): Promise<void> {
    this.arrivalHashes.push(...(await mine(this.on, 240)));
    await fillWallet(this.on);
    for (let phase = 0; phase < 3; phase++) {
      await live(this.on, this.supply(), 14, this.arrivalHashes);
      await this.on.node.stop();
      this.on = await begin(folder);
    }
    await send(this.on, this.supply(), 5);
    for (let i = 1; i <= 20; i++) await this.on.rpc('setban', [`203.0.113.${i}`, 'add', 86_400]);
    await this.on.node.stop();
  }

  /** Makes the last blocks, reads what the queries need, and stops the node. */
  async continue(): Promise<ChainFacts> {
    await live(this.on, this.supply(), 16, this.arrivalHashes);
    const tip = await placeAt(this.on);
    const arrivals: string[] = [];
    for (const hash of this.arrivalHashes) arrivals.push(await this.hex(hash));
    const hashes: string[] = [];
    for (let height = 0; height <= tip.height; height++)
      hashes.push(await this.on.rpc('getblockhash', [height]));
    const txids: string[] = [];
    for (const hash of hashes.slice(1)) txids.push(...(await this.txidsOf(hash)));
    const coinbase = async (height: number): Promise<Buffer> =>
      hashOf((await this.txidsOf(hashes[height]!))[0]!);
    const doubleSpends = [
      { txid: await coinbase(2), index: 0 },
      { txid: await coinbase(20), index: 0 },
      await lastSpent(this.on, hashes),
    ].map((input) => mineBlock(tip, [transaction([input], [{ valueSat: 1000n }])]).raw.toString('hex'));
    await send(this.on, this.supply(), 6);
    const claimIds = (await this.on.rpc<NamedClaims[]>('getclaimsintrie')).flatMap(({ claims }) =>
      claims.map(({ claimId }) => claimId),
    );
    await untilIndexed(this.on.node);
    await this.on.node.stop();
    return { hashes, txids, claimIds, arrivals, doubleSpends };
  }

  /** Mines blocks on the tip and stops the node. Returns the blocks in hex. */
  async blocksAhead(count: number): Promise<string[]> {
    const blocks: string[] = [];
    for (let i = 0; i < count; i++) {
      const [hash] = await mine(this.on, 1);
      blocks.push(await this.hex(hash!));
      await send(this.on, this.supply(), 3);
    }
    await this.on.node.stop();
    return blocks;
  }

  private supply(): ClaimSource {
    const node = { rpc: <T>(method: string, params?: readonly unknown[]) => this.on.rpc<T>(method, params) };
    return (this.source ??= new ClaimSource(node, 1, undefined, 2 + WALLET_COINS));
  }

  private hex(hash: string): Promise<string> {
    return this.on.rpc('getblock', [hash, 0]);
  }

  private async txidsOf(hash: string): Promise<readonly string[]> {
    return (await this.on.rpc<{ tx: string[] }>('getblock', [hash])).tx;
  }
}

/** Copies of the base whose nodes were killed while they received the blocks, or at a point of a flush. */
async function killedStates(work: string, base: string, blocks: readonly string[]): Promise<State[]> {
  const states: State[] = [];
  const kill = async (
    name: string,
    args: readonly string[],
    crashAt: string | null,
    flushAfter: readonly number[],
  ): Promise<void> => {
    const folder = copyOf(base, join(work, name));
    const { node, rpc } = await begin(folder, args, crashAt ? { LBCNODE_CRASH_AT: crashAt } : {});
    try {
      for (const [i, block] of blocks.entries()) {
        await rpc('submitblock', [block]);
        if (flushAfter.includes(i)) await rpc('gettxoutsetinfo');
      }
    } catch (error) {
      if (crashAt === null) throw error;
    }
    const { signal } = crashAt === null ? await node.kill() : await node.ended;
    expect(signal).toBe('SIGKILL');
    states.push({ name, folder, earlier: base });
  };
  await kill('killed', [], null, []);
  await kill('killed-after-flushes', [], null, [3, 8, 13]);
  const last = blocks.length - 1;
  const journal = ['-dbbatchsize=4096'];
  await kill('killed-in-journal', journal, 'flush:in-journal@2', [6, last]);
  await kill('killed-with-journal', journal, 'flush:journal-committed@2', [6, last]);
  await kill('killed-applying', journal, 'flush:applying-journal@3', [last]);
  return states;
}

/** The output that the second transaction of a block spends first, in the last block that has a second transaction. */
async function lastSpent({ rpc }: Rpc, hashes: readonly string[]): Promise<{ txid: Buffer; index: number }> {
  for (const hash of [...hashes].reverse()) {
    const { tx } = await rpc<{ tx: { vin: { txid?: string; vout?: number }[] }[] }>('getblock', [hash, 2]);
    const spent = tx[1]?.vin[0];
    if (spent?.txid !== undefined) return { txid: hashOf(spent.txid), index: spent.vout! };
  }
  throw new Error('nothing was ever spent');
}
