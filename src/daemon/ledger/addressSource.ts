/** Interface of an account for the ledger: its key chains, and its notifications. */

/**
 * A key chain of an account. The ledger watches `gap` unused addresses at the end of the chain. Each address is meant for at
 * most `maxUses` transactions.
 */
export interface AddressChain {
  /**
   * Number of the chain: 0 for receiving addresses, 1 for change. An account with a single address has chain 0 with gap 1,
   * and uses only index 0.
   */
  readonly chain: 0 | 1;
  readonly gap: number;
  readonly maxUses: number;
  /** Whether the chain consists of a single key, so that no addresses must be created in advance. */
  readonly isSingle?: boolean;
}

export interface PublicKeyAt {
  /** 33 bytes. */
  readonly publicKey: Uint8Array;
  readonly chainCode: Uint8Array;
  readonly depth: number;
}

export interface AddressSource {
  /** The account's id: the address of its root key. */
  readonly accountId: string;
  readonly chains: readonly AddressChain[];
  keyAt(chain: number, index: number): PublicKeyAt;
  /** Address of a public key of the account; P2PKH by default. */
  addressOf?(publicKey: Uint8Array): string;
  /** Called with the public key (33 bytes) of each channel that an output of a wallet transaction contains. */
  noteChannelKey?(publicKey: Uint8Array): void;
}
