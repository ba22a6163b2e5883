/** The files of the explorer that never change while it runs: style sheet, script, icon and the rules for search engines. */
import { readFileSync } from 'node:fs';
import type { Assets } from '../page/document.js';
import { renderedOf, type Rendered } from './rendered.js';
import { securityHeaders } from './siteRequests.js';

export const YEAR_SEC = 31_536_000;
const DAY_SEC = 86_400;

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M12 2 22 7v10l-10 5L2 17V7z" fill="#0b6e5f"/><path d="m2 7 10 5 10-5M12 12v10" fill="none" stroke="#fff" stroke-width="1.6"/></svg>';

interface Manifest {
  readonly style: string;
  readonly script: string | null;
}

interface SiteFile {
  readonly rendered: Rendered;
  /** Value of `Cache-Control`. */
  readonly caching: string;
}

export class SiteFiles {
  /** Paths of style sheet and script. */
  readonly assets: Assets;
  private readonly files = new Map<string, SiteFile>();

  /** Reads the files from `assetFolder`. `isIndexable`: whether search engines may read the pages. */
  constructor(assetFolder: string, isIndexable: boolean) {
    const robots = isIndexable
      ? 'User-agent: *\nDisallow: /console\nDisallow: /find\n'
      : 'User-agent: *\nDisallow: /\n';
    this.add('/robots.txt', 'text/plain; charset=utf-8', Buffer.from(robots), 'no-cache');
    for (const path of ['/icon.svg', '/favicon.ico'])
      this.add(path, 'image/svg+xml', Buffer.from(ICON), `public, max-age=${DAY_SEC}`);
    const manifest = JSON.parse(readFileSync(`${assetFolder}/manifest.json`, 'utf8')) as Manifest;
    const put = (file: string, type: string): string => {
      const path = `/assets/${file}`;
      const body = readFileSync(`${assetFolder}/${file}`);
      this.add(path, type, body, `public, max-age=${YEAR_SEC}, immutable`);
      return path;
    };
    this.assets = {
      style: put(manifest.style, 'text/css; charset=utf-8'),
      script: manifest.script === null ? null : put(manifest.script, 'text/javascript; charset=utf-8'),
    };
  }

  private add(path: string, type: string, body: Buffer, caching: string): void {
    this.files.set(path, { rendered: renderedOf(200, type, body, securityHeaders(false), true), caching });
  }

  /** Returns the file with this path; null if there is none. */
  find(path: string): SiteFile | null {
    return this.files.get(path) ?? null;
  }
}
