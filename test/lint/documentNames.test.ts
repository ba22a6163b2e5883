/** Files, options of the node and npm scripts that hand-written documents name exist. CHANGELOG may name removed ones. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OPTION_ROWS, type OptionName } from '../../src/node/options/optionsTable.js';

const OPTIONS: ReadonlySet<string> = new Set(OPTION_ROWS.map(({ name }: { name: OptionName }) => name));

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'native', 'scripts', 'test', 'docs', 'contrib', 'data', 'launcher', 'man', '.ci'];
const GENERATED = /^docs\/(rpc|options|lbcnet-api|esplora)\.md$/;

/** Files of other projects, files that a run writes, and folders that a build makes. */
const FOREIGN_FILES = new Set([
  'daemon_settings.yml',
  'THIRD-PARTY-NOTICES.md',
  'coverage/coverage-summary.json',
  'chain.dat.json',
  'src/chainparams.cpp',
  'src/hash.h',
  'contrib/mining/README.md',
]);
/** Options of the client, and of other programs. */
const FOREIGN_OPTIONS = new Set([
  'getinfo',
  'rpcconnect',
  'rpcwait',
  'rpcwallet',
  'stdinrpcpass',
  'p1',
  'skipverify',
  'makerpcauth',
]);

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => !name.includes('node_modules')),
);
const endings = new Set(
  files.flatMap((name) => {
    const parts = name.split('/');
    return parts.map((_, n) => parts.slice(n).join('/'));
  }),
);
const scripts = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
    .scripts,
);

const documents = [
  ...readdirSync(ROOT).filter((name) => /^[A-Z].*\.md$/.test(name) && !/NOTICES|CHANGELOG/.test(name)),
  ...files.filter((name) => /^docs\/.*\.md$/.test(name) && !GENERATED.test(name)),
];

/** Quoted names that do not exist. */
function unknownNames(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!);
  const fileNames = quoted.filter((name) =>
    /^[\w./-]+\.(tsx?|mjs|cpp|h|md|json|yml|service|patch)$/.test(name),
  );
  const options = quoted.flatMap((name) =>
    [...name.matchAll(/(?:^|\s)-([a-z][a-z0-9]+)(?=[=\s<]|$)/g)].map(([, option]) => option!),
  );
  const isOption = (name: string): boolean =>
    FOREIGN_OPTIONS.has(name) || OPTIONS.has(name) || OPTIONS.has(name.replace(/^no/, ''));
  return [
    ...fileNames.filter(
      (name) => !FOREIGN_FILES.has(name) && !endings.has(name) && !existsSync(join(ROOT, name)),
    ),
    ...options.filter((name) => !isOption(name)).map((name) => `-${name}`),
    ...[...text.matchAll(/npm run ([\w:-]+)/g)]
      .map(([, name]) => name!)
      .filter((name) => !scripts.includes(name)),
  ];
}

describe('the index of the documents', () => {
  it('lists each page of docs, and docs/architecture.md each page of its folder', () => {
    const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    const pagesOf = (folder: string): string[] =>
      readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
    const missing = [
      ...pagesOf('docs').filter(
        (name) => name !== 'README.md' && !read('docs/README.md').includes(`](${name})`),
      ),
      ...pagesOf('docs/architecture').filter(
        (name) => !read('docs/architecture.md').includes(`](architecture/${name}`),
      ),
    ];
    expect(missing).toEqual([]);
  });
});

describe('names in the documents', () => {
  it('exist', () => {
    expect(documents.length).toBeGreaterThan(40);
    const unknown = documents.flatMap((path) =>
      unknownNames(readFileSync(join(ROOT, path), 'utf8')).map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('are reported where they do not exist', () => {
    expect(
      unknownNames('`src/none.ts`, `node.ts`, `-nosuchoption=1`, `-txindex`, npm run nothing, npm run lint'),
    ).toEqual(['src/none.ts', '-nosuchoption', 'nothing']);
  });
});
