/**
 * A light wallet like neutrino: it uses only P2P, follows headers, compares filter headers with checkpoints and
 * filters against filter headers, looks for its scripts in the filters (BIP157, BIP158), and fetches the blocks in which it
 * finds any. Shares only the keyed hash with the code of the node. It works against any node that serves filters.
 */
import { SipHash } from '../../../src/crypto/sipHash.js';
import {
  Cursor,
  HEADER_SIZE,
  INV_WITNESS_BLOCK,
  list,
  locator,
  NO_HASH,
  one,
  readHeaders,
  sha256d,
  shown,
  u32,
  version,
} from './rawMessages.js';
import { RawPeer } from './rawPeer.js';

const COMPACT_FILTERS = 64n;
const BASIC = Buffer.of(0);
const MAX_HEADERS = 2000;
const MAX_FILTERS = 1000;
const CHECKPOINT_INTERVAL = 1000;
const INVERSE_FALSE_RATE = 784_931n;
const REMAINDER_BITS = 19n;

/** A transaction of the chain that pays to scripts of the wallet or spends its outputs. */
export interface Found {
  readonly height: number;
  readonly txid: string;
  readonly received: readonly { readonly n: number; readonly valueSat: bigint }[];
  /** Spent outputs of the wallet: `txid:n`. */
  readonly spent: readonly string[];
}

interface Output {
  readonly valueSat: bigint;
  readonly script: Buffer;
}

interface Tx {
  readonly txid: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly Output[];
}

/** The numbers of a coded set, ascending. Source: BIP158 "Golomb-Coded Sets". */
export function decodeFilter(filter: Buffer): bigint[] {
  const cursor = new Cursor(filter);
  const count = cursor.count();
  const bytes = cursor.take(cursor.left);
  let at = 0;
  const bit = (): number => (bytes[at >> 3]! >> (7 - (at++ & 7))) & 1;
  const values: bigint[] = [];
  let last = 0n;
  for (let n = 0; n < count; n++) {
    let quotient = 0n;
    while (bit() === 1) quotient++;
    let rest = 0n;
    for (let i = 0n; i < REMAINDER_BITS; i++) rest = (rest << 1n) | BigInt(bit());
    last += (quotient << REMAINDER_BITS) | rest;
    values.push(last);
  }
  return values;
}

/** Whether the filter of the block matches one of the scripts. False positives are possible. */
export function matches(filter: Buffer, blockHash: Buffer, scripts: readonly Buffer[]): boolean {
  const values = new Set(decodeFilter(filter));
  const range = BigInt(values.size) * INVERSE_FALSE_RATE;
  const sip = new SipHash(blockHash.subarray(0, 16));
  return scripts.some((script) => values.has((sip.hash(script) * range) >> 64n));
}

function readTx(cursor: Cursor, bytes: Buffer): Tx {
  const start = cursor.at;
  const version = cursor.take(4);
  const hasWitness = bytes[cursor.at] === 0;
  if (hasWitness) cursor.take(2);
  const bodyStart = cursor.at;
  const inputs = cursor.list((each) => {
    const prevout = `${shown(each.hash())}:${each.u32()}`;
    each.take(each.count() + 4);
    return prevout;
  });
  const outputs = cursor.list((each) => ({ valueSat: each.u64(), script: each.take(each.count()) }));
  const body = bytes.subarray(bodyStart, cursor.at);
  if (hasWitness) for (const _ of inputs) cursor.list((each) => each.take(each.count()));
  const lockTime = cursor.take(4);
  const stripped = hasWitness ? Buffer.concat([version, body, lockTime]) : bytes.subarray(start, cursor.at);
  return { txid: shown(sha256d(stripped)), inputs, outputs };
}

/** The transactions of a serialized block. */
export function readBlock(bytes: Buffer): Tx[] {
  const cursor = new Cursor(bytes);
  cursor.take(HEADER_SIZE);
  return cursor.list((each) => readTx(each, bytes));
}

export class LightWallet {
  /** Ids in wire order by height. */
  readonly hashes: Buffer[] = [];
  /** Filter headers in wire order by height. */
  readonly filterHeaders: Buffer[] = [];
  /** Serialized filters by height. */
  readonly filters: Buffer[] = [];
  /** Blocks that were fetched, by height. */
  readonly fetched: number[] = [];
  readonly found: Found[] = [];
  private readonly peer: RawPeer;
  private readonly scripts: readonly Buffer[];
  /** `txid:n` of the wallet's outputs. */
  private readonly own = new Set<string>();

  private constructor(peer: RawPeer, scripts: readonly Buffer[]) {
    this.peer = peer;
    this.scripts = scripts;
  }

  /** Connects to a node, which must offer filters. `genesis`: id in wire order. */
  static async connect(port: number, genesis: Buffer, scripts: readonly Buffer[]): Promise<LightWallet> {
    const peer = await RawPeer.open(port);
    peer.send('version', version({ version: 70013 }));
    const services = new Cursor((await peer.next('version')).subarray(4)).u64();
    if ((services & COMPACT_FILTERS) === 0n) throw new Error('the node offers no compact filters');
    await peer.next('verack');
    peer.send('verack');
    await peer.handled();
    const wallet = new LightWallet(peer, scripts);
    wallet.hashes.push(genesis);
    return wallet;
  }

  close(): void {
    this.peer.close();
  }

  /** Follows the chain to the tip of the node: headers, filter headers, filters, and the blocks that match. */
  async sync(): Promise<void> {
    await this.syncHeaders();
    const from = this.filters.length;
    await this.syncFilterHeaders();
    await this.syncFilters();
    for (let height = from; height < this.filters.length; height++) {
      if (matches(this.filters[height]!, this.hashes[height]!, this.scripts)) await this.look(height);
    }
  }

