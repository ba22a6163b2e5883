/**
 * Random claim operations with values: streams, channels that change keys or are abandoned, collections, reposts, invalid
 * values, and valid and invalid signatures; with few names that normalize to the same name. Makes transactions for a
 * `TestChain` and records the intended content of each output.
 */
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { sha256 } from '../../src/crypto/hash.js';
import type { ClaimEntryKind as Operation } from '../../src/claimtrie/types.js';
import { txid, type Transaction } from '../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../src/script/claimScript.js';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import type { ClaimMetadata } from '../../src/search/document/document.js';
import { toHex } from '../../src/util/bytes.js';
import { randomOf } from './claimLife.js';
import { pointOf } from './claimModel.js';
import { OPEN_SCRIPT, spend } from './testChain.js';

export type Meaning = 'stream' | 'channel' | 'collection' | 'repost' | null;

/** Intended content of an output that creates or updates a claim. */
export interface Intent {
  readonly kind: Meaning;
  /** Hex of the ids in wire order. */
  readonly channelId: string | null;
  readonly repostedId: string | null;
  /** Hex of the compressed key whose signature is valid. */
  readonly signedBy: string | null;
  /** For a channel: hex of its compressed key. */
  readonly publicKey: string | null;
  readonly value: Buffer;
  /** Other content of the value; null if the value is invalid or the run has no descriptions. */
  readonly metadata: ClaimMetadata | null;
}

/** Content of a claim beside its kind: as intended, and as fields of its message. */
export interface Description {
  readonly metadata: ClaimMetadata;
  /** For streams and collections the whole message; for others the bytes after the field of the kind. */
  readonly fields: Buffer;
}

/** An unspent output of the run. */
export interface LifeCoin {
  readonly txid: Buffer;
  readonly n: number;
  readonly value: bigint;
  readonly height: number;
  readonly operation: Operation | null;
  readonly name: Buffer;
  readonly claimId: Buffer;
  /** Whether it is a support with data. */
  readonly hasMetadata: boolean;
}

export interface LifeTx {
  readonly tx: Transaction;
  readonly spends: readonly LifeCoin[];
  readonly outputs: readonly LifeCoin[];
}

const NAMES = ['a', 'A', 'ab', 'aB', 'é', 'É', 'straße', 'STRASSE', '@c', '@C', '@d', 'x', '@é'].map((name) =>
  Buffer.from(name),
);
NAMES.push(Buffer.from([0x61, 0xff]));

const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const NO_ID = Buffer.alloc(20);
const PREFIXES = addressPrefixesOf(regtestParams);

/** Who signed an output: hex of the channel's id in wire order and of the compressed key; null if no key did. */
export interface Signer {
  readonly channelId: string;
  readonly signedBy: string | null;
}

interface Channel {
  readonly claimId: Buffer;
  readonly keys: Buffer[];
}

/** An output that is not in a transaction yet. */
interface Planned {
  readonly operation: Operation;
  readonly name: Buffer;
  readonly claimId: Buffer;
  readonly intent: Intent | null;
  /** The data of a support. */
  readonly data?: Buffer;
  readonly signer?: Signer;
}

export class ClaimIndexLife {
  readonly intents = new Map<string, Intent>();
  readonly transactions = new Map<string, LifeTx>();
  /** Signing channels of supports with signed data, by outpoint. */
  readonly supporters = new Map<string, Signer>();
  /** Ids of all claims that were created. */
  readonly ids: Buffer[] = [];
  readonly random: (count: number) => number;
  coins: LifeCoin[] = [];
  private readonly past = new Map<number, LifeCoin[]>();
  private readonly channels: Channel[] = [];
  private readonly describe: ((kind: NonNullable<Meaning>) => Description) | null;
  private serial = 1;

  /** `describe` returns further content for claims. Without it, claims have only a kind. */
  constructor(seed: number, describe: ((kind: NonNullable<Meaning>) => Description) | null = null) {
    this.describe = describe;
    this.random = randomOf(seed);
  }

  chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  name(): Buffer {
    return NAMES[this.random(NAMES.length)]!;
  }

  /**
   * Makes a transaction that splits `funds`, and from 1 to `most` transactions that spend its outputs, for the block at
   * `height`. `funds` is a coin that anyone can spend.
   */
  block(height: number, funds: LifeCoin, most: number): Transaction[] {
    this.keepAt(height);
    const made: Transaction[] = [];
    // The first transaction splits the funds, so that the others do not depend on each other.
    const count = 1 + this.random(most);
    const parts = Array.from({ length: count }, () => ({
      value: funds.value / BigInt(count),
      script: OPEN_SCRIPT,
    }));
    const divided = spend([funds], parts);
    this.keep(divided, [funds], []);
    made.push(divided);
    for (let n = 0; n < count; n++)
      made.push(this.transaction(height, { ...funds, txid: txid(divided), n, value: parts[n]!.value }));
    return made;
  }

