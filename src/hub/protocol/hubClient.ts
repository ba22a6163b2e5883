/** A client of the hub, and the shape of the methods that it calls. */
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** A result that is made as it is sent: pieces of one JSON value. */
export class StreamedJson {
  readonly pieces: AsyncIterable<string>;
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

export type HubResult = JsonOut | StreamedJson;

/** The client that calls. */
export interface HubClient {
  readonly number: number;
  readonly hasLeft: boolean;
  /** The first characters of what it calls itself. */
  name: string;
  /** Answer of `server.version`; null before. */
  protocol: string | null;
  /** Whether headers are told as hex; null unless it wants to be notified of them. */
  wantsHeaders: 'raw' | 'decoded' | null;
  /** Height of the tip that it knows of. */
  knownHeight: number;
  /** The number of the latest other hub that it knows of (`hubPeers.ts`); null unless it wants to be notified of them. */
  knownPeer: number | null;
  /** Receives from here on what happens to a script, by the name that it gave it. Throws `HubError` when there are too many. */
  subscribe(scriptKey: string, alias: string): void;
  unsubscribe(scriptKey: string): void;
  /** Ends the connection behind the answer. */
  dismiss(): void;
}

/** The names of the parameters in order, and how many are required. */
export interface MethodShape {
  readonly name: string;
  readonly params?: readonly string[];
  /** How many of `params` must be given; all when it is left out. */
  readonly required?: number;
  /** Takes any number of positional arguments instead of `params`. */
  readonly spread?: boolean;
  /** Takes named arguments of any name. */
  readonly named?: boolean;
  /** Waits for what may take long, and for others than itself. */
  readonly waits?: boolean;
}
