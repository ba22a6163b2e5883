/** Renders error pages, and keeps those that many visitors get in the same form. */
import { documentBytes, type Assets, type Look } from '../page/document.js';
import { Lru } from '../util/lru.js';
import { ErrorBody, SyncStrip } from './frameParts.js';
import type { Tip } from './messages.js';
import type { PageError } from './pageContext.js';
import type { SiteState } from './pageRenderer.js';
import { renderedOf, type Rendered } from './rendered.js';
import { securityHeaders } from './siteRequests.js';

/** Maximum number of kept pages. They differ by their text, the visitor's colours and the tip. */
const KEPT = 64;
/** Time in seconds for which a kept page is sent. It shows the age of the tip in minutes. */
const KEPT_SEC = 60;

/** Properties of a request that its error page depends on. */
export interface ErrorContext {
  readonly path: string;
  readonly tip: Tip | null;
  /** Progress of the sync; absent or null if the page has no strip with it. */
  readonly sync?: SiteState['sync'] | undefined;
  readonly look: Look;
  /** Seconds after which the browser loads the page again; absent if it does not. */
  readonly againSec?: number | undefined;
}

export class ErrorPages {
  private readonly network: string;
  private readonly assets: Assets;
  private readonly nowSec: () => number;
  private readonly kept = new Lru<string, Rendered>(KEPT);

  constructor(network: string, assets: Assets, nowSec = () => Math.floor(Date.now() / 1000)) {
    this.network = network;
    this.assets = assets;
    this.nowSec = nowSec;
  }

  /** Renders the page of an error. */
  of(error: PageError, { path, tip, sync, look, againSec }: ErrorContext): Rendered {
    const html = documentBytes(
      {
        title: error.title,
        description: error.title,
        path,
        network: this.network,
        tip,
        topics: error.versioned,
        strip: sync && tip ? <SyncStrip tip={tip} {...sync} /> : null,
        nowSec: this.nowSec(),
        isIndexable: false,
        againSec,
      },
      look,
      this.assets,
      <ErrorBody error={error} again={againSec === undefined ? null : path} />,
    );
    return renderedOf(error.status, 'text/html; charset=utf-8', html, securityHeaders(false));
  }

  /**
   * Returns the page of an error without the requested path. It is rendered and compressed once for all visitors, so that many
   * refused requests take little time.
   */
  shared(error: PageError, { tip, sync, look, againSec }: Omit<ErrorContext, 'path'>): Rendered {
    const minute = Math.floor(this.nowSec() / KEPT_SEC);
    const { status, title, message } = error;
    const key = JSON.stringify([status, title, message, look.scheme, tip?.hash, sync, againSec, minute]);
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    const page = this.of(error, { path: '/', tip, sync, look, againSec });
    this.kept.set(key, page);
    return page;
  }
}
