/** Data about the hub for clients: the operator's options, and constants of the node. */
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
  /** Clients with matching names are rejected; null accepts all. */
  readonly dropClient: RegExp | null;
}

export interface HubFacts extends OperatorFacts {
  /** Id as hex, in printed order. */
  readonly genesisHash: string;
  readonly addressPrefixes: AddressPrefixes;
  /** The node's version as a number, and its user agent. */
  readonly nodeVersion: number;
  readonly nodeUserAgent: string;
}
