import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Markdown documents of the project, as paths below it. */
function documents(): string[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) =>
      `${folder}/${String(name)}`.replaceAll('\\', '/'),
    );
  return [...readdirSync(ROOT), ...['docs', 'contrib'].flatMap(inFolder)].filter((name) =>
    name.endsWith('.md'),
  );
}

/** The text without blocks of code. */
const textOf = (path: string): string =>
  readFileSync(join(ROOT, path), 'utf8').replace(/^```[\s\S]*?^```/gm, '');

const knownAnchors = new Map<string, Set<string>>();

/** Anchors of headings, formed as GitHub does. */
function anchorsOf(path: string): Set<string> {
  const known = knownAnchors.get(path);
  if (known !== undefined) return known;
  const anchors = new Set<string>();
  knownAnchors.set(path, anchors);
  for (const [, heading] of textOf(path).matchAll(/^#+ (.+)$/gm)) {
    const text = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let name = anchor;
    for (let n = 1; anchors.has(name); n++) name = `${anchor}-${n}`;
    anchors.add(name);
  }
  return anchors;
}

/** Links to files and headings that do not exist. */
function brokenLinks(path: string, text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
    if (/^[a-z]+:/.test(link!)) return [];
    const [file, anchor] = link!.split('#') as [string, string | undefined];
    const target = file === '' ? path : join(dirname(path), file);
    if (!existsSync(join(ROOT, target))) return [`${path}: ${link}`];
    const isThere = anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor);
    return isThere ? [] : [`${path}: ${link}`];
  });
}

it('pages of modules have at most 150 lines', () => {
  const pages = documents().filter((path) => /^docs\/architecture(\.md|\/)/.test(path));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((path) => readFileSync(join(ROOT, path), 'utf8').split('\n').length > 151)).toEqual([]);
});

describe('links of the documents', () => {
  it('lead to files and headings that exist', () => {
    const paths = documents();
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.flatMap((path) => brokenLinks(path, textOf(path)))).toEqual([]);
  });

  it('lead from the index to every document', () => {
    const index = textOf('docs/README.md');
    const documented = documents().filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
    expect(documented.filter((path) => !index.includes(`(${path.replace('docs/', '')})`))).toEqual([]);
  });

  it('are reported where they do not', () => {
    const text = '[a](docs/README.md#documentation) [b](docs/gone.md) [c](README.md#no-such-heading)';
    expect(brokenLinks('README.md', text)).toEqual([
      'README.md: docs/gone.md',
      'README.md: README.md#no-such-heading',
    ]);
  });
});
