import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openHeaders, type LedgerHeaders } from '../../../../src/daemon/ledger/headers/ledgerHeaders.js';
import { takeHeaders } from '../../../../src/daemon/ledger/headers/takeHeaders.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';
import { GENESIS_HEADER, makeHeaders } from '../../../support/headerChains.js';
import { regtest } from '../../../support/ledgerTransactions.js';

const COUNT = 2100;
let headers: Buffer[];
beforeAll(async () => {
  headers = [GENESIS_HEADER, ...(await makeHeaders(COUNT))];
});

let folder: string;
let source: string;
let chain: LedgerHeaders;
let reported: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'take-headers-'));
  source = join(folder, 'source');
  chain = openHeaders(folder, regtest, true);
  reported = [];
});
afterEach(() => {
  chain.close();
  rmSync(folder, { recursive: true, force: true });
});

const take = (bytes?: Buffer, isStopped = (): boolean => false): Promise<void> => {
  if (bytes) writeFileSync(source, bytes);
  const tell = (text: string): void => void reported.push(text);
  return takeHeaders(source, { chain, log: { info: tell, warn: tell }, isStopped });
};

describe('takeHeaders', () => {
  it('imports headers above the existing ones', async () => {
    await take(Buffer.concat(headers.slice(0, 11)));
    expect(chain.height).toBe(10);
    await take(Buffer.concat(headers.slice(0, 6)));
    expect(reported.at(-1)).toContain('no block headers that are missing');
    expect(chain.height).toBe(10);
    await take(Buffer.concat(headers));
    expect(chain.height).toBe(COUNT);
    expect(chain.headerAt(COUNT)).toEqual(headers[COUNT]);
  });

  it('skips another branch', async () => {
    await take(Buffer.concat(headers.slice(0, 11)));
    const branch = await makeHeaders(20, { mark: 1 });
    await take(Buffer.concat([GENESIS_HEADER, ...branch]));
    expect(reported.at(-1)).toContain('it contains another branch');
    expect(chain.headerAt(10)).toEqual(headers[10]);
    expect(chain.height).toBe(10);
  });

  it('stops with the daemon, keeping the verified headers', async () => {
    let asked = 0;
    await take(Buffer.concat(headers), () => asked++ > 0);
    expect(chain.height).toBe(2000);
  });

  it.each<[string, () => Buffer, RegExp, number]>([
    ['empty', () => Buffer.alloc(0), /its size of 0 bytes is not a multiple of 112/, 0],
    ['cut short', () => Buffer.concat(headers).subarray(0, -50), /it may be truncated/, 0],
    ['of something else', () => Buffer.alloc(1120, 'text'), /does not begin with the first header/, 0],
    ['with a hole', () => holeAt(2050), /the header at height 2050 is missing/, 2000],
    ['with a wrong header', () => wrongAt(2050), /the header at height 2050 does not follow/, 2000],
  ])('reports the error in a file %s', async (_what, bytes, message, height) => {
    const taking = take(bytes());
    await expect(taking).rejects.toThrow(EnvironmentError);
    await expect(taking).rejects.toThrow(message);
    await expect(taking).rejects.toThrow(source);
    expect(chain.height).toBe(height);
  });

  it('reports a missing file', async () => {
    await expect(take()).rejects.toThrow(/cannot be read: it is missing \(ENOENT\)\. Use another file/);
    mkdirSync(source);
    await expect(take()).rejects.toThrow(EnvironmentError);
    rmSync(source, { recursive: true });
    expect(spawnSync('mkfifo', [source]).status).toBe(0);
    await expect(take()).rejects.toThrow(/cannot be read: it is a named pipe/);
  });
});

function holeAt(height: number): Buffer {
  return Buffer.concat(headers.map((header, n) => (n === height ? Buffer.alloc(112) : header)));
}

function wrongAt(height: number): Buffer {
  const bytes = Buffer.concat(headers);
  // This byte belongs to the hash of the previous header.
  bytes[height * 112 + 10]! ^= 1;
  return bytes;
}
