import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import {
  extractDestination,
  extractDestinations,
  scriptForDestination,
  scriptForMultisig,
  scriptForPublicKey,
  scriptForWitness,
  solveScript,
  stripTimelockPrefix,
  type Destination,
} from '../../../src/script/standard.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';

const COMPRESSED = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0x11)]);
const FULL = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 0x22)]);
const HASH = Buffer.alloc(20, 0x33);
const WIDE = Buffer.alloc(32, 0x44);
const CLAIM = buildClaimPrefix(Buffer.from('n'), Buffer.from('v'));

const DESTINATIONS: Destination[] = [
  { type: 'pubkeyhash', hash: HASH },
  { type: 'scripthash', hash: HASH },
  { type: 'witness_v0_keyhash', hash: HASH },
  { type: 'witness_v0_scripthash', hash: WIDE },
  { type: 'witness_unknown', version: 1, program: WIDE },
  { type: 'witness_unknown', version: 16, program: Buffer.of(1, 2) },
];

describe('solveScript', () => {
  it.each(DESTINATIONS.map((d) => [d.type, d] as const))(
    'recognizes the script of %s',
    (_type, destination) => {
      expect(solveScript(scriptForDestination(destination))).toEqual(destination);
    },
  );

  it('recognizes bare keys of both sizes, hybrid ones too', () => {
    for (const head of [4, 6, 7]) {
      const key = Buffer.from(FULL);
      key[0] = head;
      expect(solveScript(scriptForPublicKey(key))).toEqual({ type: 'pubkey', publicKey: key });
    }
    expect(solveScript(scriptForPublicKey(COMPRESSED))).toEqual({ type: 'pubkey', publicKey: COMPRESSED });
    expect(solveScript(buildScript(Buffer.alloc(33, 5), OP.OP_CHECKSIG)).type).toBe('nonstandard');
    expect(solveScript(buildScript(FULL.subarray(0, 33), OP.OP_CHECKSIG)).type).toBe('nonstandard');
    expect(solveScript(fromHex(`4c21${toHex(COMPRESSED)}ac`)).type).toBe('nonstandard');
  });

  it('recognizes multisig of 1 to 16 keys', () => {
    expect(solveScript(scriptForMultisig(1, [COMPRESSED, FULL]))).toEqual({
      type: 'multisig',
      required: 1,
      publicKeys: [COMPRESSED, FULL],
    });
    const sixteen = Array.from({ length: 16 }, () => COMPRESSED);
    expect(solveScript(scriptForMultisig(16, sixteen)).type).toBe('multisig');
    // The length form of the pushes does not matter.
    const long = Buffer.concat([fromHex('514c21'), COMPRESSED, fromHex('51ae')]);
    expect(solveScript(long).type).toBe('multisig');
  });

  it('refuses multisig with inconsistent numbers', () => {
    for (const script of [
      scriptForMultisig(3, [COMPRESSED, COMPRESSED]),
      scriptForMultisig(0, [COMPRESSED]),
      buildScript(OP.OP_1, COMPRESSED, OP.OP_2, OP.OP_CHECKMULTISIG),
      buildScript(OP.OP_1, COMPRESSED, OP.OP_1, OP.OP_NOP, OP.OP_CHECKMULTISIG),
      buildScript(OP.OP_1, COMPRESSED, OP.OP_CHECKMULTISIG),
      buildScript(OP.OP_1, OP.OP_CHECKMULTISIG),
      buildScript(OP.OP_CHECKMULTISIG),
      buildScript(OP.OP_1, COMPRESSED.subarray(1), OP.OP_1, OP.OP_CHECKMULTISIG),
      Buffer.concat([fromHex('5121'), COMPRESSED.subarray(0, 20), fromHex('ae')]),
    ]) {
      expect(solveScript(script).type, toHex(script)).toBe('nonstandard');
    }
  });

  it('recognizes data after OP_RETURN if it consists of pushes', () => {
    expect(solveScript(fromHex('6a')).type).toBe('nulldata');
    expect(solveScript(fromHex('6a024142')).type).toBe('nulldata');
    expect(solveScript(fromHex('6a5160')).type).toBe('nulldata');
    expect(solveScript(fromHex('6aac')).type).toBe('nonstandard');
    expect(solveScript(fromHex('6a0241')).type).toBe('nonstandard');
  });

  it('recognizes nothing else', () => {
    expect(solveScript(Buffer.alloc(0)).type).toBe('nonstandard');
    expect(solveScript(buildScript(OP.OP_0, Buffer.alloc(21))).type).toBe('nonstandard');
    expect(solveScript(Buffer.concat([CLAIM, scriptForDestination(DESTINATIONS[0]!)])).type).toBe(
      'nonstandard',
    );
    expect(solveScript(fromHex('76a913')).type).toBe('nonstandard');
  });
});