  /** Saves the unspent outputs before the block at this height. To be called for a block for which `block` is not called. */
  keepAt(height: number): void {
    this.past.set(height, this.coins.slice());
  }

  /** Restores the unspent outputs before the block at this height, which was disconnected. */
  disconnect(height: number): void {
    this.coins = this.past.get(height)!;
    this.past.delete(height);
  }

  private keep(tx: Transaction, spends: readonly LifeCoin[], outputs: readonly LifeCoin[]): void {
    this.transactions.set(toHex(txid(tx)), { tx, spends, outputs });
  }

  private transaction(height: number, funds: LifeCoin): Transaction {
    const spends: LifeCoin[] = [];
    for (let i = this.random(3); i > 0 && this.coins.length > 0; i--) {
      const back = this.chance(30) ? Math.min(this.coins.length, 4) : this.coins.length;
      const [coin] = this.coins.splice(this.coins.length - 1 - this.random(back), 1);
      spends.push(coin!);
    }
    const inputs = this.chance(50) ? [funds, ...spends] : [...spends, funds];
    const firstInput = Buffer.alloc(36);
    firstInput.set(inputs[0]!.txid);
    firstInput.writeUInt32LE(inputs[0]!.n, 32);

    const planned: Planned[] = [];
    for (const { operation, name, claimId } of spends) {
      if (operation === 'support' || !this.chance(70)) continue;
      const other = this.chance(90) ? name : this.name();
      planned.push({ operation: 'update', name: other, claimId, intent: this.intent(firstInput, claimId) });
    }
    for (let i = this.random(3); i > 0; i--) {
      const known = this.coins[this.random(this.coins.length || 1)];
      if (this.chance(55) || known === undefined) {
        const intent = this.intent(firstInput, null);
        planned.push({ operation: 'claim', name: this.name(), claimId: NO_ID, intent });
      } else if (this.chance(90)) {
        const name = this.chance(80) ? known.name : this.name();
        const data = this.chance(60) ? this.supportData(firstInput) : {};
        planned.push({ operation: 'support', name, claimId: known.claimId, intent: null, ...data });
      } else
        planned.push({
          operation: 'update',
          name: known.name,
          claimId: known.claimId,
          intent: this.intent(firstInput, known.claimId),
        });
    }
    const outputs = planned.map(({ operation, name, claimId, intent, data }) => ({
      value: this.chance(10) ? 0n : BigInt(1 + this.random(4)) * 1000n,
      script: Buffer.concat([
        operation === 'claim'
          ? buildClaimPrefix(name, intent!.value)
          : operation === 'update'
            ? buildUpdatePrefix(name, claimId, intent!.value)
            : buildSupportPrefix(name, claimId, data),
        OPEN_SCRIPT,
      ]),
    }));
    const tx = spend(inputs, [...outputs, { value: 0n, script: OPEN_SCRIPT }]);
    const id = txid(tx);
    const coins = planned.map(({ operation, name, claimId, intent, data, signer }, n): LifeCoin => {
      const ownId = operation === 'claim' ? claimIdOf(id, n) : claimId;
      if (signer) this.supporters.set(pointOf(id, n), signer);
      if (intent) this.intents.set(`${toHex(id)}:${n}`, intent);
      if (operation === 'claim') {
        this.ids.push(ownId);
        if (intent!.publicKey !== null) this.channels.push({ claimId: ownId, keys: [this.lastKey!] });
      }
      const hasMetadata = data !== undefined;
      return { txid: id, n, value: outputs[n]!.value, height, operation, name, claimId: ownId, hasMetadata };
    });
    this.coins.push(...coins);
    this.keep(tx, inputs, coins);
    return tx;
  }

  private lastKey: Buffer | null = null;

  private privateKey(): Buffer {
    return sha256(Buffer.from(`life ${this.serial++}`));
  }

