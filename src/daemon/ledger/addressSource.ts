/** Interface of an account for the ledger: its key chains, and its notifications. */

/**
 * A key chain of an account. The ledger keeps `gap` unused addresses at the end of the chain. Each address is meant for at
 * most `maxUses` transactions.
 */
export interface AddressChain {
  /** 0 receiving, 1 change. An account with a single address has chain 0 with gap 1 and only index 0. */
  readonly chain: 0 | 1;
  readonly gap: number;
  readonly maxUses: number;
  /** Whether the chain consists of a single key, so that it needs no gap. */
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
  /** Notified of the public key (33 bytes) of each channel among the outputs of a transaction of the wallet. */
  noteChannelKey?(publicKey: Uint8Array): void;
}
