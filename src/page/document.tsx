/** Frame of every page: head, navigation, search field, banners and footer. */
import type { ComponentChildren, VNode } from 'preact';
import { render } from 'preact-render-to-string';
import { Time } from './components.js';
import { integerText } from './format.js';
import { shownLine, shownMarkup } from './text.js';

/** Display settings that the visitor chose. */
export interface Look {
  readonly scheme: 'dark' | 'light' | null;
}

export interface Assets {
  readonly style: string;
  /**
   * URL of the script. Null if the package was built without the script, because no bundler was installed; pages work
   * without it.
   */
  readonly script: string | null;
}

export interface PageFrame {
  readonly title: string;
  readonly description: string;
  /** Path of the page, to which forms of the frame return. */
  readonly path: string;
  /** Text that the visitor searched for. */
  readonly query?: string | undefined;
  readonly network: string;
  /** Tip of the active chain; null while the node starts. */
  readonly tip: { readonly height: number; readonly hash: string; readonly timeSec: number } | null;
  /**
   * Topics of the page, each with its version (`tip:5`). When the server announces a later version of one of these topics, the
   * page is loaded again.
   */
  readonly topics: readonly string[];
  readonly strip?: ComponentChildren;
  /** Interval in seconds at which the browser reloads the page until it is available. */
  readonly againSec?: number | undefined;
  readonly nowSec: number;
  readonly isIndexable: boolean;
}

const LINKS = [
  ['/names', 'Names'],
  ['/claims', 'Claims'],
  ['/upcoming', 'Upcoming'],
  ['/blocks', 'Blocks'],
  ['/mempool', 'Mempool'],
  ['/charts', 'Charts'],
  ['/node', 'Node'],
  ['/console', 'Console'],
] as const;

function Logo(): VNode {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <path d="M12 2 22 7v10l-10 5L2 17V7z" fill="none" stroke="currentColor" stroke-width="1.8" />
      <path d="M2 7l10 5 10-5M12 12v10" fill="none" stroke="currentColor" stroke-width="1.8" />
    </svg>
  );
}

function Header({ path, query, network, tip, nowSec }: PageFrame): VNode {
  const [shown = path] = path.split('?', 1);
  return (
    <header class="top">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="brand" href="/">
        <Logo /> <span>lbcnode</span>
        {network !== 'main' && <span class="tag info">{network}</span>}
      </a>
      <form class="search" role="search" action="/find" method="get">
        <label class="unseen" for="q">
          Search names, claims, blocks, transactions and addresses
        </label>
        <input
          id="q"
          name="q"
          type="search"
          maxlength={2000}
          value={query}
          placeholder="Name, claim id, block, transaction, address"
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit">Search</button>
      </form>
      <p class="tip" id="tip">
        {tip === null ? (
          'not ready'
        ) : (
          <>
            <span class="dot" id="live" aria-hidden="true"></span>{' '}
            <span aria-live="polite">
              <span id="live-words"></span> Block <a href="/block/tip">{integerText(tip.height)}</a>
            </span>
            , <Time sec={tip.timeSec} now={nowSec} />
          </>
        )}
      </p>
      <nav class="main" aria-label="Pages">
        <ul>
          {LINKS.map(([href, text]) => (
            <li>
              <a
                href={href}
                aria-current={shown === href || shown.startsWith(`${href}/`) ? 'page' : undefined}
              >
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

/** Maximum length of the path in the links for colours. The explorer refuses URLs of more than 4,096 characters. */
const MAX_BACK_CHARS = 4000;

function Footer({ look, path }: { readonly look: Look; readonly path: string }): VNode {
  const encoded = `&back=${encodeURIComponent(path)}`;
  const back = encoded.length <= MAX_BACK_CHARS ? encoded : '';
  return (
    <footer class="bottom">
      <p>
        This page comes from a node of the LBRY network and loads nothing from other servers. The methods of
        the node give the same data, as the <a href="/console">console</a> shows.{' '}
        <a href="/help">Words of these pages</a>
      </p>
      <p>
        Colours:{' '}
        {(['system', 'light', 'dark'] as const).map((scheme) => (
          <>
            <a
              href={`/look?scheme=${scheme}${back}`}
              rel="nofollow"
              aria-current={(look.scheme ?? 'system') === scheme ? 'true' : undefined}
            >
              {scheme}
            </a>{' '}
          </>
        ))}
      </p>
      <p id="switches"></p>
    </footer>
  );
}

/** Returns the whole page as HTML in UTF-8. */
export function documentBytes(frame: PageFrame, look: Look, assets: Assets, body: ComponentChildren): Buffer {
  const { title, description, strip, topics, tip, againSec, isIndexable } = frame;
  const html = render(
    <html lang="en" dir="ltr" data-scheme={look.scheme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <title>{`${shownLine(title, 100)} · lbcnode`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content={shownLine(description, 300)} />
        <meta property="og:title" content={shownLine(title, 100)} />
        <meta property="og:description" content={shownLine(description, 300)} />
        <meta name="color-scheme" content={look.scheme ?? 'light dark'} />
        {!isIndexable && <meta name="robots" content="noindex, nofollow" />}
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href={assets.style} />
        {assets.script !== null && <script type="module" src={assets.script}></script>}
      </head>
      <body data-tip={tip?.hash} data-topics={topics.join(' ')} data-again={againSec}>
        <Header {...frame} />
        {strip}
        <main id="main" tabIndex={-1}>
          {body}
        </main>
        <Footer look={look} path={frame.path} />
      </body>
    </html>,
  );
  return shownMarkup(`<!DOCTYPE html>${html}`);
}
