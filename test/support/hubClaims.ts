/** Claim answers of a hub in memory: it knows each unspent claim of its chain and of its mempool. */
import { create, toBinary } from '@bufbuild/protobuf';
import { Txo } from '../../src/daemon/txo/txo.js';
import { addressOfKey } from '../../src/daemon/wallet/keys.js';
import { channelPublicKey } from '../../src/metadata/channelSignature.js';
import { ErrorSchema, OutputsSchema } from '../../src/metadata/messages/result_pb.js';
import { parseUrl } from '../../src/metadata/url.js';
import { hashToHex } from '../../src/util/bytes.js';
import type { FakeChain } from './fakeHub.js';
import { regtest } from './ledgerTransactions.js';

function claimsOn(chain: FakeChain): Txo[] {
  const txs = [
    ...chain.blocks.flatMap((block, height) => block.txs.map((tx) => ({ tx, height }))),
    ...chain.mempool.map((tx) => ({ tx, height: 0 })),
  ];
  const spent = new Set(
    txs.flatMap(({ tx }) => tx.tx.inputs.map(({ prevout }) => `${hashToHex(prevout.hash)}:${prevout.index}`)),
  );
  return txs.flatMap(({ tx: { tx, txid }, height }) =>
    tx.outputs
      .map(
        ({ value, script }, nout) =>
          new Txo({ txid, nout, height, amountDewies: value, script, firstOutPoint: null }),
      )
      .filter((txo) => txo.isClaim && !spent.has(`${txo.txidHex}:${txo.nout}`)),
  );
}

const idOf = (txo: Txo): string => hashToHex(txo.claimId!);

const placeOf = ({ txid, nout, height }: Txo) => ({ txHash: Uint8Array.from(txid), nout, height });

function packed(found: Txo | undefined, claims: readonly Txo[]): string {
  const channel = claims.find((one) => found?.channelId && idOf(one) === hashToHex(found.channelId));
  const row = found
    ? {
        ...placeOf(found),
        meta: { case: 'claim' as const, value: channel ? { channel: placeOf(channel) } : {} },
      }
    : { meta: { case: 'error' as const, value: create(ErrorSchema, { text: 'not found' }) } };
  return Buffer.from(
    toBinary(
      OutputsSchema,
      create(OutputsSchema, { txos: [row], extraTxos: channel ? [placeOf(channel)] : [] }),
    ),
  ).toString('base64');
}

function keyAddress({ claim }: Txo): string | null {
  const type = claim?.claim.type;
  const key = type?.case === 'channel' ? channelPublicKey(type.value.publicKey) : null;
  return key && addressOfKey(key, regtest);
}

/** Is called before the hub. Returns undefined for methods that do not concern claims. */
export function answerAboutClaims(chain: FakeChain, method: string, params: unknown): string | undefined {
  if (!method.startsWith('blockchain.claimtrie.')) return undefined;
  const claims = claimsOn(chain);
  if (method.endsWith('.search')) {
    const { public_key_id: id } = params as { public_key_id?: string };
    return packed(
      claims.find((txo) => keyAddress(txo) === id),
      claims,
    );
  }
  const [first] = params as [string];
  if (method.endsWith('.getclaimbyid'))
    return packed(
      claims.find((txo) => idOf(txo) === first),
      claims,
    );
  const { channel, stream } = parseUrl(first)!;
  return packed(
    claims.find(({ claimName }) => claimName === (stream ?? channel)!.name),
    claims,
  );
}
