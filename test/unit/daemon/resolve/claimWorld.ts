/** Claims in existing transactions, and hubs whose answers about them a test determines. */
import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import type { HubPort, LedgerTransaction } from '../../../../src/daemon/ledger/ledger.js';
import type { ResolverPorts } from '../../../../src/daemon/resolve/resolver.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import {
  claimOutput,
  signOutput,
  supportOutput,
  type NewOutput,
} from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema, Fee_Currency } from '../../../../src/metadata/messages/claim_pb.js';
import {
  BlockedSchema,
  ClaimMetaSchema,
  ErrorSchema,
  OutputSchema,
  OutputsSchema,
  type ClaimMeta,
  type Error_Code,
  type Output,
} from '../../../../src/metadata/messages/result_pb.js';
import { encodeSupport } from '../../../../src/metadata/support.js';
import { SupportSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { formatOutPoint, txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { hashToHex, type Bytes } from '../../../../src/util/bytes.js';

type ClaimInit = MessageInitShape<typeof ClaimSchema>;
type MetaInit = Omit<Partial<ClaimMeta>, '$typeName'>;

export const PARAMS = ledgerParams('lbc_regtest');
const HASH = Buffer.alloc(20, 7);
const SECRET = Buffer.alloc(32, 5);
const OTHER = Buffer.alloc(32, 4);
const HEIGHT = 10;
let made = 0;

/** Transactions of the ledger by printed id. */
export const transactions = new Map<string, LedgerTransaction>();

function place(output: NewOutput): Txo {
  const prevout = { hash: Buffer.alloc(32, ++made), index: 0 };
  return placeAt(prevout, output);
}

function placeAt(prevout: { hash: Bytes; index: number }, output: NewOutput): Txo {
  const tx: Transaction = {
    version: 1,
    inputs: [{ prevout, scriptSig: Buffer.alloc(0), sequence: 0xffffffff, witness: [] }],
    outputs: [{ value: output.amountDewies, script: output.script }],
    lockTime: 0,
  };
  const id = txid(tx);
  transactions.set(hashToHex(id), { tx, height: HEIGHT, position: 1, isVerified: true });
  return new Txo({
    txid: id,
    nout: 0,
    height: HEIGHT,
    amountDewies: output.amountDewies,
    script: output.script,
    firstOutPoint: formatOutPoint(prevout),
  });
}

function signedPlace(output: NewOutput, channel: Txo, secret: Bytes): Txo {
  const prevout = { hash: Buffer.alloc(32, ++made), index: 0 };
  const signing = { claimId: channel.claimId!, privateKey: secret };
  return placeAt(prevout, signOutput(output, signing, formatOutPoint(prevout)));
}

const valueOf = (type: ClaimInit['type']): Buffer =>
  encodeClaim({
    channelId: null,
    signature: null,
    claim: create(ClaimSchema, { title: 'a title', type: type! }),
  });

export function claim(
  name: string,
  type: ClaimInit['type'],
  channel?: Txo,
  secret: Bytes = SECRET,
  keyHash: Bytes = HASH,
): Txo {
  const output = claimOutput(100_000_000n, name, valueOf(type), keyHash);
  return channel ? signedPlace(output, channel, secret) : place(output);
}

export function signedSupport(of: Txo, by: Txo, secret: Bytes = by === otherChannel ? OTHER : SECRET): Txo {
  const data = encodeSupport({ channelId: null, signature: null, support: create(SupportSchema, {}) });
  return signedPlace(supportOutput(1n, of.claimName!, of.claimId!, data, HASH), by, secret);
}

export const plainSupport = (of: Txo): Txo =>
  place(supportOutput(1n, of.claimName!, of.claimId!, null, HASH));

export const payment = (): Txo => place({ amountDewies: 5n, script: Buffer.from('51', 'hex') });

const channelOf = (name: string, secret: Bytes): Txo =>
  claim(name, { case: 'channel', value: { publicKey: ecdsaBackend().publicKeyOf(secret, true) } });
export const channel = channelOf('@lab', SECRET);
export const otherChannel = channelOf('@other', OTHER);
export const stream = claim('note', { case: 'stream', value: {} }, channel);
export const priced = claim('expensive', {
  case: 'stream',
  value: { fee: { currency: Fee_Currency.USD, amount: 250n } },
});
/** A claim whose signature was made with the key of another channel. */
export const forged = claim('forged', { case: 'stream', value: {} }, channel, Buffer.alloc(32, 6));
export const repost = claim('again', { case: 'repost', value: { claimHash: stream.claimId! } }, channel);
export const collection = claim('list', {
  case: 'collection',
  value: { claimReferences: [repost, stream, channel].map(({ claimId }) => ({ claimHash: claimId! })) },
});

export const at = ({ txid: txHash, nout, height }: Txo): Output =>
  create(OutputSchema, { txHash, nout, height });

export const row = (txo: Txo, known: MetaInit = {}): Output => {
  const value = create(ClaimMetaSchema, {
    shortUrl: `${txo.claimName}#1`,
    isControlling: true,
    takeOverHeight: 8,
    creationHeight: 7,
    activationHeight: 9,
    expirationHeight: 510,
    reposted: 1,
    effectiveAmount: 150_000_000n,
    supportAmount: 50_000_000n,
    ...known,
  });
  return create(OutputSchema, { ...at(txo), meta: { case: 'claim', value } });
};

export const errorRow = (code: Error_Code, text: string, censor?: Txo): Output => {
  const blocked = censor && create(BlockedSchema, { count: 1, channel: at(censor) });
  const value = create(ErrorSchema, { code, text, ...(blocked ? { blocked } : {}) });
  return create(OutputSchema, { meta: { case: 'error', value } });
};

export const outputs = (init: MessageInitShape<typeof OutputsSchema>): Buffer =>
  Buffer.from(toBinary(OutputsSchema, create(OutputsSchema, init)));

/** A hub that gives these answers one after the other to any request, and then repeats the last one. */
export function world(
  answers: readonly Buffer[],
  database: Partial<ResolverPorts['ledger']['database']> = {},
) {
  const asked: unknown[] = [];
  const distrusted: string[] = [];
  const warnings: string[] = [];
  let count = 0;
  const answer = (question: unknown): Promise<Buffer> => {
    asked.push(question);
    return Promise.resolve(answers[Math.min(count++, answers.length - 1)]!);
  };
  const hub: Pick<HubPort, 'resolve' | 'search' | 'claimById' | 'distrust'> = {
    resolve: answer,
    search: answer,
    claimById: answer,
    distrust: (_answer, reason) => void distrusted.push(reason),
  };
  const ports: ResolverPorts = {
    ledger: {
      params: PARAMS,
      headers: { height: 20, hashAt: () => null, timeSecAt: (height) => 1_500_000_000 + height },
      transactions: (ids) =>
        Promise.resolve(
          new Map(
            ids.flatMap((id) => {
              const found = transactions.get(hashToHex(id));
              return found ? [[hashToHex(id), found] as const] : [];
            }),
          ),
        ),
      hub,
      database: database as ResolverPorts['ledger']['database'],
    },
    log: { warn: (message) => void warnings.push(message) },
  };
  return { ports, asked, distrusted, warnings };
}
