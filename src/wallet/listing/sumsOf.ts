/** The incremental sums of each open wallet. Created when they are first needed; not stored on disk. */
import type { Wallet } from '../wallet.js';
import { AccountSums } from './accountSums.js';
import { AddressGroups } from './addressGroups.js';
import { DestinationSums, LabelSums } from './receivedSums.js';

class Sums {
  private readonly wallet: Wallet;
  private readonly byFilter = new Map<number, AccountSums>();
  private labelSums: LabelSums | null = null;
  private destinationSums: DestinationSums | null = null;
  private addressGroups: AddressGroups | null = null;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /** The account sums for a `filter`: `MINE` flags of the outputs that count as owned. */
  accounts(filter: number): AccountSums {
    let sums = this.byFilter.get(filter);
    if (sums === undefined) this.byFilter.set(filter, (sums = new AccountSums(this.wallet, filter)));
    return sums;
  }

  get labels(): LabelSums {
    return (this.labelSums ??= new LabelSums(this.wallet));
  }

  get destinations(): DestinationSums {
    return (this.destinationSums ??= new DestinationSums(this.wallet));
  }

  get groups(): AddressGroups {
    return (this.addressGroups ??= new AddressGroups(this.wallet));
  }
}

const OPEN = new WeakMap<Wallet, Sums>();

export function sumsOf(wallet: Wallet): Sums {
  let sums = OPEN.get(wallet);
  if (sums === undefined) OPEN.set(wallet, (sums = new Sums(wallet)));
  return sums;
}
