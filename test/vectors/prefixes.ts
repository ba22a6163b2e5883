/** The address prefixes of the three networks, written out here so that vectors do not depend on `src/params`. */
import type { AddressPrefixes } from '../../src/script/address.js';

export const MAIN_PREFIXES: AddressPrefixes = {
  pubkeyHash: 0x55,
  scriptHash: 0x7a,
  secretKey: 0x1c,
  bech32Hrp: 'lbc',
  extPublic: 0x0488b21e,
  extSecret: 0x0488ade4,
};

export const TEST_PREFIXES: AddressPrefixes = {
  pubkeyHash: 111,
  scriptHash: 196,
  secretKey: 239,
  bech32Hrp: 'tlbc',
  extPublic: 0x043587cf,
  extSecret: 0x04358394,
};

export const REGTEST_PREFIXES: AddressPrefixes = { ...TEST_PREFIXES, bech32Hrp: 'rlbc' };
