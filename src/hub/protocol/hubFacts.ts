/** Data about the hub for clients: the operator's options, and constants of the node. */
import type { AddressPrefixes } from '../../script/address.js';

/** Facts that the operator's options determine. */
export interface OperatorFacts {
  readonly description: string;
  readonly paymentAddress: string;
  readonly donationAddress: string;
  /** Daily fee in LBC, as a decimal number. */
  readonly dailyFee: string;
  /** Path of the file with the banner text; null for the built-in banner. */
  readonly bannerFile: string | null;
  /** Pattern of user agents that are rejected; null accepts all clients. */
  readonly dropClient: RegExp | null;
}

export interface HubFacts extends OperatorFacts {
  /** Id of the genesis block, hex as printed. */
  readonly genesisHash: string;
  readonly addressPrefixes: AddressPrefixes;
  /** The node's version as a number, and its user agent. */
  readonly nodeVersion: number;
  readonly nodeUserAgent: string;
}
