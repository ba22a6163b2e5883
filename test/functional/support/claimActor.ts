/**
 * Makes claims, channels and supports on a regtest node from labelled plans. Anyone can spend each output, values are signed
 * with keys derived from labels, and a plan can require the first digits of an id.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { hash160, sha256, sha256d } from '../../../src/crypto/hash.js';
import { encodeClaim } from '../../../src/metadata/claim.js';
import { ClaimSchema, Fee_Currency } from '../../../src/metadata/messages/claim_pb.js';
import {
  KeyType,
  LegacyClaimSchema,
  LegacyClaim_ClaimType as ClaimType,
  LegacyMetadata_Language as Language,
  LegacyMetadata_MetadataVersion as MetadataVersion,
  LegacySource_SourceType as SourceType,
  Version,
} from '../../../src/metadata/messages/legacy_pb.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { formatTransaction, txid, type Transaction } from '../../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../../src/script/address.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../src/script/claimScript.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';
import { Writer } from '../../../src/util/writer.js';
import type { Step } from '../scenarios/claimLives.js';
import { ADDRESS, type RegtestNode } from './node.js';

/** The redeem script `1`. Anyone can spend an output that pays to its hash. */
const REDEEM = Buffer.of(0x51);
const OPEN = { type: 'scripthash', hash: hash160(REDEEM) } as const;
/** The address of outputs that anyone can spend. */
export const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));
const OPEN_SCRIPT = scriptForDestination(OPEN);

const UNIT_SAT = 10_000n;
const COIN_SAT = 100_000_000n;
/**
 * Amount of a coin that pays for one transaction: the highest bid, and a fee below the node's limit for absurd fees. Arbitrary.
 */
const FUNDING_SAT = 5_000_000n;
const COINS_A_COINBASE = 18;
const COINBASES = 12;
export const MATURITY = 100;

interface Output {
  readonly txid: Buffer;
  readonly n: number;
  readonly valueSat: bigint;
}

export interface Made extends Output {
  readonly name: string;
  /** Wire order. */
  readonly claimId: Buffer;
  readonly isChannel: boolean;
}

type Action = Extract<Step, { do: 'claim' | 'update' | 'support' | 'abandon' }>;
type Draft = (output: Output) => Omit<Made, keyof Output>;

const keyOf = (label: string): Buffer => sha256(Buffer.from(`the key of ${label}`));

/** The claims of one plan, by their labels. */
export class ClaimActor {
  readonly made = new Map<string, Made>();
  /** The name of claims without a name in the plan. */
  readonly name: string;
  private readonly funding: FundingCoins;

  constructor(funding: FundingCoins, name: string) {
    this.funding = funding;
    this.name = name;
  }

  of(label: string): Made {
    const made = this.made.get(label);
    if (!made) throw new Error(`nothing is called ${label}`);
    return made;
  }

  /** The printed id. */
  idOf(label: string): string {
    return hashToHex(this.of(label).claimId);
  }

  async act(step: Action): Promise<void> {
    if (step.do === 'abandon') {
      const spent = step.of.map((label) => this.of(label));
      await this.funding.send(spent, null, () => Buffer.alloc(0));
      return;
    }
    const valueSat = BigInt(step.bid) * UNIT_SAT;
    let made: Omit<Made, keyof Output> | null = null;
    let digits = '';
    let spent: Output[] = [];
    let prefix: (firstInput: Buffer) => Buffer;
    let draft: Draft;
    if (step.do === 'support') {
      const { name, claimId } = this.of(step.of);
      prefix = () => buildSupportPrefix(Buffer.from(name), claimId);
      draft = () => ({ name, claimId, isChannel: false });
    } else if (step.do === 'update') {
      const former = this.of(step.as);
      spent = [former];
      prefix = (firstInput) =>
        buildUpdatePrefix(
          Buffer.from(former.name),
          former.claimId,
          this.value({ isChannel: former.isChannel, ...step }, firstInput),
        );
      const { isChannel = former.isChannel } = step;
      draft = () => ({ name: former.name, claimId: former.claimId, isChannel });
    } else {
      const { name = this.name, isChannel = false } = step;
      digits = step.digits ?? '';
      prefix = (firstInput) => buildClaimPrefix(Buffer.from(name), this.value(step, firstInput));
      draft = (output) => ({ name, claimId: claimIdOf(output.txid, output.n), isChannel });
    }
    const output = await this.funding.send(spent, valueSat, prefix, (at) => {
      made = draft(at);
      return hashToHex(made.claimId).startsWith(digits);
    });
    this.made.set(step.as, { ...output, ...made! });
  }

  private value(
    step: {
      as: string;
      by?: string;
      key?: string;
      isChannel?: boolean;
      feeLbc?: number;
      reposts?: string;
      of2017?: 'signed' | 'forged';
    },
    firstInput: Buffer,
  ): Buffer {
    const { as, by, key, isChannel, feeLbc, reposts, of2017 } = step;
    if (of2017 !== undefined) return this.valueOf2017(by!, of2017 === 'forged');
    const type = isChannel
      ? { case: 'channel' as const, value: { publicKey: ecdsaBackend().publicKeyOf(keyOf(key ?? as), true) } }
      : reposts !== undefined
        ? { case: 'repost' as const, value: { claimHash: this.of(reposts).claimId } }
        : {
            case: 'stream' as const,
            value:
              feeLbc === undefined
                ? {}
                : {
                    fee: {
                      currency: Fee_Currency.LBC,
                      amount: BigInt(feeLbc) * COIN_SAT,
                      address: Buffer.alloc(25),
                    },
                  },
          };
    const claim = create(ClaimSchema, { type: type as never });
    const unsigned = encodeClaim({ channelId: null, signature: null, claim });
    if (by === undefined) return unsigned;
    const { claimId: channelId } = this.of(by);
    const digest = sha256(Buffer.concat([firstInput, channelId, unsigned.subarray(1)]));
    const signature = ecdsaBackend().sign(digest, keyOf(key ?? by), null).compact;
    return encodeClaim({ channelId, signature, claim });
  }

