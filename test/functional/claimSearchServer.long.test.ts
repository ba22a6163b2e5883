/** A node whose search index is on a PostgreSQL server that stops and starts again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPostgresTarget, postgresUrl } from '../support/searchBackends.js';
import { Wire } from '../support/wire.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

describe.skipIf(postgresUrl() === null)('-claimsearchurl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-claimsearchurl-'));
  let target: Awaited<ReturnType<typeof newPostgresTarget>>;
  let url: URL;
  let wire: Wire;
  let port: number;
  let node: RegtestNode;

  const newWire = () => (wire = new Wire(url.hostname, Number(new URL(target.url).port)));
  const start = async () => {
    node = await startRegtest({
      dataDir: folder,
      args: [
        `-claimsearchurl=${url.href}`,
        `-claimsearchschema=${target.schema}`,
        '-claimsearchconnections=2',
      ],
    });
  };
  /** A different constraint for each search, because pages of the index's tip are cached. */
  let asked = 0;
  const search = () => node.rpc<{ height: number }>('searchclaims', [{ height: `<${1000 + asked++}` }]);
  /** Searches until the answer is as of the block at this height. */
  const reaches = async (height: number): Promise<void> => {
    for (;;) {
      try {
        if ((await search()).height === height) return;
      } catch (error) {
        if (!/^The search index/.test((error as Error).message)) throw error;
      }
    }
  };
  const mine = (blocks: number) => node.rpc('generatetoaddress', [blocks, ADDRESS]);

  beforeAll(async () => {
    target = await newPostgresTarget();
    url = new URL(target.url);
    port = await newWire().open();
    url.port = String(port);
    await wire.cut();
  });
  afterAll(async () => {
    await node.stop();
    await wire.cut();
    await target.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('starts and follows the chain without the server, reports that, and builds the index when the server is available', async () => {
    await start();
    await mine(5);
    await expect(search()).rejects.toThrow(
      /The search index (cannot be built: PostgreSQL at|is being built)/,
    );
    await newWire().open(port);
    await reaches(5);
  });

  it('continues when the server goes away, and catches up when it is back', async () => {
    await wire.cut();
    await mine(3);
    expect(await node.rpc('getblockcount')).toBe(8);
    await expect(search()).rejects.toThrow('The search index cannot be queried: PostgreSQL at');
    await newWire().open(port);
    await reaches(8);
  });

  it('never logs the password', async () => {
    const { password } = url;
    await node.stop();
    const log = readFileSync(join(folder, 'regtest', 'debug.log'), 'utf8');
    expect(log).toContain('The search index could not be updated: PostgreSQL at');
    expect(log).not.toContain(password);
    await start();
  });

  it('does not start if the server refuses permanently', async () => {
    await node.stop();
    const right = url.password;
    url.password = `${right}-wrong`;
    const refused = await start().then(
      () => 'it started',
      (error: unknown) => (error as Error).message,
    );
    url.password = right;
    expect(refused).toContain('authentication failed');
    expect(refused).not.toContain(right);
    await start();
    await reaches(8);
  });
});
