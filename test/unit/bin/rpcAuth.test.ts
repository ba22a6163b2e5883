/** `lbcnode-cli -makerpcauth`: the node accepts the printed credentials. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { newPassword, rpcAuthEntry } from '../../../src/bin/cli/rpcAuth.js';
import { runCli } from '../../../src/bin/cli/run.js';
import { Authenticator } from '../../../src/server/auth.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-rpcauth-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function lets(entry: string, user: string, password: string): Promise<boolean> {
  const cookieFile = join(folder, '.cookie');
  const node = new Authenticator({ user: '', password: '', rpcAuth: [entry], cookieFile }, SILENT_LOGGER);
  await node.open();
  const verdict = node.check(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  await node.close();
  return verdict.ok;
}

async function make(words: string[], typed = ''): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const status = await runCli([`-datadir=${folder}`, ...words], {
    out: (text) => (out += text),
    err: (text) => (err += text),
    input: () => Readable.from([typed]) as AsyncIterable<string>,
    home: folder,
    version: '1',
  });
  return { status, out, err };
}

describe('rpcAuthEntry', () => {
  it('has the format of the reference', () => {
    // HMAC-SHA256 of "password" under the key "cafe", as Python's hmac gives it.
    const hash = 'd504d670dbdfc162f5bbc3251ffda398fa4748bfc5ade87013bd7857d5aec30c';
    expect(rpcAuthEntry('alice', 'password', 'cafe')).toBe(`alice:cafe$${hash}`);
  });

  it('uses a new salt each time, and refuses ambiguous user names', () => {
    expect(rpcAuthEntry('a', 'b')).not.toBe(rpcAuthEntry('a', 'b'));
    for (const user of ['', 'a:b', 'a$b', 'a b', 'a#b']) {
      expect(() => rpcAuthEntry(user, 'x')).toThrow('The user name must not be empty');
    }
    expect(() => rpcAuthEntry('a', '')).toThrow('The password is empty');
    expect(newPassword()).toMatch(/^[\w-]{43}$/);
    expect(newPassword()).not.toBe(newPassword());
  });
});

describe('-makerpcauth', () => {
  it('prints a line that accepts the password', async () => {
    const { status, out, err } = await make(['-makerpcauth=alice']);
    expect([status, err]).toEqual([0, '']);
    const [, line, , password] = out.split('\n');
    expect(line).toMatch(/^rpcauth=alice:[0-9a-f]{32}\$[0-9a-f]{64}$/);
    const entry = line!.slice('rpcauth='.length);
    expect(await lets(entry, 'alice', password!)).toBe(true);
    expect(await lets(entry, 'alice', `${password}x`)).toBe(false);
    expect(await lets(entry, 'bob', password!)).toBe(false);
  });

  it('reads the user’s own password from standard input', async () => {
    const { status, out } = await make(['-makerpcauth=bob', '-stdinrpcpass'], 'my own $ecret: word\n');
    expect(status).toBe(0);
    const entry = /^rpcauth=(.*)$/m.exec(out)![1]!;
    expect(await lets(entry, 'bob', 'my own $ecret: word')).toBe(true);
  });

  it('refuses a user name that the node could not read', async () => {
    expect(await make(['-makerpcauth=a:b'])).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringContaining('Error: The user name must not'),
    });
    expect((await make(['-makerpcauth'])).status).toBe(1);
  });
});