  /** Random content for a new claim or for an update of one. */
  private intent(firstInput: Buffer, updated: Buffer | null): Intent {
    const channel = updated && this.channels.find(({ claimId }) => claimId.equals(updated));
    const kinds: Meaning[] = ['stream', 'stream', 'channel', 'collection', 'repost', 'repost', null];
    const kind = channel && this.chance(80) ? 'channel' : kinds[this.random(kinds.length)]!;
    const described = kind === null ? null : (this.describe?.(kind) ?? null);
    const said = described?.fields ?? Buffer.alloc(0);
    let message: Buffer;
    let repostedId: Buffer | null = null;
    let publicKey: Buffer | null = null;
    if (kind === 'channel') {
      const key = this.privateKey();
      // The key stays, changes to an earlier one, or is new.
      const isSame = channel && this.chance(50);
      const isFormer = channel && !isSame && this.chance(30);
      const used = isSame
        ? channel.keys.at(-1)!
        : isFormer
          ? channel.keys[this.random(channel.keys.length)]!
          : key;
      if (channel && !isSame) channel.keys.push(used);
      this.lastKey = used;
      publicKey = ecdsaBackend().publicKeyOf(used, true);
      const stored = this.chance(75) ? publicKey : derKey(used);
      message = Buffer.concat([field(2, field(1, stored)), said]);
    } else if (kind === 'repost') {
      repostedId = this.ids[this.random(this.ids.length || 1)] ?? NO_ID;
      message = Buffer.concat([field(4, field(1, repostedId)), said]);
    } else if (kind === null) {
      message = this.chance(50) ? Buffer.alloc(0) : Buffer.of(0x0a, 0x7f);
    } else message = described?.fields ?? field(kind === 'stream' ? 1 : 3, Buffer.alloc(0));
    const plain = Buffer.concat([Buffer.of(0), message]);
    const hex = (bytes: Buffer | null): string | null => bytes && toHex(bytes);
    const meant = { kind, repostedId: hex(repostedId), publicKey: hex(publicKey) };
    const metadataOf = (channelId: Buffer | null, signature: Buffer | null): ClaimMetadata | null =>
      described && {
        ...described.metadata,
        channelId,
        signature,
        publicKeyId:
          publicKey && encodeDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }, PREFIXES),
      };
    const isReadable = message[0] !== 0x0a || message[1] !== 0x7f;
    const signer = this.channels[this.random(this.channels.length || 1)];
    if (!this.chance(60) || signer === undefined || !isReadable)
      return { ...meant, channelId: null, signedBy: null, value: plain, metadata: metadataOf(null, null) };
    const { signature, signedBy } = this.sign(signer, firstInput, message);
    const value = Buffer.concat([Buffer.of(1), signer.claimId, signature, message]);
    const metadata = metadataOf(signer.claimId, signature);
    return { ...meant, channelId: toHex(signer.claimId), signedBy, value, metadata };
  }

  /** A valid or invalid signature of a channel, with its current key or an earlier one. */
  private sign(
    signer: Channel,
    firstInput: Buffer,
    message: Buffer,
  ): { signature: Buffer; signedBy: string | null } {
    const privateKey = this.chance(80) ? signer.keys.at(-1)! : signer.keys[this.random(signer.keys.length)]!;
    const digest = sha256(Buffer.concat([firstInput, signer.claimId, message]));
    let signature: Buffer = Buffer.from(ecdsaBackend().sign(digest, privateKey, null).compact);
    let signedBy: string | null = toHex(ecdsaBackend().publicKeyOf(privateKey, true));
    if (this.chance(15)) signature = withHighS(signature);
    if (this.chance(15)) {
      signature[10]! ^= 1;
      signedBy = null;
    }
    return { signature, signedBy };
  }

  /** Data of a support: mostly signed, sometimes undecodable. */
  private supportData(firstInput: Buffer): { data: Buffer; signer?: Signer } {
    const message = this.chance(50) ? Buffer.alloc(0) : field(2, Buffer.from('a comment'));
    const channel = this.channels[this.random(this.channels.length || 1)];
    if (channel === undefined || this.chance(15)) return { data: Buffer.concat([Buffer.of(0), message]) };
    if (this.chance(5)) return { data: Buffer.concat([Buffer.of(1), channel.claimId, message]) };
    const { signature, signedBy } = this.sign(channel, firstInput, message);
    const data = Buffer.concat([Buffer.of(1), channel.claimId, signature, message]);
    return { data, signer: { channelId: toHex(channel.claimId), signedBy } };
  }
}

function field(number: number, bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const size = length < 0x80 ? [length] : [0x80 | (length & 0x7f), length >> 7];
  return Buffer.concat([Buffer.of((number << 3) | 2, ...size), bytes]);
}

/** The same signature with S replaced by the group order minus S. */
function withHighS(compact: Buffer): Buffer {
  const s = secp256k1Order - BigInt(`0x${compact.subarray(32).toString('hex')}`);
  return Buffer.concat([compact.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
}

/** The key in the format of old channels. */
function derKey(privateKey: Buffer): Buffer {
  const head = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex');
  return Buffer.concat([head, ecdsaBackend().publicKeyOf(privateKey, false)]);
}
