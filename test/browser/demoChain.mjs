// Makes a regtest chain that resembles the main chain: channels, films with titles and tags, competing claims, supports, a
// pending takeover and unconfirmed transactions. Block times are 150 seconds apart, and the last one is the present. Used by
// screenshots.mjs.
import { create } from '@bufbuild/protobuf';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { hash160, sha256 } = await dist('crypto/hash.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { claimSignatureDigest } = await dist('metadata/channelSignature.js');
const { ClaimSchema, Fee_Currency, Language_Language } = await dist('metadata/messages/claim_pb.js');
const { regtestParams } = await dist('params/regtest.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix, claimIdOf } =
  await dist('script/claimScript.js');
const { scriptForDestination } = await dist('script/standard.js');

const prefixes = addressPrefixesOf(regtestParams);
/** Pays to the hash of a script that is always true, so that spending needs no key. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) };
const OPEN_SCRIPT = scriptForDestination(OPEN);
const OPEN_ADDRESS = encodeDestination(OPEN, prefixes);
const ownerOf = (label) => ({ type: 'pubkeyhash', hash: hash160(Buffer.from(`owner ${label}`)) });

const LBC = 100_000_000;
const FEE_SAT = 300_000n;
const SPACING_SEC = 150;
/**
 * Number of blocks before the first claim. The first coinbases are mature by then, and names are normalized (on regtest from
 * block 250 on).
 */
const FIRST_BLOCKS = 370;
/** Number of blocks after the films. The delay of a competing claim grows with the time since the last takeover. */
const QUIET_BLOCKS = 330;
const ALL_BLOCKS = 717;
const PAYING_COINS = 40;

const CHANNELS = [
  ['@lighthouse', 'Lighthouse Films', 'Short films about the sea, free to share.', 24],
  ['@open-science', 'Open Science Weekly', 'One paper a week, explained.', 18],
  ['@retrobits', 'Retro Bits', 'Old machines, taken apart and put together again.', 6.5],
];
/** Name, title, channel, LBC, seconds, tags, description. */
const STREAMS = [
  [
    'mindblown',
    'Mind Blown: how memory works',
    1,
    3.2,
    754,
    ['science', 'brain'],
    'What happens in your head while you read this.',
  ],
  [
    'storm-season',
    'Storm season',
    0,
    2.5,
    1320,
    ['film', 'sea'],
    'Six weeks on a rock in the Atlantic.\n\nShot in 2023.',
  ],
  ['keeper', 'The keeper', 0, 1.4, 2711, ['film', 'documentary'], 'He has not left the island since 1987.'],
  [
    'amiga-repair',
    'Bringing an Amiga back',
    2,
    0.8,
    1874,
    ['computers', 'repair'],
    'Leaking capacitors and a lot of patience.',
  ],
  [
    'fusion',
    'Fusion in twelve minutes',
    1,
    1.75,
    720,
    ['science', 'energy'],
    'What the last record really means.',
  ],
  [
    'teletext',
    'Teletext still works',
    2,
    0.35,
    933,
    ['computers', 'history'],
    'Reading pages from a tape of 1991.',
  ],
  [
    'tide-tables',
    'Reading tide tables',
    0,
    0.6,
    505,
    ['sea', 'howto'],
    'A skill for anyone with a small boat.',
  ],
  ['crispr', 'CRISPR without the hype', 1, 1.1, 1490, ['science', 'biology'], 'What it can do today.'],
];
const RIVALS = [
  ['mindblown', 'MindBlown', null, 1.5, 212, ['music'], 'The single.'],
  ['mindblown', 'Mindblown — official trailer', 0, 2.1, 95, ['film'], 'In the open in May.'],
];
/** A claim with the highest amount for its name. It is not active yet. */
const CHALLENGER = ['mindblown', 'Mind blown, second edition', 2, 6.25, 811, ['science'], 'New pictures.'];
const WAITING = [
  ['harbour', 'Harbour at night', 0, 0.45, 301, ['sea'], 'No words.'],
  ['fusion', 'Fusion, answered', 2, 0.9, 640, ['energy'], 'Questions from the comments.'],
];
const keyOf = (channel) => sha256(Buffer.from(`key of ${CHANNELS[channel][0]}`));
const printed = (bytes) => Buffer.from(bytes).reverse().toString('hex');
const sat = (lbc) => BigInt(Math.round(lbc * LBC));

class DemoChain {
  constructor(node) {
    this.node = node;
    this.beginSec = Math.floor(Date.now() / 1000) - SPACING_SEC * ALL_BLOCKS - SPACING_SEC;
    this.timeSec = this.beginSec;
    this.blocks = 0;
    /** Spendable outputs: hash, index, amount. */
    this.coins = [];
    this.channelIds = [];
  }

  async mine(count, address = OPEN_ADDRESS) {
    const hashes = [];
    for (let n = 0; n < count; n++) {
      this.blocks++;
      this.timeSec = this.beginSec + SPACING_SEC * this.blocks + Math.round(70 * Math.sin(this.blocks));
      await this.node.rpc('setmocktime', [this.timeSec]);
      hashes.push(...(await this.node.rpc('generatetoaddress', [1, address])));
    }
    return hashes;
  }

  async takeCoins(hashes) {
    for (const hash of hashes) {
      const { tx } = await this.node.rpc('getblock', [hash]);
      this.coins.push({ hash: Buffer.from(tx[0], 'hex').reverse(), index: 0, value: BigInt(LBC) });
    }
  }

  /**
   * Sends one output. `scriptOf` receives the outpoint of the first input (hash, then index in 4 bytes), which a channel signs.
   * Returns the output.
   */
  async send(value, scriptOf, spent = []) {
    const inputs = [...spent];
    const sum = () => inputs.reduce((total, input) => total + input.value, 0n);
    while (sum() < value + FEE_SAT) inputs.push(this.coins.shift());
    const [first] = inputs;
    const index = Buffer.alloc(4);
    index.writeUInt32LE(first.index);
    const tx = {
      version: 2,
      lockTime: 0,
      inputs: inputs.map(({ hash, index: at }) => ({
        prevout: { hash, index: at },
        scriptSig: Buffer.of(1, 0x51),
        sequence: 0xffffffff,
        witness: [],
      })),
      outputs: [
        { value, script: scriptOf(Buffer.concat([first.hash, index])) },
        { value: sum() - value - FEE_SAT, script: OPEN_SCRIPT },
      ],
    };
    await this.node.rpc('sendrawtransaction', [Buffer.from(formatTransaction(tx)).toString('hex'), true]);
    const hash = txid(tx);
    this.coins.push({ hash, index: 1, value: tx.outputs[1].value });
    return { hash, index: 0, value };
  }

  async channel(index) {
    const [name, title, description, lbc] = CHANNELS[index];
    const claim = create(ClaimSchema, {
      title,
      description,
      languages: [{ language: Language_Language.en }],
      type: {
        case: 'channel',
        value: {
          publicKey: ecdsaBackend().publicKeyOf(keyOf(index), true),
          websiteUrl: 'https://example.org/',
        },
      },
    });
    const value = encodeClaim({ channelId: null, signature: null, claim });
    const { hash } = await this.send(sat(lbc), () =>
      Buffer.concat([buildClaimPrefix(Buffer.from(name), value), OPEN_SCRIPT]),
    );
    this.channelIds[index] = claimIdOf(hash, 0);
    return printed(this.channelIds[index]);
  }

  streamValue([name, title, channel, , seconds, tags, description], firstInput) {
    const claim = create(ClaimSchema, {
      title,
      description,
      tags,
      languages: [{ language: Language_Language.en }],
      thumbnail: { url: `https://thumbnails.example.org/${name}.jpg` },
      type: {
        case: 'stream',
        value: {
          author: channel === null ? '' : CHANNELS[channel][1],
          license: 'Creative Commons Attribution 4.0',
          releaseTime: BigInt(this.timeSec),
          fee: name === 'keeper' ? { currency: Fee_Currency.LBC, amount: sat(0.5) } : undefined,
          source: {
            name: `${name}.mp4`,
            mediaType: 'video/mp4',
            size: BigInt(seconds * 310_000),
            sdHash: Buffer.concat([sha256(Buffer.from(name)), Buffer.alloc(16, seconds)]),
          },
          type: { case: 'video', value: { width: 1920, height: 1080, duration: seconds } },
        },
      },
    });
    if (channel === null) return encodeClaim({ channelId: null, signature: null, claim });
    const unsigned = { channelId: this.channelIds[channel], signature: Buffer.alloc(64), claim };
    const digest = claimSignatureDigest(encodeClaim(unsigned), firstInput, () => null);
    unsigned.signature = Buffer.from(ecdsaBackend().sign(digest, keyOf(channel), null).compact);
    return encodeClaim(unsigned);
  }

  async stream(row) {
    const [name, , , lbc] = row;
    const output = await this.send(sat(lbc), (firstInput) =>
      Buffer.concat([buildClaimPrefix(Buffer.from(name), this.streamValue(row, firstInput)), OPEN_SCRIPT]),
    );
    return { ...output, claimId: claimIdOf(output.hash, 0) };
  }

  update(output, row, lbc) {
    return this.send(
      sat(lbc),
      (firstInput) =>
        Buffer.concat([
          buildUpdatePrefix(Buffer.from(row[0]), output.claimId, this.streamValue(row, firstInput)),
          OPEN_SCRIPT,
        ]),
      [output],
    );
  }

  support(name, claimId, lbc, label) {
    return this.send(sat(lbc), () =>
      Buffer.concat([buildSupportPrefix(Buffer.from(name), claimId), scriptForDestination(ownerOf(label))]),
    );
  }
}

/** Makes the chain on a new regtest node. Returns the objects whose pages can be requested. */
export async function makeDemoChain(node) {
  const chain = new DemoChain(node);
  const hashes = await chain.mine(FIRST_BLOCKS);
  await chain.takeCoins(hashes.slice(100, 100 + PAYING_COINS * 4));
  const channels = [];
  for (const index of CHANNELS.keys()) channels.push(await chain.channel(index));
  await chain.mine(1);
  const streams = [];
  for (const row of STREAMS) {
    streams.push(await chain.stream(row));
    await chain.mine(1);
  }
  await chain.support('mindblown', streams[0].claimId, 1.05, 'a reader');
  await chain.support('storm-season', streams[1].claimId, 0.4, 'a sailor');
  for (const row of RIVALS) {
    await chain.stream(row);
    await chain.mine(2);
  }
  await chain.mine(QUIET_BLOCKS);
  const updated = await chain.update(streams[3], STREAMS[3], 0.95);
  await chain.support('mindblown', streams[0].claimId, 0.2, 'another reader');
  await chain.mine(1);
  const challenger = await chain.stream(CHALLENGER);
  await chain.stream(['keeper', 'Keeper, a remake', null, 1.6, 140, ['film'], 'A student film.']);
  await chain.mine(3);
  for (const row of WAITING) await chain.stream(row);
  await chain.support('storm-season', streams[1].claimId, 0.75, 'a fisher');
  await node.rpc('setmocktime', [0]);
  return {
    name: 'mindblown',
    claim: printed(streams[0].claimId),
    channel: channels[0],
    tx: printed(updated.hash),
    challenger: printed(challenger.claimId),
    address: OPEN_ADDRESS,
    supporter: encodeDestination(ownerOf('a reader'), prefixes),
  };
}
