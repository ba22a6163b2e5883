/** Compilers with temporary failures. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCompiler } from '../../../scripts/native/compile.mjs';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-compile-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program that fails this number of times with the message. Returns its number of runs. */
async function failing(name: string, failures: number, message: string): Promise<number> {
  const file = join(folder, name);
  const program = `
    const { appendFileSync, readFileSync } = require('node:fs');
    appendFileSync(${JSON.stringify(file)}, '.');
    if (readFileSync(${JSON.stringify(file)}).length > ${failures}) process.exit(0);
    console.error(${JSON.stringify(message)});
    process.exit(1);`;
  try {
    await runCompiler({ command: process.execPath }, ['-e', program]);
  } catch (error) {
    expect((error as { stderr: string }).stderr).toContain(message);
    return -readFileSync(file).length;
  }
  return readFileSync(file).length;
}

it('runs again if a file of the cache was missing, and not for other errors', async () => {
  const miss = 'indexRows.cpp:1:1: error: unable to build C object: FileNotFound';
  expect(await failing('once', 1, miss)).toBe(2);
  expect(await failing('always', 9, miss)).toBe(-3);
  expect(await failing('wrong', 1, 'error: expected ";"')).toBe(-1);
});