describe('destinations', () => {
  it('are found behind a claim prefix', () => {
    for (const destination of DESTINATIONS) {
      const script = scriptForDestination(destination);
      expect(extractDestination(script)).toEqual(destination);
      expect(extractDestination(Buffer.concat([CLAIM, script]))).toEqual(destination);
    }
  });

  it('of a bare key are its hash', () => {
    expect(extractDestination(scriptForPublicKey(FULL))).toEqual({ type: 'pubkeyhash', hash: hash160(FULL) });
  });

  it('do not exist for multisig, data and unknown scripts', () => {
    for (const script of [scriptForMultisig(1, [COMPRESSED]), fromHex('6a'), fromHex('51')]) {
      expect(extractDestination(script)).toBeNull();
    }
  });

  it('of multisig are the hashes of its keys', () => {
    expect(extractDestinations(scriptForMultisig(2, [COMPRESSED, FULL]))).toEqual({
      type: 'multisig',
      required: 2,
      destinations: [COMPRESSED, FULL].map((key) => ({ type: 'pubkeyhash', hash: hash160(key) })),
    });
  });

  it('as a list belong to the script with its prefix', () => {
    const script = scriptForDestination(DESTINATIONS[0]!);
    expect(extractDestinations(script)).toEqual({
      type: 'pubkeyhash',
      required: 1,
      destinations: [DESTINATIONS[0]],
    });
    const none = { type: 'nonstandard', required: 0, destinations: [] };
    expect(extractDestinations(Buffer.concat([CLAIM, script]))).toEqual(none);
    expect(extractDestinations(fromHex('6a'))).toEqual({ ...none, type: 'nulldata' });
  });
});

describe('scriptForWitness', () => {
  it('pays by key if the script does, else by script', () => {
    const byKey = buildScript(OP.OP_0, hash160(COMPRESSED));
    expect(toHex(scriptForWitness(scriptForPublicKey(COMPRESSED)))).toBe(toHex(byKey));
    expect(toHex(scriptForWitness(scriptForDestination(DESTINATIONS[0]!)))).toBe(
      toHex(buildScript(OP.OP_0, HASH)),
    );
    const multisig = scriptForMultisig(1, [COMPRESSED]);
    expect(toHex(scriptForWitness(multisig))).toBe(toHex(buildScript(OP.OP_0, sha256(multisig))));
  });
});

describe('stripTimelockPrefix', () => {
  const rest = scriptForDestination(DESTINATIONS[0]!);

  it('strips a lock of either kind', () => {
    for (const lock of [OP.OP_CHECKLOCKTIMEVERIFY, OP.OP_CHECKSEQUENCEVERIFY]) {
      for (const time of [pushData(Buffer.of(1, 2, 3)), Buffer.of(OP.OP_16), Buffer.of(OP.OP_0)]) {
        const script = Buffer.concat([time, Buffer.of(lock, OP.OP_DROP), rest]);
        expect(toHex(stripTimelockPrefix(script))).toBe(toHex(rest));
      }
    }
  });

  it('does not change other scripts', () => {
    for (const hex of [
      '',
      '51',
      '51b1',
      '51b176',
      '01',
      'b175',
      '51b3755151',
      `51b1${toHex(rest)}`,
      toHex(rest),
    ]) {
      const script = fromHex(hex);
      expect(stripTimelockPrefix(script)).toBe(script);
    }
  });
});
