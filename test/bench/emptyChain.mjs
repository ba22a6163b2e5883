// Writes a regtest chain of blocks without transactions as a file for `-loadblock`. A million blocks take a minute and 270 MB.
// Belongs to explorer.mjs.
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { dist } from './searchClaims.mjs';

const { blockSubsidy } = await dist('consensus/subsidy.js');
const { merkleRoot } = await dist('crypto/merkle.js');
const { hash160 } = await dist('crypto/hash.js');
const { buildCoinbase, commitmentScript } = await dist('mining/coinbase.js');
const { loadNative } = await dist('native/binding.js');
const { regtestParams } = await dist('params/regtest.js');
const { formatHeader, headerHash } = await dist('primitives/header.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { scriptForDestination } = await dist('script/standard.js');

const PIECE_BYTES = 4 << 20;
/** A million blocks take eight years, so the last block is not in the future. */
const SPACING_SEC = 250;
const NONCE_OFFSET = 108;
/** Number of addresses to which the coinbases pay in turn. */
const PAYEES = 1000;
/** Every tenth coinbase pays to the first of them, which has 110,000 transactions in a chain of 1.1 million blocks. */
const CROWDED_EVERY = 10;

/**
 * Nodes need a `-maxtipage` of at least the age of the tip. Otherwise they remain in the initial download. Each
 * `crowdedEvery`-th coinbase pays to the same address.
 */
export async function writeEmptyChain(file, blocks, crowdedEvery = CROWDED_EVERY) {
  const { genesis, magic, powLimit, powLimitBits, segwitHeight, subsidyLevelInterval } = regtestParams;
  const native = loadNative();
  if (native === null)
    throw new Error('the addon is needed: a million proofs of work take an hour without it');
  const target = Buffer.from(powLimit.toString(16).padStart(64, '0'), 'hex').reverse();
  const scripts = Array.from({ length: PAYEES }, (_, n) =>
    scriptForDestination({ type: 'pubkeyhash', hash: hash160(Buffer.from(`payee ${n}`)) }),
  );
  const out = createWriteStream(file);
  let pieces = [];
  let bytes = 0;
  const write = async (block) => {
    const frame = Buffer.alloc(8);
    frame.set(magic);
    frame.writeUInt32LE(block.length, 4);
    pieces.push(frame, block);
    bytes += 8 + block.length;
    if (bytes < PIECE_BYTES) return;
    const isFull = !out.write(Buffer.concat(pieces));
    pieces = [];
    bytes = 0;
    if (isFull) await once(out, 'drain');
  };
  await write(genesis.block);
  let prevHash = genesis.hash;
  for (let height = 1; height <= blocks; height++) {
    const coinbase = buildCoinbase({
      height,
      outputScript: scripts[height % crowdedEvery === 0 ? 0 : height % PAYEES],
      valueSat: blockSubsidy(height, subsidyLevelInterval),
      commitment: commitmentScript([]),
      segwitActive: height >= segwitHeight,
    });
    const header = formatHeader({
      version: 0x20000000,
      prevHash,
      merkleRoot: merkleRoot([txid(coinbase)]).root,
      claimRoot: genesis.claimRoot,
      timeSec: genesis.timeSec + height * SPACING_SEC,
      bits: powLimitBits,
      nonce: 0,
    });
    header.writeUInt32LE(native.grind(header, target, 0, 2 ** 31 - 1), NONCE_OFFSET);
    prevHash = headerHash(header);
    await write(Buffer.concat([header, Buffer.of(1), formatTransaction(coinbase)]));
  }
  out.end(Buffer.concat(pieces));
  await once(out, 'close');
}
