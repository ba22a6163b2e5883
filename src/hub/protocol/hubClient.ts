/** A client of the hub, and the definition of a method's parameters. */
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** A result that is created while it is sent. `pieces` are parts of the text of one JSON value. */
export class StreamedJson {
  readonly pieces: AsyncIterable<string>;
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

export type HubResult = JsonOut | StreamedJson;

/** The client that calls a method. */
export interface HubClient {
  readonly number: number;
  readonly hasLeft: boolean;
  /** First characters of the client's user agent. */
  name: string;
  /** Protocol version agreed by `server.version`; null before that call. */
  protocol: string | null;
  /** Format of header notifications; null if the client is not subscribed to headers. */
  wantsHeaders: 'raw' | 'decoded' | null;
  /** Height of the last tip that was sent to the client. */
  knownHeight: number;
  /**
   * Running number of the last hub announcement that was sent to the client (`hubPeers.ts`); null if the client is not
   * subscribed to announcements.
   */
  knownPeer: number | null;
  /**
   * Subscribes to changes of a script. `alias` is the client's name for the script. Throws `HubError` if the client has too
   * many subscriptions.
   */
  subscribe(scriptKey: string, alias: string): void;
  unsubscribe(scriptKey: string): void;
  /** Closes the connection after the response to the current request. */
  dismiss(): void;
}

/** Name and parameters of a method. */
export interface MethodShape {
  readonly name: string;
  readonly params?: readonly string[];
  /** Number of `params` that a call must contain; all by default. */
  readonly required?: number;
  /** Whether the method accepts any number of positional arguments instead of `params`. */
  readonly spread?: boolean;
  /** Whether the method accepts named arguments with any names. */
  readonly named?: boolean;
  /** Whether the method may wait for slow operations or for other clients, so that its slot is given up. */
  readonly waits?: boolean;
}
