/**
 * Shared parts of the tests of the relay: repeatable random numbers, an adjustable clock, transactions, a mempool of entries.
 */
import type { RelayEntry, RelaySource } from '../../../../src/mempool/mempoolReader.js';
import { compareDepthAndScore } from '../../../../src/mempool/txPool.js';
import type { RandomSource } from '../../../../src/net/messageHandler.js';
import type { RelayOptions } from '../../../../src/net/relay/relayOptions.js';
import { formatTransaction, txid, wtxid, type Transaction } from '../../../../src/primitives/transaction.js';
import { fromLatin1, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import type { Slices } from '../../../../src/util/slices.js';
import { OPEN_SCRIPT } from '../../../support/testChain.js';

/** Mulberry32. */
export function seededRandom(seed = 1): RandomSource {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    int: (below) => Math.floor((next() / 2 ** 32) * below),
    u64: () => (BigInt(next()) << 32n) | BigInt(next()),
    bytes: (count) => Buffer.from(Array.from({ length: count }, next)),
  };
}

export const START_SEC = 1_700_000_000;

export class TestClock {
  ms = START_SEC * 1000;
  readonly nowMs = (): number => this.ms;
  readonly nowSec = (): number => Math.floor(this.ms / 1000);

  advance(sec: number): number {
    return (this.ms += sec * 1000);
  }
}

export const RELAY: RelayOptions = {
  relaysTransactions: true,
  whitelistRelay: true,
  whitelistForceRelay: true,
};
export const BLOCKS_ONLY: RelayOptions = { ...RELAY, relaysTransactions: false };

/** 32 bytes that start with a number. */
export function numberedHash(number: number): Buffer {
  const hash = Buffer.alloc(32, 0xab);
  hash.writeUInt32BE(number);
  return hash;
}

/** A transaction that differs for each number. The witness belongs to its only input. */
export function numberedTx(number: number, script: Bytes = OPEN_SCRIPT, witness: Bytes[] = []): Transaction {
  return {
    version: 2,
    inputs: [
      {
        prevout: { hash: numberedHash(number), index: 0 },
        scriptSig: new Uint8Array(0),
        sequence: 0xffffffff,
        witness,
      },
    ],
    outputs: [{ value: 1000n, script }],
    lockTime: 0,
  };
}

export interface EntryOptions {
  feeSat?: bigint;
  ancestorCount?: number;
  timeSec?: number;
}

/** A mempool that accepts every entry. */
export class EntryMempool implements RelaySource {
  changeCount = 0;
  rollingRate = 0n;
  private readonly entries = new Map<string, RelayEntry>();

  /** Answers the id. */
  put(
    tx: Transaction,
    { feeSat = 1000n, ancestorCount = 1, timeSec = START_SEC }: EntryOptions = {},
  ): Buffer {
    const id = txid(tx);
    const bytes = Buffer.from(formatTransaction(tx));
    const hasWitness = tx.inputs.some(({ witness }) => witness.length > 0);
    const key = toLatin1(id);
    const facts = { wtxid: wtxid(tx), bytes, hasWitness, sizeBytes: bytes.length };
    this.entries.set(key, { key, ...facts, feeSat, timeSec, ancestorCount });
    this.changeCount++;
    return id;
  }

  drop(id: Bytes): void {
    this.entries.delete(toLatin1(id));
    this.changeCount++;
  }

  ids(): Buffer[] {
    return [...this.entries.keys()].map(fromLatin1);
  }

  hasKey(key: string): boolean {
    return this.entries.has(key);
  }

  relayEntry(key: string): RelayEntry | null {
    return this.entries.get(key) ?? null;
  }

  /** Number of entries from which on sorting yields. */
  sortedAtOnce = 5000;

  *relayEntries(): Slices<readonly RelayEntry[]> {
    const sorted = [...this.entries.values()].sort(compareDepthAndScore);
    if (sorted.length >= this.sortedAtOnce) yield;
    return sorted;
  }

  transactions(): Iterable<RelayEntry> {
    return this.entries.values();
  }

  rollingFeeRatePerKb(): bigint {
    return this.rollingRate;
  }
}
