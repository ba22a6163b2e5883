/**
 * Moves between the deprecated accounts without a transaction (`move`), and the public keys of the accounts' addresses.
 * Source: lbrycrd wallet/wallet.h `CAccountingEntry`, `CAccount`.
 */
import { hasPublicKeySize } from '../../crypto/ecdsaEncoding.js';
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { recordKey, type WalletBatch } from '../store/records.js';

/** One of the two entries that a move between accounts creates. */
export interface AccountingEntry {
  readonly account: string;
  readonly creditDebitSat: bigint;
  readonly timeSec: number;
  readonly otherAccount: string;
  readonly comment: string;
  /** Position of the entry in the order of all transactions and moves. */
  readonly orderPos: number;
  readonly number: bigint;
}

const ENTRY_VERSION = 170_200;
const text = (reader: Reader): string => reader.varBytes().toString('utf8');

export class Accounts {
  private entries: AccountingEntry[] = [];
  private readonly byAccount = new Map<string, AccountingEntry[]>();
  /** Balance of each account in satoshis, counting only moves. */
  private readonly sums = new Map<string, bigint>();
  private isOrdered = true;
  private lastNumber = 0n;
  /** Public key of the last address that was returned for each account. */
  private readonly keys = new Map<string, Buffer>();

  /** All entries, in the order of their creation. */
  all(): readonly AccountingEntry[] {
    this.order();
    return this.entries;
  }

  /** Entries (moves and payments) of one account in the order of creation. */
  of(account: string): readonly AccountingEntry[] {
    this.order();
    return this.byAccount.get(account) ?? [];
  }

  private order(): void {
    if (this.isOrdered) return;
    for (const list of [this.entries, ...this.byAccount.values()])
      list.sort((a, b) => a.orderPos - b.orderPos);
    this.isOrdered = true;
  }

  private enter(entry: AccountingEntry): void {
    const { account, creditDebitSat } = entry;
    this.entries.push(entry);
    const list = this.byAccount.get(account);
    if (list === undefined) this.byAccount.set(account, [entry]);
    else list.push(entry);
    this.sums.set(account, this.creditDebitSat(account) + creditDebitSat);
  }

  /** Balance of an account in satoshis, counting only moves. */
  creditDebitSat(account: string): bigint {
    return this.sums.get(account) ?? 0n;
  }

  /** Balances of all accounts that have moves, counting only moves. */
  balances(): Iterable<[account: string, sat: bigint]> {
    return this.sums;
  }

  /** Public key of an account's address; null if the account has no address yet. */
  publicKey(account: string): Bytes | null {
    return this.keys.get(account) ?? null;
  }

  setPublicKey(batch: WalletBatch, account: string, publicKey: Bytes): void {
    this.keys.set(account, Buffer.from(publicKey));
    const name = new Writer().varBytes(Buffer.from(account, 'utf8')).finish();
    batch.put(recordKey('acc', name), new Writer().i32(ENTRY_VERSION).varBytes(publicKey).finish());
  }

  add(batch: WalletBatch, entry: Omit<AccountingEntry, 'number'>): void {
    const number = ++this.lastNumber;
    this.enter({ ...entry, number });
    const key = new Writer().varBytes(Buffer.from(entry.account, 'utf8')).u64(number).finish();
    batch.put(recordKey('acentry', key), formatEntry(entry));
  }

  /** Loads a row. Returns false if the row has another type. */
  load(kind: string, rest: Bytes, value: Bytes): boolean {
    if (kind === 'acc') {
      const publicKey = new Reader(value, 4).varBytes();
      if (hasPublicKeySize(publicKey)) this.keys.set(text(new Reader(rest)), Buffer.from(publicKey));
      return true;
    }
    if (kind !== 'acentry') return false;
    const reader = new Reader(rest);
    const account = text(reader);
    const number = reader.u64();
    this.enter({ account, number, ...parseEntry(value) });
    this.isOrdered = false;
    if (number > this.lastNumber) this.lastNumber = number;
    return true;
  }
}

/** After the comment, a zero byte and a map of notes follow. One note is the position of the entry in the order. */
function formatEntry(entry: Omit<AccountingEntry, 'number'>): Buffer {
  const notes = new Writer()
    .compactSize(1)
    .varBytes(Buffer.from('n'))
    .varBytes(Buffer.from(`${entry.orderPos}`))
    .finish();
  const comment = Buffer.concat([Buffer.from(entry.comment, 'utf8'), Buffer.of(0), notes]);
  return new Writer()
    .i32(ENTRY_VERSION)
    .i64(entry.creditDebitSat)
    .i64(BigInt(entry.timeSec))
    .varBytes(Buffer.from(entry.otherAccount, 'utf8'))
    .varBytes(comment)
    .finish();
}

function parseEntry(value: Bytes): Omit<AccountingEntry, 'account' | 'number'> {
  const reader = new Reader(value);
  reader.skip(4);
  const creditDebitSat = reader.i64();
  const timeSec = Number(reader.i64());
  const otherAccount = text(reader);
  const bytes = reader.varBytes();
  const end = bytes.indexOf(0);
  const comment = bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
  let orderPos = -1;
  if (end !== -1) {
    const notes = new Reader(bytes.subarray(end + 1));
    for (let left = notes.compactSize(); left > 0; left--) {
      const name = text(notes);
      const note = text(notes);
      if (name === 'n') orderPos = Number(note);
    }
  }
  return { creditDebitSat, timeSec, otherAccount, comment, orderPos };
}
