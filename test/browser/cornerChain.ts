/** Makes claims, channels and supports that no wallet makes, for the browser tests. The spent outputs need no signature. */
import { create } from '@bufbuild/protobuf';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { claimSignatureDigest, supportSignatureDigest } from '../../src/metadata/channelSignature.js';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema, SupportSchema, type Claim } from '../../src/metadata/messages/claim_pb.js';
import { encodeSupport } from '../../src/metadata/support.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../src/script/claimScript.js';
import { regtestParams } from '../../src/params/regtest.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import {
  coinbaseAt,
  transaction,
  txid,
  type Input,
  type Output,
  type Rpc,
} from '../functional/support/rawChain.js';
import { hashOf, shown, u32 } from '../functional/support/rawMessages.js';

const COIN_SAT = 100_000_000n;
const FEE_SAT = 5_000_000n;
const MATURITY = 100;
const KEY = sha256(Buffer.from('key of the channel'));

/** Pays to the hash of a script that is always true, so that spending needs no key. */
const ANYONE = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) } as const;
const OPEN_SCRIPT = scriptForDestination(ANYONE);
export const OPEN_ADDRESS = encodeDestination(ANYONE, addressPrefixesOf(regtestParams));
export const open = (prefix: Buffer): Buffer => Buffer.concat([prefix, OPEN_SCRIPT]);

/** An output: the id of its transaction as printed, and the id of its claim. */
export interface Made {
  readonly txid: string;
  readonly claimId: string;
  readonly id: Buffer;
}

export class CornerChain {
  private readonly node: Rpc;
  private readonly coins: Input[] = [];

  private constructor(node: Rpc) {
    this.node = node;
  }

  /** Mines blocks until `coins` coinbases can be spent. */
  static async start(node: Rpc, coins: number): Promise<CornerChain> {
    const chain = new CornerChain(node);
    const from = await node.rpc<number>('getblockcount');
    await chain.mine(coins + MATURITY);
    for (let height = from + 1; height <= from + coins; height++)
      chain.coins.push({ txid: hashOf(await coinbaseAt(node, height)) });
    return chain;
  }

  mine(blocks = 1): Promise<string[]> {
    return this.node.rpc('generatetoaddress', [blocks, OPEN_ADDRESS]);
  }

  /**
   * Sends outputs with equal amounts from one coin. `scriptsOf` receives the outpoint of the first input, which signatures cover.
   * Returns the id of the transaction in wire order.
   */
  async send(scriptsOf: (firstInput: Buffer) => readonly Buffer[], valueSat?: bigint): Promise<Buffer> {
    const coin = this.coins.shift()!;
    const scripts = scriptsOf(Buffer.concat([coin.txid, u32(coin.index ?? 0)]));
    const each = valueSat ?? (COIN_SAT - FEE_SAT) / BigInt(scripts.length);
    const outputs: Output[] = scripts.map((script) => ({ valueSat: each, script }));
    const raw = transaction([coin], outputs);
    await this.node.rpc('sendrawtransaction', [raw.toString('hex'), true]);
    return txid(raw);
  }

  async claim(name: string | Buffer, value: Uint8Array): Promise<Made> {
    const id = await this.send(() => [open(buildClaimPrefix(Buffer.from(name), value))]);
    return made(id, 0);
  }

  channel(name: string, title: string): Promise<Made> {
    const publicKey = ecdsaBackend().publicKeyOf(KEY, true);
    const claim = create(ClaimSchema, { title, type: { case: 'channel', value: { publicKey } } });
    return this.claim(name, encodeClaim({ channelId: null, signature: null, claim }));
  }

  /** Sends streams that the channel signs, all in one transaction. */
  async signed(
    channelId: Buffer,
    names: readonly string[],
    titleOf = (name: string) => name,
  ): Promise<Buffer> {
    return this.send((firstInput) =>
      names.map((name) => {
        const claim = create(ClaimSchema, { title: titleOf(name), type: { case: 'stream', value: {} } });
        return open(buildClaimPrefix(Buffer.from(name), signedClaim(channelId, claim, firstInput)));
      }),
    );
  }

  /** Sends a support that the channel signs. */
  support(name: string, claimId: Buffer, channelId: Buffer): Promise<Buffer> {
    return this.send((firstInput) => {
      const unsigned = { channelId, signature: Buffer.alloc(64), support: create(SupportSchema, {}) };
      const digest = supportSignatureDigest(encodeSupport(unsigned), firstInput)!;
      const signature = Buffer.from(ecdsaBackend().sign(digest, KEY, null).compact);
      return [
        open(buildSupportPrefix(Buffer.from(name), claimId, encodeSupport({ ...unsigned, signature }))),
      ];
    });
  }
}

function signedClaim(channelId: Buffer, claim: Claim, firstInput: Buffer): Buffer {
  const unsigned = { channelId, signature: Buffer.alloc(64), claim };
  const digest = claimSignatureDigest(encodeClaim(unsigned), firstInput, () => null)!;
  return encodeClaim({ ...unsigned, signature: Buffer.from(ecdsaBackend().sign(digest, KEY, null).compact) });
}

export function made(id: Buffer, n: number): Made {
  const claim = claimIdOf(id, n);
  return { txid: shown(id), claimId: shown(claim), id: claim };
}
