import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { NATIVE_ABI, loadNative, nativeUnavailableReason } from '../../../src/native/binding.js';

describe('the loader of the addon', () => {
  it('returns the addon or a reason, never both', () => {
    const addon = loadNative();
    if (addon) {
      expect(nativeUnavailableReason()).toBeNull();
      expect(addon.abi).toBe(NATIVE_ABI);
      expect(['bundled', 'system']).toContain(addon.secp256k1);
    } else {
      expect(nativeUnavailableReason()).toMatch(/./);
    }
  });
});

const addonPath = fileURLToPath(new URL('../../../build/lbcnode.node', import.meta.url));

describe.skipIf(!loadNative())('an addon at work', () => {
  /**
   * Starts the verification of 500 inputs. Each has a signature that matches none of 16 keys, so it takes a quarter of a second.
   */
  const begin = `
    const native = require(${JSON.stringify(addonPath)});
    const signature = Buffer.of(0x30, 6, 2, 1, 1, 2, 1, 1, 1);
    const input = Buffer.concat([Buffer.alloc(36, 1), Buffer.of(11, 0, 9), signature, Buffer.alloc(4)]);
    const head = Buffer.concat([Buffer.of(1, 0, 0, 0, 0xfd, 0xf4, 0x01), ...Array(500).fill(input)]);
    const block = Buffer.concat([head, Buffer.of(1), Buffer.alloc(9), Buffer.alloc(4)]);
    const parsed = { packed: native.parseTx(block) };
    const key = native.ecdsa.publicKeyOf(Buffer.alloc(32, 1), true);
    const script = Buffer.concat([Buffer.of(0x51), ...Array(16).fill(Buffer.concat([Buffer.of(33), key])), Buffer.of(0x60, 0xae)]);
    const count = 500;
    const resolved = {
      amounts: new BigInt64Array(count), status: new Uint8Array(count), scripts: script, heightCodes: new Uint32Array(count),
      scriptOffsets: new Uint32Array(count), scriptLengths: new Uint32Array(count).fill(script.length),
    };
    native.setVerifyThreads(2);
    const pending = native.verifyInputs({ block, parsed, resolved, flags: 1 });
  `;

  function runNode(code: string): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', timeout: 240_000 });
  }

  it('keeps the process alive only while a batch is open', () => {
    const result = runNode(`${begin}; pending.then((report) => console.log(report.checked));`);
    expect(result).toMatchObject({ status: 0, stdout: '500\n', stderr: '' });
  });

  it('lets the process exit in the middle of a batch', () => {
    expect(runNode(`${begin}; process.exit(7);`)).toMatchObject({ status: 7, stderr: '' });
  });

  it('lets a worker thread end in the middle of a batch', () => {
    const code = `
      ${begin}
      const { Worker } = require('node:worker_threads');
      const worker = new Worker(${JSON.stringify(begin)} + ';require("node:worker_threads").parentPort.postMessage(1);', { eval: true });
      worker.on('message', () => worker.terminate().then(() => pending).then((report) => console.log(report.checked)));
    `;
    expect(runNode(code)).toMatchObject({ status: 0, stdout: '500\n', stderr: '' });
  });
});

describe('the build script', () => {
  const script = fileURLToPath(new URL('../../../scripts/buildNative.mjs', import.meta.url));
  const withoutCompiler = { ...process.env, CXX: '', PATH: '/nonexistent' };

  it('fails with one line if there is no compiler', () => {
    const result = spawnSync(process.execPath, [script, '--force'], {
      env: withoutCompiler,
      encoding: 'utf8',
    });
    expect(result.status).toBe(1);
    expect(result.stderr.trim().split('\n')).toEqual(['native addon not built: no C++ compiler found']);
  });

  it('succeeds without an addon if that is allowed', () => {
    const result = spawnSync(process.execPath, [script, '--force', '--optional'], {
      env: withoutCompiler,
      encoding: 'utf8',
    });
    expect(result.status).toBe(0);
    expect(result.stderr).toContain('no C++ compiler found');
  });
});
