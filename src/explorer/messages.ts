/** What crosses between the explorer's thread and the node's thread. */
import { CrossingErrors } from '../threads/crossingErrors.js';

/** A method that visitors may call in the console. */
export interface OpenMethod {
  readonly name: string;
  readonly category: string;
  readonly help: string;
  readonly params: readonly {
    readonly name: string;
    readonly description: string;
    readonly isRequired: boolean;
    /** How the command line parses an argument of this parameter. */
    readonly cli: 'string' | 'json' | 'auto' | 'text';
  }[];
}

export interface ExplorerStart {
  readonly host: string;
  readonly port: number;
  /** Network of the node: `main`, `test` or `regtest`. */
  readonly network: string;
  readonly spacingSec: number;
  /** Host names that requests may have in the `Host` header; `*` for any. */
  readonly hostNames: readonly string[];
  /** Subnets of proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: readonly string[];
  readonly showsImages: boolean;
  readonly isIndexable: boolean;
  /** Whether visitors who are not on this machine also see the addresses of peers. */
  readonly showsPeers: boolean;
  /** Node options that are off. Pages mention them when data is unavailable without them. */
  readonly lacking: readonly string[];
  /**
   * The command that calls methods of this node, as its log prints it: the installed program, or a path with options. Shown to
   * visitors on this machine; others see `lbcnode-cli`.
   */
  readonly command: string;
  /** RPC methods that visitors may call in the console. */
  readonly methods: readonly OpenMethod[];
}

export interface Tip {
  readonly height: number;
  /** Id in the hex form that programs print. */
  readonly hash: string;
  readonly timeSec: number;
}

/** State while the node downloads the chain. */
export interface SyncState {
  /** Height of the best header. */
  readonly headers: number;
}

/** An event of a block for a claim or a name, such as a takeover. */
export interface TakenEvent {
  readonly event: string;
  /** Normalized name of the claim, as bytes in hex. */
  readonly nameHex: string;
  /** Claim id; for a takeover, that of the new owner. */
  readonly claimId?: string | undefined;
  readonly formerClaimId?: string | undefined;
  readonly isSupport?: boolean | undefined;
}

/** A block that a reorg disconnected. */
export interface TakenBlock {
  readonly height: number;
  /** Id in the hex form that programs print. */
  readonly hash: string;
  /** Claim events of the block, at most 1,000. */
  readonly events: readonly TakenEvent[];
}

/** What the node's thread calls in the explorer's. */
export interface ExplorerCalls {
  /** Listens, and resolves to the port. */
  open(): Promise<number>;
  /** Ends the connections, and then the thread. */
  close(): Promise<void>;
}

/** What the explorer's thread calls in the node's. */
export interface NodeCalls {
  /** The JSON-RPC response as text. A method that is not open is unknown. */
  rpc(method: string, params: readonly unknown[]): Promise<string>;
}

/** Items to the explorer's thread, beside answers and calls (`threads/protocol.ts`). */
export type ToExplorer =
  /** `sync` is null when the node is in sync with the chain. */
  | readonly ['tip', tip: Tip | null, sync: SyncState | null]
  | readonly ['disconnected', TakenBlock]
  /** A block was connected that a reorg had disconnected before. */
  | readonly ['reconnected', hash: string]
  /** Startup or shutdown status of the node; null while it runs normally. */
  | readonly ['status', string | null]
  /** The mempool changed. */
  | readonly ['mempool'];

/** Items from the explorer's thread, beside answers and calls. */
export type FromExplorer =
  | readonly ['log', text: string]
  | readonly ['counters', ExplorerCounters]
  /** Whether at least one page with a live connection is open. */
  | readonly ['watched', isWatched: boolean];

/** Errors cross as their message. */
export const EXPLORER_ERRORS = new CrossingErrors([]);

export interface ExplorerCounters {
  readonly pages: number;
  readonly rendered: number;
  readonly refused: number;
  readonly failed: number;
  /** Number of pages with a live connection that are open. */
  readonly viewers: number;
}
