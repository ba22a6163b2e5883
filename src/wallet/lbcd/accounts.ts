/**
 * Accounts as lbcwallet has them: each has a number, a name and its own addresses. This node stores accounts as notes in the
 * address book. An address without such a note belongs to the first account, `default`. The accounts are neither key chains
 * nor lbrycrd's deprecated accounts, which are labels. Source: lbcwallet waddrmgr/manager.go, waddrmgr/scoped_manager.go.
 */
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { ACCOUNT_NOTE, assignedOf } from './assigned.js';

export const DEFAULT_ACCOUNT = 0;
/** Account of imported keys and scripts. Source: `ImportedAddrAccount`. */
export const IMPORTED_ACCOUNT = 0x7fffffff;
export const DEFAULT_ACCOUNT_NAME = 'default';
export const IMPORTED_ACCOUNT_NAME = 'imported';

/**
 * Beginning of the name of the note that stores an account. The account number follows; the value of the note is the
 * account's name. The note belongs to the empty address.
 */
const NAME_NOTE = 'lbcd account ';
const NO_ADDRESS = '';

/** Error: an account does not exist or cannot be created. The message is that of lbcwallet. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

export interface LbcdAccount {
  readonly number: number;
  readonly name: string;
}

/** Access to the accounts in the address book. An object is created for each call. */
export class LbcdAccounts {
  private readonly wallet: Wallet;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /** Lists the accounts in the order of their numbers: `default` first, `imported` last. */
  list(): LbcdAccount[] {
    const named = new Map([[DEFAULT_ACCOUNT, DEFAULT_ACCOUNT_NAME]]);
    for (const [note, name] of this.wallet.book.notesOf(NO_ADDRESS) ?? [])
      if (note.startsWith(NAME_NOTE)) named.set(Number(note.slice(NAME_NOTE.length)), name);
    named.set(IMPORTED_ACCOUNT, IMPORTED_ACCOUNT_NAME);
    return [...named].map(([number, name]) => ({ number, name })).sort((a, b) => a.number - b.number);
  }

  /** Number of the account with this name. Throws `AccountError` for an unknown name. */
  numberOf(name: string): number {
    const found = this.find(name);
    if (found === undefined) throw new AccountError(`account name '${name}' not found`);
    return found.number;
  }

  nameOf(number: number): string {
    return this.list().find((account) => account.number === number)?.name ?? '';
  }

  private find(name: string): LbcdAccount | undefined {
    return this.list().find((account) => account.name === name);
  }

  /** Account number of an address. The address need not belong to the wallet. */
  ofAddress(address: string): number {
    return Number(this.wallet.book.notesOf(address)?.get(ACCOUNT_NOTE) ?? DEFAULT_ACCOUNT);
  }

  /** Account number of a destination (`destinationKey`); the first account for an empty key. */
  ofDestination(key: string): number {
    return assignedOf(this.wallet).accountOf(key) ?? DEFAULT_ACCOUNT;
  }

  /** Iterates over the addresses of all accounts except the first, with the account numbers. */
  *assigned(): Generator<[address: string, number: number]> {
    for (const [address, number] of this.wallet.book.noted(ACCOUNT_NOTE)) yield [address, Number(number)];
  }

  assign(batch: WalletBatch, address: string, number: number): void {
    if (this.ofAddress(address) === number) return;
    this.wallet.book.note(batch, address, ACCOUNT_NOTE, `${number}`);
  }

  /** Creates an account. Throws `AccountError` for an existing, empty or reserved name. Source: `NewAccount`. */
  create(batch: WalletBatch, name: string): void {
    refuseName(name);
    this.refuseTaken(name);
    const last = this.list().at(-2)!.number;
    this.setName(batch, last + 1, name);
  }

  /** Renames an account. Throws `AccountError`. Source: `RenameAccount`. */
  rename(batch: WalletBatch, oldName: string, newName: string): void {
    const number = this.numberOf(oldName);
    if (number === IMPORTED_ACCOUNT) throw new AccountError('reserved account cannot be renamed');
    this.refuseTaken(newName);
    refuseName(newName);
    this.setName(batch, number, newName);
  }

  private setName(batch: WalletBatch, number: number, name: string): void {
    this.wallet.book.note(batch, NO_ADDRESS, `${NAME_NOTE}${number}`, name);
  }

  private refuseTaken(name: string): void {
    if (this.find(name) !== undefined) throw new AccountError('account with the same name already exists');
  }
}

/** Source: `ValidateAccountName`. */
function refuseName(name: string): void {
  if (name === '') throw new AccountError('accounts may not be named the empty string');
  if (name === IMPORTED_ACCOUNT_NAME) throw new AccountError('reserved account name');
}
