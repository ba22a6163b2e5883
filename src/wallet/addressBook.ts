/**
 * The address book: labels, purposes and notes of addresses. Addresses are stored as strings, as in the wallet file. Source:
 * lbrycrd wallet/wallet.cpp `SetAddressBook`, `DelAddressBook`, `AddDestData`.
 */
import type { Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import { atOnce, type Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import { recordKey, type WalletBatch } from './store/records.js';

/** Number of addresses that are processed between two yields to the event loop. */
const READ_AT_ONCE = 64;

export interface BookEntry {
  readonly label: string;
  /** Purpose of the address: `receive`, `send`, `refund` or `unknown`. */
  readonly purpose: string;
}

/**
 * An entry of the address book. `key`: the `destinationKey` of its address, computed when it is first needed; null for an
 * address of another network.
 */
interface KeptEntry extends BookEntry {
  key: string | null | undefined;
}

/** Called when a note of a destination (`destinationKey`) was added or removed. */
export type BookWatcher = (destination: string, address: string) => void;

const textBytes = (text: string): Buffer => new Writer().varBytes(Buffer.from(text, 'utf8')).finish();
const readText = (bytes: Bytes): string => new Reader(bytes).varBytes().toString('utf8');
const noteKey = (address: string, name: string): string =>
  recordKey('destdata', Buffer.concat([textBytes(address), textBytes(name)]));

export class AddressBook {
  private readonly byAddress = new Map<string, KeptEntry>();
  private readonly addressesByLabel = new Map<string, Set<string>>();
  private readonly notes = new Map<string, Map<string, string>>();
  /** Addresses by `destinationKey`, without the addresses in `unread` that were not processed yet. */
  private readonly byDestination = new Map<string, string>();
  /** Addresses whose destination has not been computed yet. */
  private readonly unread: string[] = [];
  /** Number of addresses in `unread` that have been processed. */
  private readCount = 0;
  private readonly destinationOf: (address: string) => string | null;
  private readonly watchers = new Set<BookWatcher>();

  /** `destinationOf`: computes the `destinationKey` of an address; null for an address of another network. */
  constructor(destinationOf: (address: string) => string | null) {
    this.destinationOf = destinationOf;
  }

  /** Adds a watcher of notes. It stays subscribed until the wallet is closed. */
  watch(watcher: BookWatcher): void {
    this.watchers.add(watcher);
  }

  private touch(address: string): void {
    if (this.watchers.size === 0) return;
    const destination = this.destinationOf(address);
    if (destination !== null) for (const watcher of this.watchers) watcher(destination, address);
  }

  find(address: string): BookEntry | undefined {
    return this.byAddress.get(address);
  }

  entries(): IterableIterator<[address: string, entry: BookEntry]> {
    return this.byAddress.entries();
  }

  /** The address book entry of a destination (`destinationKey`). */
  at(destination: string): BookEntry | undefined {
    const address = this.destinations().get(destination);
    return address === undefined ? undefined : this.byAddress.get(address);
  }

  /** All addresses of this network by `destinationKey`, in no particular order. */
  destinations(): ReadonlyMap<string, string> {
    atOnce(this.readNew());
    return this.byDestination;
  }

  /** Processes the addresses in `unread` in slices, because very many addresses would block the event loop. */
  *readNew(): Slices<void> {
    while (this.readCount < this.unread.length) {
      const address = this.unread[this.readCount++]!;
      const key = this.keyOf(address);
      if (key !== null) this.byDestination.set(key, address);
      if (this.readCount % READ_AT_ONCE === 0) yield;
    }
    this.unread.length = this.readCount = 0;
  }

  /** Number of addresses with this label. */
  countWithLabel(label: string): number {
    return this.addressesByLabel.get(label)?.size ?? 0;
  }

  /** Destinations (`destinationKey`) with this label, in the order of the reference. */
  destinationsWithLabel(label: string): string[] {
    const keys: string[] = [];
    for (const address of this.addressesByLabel.get(label) ?? []) {
      const key = this.keyOf(address);
      if (key !== null) keys.push(key);
    }
    return keys.sort();
  }

  /** Whether a destination (`destinationKey`) with this label satisfies `fits`. The search ends at the first match. */
  someWithLabel(label: string, fits: (destination: string) => boolean): boolean {
    for (const address of this.addressesByLabel.get(label) ?? []) {
      const key = this.keyOf(address);
      if (key !== null && fits(key)) return true;
    }
    return false;
  }

  /** The `destinationKey` of an address. Null for an address of another network, or one that is not in the address book. */
  private keyOf(address: string): string | null {
    const entry = this.byAddress.get(address);
    if (entry === undefined) return null;
    if (entry.key === undefined) entry.key = this.destinationOf(address);
    return entry.key;
  }

  /** All labels in use, in no particular order. */
  labels(): IterableIterator<string> {
    return this.addressesByLabel.keys();
  }

  /** Addresses with this label, in the order in which they got the label. */
  withLabel(label: string): readonly string[] {
    return [...(this.addressesByLabel.get(label) ?? [])];
  }

  /** Notes on an address (`destdata`), for instance that the address was used. */
  notesOf(address: string): ReadonlyMap<string, string> | undefined {
    return this.notes.get(address);
  }

  /** Addresses that have a note with this name, with the value of the note. */
  *noted(name: string): Generator<[address: string, value: string]> {
    for (const [address, notes] of this.notes) {
      const value = notes.get(name);
      if (value !== undefined) yield [address, value];
    }
  }

  /** Sets the label and the purpose of an address. An empty purpose leaves the purpose unchanged. */
  set(batch: WalletBatch, address: string, label: string, purpose: string): void {
    const kept = purpose === '' ? (this.byAddress.get(address)?.purpose ?? 'unknown') : purpose;
    this.enter(address, { label, purpose: kept });
    if (purpose !== '') batch.put(recordKey('purpose', textBytes(address)), textBytes(purpose));
    batch.put(recordKey('name', textBytes(address)), textBytes(label));
    this.touch(address);
  }

  /** Deletes an address and all its notes (values stored with the address) from the address book and the wallet file. */
  delete(batch: WalletBatch, address: string): void {
    this.leave(address);
    const key = this.keyOf(address);
    if (key !== null) this.byDestination.delete(key);
    this.byAddress.delete(address);
    for (const name of this.notes.get(address)?.keys() ?? []) batch.del(noteKey(address, name));
    this.notes.delete(address);
    batch.del(recordKey('purpose', textBytes(address)));
    batch.del(recordKey('name', textBytes(address)));
    this.touch(address);
  }

  note(batch: WalletBatch, address: string, name: string, value: string): void {
    this.learnNote(address, name, value);
    batch.put(noteKey(address, name), textBytes(value));
    this.touch(address);
  }

  /**
   * Loads a row of the wallet file. Returns false if the row does not belong to the address book. Rows may be loaded in
   * any order.
   */
  load(kind: string, rest: Bytes, value: Bytes): boolean {
    switch (kind) {
      case 'name': {
        const address = readText(rest);
        this.enter(address, { label: readText(value), purpose: this.pendingPurpose(address) });
        return true;
      }
      case 'purpose': {
        const address = readText(rest);
        const known = this.byAddress.get(address);
        if (known === undefined) this.purposes.set(address, readText(value));
        else this.enter(address, { label: known.label, purpose: readText(value) });
        return true;
      }
      case 'destdata': {
        const reader = new Reader(rest);
        const address = reader.varBytes().toString('utf8');
        this.learnNote(address, reader.varBytes().toString('utf8'), readText(value));
        return true;
      }
      default:
        return false;
    }
  }

  /** Purposes of addresses whose label has not been loaded yet, by address. */
  private readonly purposes = new Map<string, string>();

  private pendingPurpose(address: string): string {
    const purpose = this.purposes.get(address) ?? 'unknown';
    this.purposes.delete(address);
    return purpose;
  }

  private enter(address: string, entry: BookEntry): void {
    this.leave(address);
    const known = this.byAddress.get(address);
    if (known === undefined) this.unread.push(address);
    this.byAddress.set(address, { label: entry.label, purpose: entry.purpose, key: known?.key });
    let addresses = this.addressesByLabel.get(entry.label);
    if (addresses === undefined) this.addressesByLabel.set(entry.label, (addresses = new Set()));
    addresses.add(address);
  }

  private leave(address: string): void {
    const known = this.byAddress.get(address);
    if (known === undefined) return;
    const addresses = this.addressesByLabel.get(known.label);
    addresses?.delete(address);
    if (addresses?.size === 0) this.addressesByLabel.delete(known.label);
  }

  private learnNote(address: string, name: string, value: string): void {
    let notes = this.notes.get(address);
    if (notes === undefined) this.notes.set(address, (notes = new Map()));
    notes.set(name, value);
  }
}
