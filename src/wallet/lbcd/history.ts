/**
 * Transactions of a wallet as lbcwallet lists them: one item for each sent output, and one for each received output. An
 * output that was received and spent later has an item of each kind. Source: lbcwallet wallet/wallet.go `listTransactions`.
 */
import { encodeDestination } from '../../script/address.js';
import { extractDestination } from '../../script/standard.js';
import type { Bytes } from '../../util/bytes.js';
import { MINE, MINE_STAKE } from '../keys/isMine.js';
import { blocksToMaturity } from '../ledger/balances.js';
import { outputKey, type Entry, type OwnOutput } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { LbcdAccounts } from './accounts.js';

export type LbcdCategory = 'send' | 'receive' | 'generate' | 'immature';

export interface LbcdItem {
  readonly entry: Entry;
  readonly n: number;
  readonly category: LbcdCategory;
  /** Address of the output; null for scripts without an address. */
  readonly address: string | null;
  /** Name of the account to which the address belongs; empty for addresses of others. */
  readonly account: string;
  /** Amount of the output in satoshis; negative for sent outputs. */
  readonly valueSat: bigint;
  /**
   * Fee of the transaction in satoshis, as a number not above 0; 0 if an input does not belong to the wallet. Null for
   * received outputs.
   */
  readonly feeSat: bigint | null;
}

/** Amounts of a transaction from the point of view of the wallet: inputs, outputs, fee. */
export interface LbcdSums {
  readonly debitSat: bigint;
  /** Number of inputs that belong to the wallet. */
  readonly debits: number;
  /** Fee in satoshis, not below 0; 0 if an input does not belong to the wallet. */
  readonly feeSat: bigint;
}

const isOwn = ({ mine }: OwnOutput): boolean => (mine & MINE.spendable) !== 0;

export class LbcdHistory {
  readonly accounts: LbcdAccounts;
  private readonly wallet: Wallet;
  private readonly names = new Map<number, string>();

  constructor(wallet: Wallet) {
    this.wallet = wallet;
    this.accounts = new LbcdAccounts(wallet);
    for (const { number, name } of this.accounts.list()) this.names.set(number, name);
  }

  sums(entry: Entry, outputs: readonly { readonly value: bigint }[]): LbcdSums {
    const spent = entry.isCoinbase ? [] : entry.inputs.map((input) => this.wallet.ledger.output(input));
    const own = spent.filter((output) => output !== undefined && isOwn(output)) as OwnOutput[];
    const debitSat = own.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    const outSat = outputs.reduce((sum, { value }) => sum + value, 0n);
    const isAllOwn = own.length > 0 && own.length === entry.inputs.length;
    return { debitSat, debits: own.length, feeSat: isAllOwn ? debitSat - outSat : 0n };
  }

  category(entry: Entry): LbcdCategory {
    if (!entry.isCoinbase) return 'receive';
    return blocksToMaturity(this.wallet.ledger, entry) > 0 ? 'immature' : 'generate';
  }

  /**
   * Whether an own output is change: its address was never handed out, and it is not a claim or support. Source: the flag
   * `Change` of credits.
   */
  isChange(output: OwnOutput, address: string | null): boolean {
    if ((output.mine & MINE_STAKE) !== 0) return false;
    return address === null || this.wallet.book.find(address) === undefined;
  }

  addressOf(script: Bytes): string | null {
    const destination = extractDestination(script);
    return destination === null ? null : encodeDestination(destination, this.wallet.prefixes);
  }

  accountName(address: string | null): string {
    return address === null ? '' : (this.names.get(this.accounts.ofAddress(address)) ?? '');
  }

  /** Lists the items of a transaction for one account, or for all accounts if `account` is `*`. */
  *items(entry: Entry, account: string): Generator<LbcdItem> {
    const { ledger } = this.wallet;
    const { outputs } = ledger.transaction(entry);
    const { debits, feeSat } = this.sums(entry, outputs);
    const own = new Map(entry.outputs.filter(isOwn).map((output) => [output.n, output]));
    for (const [n, { script, value }] of outputs.entries()) {
      const address = this.addressOf(script);
      const credit = own.get(n);
      // Outputs of a coinbase do not count as change, although their addresses were never handed out.
      if (credit !== undefined && !entry.isCoinbase && debits > 0 && this.isChange(credit, address)) continue;
      const name = credit === undefined ? '' : this.accountName(address);
      if (account !== '*' && account !== name) continue;
      const item = { entry, n, address, account: name };
      const isSpent = credit !== undefined && ledger.isSpent(outputKey(entry.key, n));
      if (debits > 0 || isSpent) yield { ...item, category: 'send', valueSat: -value, feeSat: -feeSat };
      if (credit !== undefined)
        yield { ...item, category: this.category(entry), valueSat: value, feeSat: null };
    }
  }
}
