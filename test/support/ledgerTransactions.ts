/** Transactions for tests of the daemon's ledger: outputs of every kind, and addresses of numbered keys. */
import { create } from '@bufbuild/protobuf';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { ledgerParams } from '../../src/daemon/base/ledgerParams.js';
import { addressOfKey } from '../../src/daemon/wallet/keys.js';
import {
  claimOutput,
  payKeyHash,
  payScriptHash,
  purchaseOutput,
  supportOutput,
  type NewOutput,
} from '../../src/daemon/wallet/tx/newOutputs.js';
import { writeOutputScript } from '../../src/daemon/txo/scriptTemplates.js';
import { sealEnvelope } from '../../src/metadata/envelope.js';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema, type Claim } from '../../src/metadata/messages/claim_pb.js';
import {
  emptyInput,
  formatTransaction,
  txid,
  type OutPoint,
  type Transaction,
} from '../../src/primitives/transaction.js';

export const regtest = ledgerParams('lbc_regtest');

export interface TestKey {
  readonly publicKey: Buffer;
  readonly chainCode: Buffer;
  readonly hash: Buffer;
  readonly address: string;
}

/** A public key without a known secret key: 33 bytes of a digest. */
export function testKey(label: string): TestKey {
  const publicKey = Buffer.concat([Buffer.of(2), sha256(Buffer.from(label))]);
  return {
    publicKey,
    chainCode: sha256(Buffer.from(`chain ${label}`)),
    hash: hash160(publicKey),
    address: addressOfKey(publicKey, regtest),
  };
}

export const CLAIM_KINDS = ['stream', 'channel', 'collection', 'repost'] as const;

/** The value of a claim of that kind. Its signature is all zeros if it has a channel. */
export function claimValue(
  kind: (typeof CLAIM_KINDS)[number],
  { channelId = null, withSource = true }: { channelId?: Uint8Array | null; withSource?: boolean } = {},
): Buffer {
  const source = withSource ? { name: 'a', sdHash: Buffer.alloc(48) } : undefined;
  const value = {
    stream: { source },
    channel: { publicKey: testKey('channel').publicKey },
    collection: {},
    repost: { claimHash: Buffer.alloc(20, 7) },
  }[kind];
  const claim: Claim = create(ClaimSchema, { title: kind, type: { case: kind, value } as never });
  return encodeClaim({ channelId, signature: channelId === null ? null : Buffer.alloc(64), claim });
}

export const claimTo = (
  key: TestKey,
  amount: bigint,
  name: string,
  kind: (typeof CLAIM_KINDS)[number],
  options: { channelId?: Uint8Array | null; withSource?: boolean } = {},
): NewOutput => {
  const script = writeOutputScript('claim_name+pay_pubkey_hash', {
    claim_name: Buffer.from(name),
    claim: claimValue(kind, options),
    pubkey_hash: key.hash,
  });
  return options.channelId
    ? { amountDewies: amount, script }
    : claimOutput(amount, name, claimValue(kind, options), key.hash);
};

export const supportTo = (key: TestKey, amount: bigint, claimId: Uint8Array): NewOutput =>
  supportOutput(amount, 'supported', claimId, null, key.hash);

/** A support with a comment that a channel signed. */
export const signedSupportTo = (
  key: TestKey,
  amount: bigint,
  claimId: Uint8Array,
  channelId: Uint8Array,
): NewOutput =>
  supportOutput(
    amount,
    'supported',
    claimId,
    sealEnvelope({ channelId, signature: Buffer.alloc(64) }, Buffer.alloc(0)),
    key.hash,
  );

export const payTo = (key: TestKey, amount: bigint): NewOutput => payKeyHash(amount, key.hash);

export const payToScript = (key: TestKey, amount: bigint): NewOutput => payScriptHash(amount, key.hash);

export { purchaseOutput };

export function transactionOf(inputs: readonly OutPoint[], outputs: readonly NewOutput[]): Transaction {
  return {
    version: 1,
    lockTime: 0,
    inputs: inputs.map((prevout) => emptyInput(prevout)),
    outputs: outputs.map(({ amountDewies, script }) => ({ value: amountDewies, script })),
  };
}

export interface MadeTransaction {
  readonly tx: Transaction;
  readonly txid: Buffer;
  readonly raw: Buffer;
}

export function made(tx: Transaction): MadeTransaction {
  return { tx, txid: txid(tx), raw: formatTransaction(tx) };
}

/** An outpoint that belongs to no wallet. */
export const foreignOutPoint = (label: string): OutPoint => ({ hash: sha256(Buffer.from(label)), index: 0 });

/** Numbers from 0 to `limit` - 1; equal seeds give equal numbers. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
