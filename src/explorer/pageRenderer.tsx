/** Renders pages: routes a path to its page, gives the page access to the node, and puts the result into the document. */
import { documentBytes, type Assets, type Look } from '../page/document.js';
import { Lru } from '../util/lru.js';
import type { ExplorerRpcClient } from './explorerRpcClient.js';
import { SyncStrip } from './frameParts.js';
import { KeptRows } from './keptRows.js';
import type { Topic } from './live.js';
import type { ExplorerStart, TakenBlock, Tip } from './messages.js';
import { isTemporary, withoutCause } from './nodeErrors.js';
import { PageError, searchFor, type PageContext, type PageResult, type Redirect } from './pageContext.js';
import { refuseUnknownValues } from './pages/pageParameters.js';
import { pageOf } from './pages/pageTable.js';
import { renderedOf, type Rendered } from './rendered.js';
import { partsOf, securityHeaders } from './siteRequests.js';

/** The client program's options for networks other than `main`. */
const NETWORK_OPTIONS: Readonly<Record<string, string>> = { test: ' -testnet', regtest: ' -regtest' };
/** Maximum number of cached answers that never change, of about 300 bytes each. */
const KEPT_ANSWERS = 1000;

export interface SiteState {
  tip: Tip | null;
  /** Progress of the sync; null when the node is in sync with the chain. */
  sync: { readonly headers: number; readonly etaSec: number | null } | null;
  /** Blocks that a reorg disconnected recently, sorted from the latest. */
  taken: readonly TakenBlock[];
  /** Startup or shutdown status of the node; null while it runs normally. */
  status: string | null;
}

/** Properties of a request that its page depends on. */
export interface RequestedPage {
  readonly path: string;
  readonly search: string;
  readonly look: Look & { readonly wantsImages: boolean };
  /** Whether the visitor is on this machine. */
  readonly isLocal: boolean;
}

export interface RenderedPage {
  readonly rendered: Rendered;
  /** Whether the page also changes between blocks; null for a redirect, which is not cached. */
  readonly isLively: boolean | null;
  /** Whether a part is missing that the node will have later without a new block. */
  readonly isPartial: boolean;
}

export interface RendererDeps {
  readonly node: Pick<ExplorerRpcClient, 'ask' | 'askExactly'>;
  readonly state: SiteState;
  /** The topic with its current version. */
  readonly versioned: (topic: Topic) => string;
}

export class PageRenderer {
  private readonly start: ExplorerStart;
  private readonly deps: RendererDeps;
  private readonly assets: Assets;
  private readonly fixed = new Lru<string, object>(KEPT_ANSWERS);
  private readonly rows = new KeptRows();
  /** Number of pages that were rendered. */
  count = 0;

  constructor(start: ExplorerStart, deps: RendererDeps, assets: Assets) {
    this.start = start;
    this.deps = deps;
    this.assets = assets;
  }

  /** Renders the page of a request. Rejects with `PageError`, or with the error of a call to the node. */
  async render({ path, search, look, isLocal }: RequestedPage): Promise<RenderedPage> {
    const { start, deps } = this;
    const { tip, sync } = deps.state;
    const versions = { tip: deps.versioned('tip'), mempool: deps.versioned('mempool') };
    if (tip === null)
      throw new PageError(503, 'There is no block yet', 'The node has not read its first block.');
    const parts = partsOf(path);
    const page = pageOf(parts);
    if (page === undefined)
      throw new PageError(
        404,
        'There is no such page',
        'Use the links above, or search.',
        searchFor(parts.at(-1) ?? ''),
      );
    const query = new URLSearchParams(search);
    refuseUnknownValues(parts[0]!, path, query);
    this.count++;
    const { hasTemporary, ...askers } = this.askersFor(start.showsPeers || isLocal);
    const context: PageContext = {
      ...askers,
      parts: parts.slice(1),
      query,
      tip,
      isSyncing: sync !== null,
      headers: sync?.headers ?? tip.height,
      fixed: this.fixed,
      rows: this.rows,
      taken: deps.state.taken,
      nowSec: Math.floor(Date.now() / 1000),
      network: start.network,
      spacingSec: start.spacingSec,
      isLocal,
      wantsImages: look.wantsImages,
      showsImages: start.showsImages,
      showsPeers: start.showsPeers || isLocal,
      lacking: start.lacking,
      command: isLocal ? start.command : `lbcnode-cli${NETWORK_OPTIONS[start.network] ?? ''}`,
      methods: start.methods,
      closedMethods: start.closedMethods,
    };
    const result = await page(context).catch((error: unknown) => {
      if (error instanceof PageError) error.versioned = error.topics.map((topic) => versions[topic]);
      throw error;
    });
    if ('redirect' in result) return { rendered: redirection(result), isLively: null, isPartial: false };
    // The state from before the page's data was read: a change during the rendering makes the page outdated.
    const topics = result.topics.map((topic) => versions[topic]);
    const html = this.html(result, search === '' ? path : `${path}?${search}`, { tip, sync, topics }, look);
    const headers = securityHeaders(look.wantsImages);
    return {
      rendered: renderedOf(result.status ?? 200, 'text/html; charset=utf-8', html, headers),
      isLively: result.isLively === true,
      isPartial: hasTemporary(),
    };
  }

  /**
   * Returns the functions with which a page calls methods. Causes of errors in indexes are for local visitors. `hasTemporary` returns
   * whether a call had no answer because the node will have the data later without a new block.
   */
  private askersFor(
    showsCauses: boolean,
  ): Pick<PageContext, 'ask' | 'askExactly'> & { readonly hasTemporary: () => boolean } {
    const { node } = this.deps;
    let isAnyTemporary = false;
    const shown = <Result,>(answer: Promise<Result>): Promise<Result> =>
      answer.catch((error: unknown) => {
        isAnyTemporary ||= isTemporary(error);
        throw showsCauses ? error : withoutCause(error);
      });
    return {
      ask: <Result,>(method: string, ...params: readonly unknown[]) =>
        shown(node.ask<Result>(method, ...params)),
      askExactly: (method, ...params) => shown(node.askExactly(method, ...params)),
      hasTemporary: () => isAnyTemporary,
    };
  }

  private html(
    result: PageResult,
    path: string,
    { tip, sync, topics }: Pick<SiteState, 'tip' | 'sync'> & { readonly topics: readonly string[] },
    look: Look,
  ): Buffer {
    return documentBytes(
      {
        title: result.title,
        description: result.description,
        path,
        query: result.searched,
        network: this.start.network,
        tip,
        topics,
        strip: sync && tip ? <SyncStrip tip={tip} {...sync} /> : null,
        nowSec: Math.floor(Date.now() / 1000),
        isIndexable: this.start.isIndexable,
      },
      look,
      this.assets,
      result.body,
    );
  }
}

const redirection = ({ redirect }: Redirect): Rendered =>
  renderedOf(302, 'text/plain; charset=utf-8', Buffer.alloc(0), {
    ...securityHeaders(false),
    Location: redirect,
  });
