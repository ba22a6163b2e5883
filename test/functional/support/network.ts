/** A few connected nodes for functional tests of the network: real processes, loopback sockets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hash160 } from '../../../src/crypto/hash.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { formatTransaction, type Transaction } from '../../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../../src/script/address.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashFromHex, toHex } from '../../../src/util/bytes.js';
import { HANG_MS, startRegtest, type RegtestNode, type RegtestOptions } from './node.js';

/** A script hash output that anyone can spend: the hash of the script `1`. */
export const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) } as const;
export const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));

export interface PeerInfo {
  id: number;
  addr: string;
  inbound: boolean;
  version: number;
  banscore: number;
  synced_headers: number;
  synced_blocks: number;
  inflight: number[];
  whitelisted: boolean;
  bytessent_per_msg: Record<string, number>;
  bytesrecv_per_msg: Record<string, number>;
}

/** Starts a node that listens on the loopback interface and connects to no peer by itself. */
export function startPeer(options: RegtestOptions = {}): Promise<RegtestNode> {
  return startRegtest({
    ...options,
    args: ['-listen=1', '-bind=127.0.0.1', '-dnsseed=0', '-listenonion=0', ...(options.args ?? [])],
  });
}

/** The nodes and folders of one test. They are stopped and removed after the test. */
export class PeerGroup {
  readonly nodes: RegtestNode[] = [];
  private readonly folders: string[] = [];

  async start(options: RegtestOptions = {}): Promise<RegtestNode> {
    const node = await startPeer(options);
    this.nodes.push(node);
    return node;
  }

  folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'peer-'));
    this.folders.push(path);
    return path;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.splice(0).map((node) => node.stop()));
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}

export const heightOf = (node: RegtestNode): Promise<number> => node.rpc('getblockcount');

export const addressOf = (node: RegtestNode): string => `127.0.0.1:${node.p2pPort}`;
export const peersOf = (node: RegtestNode): Promise<PeerInfo[]> => node.rpc<PeerInfo[]>('getpeerinfo');

/** Polls until the condition is true. */
export async function until(
  what: string,
  question: () => Promise<boolean>,
  timeoutMs = HANG_MS,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; !(await question());) {
    if (Date.now() > end) throw new Error(`still waiting after ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
}

/** Pairs of nodes that `connect` connected. */
const links = new WeakMap<RegtestNode, Set<RegtestNode>>();

/** Connects `from` to `to` and waits for the handshake. */
export async function connect(from: RegtestNode, to: RegtestNode): Promise<void> {
  links.set(from, (links.get(from) ?? new Set()).add(to));
  await from.rpc('addnode', [addressOf(to), 'onetry']);
  await until('the handshake', async () =>
    (await peersOf(from)).some(({ addr, version }) => addr === addressOf(to) && version > 0),
  );
}

export async function disconnect(from: RegtestNode, to: RegtestNode): Promise<void> {
  links.get(from)?.delete(to);
  await from.rpc('disconnectnode', [addressOf(to)]);
  await until('the end of the connection', async () =>
    (await peersOf(from)).every(({ addr }) => addr !== addressOf(to)),
  );
}

/** Interval between two checks for closed connections. */
const RECONNECT_MS = 2000;

/**
 * Waits until these nodes agree. On regtest a block is due every second, so a node that got no processor time for long may be
 * disconnected by its peer. It is connected again.
 */
async function untilAgreed(
  what: string,
  nodes: readonly RegtestNode[],
  isAgreed: () => Promise<boolean>,
  timeoutMs?: number,
): Promise<void> {
  let lookAtMs = Date.now() + RECONNECT_MS;
  const question = async (): Promise<boolean> => {
    if (await isAgreed()) return true;
    if (Date.now() < lookAtMs) return false;
    lookAtMs = Date.now() + RECONNECT_MS;
    for (const from of nodes) {
      const known = (await peersOf(from)).map(({ addr }) => addr);
      for (const to of links.get(from) ?? [])
        if (!known.includes(addressOf(to))) await from.rpc('addnode', [addressOf(to), 'onetry']);
    }
    return false;
  };
  await until(what, question, timeoutMs);
}

/** Waits until all nodes have the same tip. */
export async function untilSameTip(nodes: readonly RegtestNode[], timeoutMs?: number): Promise<void> {
  await untilAgreed(
    'the same tip',
    nodes,
    async () => {
      const tips = await Promise.all(nodes.map((node) => node.rpc<string>('getbestblockhash')));
      return new Set(tips).size === 1;
    },
    timeoutMs,
  );
}

export async function untilSameMempool(nodes: readonly RegtestNode[], timeoutMs?: number): Promise<void> {
  await untilAgreed(
    'the same mempool',
    nodes,
    async () => {
      const pools = await Promise.all(nodes.map((node) => node.rpc<string[]>('getrawmempool')));
      return new Set(pools.map((ids) => ids.sort().join())).size === 1;
    },
    timeoutMs,
  );
}

export async function chainState(node: RegtestNode): Promise<unknown> {
  const { disk_size: _size, ...set } = await node.rpc<Record<string, unknown>>('gettxoutsetinfo');
  return set;
}

/** A transaction that spends the coinbase of a block mined to `OPEN_ADDRESS`. */
export async function spendCoinbase(node: RegtestNode, height: number, feeSat = 1000n): Promise<string> {
  const hash = await node.rpc<string>('getblockhash', [height]);
  const { tx: ids } = await node.rpc<{ tx: string[] }>('getblock', [hash]);
  const tx: Transaction = {
    version: 2,
    inputs: [
      {
        prevout: { hash: hashFromHex(ids[0]!), index: 0 },
        scriptSig: Buffer.of(1, 0x51),
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: [{ value: 100_000_000n - feeSat, script: scriptForDestination(OPEN) }],
    lockTime: 0,
  };
  return toHex(formatTransaction(tx));
}
