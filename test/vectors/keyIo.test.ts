/** The reference's base58 and key_io vectors, as its base58_tests.cpp and key_io_tests.cpp run them. */
import { describe, expect, it } from 'vitest';
import { networkParams } from '../../src/params/networks.js';
import {
  addressPrefixesOf,
  decodeDestination,
  encodeDestination,
  type AddressPrefixes,
} from '../../src/script/address.js';
import { decodeBase58, encodeBase58 } from '../../src/script/base58.js';
import { extractDestination, scriptForDestination } from '../../src/script/standard.js';
import { decodeSecret, encodeSecret } from '../../src/script/wif.js';
import { toHex } from '../../src/util/bytes.js';
import { readCoreVectors } from './support.js';

const MAIN_PREFIXES = addressPrefixesOf(networkParams('main'));
const TEST_PREFIXES = addressPrefixesOf(networkParams('test'));

const CHAINS: Record<string, AddressPrefixes> = {
  lbrycrd: MAIN_PREFIXES,
  lbrycrdtest: TEST_PREFIXES,
  lbrycrdreg: addressPrefixesOf(networkParams('regtest')),
};

function flipCase(text: string): string {
  return text.replace(/[a-zA-Z]/g, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
}

interface KeyMetadata {
  isPrivkey: boolean;
  isCompressed?: boolean;
  chain: string;
  tryCaseFlip?: boolean;
}

const base58Rows = readCoreVectors('base58_encode_decode.json');
const keysRows = readCoreVectors('base58_keys_valid.json');
const validRows = readCoreVectors('key_io_valid.json');
const invalidRows = readCoreVectors('key_io_invalid.json');

describe.skipIf(base58Rows === null)('base58_encode_decode.json', () => {
  it('encodes and decodes every case', () => {
    for (const [hex, text] of base58Rows as [string, string][]) {
      expect(encodeBase58(Buffer.from(hex, 'hex'))).toBe(text);
      expect(toHex(decodeBase58(text)!)).toBe(hex);
    }
    console.log(`base58_encode_decode.json: ${base58Rows!.length} cases`);
    expect(base58Rows!.length).toBeGreaterThan(10);
  });
});

function checkSecret(text: string, payload: string, meta: KeyMetadata, prefixes: AddressPrefixes): void {
  const decoded = decodeSecret(text, prefixes);
  expect(decoded, text).not.toBeNull();
  expect(decoded!.compressed).toBe(meta.isCompressed);
  expect(toHex(decoded!.privateKey)).toBe(payload);
  expect(decodeDestination(text, prefixes), text).toBeNull();
  expect(encodeSecret(Buffer.from(payload, 'hex'), meta.isCompressed!, prefixes)).toBe(text);
}

function checkAddress(text: string, script: string, meta: KeyMetadata, prefixes: AddressPrefixes): void {
  const destination = decodeDestination(text, prefixes);
  expect(destination, text).not.toBeNull();
  expect(toHex(scriptForDestination(destination!))).toBe(script);
  expect(decodeSecret(text, prefixes), text).toBeNull();
  expect(encodeDestination(extractDestination(Buffer.from(script, 'hex'))!, prefixes)).toBe(text);
  const flipped = decodeDestination(flipCase(text), prefixes);
  expect(flipped !== null, text).toBe(meta.tryCaseFlip ?? false);
  if (flipped !== null) expect(toHex(scriptForDestination(flipped))).toBe(script);
}

describe.skipIf(validRows === null)('key_io_valid.json', () => {
  it('parses and formats every case', () => {
    for (const [text, payload, meta] of validRows as [string, string, KeyMetadata][]) {
      const prefixes = CHAINS[meta.chain]!;
      (meta.isPrivkey ? checkSecret : checkAddress)(text, payload, meta, prefixes);
    }
    console.log(`key_io_valid.json: ${validRows!.length} cases`);
    expect(validRows!.length).toBeGreaterThan(50);
  });
});

describe.skipIf(invalidRows === null)('key_io_invalid.json', () => {
  it('refuses every case on every network, as address and as key', () => {
    for (const [text] of invalidRows as [string][]) {
      for (const prefixes of Object.values(CHAINS)) {
        expect(decodeDestination(text, prefixes), text).toBeNull();
        expect(decodeSecret(text, prefixes), text).toBeNull();
      }
    }
    console.log(`key_io_invalid.json: ${invalidRows!.length} cases`);
    expect(invalidRows!.length).toBeGreaterThan(50);
  });
});

interface OldMetadata {
  isPrivkey: boolean;
  isTestnet: boolean;
  isCompressed?: boolean;
  addrType?: 'pubkey' | 'script';
}

describe.skipIf(keysRows === null)('base58_keys_valid.json', () => {
  it('parses and formats every case', () => {
    for (const [text, payload, meta] of keysRows as [string, string, OldMetadata][]) {
      const prefixes = meta.isTestnet ? TEST_PREFIXES : MAIN_PREFIXES;
      if (meta.isPrivkey) {
        checkSecret(text, payload, { ...meta, chain: '' }, prefixes);
        continue;
      }
      const type = meta.addrType === 'pubkey' ? 'pubkeyhash' : 'scripthash';
      const hash = Buffer.from(payload, 'hex');
      expect(decodeDestination(text, prefixes)).toEqual({ type, hash });
      expect(encodeDestination({ type, hash }, prefixes)).toBe(text);
      expect(decodeSecret(text, prefixes)).toBeNull();
    }
    console.log(`base58_keys_valid.json: ${keysRows!.length} cases`);
    expect(keysRows!.length).toBeGreaterThan(40);
  });
});
