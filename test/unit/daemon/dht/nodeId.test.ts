import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readNodeId } from '../../../../src/daemon/dht/nodeId.js';
import { seededRandom } from './simulatedNodes.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'node-id-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('readNodeId', () => {
  it('creates an id and reads it again', () => {
    const first = readNodeId(folder, seededRandom('a'));
    expect(first).toHaveLength(48);
    expect(readNodeId(folder, seededRandom('b')).equals(first)).toBe(true);
    expect(readFileSync(join(folder, 'node_id'), 'utf8')).toMatch(/^[1-9A-HJ-NP-Za-km-z]{60,66}$/);
  });

  it('reads the file of lbrynet, with surrounding whitespace', () => {
    writeFileSync(join(folder, 'node_id'), ` ${'1'.repeat(47)}2\n`);
    const id = readNodeId(folder, seededRandom('a'));
    expect(id.equals(Buffer.from([...Buffer.alloc(47), 1]))).toBe(true);
  });

  it.each(['0OIl', '2', '1'.repeat(49)])('refuses %s and does not overwrite it', (text) => {
    writeFileSync(join(folder, 'node_id'), text);
    expect(() => readNodeId(folder, seededRandom('a'))).toThrow(
      /does not contain the id of a DHT node. Remove it/,
    );
    expect(readFileSync(join(folder, 'node_id'), 'utf8')).toBe(text);
  });
});
