/**
 * An unchanged lbcctl, a client built on btcd's `btcjson`, calls our node and wallet port over TLS with the node's certificate.
 * For calls about the chain it prints the fields that it prints from lbcd with the same blocks. `LBCCTL` and `LBCD` name the binaries.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';
import { startLbcd, type ReferenceNode } from './support/reference.js';

const run = promisify(execFile);
const lbcd = process.env['LBCD'];
const lbcctl = process.env['LBCCTL'];
if (!lbcd || !lbcctl) console.log('skipped: LBCD and LBCCTL name no reference binaries');
const HEIGHT = 5;

/** The value of an answer that is JSON, and the text of another one. */
function parsed(printed: string): unknown {
  return /^[[{]/.test(printed) ? JSON.parse(printed) : printed;
}

describe.runIf(lbcd && lbcctl)('lbcctl', () => {
  let node: RegtestNode;
  let reference: ReferenceNode;
  let home: string;
  let walletPort: number;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'lbcctl-'));
    walletPort = await freePort();
    node = await startRegtest({ args: ['-compat=lbcd', `-walletrpcport=${walletPort}`] });
    reference = await startLbcd(lbcd!);
    for (const hash of await node.rpc<string[]>('generatetoaddress', [HEIGHT, ADDRESS])) {
      const block = await node.rpc<string>('getblock', [hash, 0]);
      expect((await reference.call('submitblock', [block])).result).toBe(null);
    }
  });
  afterAll(async () => {
    await node?.stop();
    await reference?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  /** Runs lbcctl. Resolves to what it prints. */
  async function ask(
    url: string,
    port: number,
    tls: readonly string[],
    words: readonly string[],
  ): Promise<string> {
    const { username, password } = new URL(url);
    const args = [
      '--regtest',
      '-C',
      join(home, 'none'),
      '-u',
      username,
      '-P',
      password,
      '-s',
      `127.0.0.1:${port}`,
    ];
    const env = { ...process.env, HOME: home };
    return (await run(lbcctl!, [...args, ...tls, ...words], { env })).stdout.trim();
  }
  const certificate = (): string[] => ['-c', join(node.dataDir, 'regtest', 'rpc.cert')];
  const ofNode = (...words: string[]): Promise<string> => ask(node.url, node.rpcPort, certificate(), words);
  const ofReference = (...words: string[]): Promise<string> =>
    ask('http://u:p@localhost', reference.rpcPort, ['--notls'], words);
  const ofWallet = (...words: string[]): Promise<string> =>
    ask(node.url, walletPort, ['--wallet', ...certificate()], words);

  it('prints the fields about the chain that lbcd has', async () => {
    const hash = await ofNode('getblockhash', '2');
    const [txid] = (JSON.parse(await ofNode('getblock', hash)) as { tx: string[] }).tx;
    const raw = await ofNode('getrawtransaction', txid!);
    const calls = [
      ['getblockcount'],
      ['getbestblockhash'],
      ['getblockheader', hash],
      ['getblockheader', hash, 'false'],
      ['getblock', hash],
      ['getblock', hash, '2'],
      ['getcfilter', hash, '0'],
      ['getcfilterheader', hash, '0'],
      ['getrawtransaction', txid!, '1'],
      ['decoderawtransaction', raw],
      ['gettxout', txid!, '0'],
      ['validateaddress', ADDRESS],
      ['getdifficulty'],
      ['getrawmempool'],
    ];
    for (const call of calls)
      expect([call, parsed(await ofNode(...call))]).toMatchObject([call, parsed(await ofReference(...call))]);
  });

  it('calls the wallet port', async () => {
    expect(await ofWallet('getbalance', '*', '0')).toBe('0.00000000');
    expect(await ofWallet('getrawchangeaddress', 'default', 'bech32')).toMatch(/^rlbc1q/);
    expect(await ofWallet('createnewaccount', 'second')).toBe('');
    expect(Object.keys(JSON.parse(await ofWallet('listaccounts')) as object)).toContain('second');
    await expect(ofWallet('getnewaddress', 'absent')).rejects.toThrow("account name 'absent' not found");
  });
});
