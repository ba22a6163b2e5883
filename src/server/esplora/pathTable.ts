/** All paths of the Esplora-compatible interface, and their routing. */
import { ADDRESS_PATHS } from './addressPaths.js';
import { BLOCK_PATHS } from './blockPaths.js';
import type { EsploraPath } from './declaration.js';
import { MEMPOOL_PATHS } from './mempoolPaths.js';
import { TX_PATHS } from './txPaths.js';

export const ESPLORA_PATHS: readonly EsploraPath[] = [
  ...BLOCK_PATHS,
  ...TX_PATHS,
  ...ADDRESS_PATHS,
  ...MEMPOOL_PATHS,
];

/** A node of the routing tree. The next segment of a path is either a fixed text or a parameter. */
class Segment {
  readonly next = new Map<string, Segment>();
  param: { readonly name: string; readonly segment: Segment } | null = null;
  readonly paths = new Map<string, EsploraPath>();
}

export interface MatchedPath {
  /** Declared paths by HTTP method. */
  readonly paths: ReadonlyMap<string, EsploraPath>;
  readonly params: Readonly<Record<string, string>>;
}

/** Expands the optional part of a path: `/a(/:b)` becomes `/a` and `/a/:b`. */
function spellings(path: string): string[] {
  const optional = /\((.*)\)$/.exec(path);
  if (optional === null) return [path];
  const head = path.slice(0, optional.index);
  return [head, head + optional[1]!];
}

function buildTree(paths: readonly EsploraPath[]): Segment {
  const root = new Segment();
  for (const path of paths) {
    for (const spelling of spellings(path.path)) {
      let at = root;
      for (const text of spelling.split('/').slice(1)) at = childOf(at, text);
      at.paths.set(path.method, path);
    }
  }
  return root;
}

function childOf(at: Segment, text: string): Segment {
  if (text.startsWith(':')) {
    at.param ??= { name: text.slice(1), segment: new Segment() };
    return at.param.segment;
  }
  let child = at.next.get(text);
  if (child === undefined) at.next.set(text, (child = new Segment()));
  return child;
}

const TREE = buildTree(ESPLORA_PATHS);

/** Finds the declared path that matches a request target without its query; null if none matches. Parameters are not decoded. */
export function matchPath(path: string): MatchedPath | null {
  let at = TREE;
  const params: Record<string, string> = {};
  let from = 1;
  for (;;) {
    const slash = path.indexOf('/', from);
    const text = slash < 0 ? path.slice(from) : path.slice(from, slash);
    const fixed = at.next.get(text);
    if (fixed !== undefined) at = fixed;
    else if (at.param !== null && text !== '') {
      params[at.param.name] = text;
      at = at.param.segment;
    } else return null;
    if (slash < 0) break;
    from = slash + 1;
  }
  return at.paths.size === 0 ? null : { paths: at.paths, params };
}
