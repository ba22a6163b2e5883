/** Components outside the content of a page: the banner during a sync, and the body of an error page. */
import type { VNode } from 'preact';
import { Notice } from '../page/components.js';
import { durationText } from '../page/age.js';
import { countText, dateText, integerText } from '../page/format.js';
import type { Tip } from './messages.js';
import type { PageError } from './pageContext.js';

interface SyncStripProps {
  readonly tip: Tip;
  readonly headers: number;
  readonly etaSec: number | null;
}

/** Returns the share of the known blocks that are connected, in percent. */
export const syncShare = (blocks: number, headers: number): number =>
  headers === 0 ? 0 : Math.min(100, (blocks / headers) * 100);

/** Formats a banner with the progress of the chain download. A node requests blocks only when its headers have the minimum work. */
export function SyncStrip({ tip, headers, etaSec }: SyncStripProps): VNode {
  if (tip.height === 0)
    return (
      <div class="strip">
        <p>
          <strong>The node is syncing: {countText(headers, 'header')} downloaded.</strong> It has no block
          after the genesis block yet. Upcoming events and the mempool are not known yet.
        </p>
      </div>
    );
  const share = syncShare(tip.height, headers);
  return (
    <div class="strip">
      <p>
        <strong>The node is syncing.</strong> Block {integerText(tip.height)} of {integerText(headers)} (
        {dateText(tip.timeSec)}), {share.toFixed(1)} %
        {etaSec !== null && `, about ${durationText(etaSec)} left`}. All pages show the state after this
        block. Upcoming events and the mempool are not known yet.
      </p>
      <progress max="100" value={share.toFixed(1)} aria-label="Blocks that are synced">
        {share.toFixed(1)} %
      </progress>
    </div>
  );
}

interface ErrorBodyProps {
  readonly error: PageError;
  /** Path of the page that should be loaded again later, for a temporary error; null for other errors. */
  readonly again: string | null;
}

export function ErrorBody({ error, again }: ErrorBodyProps): VNode {
  return (
    <>
      <h1>{error.title}</h1>
      <Notice tone="warning">{error.message}</Notice>
      {again !== null && (
        <p>
          The page looks again every few seconds. <a href={again}>Look now</a>
        </p>
      )}
      {error.near.length > 0 && (
        <>
          <h2>{error.status === 404 ? 'Perhaps you mean' : 'See also'}</h2>
          <ul>
            {error.near.map(([href, text]) => (
              <li>
                <a href={href}>{text}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
