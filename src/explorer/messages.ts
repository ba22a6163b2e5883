/** What the explorer's thread and the node's thread say to each other. */

/** A method that visitors may ask in the console. */
export interface OpenMethod {
  readonly name: string;
  readonly category: string;
  readonly help: string;
  readonly params: readonly {
    readonly name: string;
    readonly description: string;
    readonly isRequired: boolean;
    /** How the command line reads a word for it. */
    readonly cli: 'string' | 'json' | 'auto' | 'text';
  }[];
}

export interface ExplorerStart {
  readonly host: string;
  readonly port: number;
  /** `main`, `test` or `regtest`. */
  readonly network: string;
  readonly spacingSec: number;
  /** Host names by which may be asked; `*` for any. */
  readonly hostNames: readonly string[];
  /** Subnets of proxies whose `X-Forwarded-For` counts. */
  readonly proxies: readonly string[];
  readonly showsImages: boolean;
  readonly isIndexable: boolean;
  /** Whether peers' addresses are shown to everyone. */
  readonly showsPeers: boolean;
  /** Options that are off, by which pages say what they lack. */
  readonly lacking: readonly string[];
  /** Methods of the console. */
  readonly methods: readonly OpenMethod[];
}

export interface Tip {
  readonly height: number;
  /** Id in the hex form that programs print. */
  readonly hash: string;
  readonly timeSec: number;
}

/** The node downloads the chain. */
export interface SyncState {
  /** Height of the best header. */
  readonly headers: number;
}

/** What a block did to a claim or a name. */
export interface TakenEvent {
  readonly event: string;
  /** The bytes of the name as it is filed, in hex. */
  readonly nameHex: string;
  /** Of a takeover that of the new holder. */
  readonly claimId?: string | undefined;
  readonly formerClaimId?: string | undefined;
  readonly isSupport?: boolean | undefined;
}

/** A block that a reorganisation disconnected. */
export interface TakenBlock {
  readonly height: number;
  /** Id in the hex form that programs print. */
  readonly hash: string;
  /** At most 1,000. */
  readonly events: readonly TakenEvent[];
}

/** To the explorer's thread. */
export type ToExplorer =
  | { readonly kind: 'answer'; readonly id: number; readonly text: string }
  /** `sync` is null when the node is in sync with the chain. */
  | { readonly kind: 'tip'; readonly tip: Tip | null; readonly sync: SyncState | null }
  | { readonly kind: 'disconnected'; readonly block: TakenBlock }
  /** A block was connected that a reorganisation had disconnected before. */
  | { readonly kind: 'reconnected'; readonly hash: string }
  /** Start or stop status of the node; null while it runs. */
  | { readonly kind: 'status'; readonly status: string | null }
  /** The mempool changed. */
  | { readonly kind: 'mempool' }
  | { readonly kind: 'close' };

/** Messages from the explorer's thread. */
export type FromExplorer =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'log'; readonly text: string }
  | {
      readonly kind: 'question';
      readonly id: number;
      readonly method: string;
      readonly params: readonly unknown[];
    }
  | { readonly kind: 'counters'; readonly counters: ExplorerCounters }
  /** Whether a page is open with a live connection. */
  | { readonly kind: 'watched'; readonly isWatched: boolean };

export interface ExplorerCounters {
  readonly pages: number;
  readonly rendered: number;
  readonly refused: number;
  readonly failed: number;
  /** Pages that are open with a live connection. */
  readonly viewers: number;
}
