import { expect, test } from 'vitest';
import { headerHash, isPathOf, nodeSteps } from '../../../src/page/proof.js';
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

const child = (character: string, nodeHash?: string) => ({
  child: { character, ...(nodeHash !== undefined && { nodeHash }) },
});
const HASH = '12'.repeat(32);
const hexOf = (name: string): string => Buffer.from(name).toString('hex');

test('a proof of the old form is only about the name of its path', async () => {
  const nodes = [{ children: [child('a', HASH), child('c')] }, { children: [child('o')] }, { children: [] }];
  const claim = { txid: HASH, n: 0, lastTakeoverHeight: 1 };
  const { path } = await nodeSteps(claim, nodes);
  const fitting = ['co', 'c', 'cod', 'ab', ''].filter((name) => isPathOf(claim, nodes, path, hexOf(name)));
  expect(fitting).toEqual(['co']);
});

test('a proof without a claim needs a node that has no child for the next byte', async () => {
  const nodes = [{ children: [child('c')] }, { children: [child('o', HASH)] }];
  const { path } = await nodeSteps(null, nodes);
  const absent = ['c', 'ca', 'cab', 'co', 'cod', 'd'].filter((name) =>
    isPathOf(null, nodes, path, hexOf(name)),
  );
  expect(absent).toEqual(['c', 'ca', 'cab']);
  const held = [nodes[0]!, { ...nodes[1]!, valueHash: HASH }];
  expect(isPathOf(null, held, path, hexOf('c'))).toBe(false);
});
