/**
 * Owners of addresses. Accounts and sets of accounts have numbers, so that checking whether an address is mine compares only
 * numbers. Most addresses belong to one account; the accounts of an address with several accounts (one key in two wallets)
 * form a set.
 */
import type { Statements } from '../../../sqlite/statements.js';

/** Owner number of outputs that belong to no account. */
export const NO_OWNER = 0;

export class Owners {
  readonly #statements: Statements;
  readonly #accounts = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Accounts of each set, in ascending order of their numbers. */
  readonly #sets = new Map<number, readonly number[]>();

  constructor(statements: Statements) {
    this.#statements = statements;
    this.load();
  }

  /** Loads the sets of accounts again, for example after the rollback of a transaction. */
  load(): void {
    this.#accounts.clear();
    this.#names.clear();
    this.#sets.clear();
    for (const { id, name } of this.#statements.all('SELECT id, name FROM account')) {
      this.#accounts.set(name as string, id as number);
      this.#names.set(id as number, name as string);
    }
    const rows = this.#statements.all('SELECT owner, account FROM owner_account ORDER BY owner, account');
    for (const { owner, account } of rows) {
      const set = this.#sets.get(owner as number) ?? [];
      this.#sets.set(owner as number, [...set, account as number]);
    }
  }

  /** Number of an account. Adds a row for an unknown account. */
  account(name: string): number {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const id = this.#statements.insert('INSERT INTO account (name) VALUES (?)', name);
    this.#accounts.set(name, id);
    this.#names.set(id, name);
    return id;
  }

  /** Returns the numbers of those accounts that are known. */
  known(names: readonly string[]): number[] {
    return names.flatMap((name) => this.#accounts.get(name) ?? []);
  }

  name(account: number): string {
    return this.#names.get(account)!;
  }

  /** Names of the accounts in the set with the number `owner`. */
  names(owner: number): string[] {
    return (this.#sets.get(owner) ?? []).map((account) => this.#names.get(account)!);
  }

  /** Returns the number of the set that contains the account and all accounts of the set `owner`. */
  with(owner: number, account: number): number {
    const set = this.#sets.get(owner) ?? [];
    if (set.includes(account)) return owner;
    const wanted = [...set, account].sort((a, b) => a - b);
    for (const [id, accounts] of this.#sets)
      if (accounts.length === wanted.length && accounts.every((one, n) => one === wanted[n])) return id;
    const id = Math.max(NO_OWNER, ...this.#sets.keys()) + 1;
    for (const one of wanted) this.#statements.run('INSERT INTO owner_account VALUES (?, ?)', id, one);
    this.#sets.set(id, wanted);
    return id;
  }

  /** Returns the numbers of all sets that contain one of the accounts. */
  of(names: readonly string[]): number[] {
    const accounts = new Set(this.known(names));
    return [...this.#sets].filter(([, set]) => set.some((one) => accounts.has(one))).map(([id]) => id);
  }
}
