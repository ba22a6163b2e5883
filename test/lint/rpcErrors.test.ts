import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

it('src/rpc/reference/methodErrors.ts is up to date (node scripts/generateRpcDocs.mjs)', async () => {
  const script = pathToFileURL(join(root, 'scripts/rpcErrors.mjs')).href;
  const { methodErrorsText } = (await import(script)) as { methodErrorsText: (root: string) => string };
  expect(methodErrorsText(root)).toBe(readFileSync(join(root, 'src/rpc/reference/methodErrors.ts'), 'utf8'));
});
