/**
 * Maps between destinations and lbcwallet accounts. The address book stores the account of an address as a note
 * (`ACCOUNT_NOTE`). Addresses without a note belong to the first account, which is not in the maps.
 */
import { decodeDestination } from '../../script/address.js';
import { destinationKey } from '../destinationKey.js';
import type { Wallet } from '../wallet.js';

/** Name of the note that assigns an address to an account. The value is the account number. */
export const ACCOUNT_NOTE = 'lbcd account';

const NONE: ReadonlySet<string> = new Set();

class Assigned {
  private readonly accounts = new Map<string, number>();
  private readonly destinations = new Map<number, Set<string>>();

  constructor({ book, prefixes }: Wallet) {
    const note = (key: string, address: string): void => {
      const account = book.notesOf(address)?.get(ACCOUNT_NOTE);
      this.set(key, account === undefined ? undefined : Number(account));
    };
    for (const [address] of book.noted(ACCOUNT_NOTE)) {
      const destination = decodeDestination(address, prefixes);
      if (destination !== null) note(destinationKey(destination), address);
    }
    book.watch(note);
  }

  private set(key: string, account: number | undefined): void {
    const known = this.accounts.get(key);
    if (known === account) return;
    if (known !== undefined) this.destinations.get(known)!.delete(key);
    if (account === undefined) {
      this.accounts.delete(key);
      return;
    }
    this.accounts.set(key, account);
    const others = this.destinations.get(account);
    if (others === undefined) this.destinations.set(account, new Set([key]));
    else others.add(key);
  }

  /** Account number of a destination (`destinationKey`); undefined for the first account. */
  accountOf(destination: string): number | undefined {
    return this.accounts.get(destination);
  }

  /** Destinations that are assigned to an account other than the first. */
  of(account: number): ReadonlySet<string> {
    return this.destinations.get(account) ?? NONE;
  }
}

const OPEN = new WeakMap<Wallet, Assigned>();

/** Returns the map between destinations and accounts of an open wallet. Changes of the address book update the map. */
export function assignedOf(wallet: Wallet): Assigned {
  let assigned = OPEN.get(wallet);
  if (assigned === undefined) OPEN.set(wallet, (assigned = new Assigned(wallet)));
  return assigned;
}
