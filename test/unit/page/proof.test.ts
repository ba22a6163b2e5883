import { expect, test } from 'vitest';
import { headerHash } from '../../../src/page/proof.js';
import { mainParams } from '../../../src/params/main.js';
import { parseHeaderBytes } from '../../../src/primitives/header.js';
import { hashToHex } from '../../../src/util/bytes.js';

test('the hash of a header follows from the fields that getblockheader returns', async () => {
  const { genesis, genesisHash } = mainParams;
  const { version, merkleRoot, claimRoot, timeSec, bits, nonce } = parseHeaderBytes(genesis.header);
  const header = {
    version,
    previousblockhash: '0'.repeat(64),
    merkleroot: hashToHex(merkleRoot),
    nameclaimroot: hashToHex(claimRoot),
    time: timeSec,
    bits: bits.toString(16).padStart(8, '0'),
    nonce,
  };
  expect(await headerHash(header)).toBe(hashToHex(genesisHash));
  const { previousblockhash, ...first } = header;
  expect([previousblockhash, await headerHash(first)]).toEqual([
    header.previousblockhash,
    hashToHex(genesisHash),
  ]);
  expect(await headerHash({ ...header, version: -1 })).not.toBe(hashToHex(genesisHash));
});
