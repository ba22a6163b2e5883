/** Messages between the explorer's thread and the node's thread. */
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
    /** How the command line client parses an argument for this parameter. */
    readonly cli: 'string' | 'json' | 'auto' | 'text';
    /** Whether an argument is a hash of 64 hexadecimal digits. */
    readonly isHash?: boolean;
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
  /** Whether visitors from other machines may also see the addresses of peers. */
  readonly showsPeers: boolean;
  /** Node options that are off. If data is not available without such an option, the page says so. */
  readonly lacking: readonly string[];
  /**
   * The command that calls methods of this node, as its log prints it: the installed program, or a path with options. Shown to
   * visitors on this machine; others see `lbcnode-cli`.
   */
  readonly command: string;
  /** RPC methods that visitors may call in the console. */
  readonly methods: readonly OpenMethod[];
  /** Names of the methods that visitors may not call. */
  readonly closedMethods: readonly string[];
}

export interface Tip {
  readonly height: number;
  /** Id in the hex form that programs print. */
  readonly hash: string;
  readonly timeSec: number;
}

/** State while the node downloads the chain. */
export interface SyncState {
  /** Height of the best known header. */
  readonly headers: number;
}

/** An event of a block for a claim or a name, such as a takeover. */
export interface TakenEvent {
  readonly event: string;
  /** Normalized name of the claim, as bytes in hex. */
  readonly nameHex: string;
  /** Claim id; for a takeover, the id of the new owner. */
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

/** Functions of the explorer's thread that the node's thread calls. */
export interface ExplorerCalls {
  /** Starts to listen. Resolves to the port. */
  open(): Promise<number>;
  /** Closes the connections and then ends the thread. */
  close(): Promise<void>;
}

/** Functions of the node's thread that the explorer's thread calls. */
export interface NodeCalls {
  /**
   * Calls an RPC method. Resolves to the JSON-RPC response as text. A method that visitors may not call gives the error for
   * an unknown method.
   */
  rpc(method: string, params: readonly unknown[]): Promise<string>;
}

/** Items that are sent to the explorer's thread, besides answers and calls (`threads/protocol.ts`). */
export type ToExplorer =
  /** The tip has changed. `sync` is null when the node is in sync with the chain. */
  | readonly ['tip', tip: Tip | null, sync: SyncState | null]
  | readonly ['disconnected', TakenBlock]
  /** A block was connected that a reorg had disconnected before. */
  | readonly ['reconnected', hash: string]
  /** Startup or shutdown status of the node; null while it runs normally. */
  | readonly ['status', string | null]
  /** Reports that the mempool has changed. */
  | readonly ['mempool'];

/** Messages from the explorer's thread that are neither answers nor calls. */
export type FromExplorer =
  | readonly ['log', text: string]
  | readonly ['counters', ExplorerCounters]
  /** Whether at least one page with a live connection is open. */
  | readonly ['watched', isWatched: boolean];

/** Errors are sent to the other thread only with their messages. */
export const EXPLORER_ERRORS = new CrossingErrors([]);

export interface ExplorerCounters {
  readonly pages: number;
  readonly rendered: number;
  readonly refused: number;
  readonly failed: number;
  /** Number of open pages with a live connection. */
  readonly viewers: number;
}
