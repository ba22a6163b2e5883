import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CloseStack } from '../../../../src/node/start/closeStack.js';
import { writePidFile } from '../../../../src/node/start/pidFile.js';

describe('the file with the process id', () => {
  let folder: string;
  let closers: CloseStack;
  const warnings: string[] = [];
  const write = (path: string): Promise<void> =>
    writePidFile(path, closers, (message) => warnings.push(message));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pid-'));
    closers = new CloseStack();
    warnings.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('exists until the end, and is not removed if it belongs to another process by then', async () => {
    const path = join(folder, 'pid');
    await write(path);
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`);
    await closers.close();
    expect(existsSync(path)).toBe(false);
    await write(path);
    writeFileSync(path, '1\n');
    await closers.close();
    expect(readFileSync(path, 'utf8')).toBe('1\n');
    expect(warnings).toEqual([]);
  });

  it('causes a warning if it cannot be written', async () => {
    const path = join(folder, 'absent', 'pid');
    await write(path);
    expect(warnings).toEqual([`The process id could not be written to ${path}: it is missing (ENOENT)`]);
    await closers.close();
  });
});
