/**
 * The explorer in a real browser: nodes without indexes, pruned and restarted; a thread that ends; and the commands of README.md
 * while a page is open.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Explorer } from '../../src/explorer/explorer.js';
import { freePort, startRegtest, type RegtestNode } from '../functional/support/node.js';
import { blocksOf, Started, stepsOf, walk, type Step } from '../functional/support/readme.js';
import { EXPLORER_START } from '../support/explorerStart.js';
import { answers, HASH } from '../support/hostileAnswers.js';
import { withClaim } from './claimedChain.js';
import { hasChromium, launch } from './support.js';

const TIP = { height: 10, hash: HASH, timeSec: 1_500_000_000 };

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let browser: Browser;
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => browser?.close());

  const isLive = (page: Page): Promise<void> => page.locator('#live[data-live="yes"]').waitFor();

  async function nodeWith(
    args: readonly string[],
    dataDir?: string,
  ): Promise<{ node: RegtestNode; base: string }> {
    const port = await freePort();
    const node = await startRegtest({
      args: ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002', ...args],
      ...(dataDir !== undefined && { dataDir }),
    });
    closers.push(() => node.stop());
    return { node, base: `http://127.0.0.1:${port}` };
  }

  it('names the missing options for unavailable parts of a page', async () => {
    const { node, base } = await nodeWith([
      '-txindex=0',
      '-spendindex=0',
      '-addressindex=0',
      '-claimindex=0',
      '-claimsearch=0',
    ]);
    const { address, claimId } = await withClaim(node);
    const page = await browser.newPage();
    closers.push(() => page.close());
    for (const [path, shown, rest] of [
      ['/', 'mindblown', 'Latest blocks'],
      [`/claim/${claimId}`, '-claimindex', ''],
      ['/claims', '-claimindex', 'The search for claims is off'],
      [`/address/${address}`, '-addressindex', 'Address'],
      ['/charts/claims', '-claimindex', 'Claims'],
    ] as const) {
      await page.goto(base + path);
      const text = await page.locator('main').innerText();
      expect([path, text]).toEqual([path, expect.stringContaining(shown)]);
      expect(text).toContain(rest);
    }
    // Parts of the page that need no index are present.
    await page.goto(`${base}/name/mindblown`);
    expect(await page.locator('main').innerText()).toContain('To take the name over');
  });

  it('shows claims, addresses and transactions after their indexes are complete', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-explorer-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const plain = await startRegtest({ args: ['-fallbackfee=0.0002'], dataDir: folder });
    closers.push(() => plain.stop());
    const miner = await plain.rpc<string>('getnewaddress');
    await plain.rpc('generatetoaddress', [200, miner]);
    const { address, claimId, txid } = await withClaim(plain);
    await plain.stop();
    const { node, base } = await nodeWith([], folder);
    const page = await browser.newPage();
    closers.push(() => page.close());
    const isFilled = async (): Promise<boolean> =>
      Object.values(await node.rpc<Record<string, { synced: boolean }>>('getindexinfo')).every(
        ({ synced }) => synced,
      );
    await expect.poll(isFilled, { timeout: 240_000 }).toBe(true);
    await node.rpc('generatetoaddress', [1, miner]);
    for (const [path, whole] of [
      [`/claim/${claimId}`, 'holds the name'],
      [`/address/${address}`, 'Balance'],
      [`/tx/${txid}`, 'mindblown'],
      ['/node', 'complete'],
      ['/', 'Latest blocks'],
      ['/name/mindblown', 'To take the name over'],
    ] as const) {
      await page.goto(base + path);
      const text = await page.locator('main').innerText();
      expect([path, text]).toEqual([path, expect.stringContaining(whole)]);
      expect(text).not.toMatch(/being (filled|indexed)/);
    }
  });

  it('shows the data that is left of pruned blocks', async () => {
    const { node, base } = await nodeWith(['-prune=1', '-maxblockfilesize=65536']);
    const address = await node.rpc<string>('getnewaddress');
    for (let n = 0; n < 11; n++) await node.rpc('generatetoaddress', [100, address]);
    const {
      tx: [old],
    } = await node.rpc<{ tx: string[] }>('getblock', [await node.rpc('getblockhash', [10])]);
    await node.rpc('pruneblockchain', [400]);
    const page = await browser.newPage();
    closers.push(() => page.close());
    for (const [path, status, text] of [
      ['/block/10', 200, 'pruned'],
      ['/blocks?from=10', 200, 'pruned'],
      ['/node', 200, 'blocks from'],
      ['/', 200, 'Latest blocks'],
      [`/address/${address}`, 200, '-addressindex'],
      [`/tx/${old}`, 501, 'The node does not find this transaction'],
    ] as const) {
      const answer = await page.goto(base + path);
      expect([path, answer!.status()]).toEqual([path, status]);
      expect([path, await page.locator('main').innerText()]).toEqual([path, expect.stringContaining(text)]);
    }
    await page.goto(`${base}/address/${address}`);
    expect((await page.locator('main').innerText()).split('-addressindex')).toHaveLength(2);
  });

  it('reconnects after a restart of the node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-explorer-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const port = await freePort();
    const args = ['-explorer', `-explorerport=${port}`];
    let node = await startRegtest({ args, dataDir: folder });
    closers.push(() => node.stop());
    const base = `http://127.0.0.1:${port}`;
    const page = await browser.newPage();
    closers.push(() => page.close());
    await page.goto(base);
    // The page loads itself again while the node starts.
    await page.getByText(/node dist\/bin\/lbcnode-cli\.js -regtest \S.* generate 1/).waitFor();
    await isLive(page);
    await node.kill();
    await page.getByText('not live').waitFor();
    node = await startRegtest({ args, dataDir: folder });
    const [tip] = await node.rpc<string[]>('generatetoaddress', [1, await node.rpc<string>('getnewaddress')]);
    await isLive(page);
    await page.locator(`body[data-tip="${tip}"]`).waitFor();
  });

  it('reconnects after its thread was restarted', async () => {
    const logged: string[] = [];
    const log = (text: string): void => void logged.push(text);
    const known = answers('harmless');
    const explorer = await Explorer.open({ ...EXPLORER_START, port: await freePort() }, {
      dispatcher: {
        warmup: null,
        handle: (body: Buffer) => {
          const { method } = JSON.parse(body.toString()) as { method: string };
          return Promise.resolve({ text: JSON.stringify({ result: known[method] ?? null, error: null }) });
        },
      },
      table: { find: () => ({ explorer: 'console' }) },
      logger: { debug: log, info: log, warn: log, error: log },
      stopping: new AbortController().signal,
      mempoolChanges: () => 0,
    } as never);
    closers.push(() => explorer.close());
    const chain = {
      tip: 0,
      height: 10,
      isInitialDownload: () => false,
      events: { on: () => () => undefined },
    };
    const headers = { hash: () => Buffer.from(HASH, 'hex'), timeSec: () => TIP.timeSec };
    explorer.follow({ chain, headers } as never);
    const page = await browser.newPage();
    closers.push(() => page.close());
    const base = `http://127.0.0.1:${explorer.port}`;
    await expect.poll(async () => (await page.goto(base))!.status(), { timeout: 60_000 }).toBe(200);
    await isLive(page);
    const link = Reflect.get(explorer, 'link') as object;
    await (Reflect.get(link, 'options') as { port: Worker }).port.terminate();
    await page.getByText('not live').waitFor();
    await isLive(page);
    expect(logged).toContain('The explorer is being restarted.');
    expect((await page.reload())!.status()).toBe(200);
  });

  it('shows a takeover of the name in README.md without a reload', async () => {
    const home = mkdtempSync(join(tmpdir(), 'readme-explorer-'));
    closers.push(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, '.lbcnode'));
    const port = await freePort();
    const ports = `rpcport=${await freePort()}\nport=${await freePort()}\nexplorerport=${port}\n`;
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), `[regtest]\n${ports}listen=0\n`);
    const env = {
      ...process.env,
      HOME: home,
      LBCNODE_NATIVE_BUILD: '0',
      npm_config_update_notifier: 'false',
    };
    const program = new Started('npm start -- --regtest -explorer', env);
    closers.push(() => program.end());
    await program.until('Stop it: ');
    // The address is the one that the program printed.
    const [, printed] = /open (http:\S+) in a browser/.exec(program.output)!;
    expect(printed).toBe(`http://localhost:${port}/`);
    const page = await browser.newPage();
    closers.push(() => page.close());
    await page.goto(printed!);
    await page.locator('#q').fill('mindblown');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'The name mindblown' }).click();
    await page.getByText('No claim holds this name').waitFor();
    await isLive(page);

    // The walk waits, after each step that shows a state, until the page has shown it.
    const others = blocksOf('Run it').filter((block) => /^(cli\b|\w+=\$\(cli )/.test(block));
    let gates = 0;
    const steps: Step[] = stepsOf(others).flatMap((step) =>
      /getvalueforname.*"value"|gettotalclaimednames/.test(step.command)
        ? [step, { command: `until [ -e '${home}/go${gates++}' ]; do sleep 0.05; done`, prints: null }]
        : [step],
    );
    expect(gates).toBe(4);
    const walking = walk(steps, home, env);
    const holder = page.locator('main .lead a').first();
    const shownHolder = async (not: string | null): Promise<string> => {
      await expect
        .poll(async () => ((await holder.count()) > 0 ? await holder.getAttribute('href') : null), {
          timeout: 60_000,
        })
        .not.toBe(not);
      return (await holder.getAttribute('href'))!;
    };
    const go = (gate: number): void => writeFileSync(join(home, `go${gate}`), '');
    const first = await shownHolder(null);
    go(0);
    const rival = await shownHolder(first);
    go(1);
    expect(await shownHolder(rival)).toBe(first);
    go(2);
    await page.getByText('No claim holds this name').waitFor();
    go(3);
    await walking;
    expect(await program.exited).toBe(0);
  });
});
