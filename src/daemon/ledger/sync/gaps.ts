/** Creates addresses of accounts to fill the gaps at the ends of their chains. Source: lbry-sdk lbry/wallet/account.py `ensure_address_gap`. */
import { yieldIfDue } from '../../../scheduler/yield.js';
import { SerialQueue } from '../../../scheduler/serialQueue.js';
import { encodeDestination } from '../../../script/address.js';
import { hash160 } from '../../../crypto/hash.js';
import type { LedgerParams } from '../../base/ledgerParams.js';
import type { AddressChain, AddressSource } from '../addressSource.js';
import type { NewKey } from '../store/histories.js';
import type { LedgerStorePort } from '../store/openStore.js';

/** Number of keys that are derived and written in one step. Arbitrary. */
const AT_ONCE = 200;

export class Gaps {
  readonly #store: LedgerStorePort;
  readonly #params: LedgerParams;
  readonly #queue = new SerialQueue();

  constructor(store: LedgerStorePort, params: LedgerParams) {
    this.#store = store;
    this.#params = params;
  }

  /** Adds addresses to the chains until each has `gap` unused ones. Resolves to the new addresses. */
  ensure(account: AddressSource, chains: readonly AddressChain[] = account.chains): Promise<string[]> {
    return this.#queue.run(async () => {
      const made: string[] = [];
      for (const chain of chains) made.push(...(await this.#ensureChain(account, chain)));
      return made;
    });
  }

  async #ensureChain(account: AddressSource, { chain, gap, isSingle }: AddressChain): Promise<string[]> {
    const { lastIndex, unused } = await this.#store.chainEnd(account.accountId, chain);
    const missing = isSingle === true ? Number(lastIndex < 0) : gap - unused;
    const made: string[] = [];
    let keys: NewKey[] = [];
    let since = performance.now();
    for (let n = 1; n <= missing; n++) {
      const index = lastIndex + n;
      const key = account.keyAt(chain, index);
      const address =
        account.addressOf?.(key.publicKey) ??
        encodeDestination({ type: 'pubkeyhash', hash: hash160(key.publicKey) }, this.#params.addressPrefixes);
      const { publicKey, chainCode, depth } = key;
      keys.push({ index, address, publicKey, chainCode, depth });
      made.push(address);
      if (keys.length === AT_ONCE || n === missing) {
        await this.#store.addKeys(account.accountId, chain, keys);
        keys = [];
      }
      since = await yieldIfDue(since);
    }
    return made;
  }
}
