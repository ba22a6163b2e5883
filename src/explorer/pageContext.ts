/** What a page asks, and what it answers. */
import type { ComponentChildren } from 'preact';
import type { OpenMethod, TakenBlock, Tip } from './messages.js';
import type { ExplorerRpcStub } from './explorerRpcStub.js';

export interface PageContext {
  readonly ask: ExplorerRpcStub['ask'];
  /** Parts of the path behind its first, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly tip: Tip;
  /** Whether the node still downloads the chain: what comes next and the mempool are not known yet. */
  readonly isSyncing: boolean;
  /** Blocks that a reorganisation disconnected recently. */
  readonly taken: readonly TakenBlock[];
  readonly nowSec: number;
  readonly network: string;
  readonly spacingSec: number;
  /** Whether the visitor's address is of this machine. */
  readonly isLocal: boolean;
  /** Whether the visitor wants pictures from other hosts. */
  readonly wantsImages: boolean;
  readonly showsImages: boolean;
  readonly showsPeers: boolean;
  /** Options that are off. */
  readonly lacking: readonly string[];
  /** Methods of the console. */
  readonly methods: readonly OpenMethod[];
}

export interface PageResult {
  readonly status?: number;
  readonly title: string;
  readonly description: string;
  /** What the page depends on: `tip` and `mempool`. All else that pages show changes with one of these. */
  readonly topics: readonly string[];
  readonly body: ComponentChildren;
  /** Shown in the search field. */
  readonly searched?: string;
  /** Whether it also changes between blocks, by the mempool or peers. */
  readonly isLively?: boolean;
}

/** Another page answers; the path is encoded. */
export interface Redirect {
  readonly redirect: string;
}

export type Page = (context: PageContext) => Promise<PageResult | Redirect>;

/** An answer that is an error: its status, a title and a sentence. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number;
  readonly title: string;
  /** Links that may be meant instead: path and text. */
  readonly near: readonly (readonly [href: string, text: string])[];

  constructor(
    status: number,
    title: string,
    message: string,
    near: readonly (readonly [href: string, text: string])[] = [],
  ) {
    super(message);
    this.status = status;
    this.title = title;
    this.near = near;
  }
}

export const notFound = (
  title: string,
  message: string,
  near: readonly (readonly [href: string, text: string])[] = [],
): PageError => new PageError(404, title, message, near);

export const badRequest = (message: string): PageError =>
  new PageError(400, 'This address is malformed', message);

/** A whole number of a query parameter; undefined if it is absent. Throws `PageError` if invalid. */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[0-9]{1,10}$/.test(text)) throw badRequest(`“${name}” must be a whole number.`);
  return Number(text);
}
