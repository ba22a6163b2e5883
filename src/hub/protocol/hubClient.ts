/** A client of the hub, and the definition of a method's parameters. */
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** A result that is produced while it is sent: pieces of one JSON value. */
export class StreamedJson {
  readonly pieces: AsyncIterable<string>;
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

export type HubResult = JsonOut | StreamedJson;

/** The calling client. */
export interface HubClient {
  readonly number: number;
  readonly hasLeft: boolean;
  /** The first characters of its name. */
  name: string;
  /** Result of `server.version`; null before that call. */
  protocol: string | null;
  /** Format of header notifications; null if it is not subscribed to them. */
  wantsHeaders: 'raw' | 'decoded' | null;
  /** Height of the last tip that it knows. */
  knownHeight: number;
  /** Number of the last other hub that it knows (`hubPeers.ts`); null if it is not subscribed to them. */
  knownPeer: number | null;
  /** Subscribes to changes of a script; `alias` is the client's name for it. Throws `HubError` if there are too many. */
  subscribe(scriptKey: string, alias: string): void;
  unsubscribe(scriptKey: string): void;
  /** Closes the connection after the response. */
  dismiss(): void;
}

/** The names of the parameters in order, and how many are required. */
export interface MethodShape {
  readonly name: string;
  readonly params?: readonly string[];
  /** Number of required `params`; all by default. */
  readonly required?: number;
  /** Whether it accepts any number of positional arguments instead of `params`. */
  readonly spread?: boolean;
  /** Whether it accepts named arguments with any names. */
  readonly named?: boolean;
  /** Whether it may wait for slow operations or other clients. */
  readonly waits?: boolean;
}
