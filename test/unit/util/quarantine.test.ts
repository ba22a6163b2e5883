import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarantine } from '../../../src/util/quarantine.js';

describe('quarantine', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'aside-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('keeps each unusable file, and returns its path', () => {
    const path = join(folder, 'peers.dat');
    for (const [n, content] of ['one', 'two', 'three'].entries()) {
      writeFileSync(path, content);
      const aside = n === 0 ? `${path}.damaged` : `${path}.damaged-${n + 1}`;
      expect(quarantine(path, new Error('no good'), 'Peers are gone.')).toBe(
        `${path} cannot be used (no good). Peers are gone. It was moved to ${aside}.`,
      );
      expect(existsSync(path)).toBe(false);
      expect(readFileSync(aside, 'utf8')).toBe(content);
    }
  });

  it('moves a folder too, and reports if nothing can be moved', () => {
    const path = join(folder, 'banlist.dat');
    mkdirSync(join(path, 'inside'), { recursive: true });
    const error = Object.assign(new Error('EISDIR: illegal operation on a directory, read'), {
      code: 'EISDIR',
    });
    expect(quarantine(path, error, 'No peer is banned.')).toContain('cannot be used (it is a folder)');
    expect(existsSync(path)).toBe(false);
    expect(quarantine(join(folder, 'absent', 'x'), error, 'Lost.')).toContain('Move it away');
  });
});
