import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { NATIVE_ABI, loadNative, nativeUnavailableReason } from '../../../src/native/binding.js';

describe('the loader of the addon', () => {
  it('gives the addon or a reason, never both', () => {
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

describe('the build script', () => {
  const script = new URL('../../../scripts/buildNative.mjs', import.meta.url).pathname;
  const withoutCompiler = { ...process.env, CXX: '', PATH: '/nonexistent' };

  it('fails with one line when there is no compiler', () => {
    const result = spawnSync(process.execPath, [script, '--force'], {
      env: withoutCompiler,
      encoding: 'utf8',
    });
    expect(result.status).toBe(1);
    expect(result.stderr.trim().split('\n')).toEqual(['native addon not built: no C++ compiler found']);
  });

  it('succeeds without an addon when that is allowed', () => {
    const result = spawnSync(process.execPath, [script, '--optional'], {
      env: withoutCompiler,
      encoding: 'utf8',
    });
    expect(result.status).toBe(0);
    expect(result.stderr).toContain('no C++ compiler found');
  });
});
