/** A naive model of the ledger's database: each answer is computed from plain lists. */
import { transactionFacts, type OutputFacts } from '../../src/daemon/ledger/store/txoFacts.js';
import type { TxoFilter } from '../../src/daemon/ledger/txoQuery.js';
import { toHex } from '../../src/util/bytes.js';
import { regtest, type MadeTransaction } from './ledgerTransactions.js';

export interface ModelTx extends MadeTransaction {
  height: number;
  position: number;
}

export interface ModelTxo extends OutputFacts {
  readonly key: string;
  readonly tx: ModelTx;
  readonly owners: ReadonlySet<string>;
  readonly inputOwners: ReadonlySet<string>;
  readonly isSpent: boolean;
  readonly isReserved: boolean;
}

const NONE: ReadonlySet<string> = new Set();

export class LedgerModel {
  readonly txs = new Map<string, ModelTx>();
  readonly owners = new Map<string, Set<string>>();
  readonly histories = new Map<string, string[]>();
  readonly reserved = new Set<string>();

  own(account: string, address: string): void {
    const owners = this.owners.get(address) ?? new Set();
    this.owners.set(address, owners.add(account));
  }

  private readonly factsOf = new Map<ModelTx, readonly OutputFacts[]>();

  private facts(tx: ModelTx): readonly OutputFacts[] {
    const known = this.factsOf.get(tx) ?? transactionFacts(tx.tx, tx.txid, regtest).outputs;
    this.factsOf.set(tx, known);
    return known;
  }

  private ownersAt(hash: Uint8Array, index: number): ReadonlySet<string> {
    const tx = this.txs.get(toHex(hash));
    const facts = tx && this.facts(tx)[index];
    if (!facts?.paysKeyHash) return NONE;
    return this.owners.get(facts.address!) ?? NONE;
  }

  txos(): ModelTxo[] {
    const spent = new Set(
      [...this.txs.values()].flatMap(({ tx }) =>
        tx.inputs.map(({ prevout }) => `${toHex(prevout.hash)}:${prevout.index}`),
      ),
    );
    for (const key of spent) this.reserved.delete(key);
    return [...this.txs.values()].flatMap((tx) => {
      const inputs = tx.tx.inputs.map(({ prevout }) => this.ownersAt(prevout.hash, prevout.index));
      const spendsMine = inputs.some(({ size }) => size > 0);
      return this.facts(tx).flatMap((facts) => {
        const key = `${toHex(tx.txid)}:${facts.nout}`;
        const owners = facts.paysKeyHash ? (this.owners.get(facts.address!) ?? NONE) : NONE;
        if (facts.address === null || (owners.size === 0 && !spendsMine)) return [];
        const isSpent = spent.has(key);
        const isReserved = this.reserved.has(key);
        return [{ ...facts, key, tx, owners, inputOwners: inputs[0]!, isSpent, isReserved }];
      });
    });
  }

  select(filter: TxoFilter): ModelTxo[] {
    const accounts = new Set(filter.accountIds);
    const isMine = (owners: ReadonlySet<string>): boolean => [...owners].some((one) => accounts.has(one));
    const anyOf = <T>(list: readonly T[] | undefined, value: T | null): boolean =>
      list === undefined || (value !== null && list.includes(value));
    return this.txos().filter((txo) => {
      const output = isMine(txo.owners);
      const input = isMine(txo.inputOwners);
      if (filter.isMyInputOrOutput === true) {
        if (!output && !input) return false;
      } else {
        if (filter.isMyOutput !== null && output !== (filter.isMyOutput ?? true)) return false;
        if (filter.isMyInput !== undefined && input !== filter.isMyInput) return false;
      }
      if (filter.excludeInternalTransfers === true && output && input && txo.type === 0) return false;
      if (filter.isSpent === true && !txo.isSpent) return false;
      if (filter.isSpent === false && (txo.isSpent || txo.isReserved)) return false;
      if (filter.notTypes?.includes(txo.type)) return false;
      if (filter.notChannelIds && txo.channelId !== null && filter.notChannelIds.includes(txo.channelId))
        return false;
      const { height } = txo.tx;
      return (
        anyOf(filter.types, txo.type) &&
        anyOf(filter.txids?.map(toHex), toHex(txo.tx.txid)) &&
        (filter.nout === undefined || filter.nout === txo.nout) &&
        anyOf(filter.claimIds, txo.claimId) &&
        anyOf(filter.names, txo.claimName) &&
        anyOf(filter.channelIds, txo.channelId) &&
        anyOf(filter.repostedClaimIds, txo.repostedClaimId) &&
        (filter.hasSource === undefined || filter.hasSource === txo.hasSource) &&
        height >= (filter.minHeight ?? -2) &&
        height <= (filter.maxHeight ?? 1e9) &&
        anyOf(filter.addresses, txo.address)
      );
    });
  }

  /** Ids of transactions that concern the accounts. */
  transactionIds(accountIds: readonly string[]): string[] {
    const isMine = (owners: ReadonlySet<string>): boolean => accountIds.some((one) => owners.has(one));
    const mine = new Set(this.txos().flatMap(({ tx, owners }) => (isMine(owners) ? toHex(tx.txid) : [])));
    return [...this.txs]
      .filter(
        ([id, { tx }]) =>
          tx.inputs.some(({ prevout }) => isMine(this.ownersAt(prevout.hash, prevout.index))) || mine.has(id),
      )
      .map(([id]) => id);
  }
}