  /** A stream in the format of 2017, signed over its message, the address and the channel. */
  private valueOf2017(by: string, isForged: boolean): Buffer {
    const certificateId = Buffer.from(this.of(by).claimId).reverse();
    const version = Version._0_0_1;
    const parts = {
      version,
      claimType: ClaimType.streamType,
      stream: {
        version,
        metadata: {
          version: MetadataVersion.METADATA_0_1_0,
          language: Language.en,
          title: Buffer.from('A stream'),
          description: Buffer.from('of old'),
          author: Buffer.alloc(0),
          license: Buffer.alloc(0),
          nsfw: false,
        },
        source: {
          version,
          sourceType: SourceType.lbry_sd_hash,
          source: Buffer.alloc(48),
          contentType: Buffer.from('video/mp4'),
        },
      },
    };
    const payload = Buffer.concat([regtestParams.base58.scriptHash, OPEN.hash]);
    const address = Buffer.concat([payload, sha256d(payload).subarray(0, 4)]);
    const unsigned = toBinary(LegacyClaimSchema, create(LegacyClaimSchema, parts));
    const digest = sha256(Buffer.concat([address, unsigned, certificateId]));
    const signature = Buffer.from(ecdsaBackend().sign(digest, keyOf(by), null).compact);
    if (isForged) signature.reverse();
    const publisherSignature = { version, signatureType: KeyType.SECP256k1, signature, certificateId };
    return Buffer.from(
      toBinary(LegacyClaimSchema, create(LegacyClaimSchema, { ...parts, publisherSignature })),
    );
  }
}

/** Coins of a node, one for each transaction. */
export class FundingCoins {
  /** The sequence number of inputs. A lower one signals that the transaction can be replaced. */
  sequence = 0xffffffff;
  private readonly node: Pick<RegtestNode, 'rpc'>;
  private coins: Output[] = [];

  constructor(node: Pick<RegtestNode, 'rpc'>) {
    this.node = node;
  }

  /** Mines the coins that pay for transactions. */
  async fill(): Promise<void> {
    const { node } = this;
    const hashes = await node.rpc<string[]>('generatetoaddress', [COINBASES, OPEN_ADDRESS]);
    await node.rpc('generatetoaddress', [MATURITY, ADDRESS]);
    for (const hash of hashes) {
      const { tx } = await node.rpc<{ tx: string[] }>('getblock', [hash]);
      const { value } = await node.rpc<{ value: number }>('gettxout', [tx[0], 0]);
      const parts = Array.from({ length: COINS_A_COINBASE }, () => ({
        value: FUNDING_SAT,
        script: OPEN_SCRIPT,
      }));
      const coinbase = { txid: Buffer.from(tx[0]!, 'hex').reverse(), n: 0, valueSat: BigInt(value * 1e8) };
      const divided = transaction([coinbase], parts);
      await node.rpc('sendrawtransaction', [toHex(formatTransaction(divided)), true]);
      this.coins.push(
        ...parts.map((_, n) => ({ txid: Buffer.from(txid(divided)), n, valueSat: FUNDING_SAT })),
      );
    }
    await node.rpc('generatetoaddress', [1, ADDRESS]);
  }

  /**
   * Sends a transaction that spends these coins, with one output whose prefix is made from the first input. The rest is the
   * fee.
   */
  async send(
    spent: readonly Output[],
    valueSat: bigint | null,
    prefix: (firstInput: Buffer) => Buffer,
    isWanted: (output: Output) => boolean = () => true,
  ): Promise<Output> {
    const coin = this.coins.shift();
    if (!coin) throw new Error('there are no coins left');
    const inputs = [...spent, coin];
    const firstInput = new Writer(36).raw(inputs[0]!.txid).u32(inputs[0]!.n).finish();
    const total = inputs.reduce((sum, input) => sum + input.valueSat, 0n);
    const output = {
      value: valueSat ?? total - FUNDING_SAT / 2n,
      script: Buffer.concat([prefix(firstInput), OPEN_SCRIPT]),
    };
    // The lock time of a final transaction has no effect, so it can be changed to get another id.
    for (let lockTime = 0; ; lockTime++) {
      const tx = transaction(inputs, [output], lockTime, this.sequence);
      const made = { txid: Buffer.from(txid(tx)), n: 0, valueSat: output.value };
      if (!isWanted(made)) continue;
      await this.node.rpc('sendrawtransaction', [toHex(formatTransaction(tx)), true]);
      return made;
    }
  }
}

function transaction(
  inputs: readonly Output[],
  outputs: readonly { value: bigint; script: Buffer }[],
  lockTime = 0,
  sequence = 0xffffffff,
): Transaction {
  return {
    version: 2,
    inputs: inputs.map(({ txid: hash, n }) => ({
      prevout: { hash, index: n },
      scriptSig: Buffer.from([1, ...REDEEM]),
      sequence,
      witness: [],
    })),
    outputs: [...outputs],
    lockTime,
  };
}
