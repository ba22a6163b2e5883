/** Data and functions for building a page: the request, and the response to it. */
import type { ComponentChildren } from 'preact';
import type { Topic } from './live.js';
import type { OpenMethod, TakenBlock, Tip } from './messages.js';
import type { KeptRows } from './keptRows.js';
import type { Lru } from '../util/lru.js';
import type { ExplorerRpcClient } from './explorerRpcClient.js';
import { withQuery } from '../page/links.js';
import { shownLine } from '../page/text.js';

export interface PageContext {
  readonly ask: ExplorerRpcClient['ask'];
  readonly askExactly: ExplorerRpcClient['askExactly'];
  /** Decoded segments of the path, without the first segment, which selects the page. */
  readonly parts: readonly string[];
  /** Query parameters. Those of the page have accepted values (`pages/pageParameters.ts`) or are empty. */
  readonly query: URLSearchParams;
  readonly tip: Tip;
  /** Whether the node is still downloading the chain. During that time upcoming events and the mempool are not known. */
  readonly isSyncing: boolean;
  /** Height of the best known header. During a sync it is above the tip. */
  readonly headers: number;
  /** Cache of answers that never change, such as the size of a block, by their subject. Later pages use it too. */
  readonly fixed: Lru<string, object>;
  /** Rendered rows of tables. Later pages use them too. */
  readonly rows: KeptRows;
  /** Blocks that a reorg disconnected recently. */
  readonly taken: readonly TakenBlock[];
  readonly nowSec: number;
  readonly network: string;
  readonly spacingSec: number;
  /** Whether the visitor's address belongs to this machine. */
  readonly isLocal: boolean;
  /** Whether the visitor has allowed images from other hosts. */
  readonly wantsImages: boolean;
  readonly showsImages: boolean;
  readonly showsPeers: boolean;
  /** Names of node options that are off and for which pages show a hint. */
  readonly lacking: readonly string[];
  /** The command that calls methods of this node, as the visitor can type it. */
  readonly command: string;
  /** RPC methods that visitors may call in the console. */
  readonly methods: readonly OpenMethod[];
  /** Names of the methods that visitors may not call. */
  readonly closedMethods: readonly string[];
}

export interface PageResult {
  readonly status?: number;
  readonly title: string;
  readonly description: string;
  /** Topics whose changes make the page outdated. */
  readonly topics: readonly Topic[];
  readonly body: ComponentChildren;
  /** Text that the search field of the page contains. */
  readonly searched?: string;
  /** Whether the page also changes between blocks, because it shows the mempool or peers. */
  readonly isLively?: boolean;
}

/** A redirect to another page; the path is encoded. */
export interface Redirect {
  readonly redirect: string;
}

export type Page = (context: PageContext) => Promise<PageResult | Redirect>;

/** A link to another page, with its text. */
export type Near = readonly [href: string, text: string];

/** An error response: its status, a title and a message. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number;
  readonly title: string;
  /** Links to other pages that the visitor may have meant, each with path and text. */
  readonly near: readonly Near[];
  /** Topics whose changes may replace the error with the page, such as a block with the transaction. */
  readonly topics: readonly Topic[];
  /** These topics with the versions from before the data of the page was read. */
  versioned: readonly string[] = [];

  constructor(
    status: number,
    title: string,
    message: string,
    near: readonly Near[] = [],
    topics: readonly Topic[] = [],
  ) {
    super(message);
    this.topics = topics;
    this.status = status;
    this.title = title;
    this.near = near;
  }
}

/** Maximum number of characters of a text that a link searches for. */
const MAX_SEARCHED = 200;

/** Returns a link to the search for a text that is not what a page expects. Empty for an empty text. */
export const searchFor = (text: string): readonly Near[] =>
  text.trim() === ''
    ? []
    : [[withQuery('/find', { q: text.slice(0, MAX_SEARCHED) }), `Search for “${shownLine(text, 40)}”`]];

export const notFound = (
  title: string,
  message: string,
  near: readonly Near[] = [],
  topics: readonly Topic[] = [],
): PageError => new PageError(404, title, message, near, topics);

export const badRequest = (message: string, near: readonly Near[] = []): PageError =>
  new PageError(400, 'This address is malformed', message, near);

/** The largest integer that methods accept. */
export const MAX_INTEGER = 0x7fffffff;

/** Returns a query parameter that is an integer; undefined if it is absent. */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) || undefined;
  return text === undefined ? undefined : Number(text);
}
