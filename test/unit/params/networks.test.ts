import { describe, expect, it } from 'vitest';
import { buildGenesis } from '../../../src/params/genesis.js';
import { mainParams } from '../../../src/params/main.js';
import { claimExpirationBlocks, networkParams } from '../../../src/params/networks.js';
import { NO_TIMEOUT } from '../../../src/params/network.js';
import { OverrideError, regtestParams, regtestWith } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import { parseBlockBytes } from '../../../src/primitives/block.js';
import { formatHeader, powHash } from '../../../src/primitives/header.js';
import { txid } from '../../../src/primitives/transaction.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';

describe('genesis', () => {
  it.each([
    [mainParams, '9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463'],
    [testParams, '9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463'],
    [regtestParams, '6e3fcf1299d4ec5d79c3a4c91d624a4acf9e2e173d95a1a0504f677669687556'],
  ])('$name has the documented id', (params, id) => {
    expect(hashToHex(params.genesisHash)).toBe(id);
    expect(hashToHex(params.genesis.merkleRoot)).toBe(
      'b8211c82c3d15bcd78bba57005b86fed515149a53a425eb592c07af99fe559cc',
    );
  });

  it.each([mainParams, testParams, regtestParams])(
    '$name parses to one coinbase of 400,000,000 coins',
    (params) => {
      const block = parseBlockBytes(params.genesis.block);
      expect(formatHeader(block.header)).toEqual(params.genesis.header);
      expect(block.header.claimRoot[0]).toBe(1);
      expect(block.transactions).toHaveLength(1);
      const coinbase = block.transactions[0]!;
      expect(coinbase.outputs[0]!.value).toBe(40_000_000_000_000_000n);
      expect(toHex(coinbase.outputs[0]!.script)).toBe('76a914345991dbf57bfb014b87006acdfafbfc5fe8292f88ac');
      expect(txid(coinbase)).toEqual(block.header.merkleRoot);
      expect(block.header.bits).toBe(params.powLimitBits);
      const proof = BigInt(`0x${hashToHex(powHash(params.genesis.header))}`);
      expect(proof <= params.powLimit).toBe(true);
    },
  );

  it('changes its id with its nonce', () => {
    const other = buildGenesis({ timeSec: 1446058291, bits: 0x207fffff, nonce: 2 });
    expect(other.hash).not.toEqual(regtestParams.genesisHash);
  });
});

describe('networks', () => {
  it('are found by name and differ where required', () => {
    const all = [networkParams('main'), networkParams('test'), networkParams('regtest')];
    expect(all.map((params) => params.name)).toEqual(['main', 'test', 'regtest']);
    expect(all.map((params) => toHex(params.magic))).toEqual(['fae4aaf1', 'fae4aae1', 'fae4aad1']);
    expect(all.map((params) => params.p2pPort)).toEqual([9246, 19246, 29246]);
    expect(all.map((params) => params.rpcPort)).toEqual([9245, 19245, 29245]);
    expect(all.map((params) => params.bech32Hrp)).toEqual(['lbc', 'tlbc', 'rlbc']);
    expect(all.map((params) => params.dataFolder)).toEqual(['', 'testnet3', 'regtest']);
    expect(all.map((params) => toHex(params.base58.pubkeyHash))).toEqual(['55', '6f', '6f']);
  });

  it('have hashes of 32 bytes and ascending checkpoints', () => {
    for (const params of [mainParams, testParams, regtestParams]) {
      const hashes = [
        params.bip16Exception,
        params.bip34Hash,
        params.assumeValid,
        ...params.checkpoints.map((c) => c.hash),
      ];
      for (const hash of hashes) if (hash !== null) expect(hash).toHaveLength(32);
      const heights = params.checkpoints.map((checkpoint) => checkpoint.height);
      expect([...heights].sort((a, b) => a - b)).toEqual(heights);
    }
  });

  it.each([
    [mainParams, 400154, 262974],
    [mainParams, 400155, 2102400],
    [testParams, 278159, 262974],
    [testParams, 278160, 2102400],
    [regtestParams, 799, 500],
    [regtestParams, 800, 600],
  ])('$name: claims of a height expire after their term', (params, height, term) => {
    expect(claimExpirationBlocks(params, height)).toBe(term);
  });
});

