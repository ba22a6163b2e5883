/**
 * Address index of the mempool: which unconfirmed transactions pay to or spend from a script. It is updated by the events of
 * the mempool. It stores only txids, about a hundred bytes for each script of a transaction; amounts are read from the
 * transactions on request. The limit `-maxmempool` does not count this memory.
 */
import type { Transaction } from '../primitives/transaction.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { scriptKeyOf } from './addressScripts.js';

/** An unconfirmed transaction and its arrival number. Accepted transactions are numbered from 1 in order of arrival. */
export interface UnconfirmedTransaction {
  /** Wire order. */
  readonly txid: Buffer;
  readonly arrival: number;
}

const NONE: ReadonlyMap<string, number> = new Map();

export class MempoolAddresses {
  /** By script key: the mempool transactions (txid in wire order, latin1) with their arrival numbers, in order of arrival. */
  private readonly byScript = new Map<string, Map<string, number>>();
  private readonly scriptsOf = new Map<string, readonly string[]>();
  private arrivals = 0;

  /**
   * Adds an accepted transaction. `spentScripts` are the scripts of the outputs that it spends. Returns the keys of all
   * scripts that it pays to or spends from.
   */
  add(txid: Bytes, tx: Transaction, spentScripts: readonly Bytes[]): readonly string[] {
    const keys = new Set<string>();
    for (const script of [...spentScripts, ...tx.outputs.map((output) => output.script)]) {
      const key = scriptKeyOf(script);
      if (key !== null) keys.add(key);
    }
    const id = toLatin1(txid);
    const arrival = ++this.arrivals;
    const scripts = [...keys];
    this.scriptsOf.set(id, scripts);
    for (const key of scripts) {
      const ids = this.byScript.get(key);
      if (ids) ids.set(id, arrival);
      else this.byScript.set(key, new Map([[id, arrival]]));
    }
    return scripts;
  }

  /** Keys of the scripts that a mempool transaction pays to or spends from. */
  scriptKeysOf(txid: Bytes): readonly string[] {
    return this.scriptsOf.get(toLatin1(txid)) ?? [];
  }

  remove(txid: Bytes): void {
    const id = toLatin1(txid);
    for (const key of this.scriptsOf.get(id) ?? []) {
      const ids = this.byScript.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.byScript.delete(key);
    }
    this.scriptsOf.delete(id);
  }

  /**
   * Mempool transactions that pay to or spend from a script: txids (latin1) in order of arrival, with arrival numbers. The
   * returned map is not a copy, so it may change while the caller iterates over it.
   */
  ofScript(scriptKey: string): ReadonlyMap<string, number> {
    return this.byScript.get(scriptKey) ?? NONE;
  }

  /**
   * Mempool transactions that pay to or spend from any of the scripts, each once, in order of arrival. Only those with an
   * arrival number of at least `first`.
   */
  transactionsOf(scriptKeys: readonly string[], first = 0): UnconfirmedTransaction[] {
    const found = new Map<string, number>();
    for (const key of scriptKeys) {
      for (const [id, arrival] of this.byScript.get(key) ?? NONE)
        if (arrival >= first) found.set(id, arrival);
    }
    return [...found]
      .sort(([, a], [, b]) => a - b)
      .map(([id, arrival]) => ({ txid: fromLatin1(id), arrival }));
  }
}
