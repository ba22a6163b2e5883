import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'src/metadata/messages');

it('src/metadata/messages is what data/proto says (npm run messages)', async () => {
  const script = pathToFileURL(join(root, 'scripts/generateMessages.mjs')).href;
  const { generateMessages } = (await import(script)) as { generateMessages: () => Map<string, string> };
  const files = generateMessages();
  expect(readdirSync(folder).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
});
