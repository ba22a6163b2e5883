/** Options that act on the chain's progress: -blocknotify, -alertnotify, -printpriority, -checkblockindex. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { formatCoins } from '../../src/util/json/json.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { until, untilExists } from './support/process.js';

/** Anyone can spend it: the hash of a script that says yes. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) } as const;
const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));

let folder: string;
let node: RegtestNode | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notify-'));
});

afterEach(async () => {
  await node?.stop();
  node = null;
  rmSync(folder, { recursive: true, force: true });
});

const start = async (...args: string[]): Promise<RegtestNode> => {
  node = await startRegtest({ dataDir: folder, args });
  return node;
};
/** After a disconnect, blocks must pay to another address, because otherwise the block would equal the disconnected one. */
const mine = (count: number, address = ADDRESS): Promise<string[]> =>
  node!.rpc('generatetoaddress', [count, address]);
const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

describe('-blocknotify', () => {
  it('runs the command for each new tip, and continues after a failing command', async () => {
    const reported = join(folder, 'told');
    await start(`-blocknotify=echo %s,%s >> ${reported}`);
    const hashes = await mine(3);
    await until(() => linesOf(reported).length === 3);
    expect(linesOf(reported).sort()).toEqual(hashes.map((hash) => `${hash},${hash}`).sort());
    await node!.rpc('invalidateblock', [hashes[2]]);
    await until(() => linesOf(reported).length === 4);
    expect(linesOf(reported).filter((line) => line === `${hashes[1]},${hashes[1]}`)).toHaveLength(2);
    await node!.stop();

    await start('-blocknotify=exit 3; true %s');
    await mine(1, OPEN_ADDRESS);
    await until(() => node!.output().includes('runCommand error: system(exit 3; true '));
    expect(node!.output()).toMatch(/runCommand error: system\(exit 3; true [0-9a-f]{64}\) returned 3/);
    expect(await node!.rpc('getblockcount')).toBe(3);
  });

  it('does not run during the initial download, and delays nothing', async () => {
    const reported = join(folder, 'told');
    const [go, done] = [join(folder, 'go'), join(folder, 'done')];
    const command = `echo %s >> ${reported}; cat; until [ -e ${go} ]; do sleep 0.1; done; touch ${done}`;
    await start(`-blocknotify=${command}`, '-mocktime=1700000000');
    await mine(2);
    expect(existsSync(done)).toBe(false);
    writeFileSync(go, '');
    await untilExists(done);
    await until(() => linesOf(reported).length === 2);
    await node!.stop();
    // A tip two days old.
    await start(
      `-blocknotify=echo %s >> ${reported}`,
      '-mocktime=1700172800',
      '-maxtipage=3600',
      '-checkblocks=1',
    );
    const block = await node!.rpc<{ initialblockdownload: boolean }>('getblockchaininfo');
    expect(block.initialblockdownload).toBe(true);
    await node!.rpc('invalidateblock', [await node!.rpc('getbestblockhash')]);
    await node!.rpc('setmocktime', [1700000000]);
    await mine(1, OPEN_ADDRESS);
    await until(() => linesOf(reported).length > 2);
    expect(linesOf(reported)[2]).toBe(await node!.rpc('getbestblockhash'));
  });
});

describe('-alertnotify', () => {
  it('reports unknown block versions once', async () => {
    const reported = join(folder, 'told');
    // No deployment uses bit 27.
    await start(`-alertnotify=echo %s >> ${reported}`, `-blockversion=${0x20000000 + 2 ** 27}`);
    await mine(144);
    await until(() => node!.output().includes("warning='100 of last 100 blocks have unexpected version'"));
    await untilExists(reported);
    await mine(144 * 2);
    const unknown = 'Warning: unknown new rules activated (versionbit 27)';
    await until(() => node!.output().includes(`warning='${unknown}`));
    const message = 'Warning: Unknown block versions being mined! Its possible unknown rules are in effect';
    expect(linesOf(reported)).toEqual([message.replace(/[!]/g, '')]);
    const { warnings } = await node!.rpc<{ warnings: string }>('getnetworkinfo');
    expect(warnings).toMatch(/^Warning: /);
    expect((await node!.rpc<{ warnings: string }>('getmininginfo')).warnings).toBe(warnings);
  });

  it('reports an invalid branch with much more work', async () => {
    const reported = join(folder, 'told');
    const args = [`-alertnotify=echo %s >> ${reported}`];
    await start(...args);
    const hashes = await mine(12);
    await node!.rpc('invalidateblock', [hashes[1]]);
    expect((await node!.rpc<{ warnings: string }>('getnetworkinfo')).warnings).toBe('');
    await node!.stop();
    await start(...args);
    expect(await node!.rpc('getblockcount')).toBe(1);
    await mine(1, OPEN_ADDRESS);
    await untilExists(reported);
    const warning =
      'Warning: We do not appear to fully agree with our peers! You may need to upgrade, or other nodes may need to upgrade.';
    expect((await node!.rpc<{ warnings: string }>('getnetworkinfo')).warnings).toBe(warning);
    await until(() => linesOf(reported).length === 1);
    expect(linesOf(reported)).toEqual([warning.replace('!', '')]);
    await mine(8);
    expect((await node!.rpc<{ warnings: string }>('getnetworkinfo')).warnings).toBe('');
    expect(linesOf(reported)).toHaveLength(1);
  });
});

describe('-printpriority', () => {
  it('writes the fee rate of each transaction of a block that is assembled', async () => {
    await start('-printpriority');
    await mine(101, OPEN_ADDRESS);
    const block = await node!.rpc<{ tx: string[] }>('getblock', [await node!.rpc('getblockhash', [1])]);
    const tx: Transaction = {
      version: 2,
      inputs: [
        {
          prevout: { hash: hashFromHex(block.tx[0]!), index: 0 },
          scriptSig: Buffer.of(1, 0x51),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [{ value: 99_000_000n, script: scriptForDestination(OPEN) }],
      lockTime: 0,
    };
    const txid = await node!.rpc<string>('sendrawtransaction', [toHex(formatTransaction(tx)), true]);
    await node!.rpc('prioritisetransaction', [txid, 0, 500_000]);
    const { size } = await node!.rpc<{ size: number }>('getmempoolentry', [txid]);
    await mine(1);
    // The fee of 0.01 and the added amount.
    const rate = formatCoins((1_500_000n * 1000n) / BigInt(size));
    await until(() => node!.output().includes(`fee ${rate} LBC/kB txid ${txid}\n`));
  });
});

describe('-checkblockindex', () => {
  it('is on by default here, and may be switched off', async () => {
    await start('-debug=bench');
    await mine(2);
    expect(node!.output()).toContain('Block index checked: 3 headers');
    await node!.stop();
    await start('-debug=bench', '-checkblockindex=0');
    await mine(2);
    expect(node!.output()).not.toContain('Block index checked');
  });
});