describe('regtestWith', () => {
  it('changes nothing without overrides', () => {
    expect(regtestWith({})).toEqual(regtestParams);
  });

  it('has the forks in the order of main', () => {
    const params = regtestWith({
      claimExpiration: '260,900',
      forkHeights: [
        'extendedexpiration@400',
        'normalization@600',
        'takeoverworkaround@450-760',
        'allclaims@770',
        'segwit@800',
      ],
    });
    expect(params.claimForks).toEqual({
      originalExpiration: 260,
      extendedExpiration: 900,
      extendedExpirationForkHeight: 400,
      normalizationForkHeight: 600,
      takeoverWorkaroundMin: 450,
      takeoverWorkaroundMax: 760,
      allClaimsForkHeight: 770,
    });
    expect(params.segwitHeight).toBe(800);
    expect(params.bip34Height).toBe(1000);
    expect(params.genesisHash).toBe(regtestParams.genesisHash);
    expect(regtestParams.segwitHeight).toBe(150);
    expect(regtestParams.claimForks.normalizationForkHeight).toBe(250);
  });

  it('has the heights of Bitcoin rules, the later one of two', () => {
    const params = regtestWith({ forkHeights: ['bip34@2', 'bip65@3', 'bip66@4', 'bip34@0'] });
    expect([params.bip34Height, params.bip65Height, params.bip66Height]).toEqual([0, 3, 4]);
  });

  it('has version bits parameters', () => {
    const params = regtestWith({ vbParams: ['csv:-1:9223372036854775807', 'testdummy:+5:7'] });
    expect(params.deployments.csv).toEqual({ bit: 0, startTimeSec: -1n, timeoutSec: NO_TIMEOUT });
    expect(params.deployments.testdummy).toEqual({ bit: 28, startTimeSec: 5n, timeoutSec: 7n });
    expect(params.deployments.segwit).toBe(regtestParams.deployments.segwit);
  });

  it.each([
    [{ forkHeights: ['normalization'] }, 'malformed'],
    [{ forkHeights: ['normalization@'] }, 'Invalid height ()'],
    [{ forkHeights: ['normalization@-1'] }, 'Invalid height (-1)'],
    [{ forkHeights: ['normalization@1e3'] }, 'Invalid height (1e3)'],
    [{ forkHeights: ['normalization@2147483648'] }, 'Invalid height'],
    [{ forkHeights: ['taproot@5'] }, 'unknown fork'],
    [{ forkHeights: ['takeoverworkaround@5'] }, 'malformed'],
    [{ forkHeights: ['takeoverworkaround@5-4'] }, 'ends before it begins'],
    [{ claimExpiration: '5' }, 'malformed'],
    [{ claimExpiration: '5,x' }, 'Invalid height (x)'],
    [{ claimExpiration: '5,4' }, 'no fewer after the extension'],
    [{ claimExpiration: '0,4' }, 'at least one block'],
    [{ vbParams: ['csv:1'] }, 'Version bits parameters malformed, expecting deployment:start:end'],
    [{ vbParams: ['csv:x:1'] }, 'Invalid nStartTime (x)'],
    [{ vbParams: ['csv:1:9223372036854775808'] }, 'Invalid nTimeout (9223372036854775808)'],
    [{ vbParams: ['taproot:1:2'] }, 'Invalid deployment (taproot)'],
  ])('refuses %j', (overrides, message) => {
    expect(() => regtestWith(overrides)).toThrow(OverrideError);
    expect(() => regtestWith(overrides)).toThrow(message);
  });
});
