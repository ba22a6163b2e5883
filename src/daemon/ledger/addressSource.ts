/** What an account gives the ledger: the chains of its keys, and who is notified of what is found. */

/** A chain of keys: `gap` unused addresses are kept at its end, each meant for `maxUses` transactions. */
export interface AddressChain {
  /** 0 receiving, 1 change. An account with a single address has chain 0 with gap 1 and only index 0. */
  readonly chain: 0 | 1;
  readonly gap: number;
  readonly maxUses: number;
  /** Whether the chain is one key for ever: no gap is kept. */
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
  /** The address of such a key; P2PKH where the account does not say. */
  addressOf?(publicKey: Uint8Array): string;
  /** Notified of the public key (33 bytes) of each channel among the outputs of a transaction of the wallet. */
  noteChannelKey?(publicKey: Uint8Array): void;
}