  private async syncHeaders(): Promise<void> {
    for (;;) {
      const tip = this.hashes.at(-1)!;
      this.peer.send('getheaders', locator([tip, this.hashes[0]!], NO_HASH));
      const headers = readHeaders(await this.peer.next('headers'));
      for (const header of headers) {
        // Announced headers may be among them.
        const parent = header.subarray(4, 36);
        if (!parent.equals(this.hashes.at(-1)!)) continue;
        this.hashes.push(sha256d(header));
      }
      if (headers.length < MAX_HEADERS) return;
    }
  }

  private async syncFilterHeaders(): Promise<void> {
    const checkpoints = await this.checkpoints();
    for (let first = this.filterHeaders.length; first < this.hashes.length; first += MAX_HEADERS) {
      const last = Math.min(first + MAX_HEADERS, this.hashes.length) - 1;
      this.peer.send('getcfheaders', Buffer.concat([BASIC, u32(first), this.hashes[last]!]));
      const cursor = new Cursor(await this.peer.next('cfheaders'));
      cursor.take(33);
      let header = cursor.hash();
      if (!header.equals(this.filterHeaders.at(-1) ?? NO_HASH))
        throw new Error(`the filter headers do not go on at ${first}`);
      for (const hash of cursor.list((each) => each.hash())) {
        header = sha256d(Buffer.concat([hash, header]));
        this.filterHeaders.push(header);
      }
      if (this.filterHeaders.length !== last + 1) throw new Error(`filter headers up to ${last} are missing`);
    }
    checkpoints.forEach((checkpoint, i) => {
      if (!checkpoint.equals(this.filterHeaders[(i + 1) * CHECKPOINT_INTERVAL]!))
        throw new Error(`filter header ${(i + 1) * CHECKPOINT_INTERVAL} is not that of the checkpoint`);
    });
  }

  private async checkpoints(): Promise<Buffer[]> {
    this.peer.send('getcfcheckpt', Buffer.concat([BASIC, this.hashes.at(-1)!]));
    const cursor = new Cursor(await this.peer.next('cfcheckpt'));
    cursor.take(33);
    const checkpoints = cursor.list((each) => each.hash());
    if (checkpoints.length !== Math.floor((this.hashes.length - 1) / CHECKPOINT_INTERVAL))
      throw new Error(`${checkpoints.length} checkpoints came`);
    return checkpoints;
  }

  private async syncFilters(): Promise<void> {
    for (let first = this.filters.length; first < this.hashes.length; first += MAX_FILTERS) {
      const last = Math.min(first + MAX_FILTERS, this.hashes.length) - 1;
      this.peer.send('getcfilters', Buffer.concat([BASIC, u32(first), this.hashes[last]!]));
      // The filters of one answer may arrive in any order.
      for (let n = first; n <= last; n++) {
        const cursor = new Cursor(await this.peer.next('cfilter'));
        cursor.u8();
        const hash = cursor.hash();
        const filter = Buffer.from(cursor.take(cursor.count()));
        const height = this.hashes.findIndex((known, at) => at >= first && known.equals(hash));
        this.filters[height] = filter;
      }
      for (let height = first; height <= last; height++) this.checkFilter(height);
    }
  }

  private checkFilter(height: number): void {
    const filter = this.filters[height];
    if (filter === undefined) throw new Error(`the filter of block ${height} is missing`);
    const before = height === 0 ? NO_HASH : this.filterHeaders[height - 1]!;
    const header = sha256d(Buffer.concat([sha256d(filter), before]));
    if (!header.equals(this.filterHeaders[height]!))
      throw new Error(`the filter of block ${height} does not fit its header`);
  }

  /** Fetches a block and records its outputs and spends of the wallet. */
  private async look(height: number): Promise<void> {
    this.fetched.push(height);
    const hash = this.hashes[height]!;
    this.peer.send('getdata', one(INV_WITNESS_BLOCK, hash));
    const bytes = await this.peer.next('block');
    if (!sha256d(bytes.subarray(0, HEADER_SIZE)).equals(hash)) throw new Error('another block came');
    for (const { txid, inputs, outputs } of readBlock(bytes)) {
      const spent = inputs.filter((prevout) => this.own.delete(prevout));
      const received = outputs.flatMap(({ valueSat, script }, n) =>
        this.scripts.some((own) => own.equals(script)) ? [{ n, valueSat }] : [],
      );
      for (const { n } of received) this.own.add(`${txid}:${n}`);
      if (spent.length + received.length > 0) this.found.push({ height, txid, received, spent });
    }
  }

  /** Unspent outputs of the wallet at the tip. */
  get balanceSat(): bigint {
    let sum = 0n;
    for (const { txid, received } of this.found)
      for (const { n, valueSat } of received) if (this.own.has(`${txid}:${n}`)) sum += valueSat;
    return sum;
  }

  /** Sends a transaction to the node as wallets do: announces it, and sends it when the node requests it. */
  async broadcast(tx: Buffer): Promise<void> {
    const id = sha256d(tx);
    this.peer.send('inv', list([Buffer.concat([u32(1), id])]));
    const asked = await this.peer.nextOf(
      ({ command, payload }) => command === 'getdata' && payload.includes(id),
      'getdata',
    );
    if (asked.payload.length === 0) throw new Error('an empty getdata came');
    this.peer.send('tx', tx);
    await this.peer.handled();
  }
}
