/** What the operator says of the hub, and what of the node never changes, as clients see it. */
import type { AddressPrefixes } from '../../script/address.js';

/** Facts from the operator's options. */
export interface OperatorFacts {
  readonly description: string;
  readonly paymentAddress: string;
  readonly donationAddress: string;
  /** LBC as a decimal number. */
  readonly dailyFee: string;
  /** File of the banner; null for the usual one. */
  readonly bannerFile: string | null;
  /** Names of clients that are refused; null refuses none. */
  readonly dropClient: RegExp | null;
}

export interface HubFacts extends OperatorFacts {
  /** Id in the hex form that programs print. */
  readonly genesisHash: string;
  readonly addressPrefixes: AddressPrefixes;
  /** The node's version as a number, and what it calls itself to peers. */
  readonly nodeVersion: number;
  readonly nodeUserAgent: string;
}
