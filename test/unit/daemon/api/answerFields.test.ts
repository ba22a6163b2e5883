/** The declared fields of outputs are exactly those that occur in answers, and each occurs in at least one. */
import { describe, expect, it } from 'vitest';
import { account, listedAccount, txo as txoShape } from '../../../../src/daemon/api/declarations/shapes.js';
import { accountToJson, listedAccountToJson } from '../../../../src/daemon/api/walletAnswers.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { outputToJson, type ShowPort } from '../../../../src/daemon/txo/outputJson.js';
import { Txo, type TxoNotes } from '../../../../src/daemon/txo/txo.js';
import { Account } from '../../../../src/daemon/wallet/account.js';
import type { NewOutput } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { formatOutPoint } from '../../../../src/primitives/transaction.js';
import type { Schema } from '../../../../src/schema/schema.js';
import { checkJson } from '../../../../src/schema/schemaCheck.js';
import { JsonObject } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { stringifyJson } from '../../../../src/util/json/jsonStream.js';
import { type JsonOut } from '../../../../src/util/json/jsonWrite.js';
import {
  claimTo,
  CLAIM_KINDS,
  foreignOutPoint,
  payTo,
  purchaseOutput,
  regtest,
  signedSupportTo,
  supportTo,
  testKey,
} from '../../../support/ledgerTransactions.js';

const PORT: ShowPort = {
  ledger: regtest,
  height: 9,
  timeSecAt: (height) => height || null,
  withProtobuf: true,
};
const key = testKey('holder');
const channelId = Buffer.alloc(20, 5);

const txoOf = ({ script, amountDewies }: NewOutput, notes: TxoNotes = {}): Txo => {
  const txid = Buffer.alloc(32, 1);
  const firstOutPoint = formatOutPoint(foreignOutPoint('first'));
  return new Txo({ txid, nout: 1, height: 3, amountDewies, script, firstOutPoint }, notes);
};

/** Problems of the answer, and the names of its fields. */
function reported(
  schema: Schema,
  answer: JsonOut,
): { problems: readonly string[]; names: readonly string[] } {
  const read = parseJson(stringifyJson(answer)) as JsonObject;
  return { problems: checkJson(schema, read), names: [...read.keys()] };
}
const declaredIn = (schema: Schema): string[] => {
  if (schema.kind !== 'object') throw new Error('no object');
  return Object.keys(schema.fields).sort();
};

describe('the fields of', () => {
  it('an output are sent as declared', () => {
    const channel = txoOf(claimTo(key, 1n, '@c', 'channel'));
    const stream = txoOf(claimTo(key, 1n, 's', 'stream'));
    const everything: TxoNotes = {
      isSpent: false,
      isMyOutput: true,
      isMyInput: false,
      isInternalTransfer: false,
      sentSupportsDewies: 1n,
      sentTipsDewies: 0n,
      receivedTipsDewies: 3n,
      channel,
      meta: { is_controlling: true },
      shortUrl: 'lbry://s#1',
      canonicalUrl: 'lbry://@c#1/s#1',
      purchaseReceipt: txoOf(payTo(key, 5n)),
      claims: [stream, null],
      repostedClaim: stream,
    };
    const outputs = [
      ...CLAIM_KINDS.map((kind) => txoOf(claimTo(key, 9n, kind, kind, { channelId }), everything)),
      channel,
      txoOf(signedSupportTo(key, 2n, channelId, channelId)),
      txoOf(supportTo(key, 2n, channelId)),
      txoOf(payTo(key, 4n), { purchasedClaimId: channelId.toString('hex'), purchasedClaim: stream }),
      txoOf(payTo(key, 4n)),
      txoOf(purchaseOutput(channelId)),
    ];
    const answers = outputs.map((output) => reported(txoShape, outputToJson(output, PORT)));
    const late = { ...PORT, height: 3 + regtest.network.claimForks.extendedExpiration };
    answers.push(reported(txoShape, outputToJson(txoOf(claimTo(key, 9n, 's', 'stream'), everything), late)));
    expect(answers.flatMap(({ problems }) => problems)).toEqual([]);
    expect([...new Set(answers.flatMap(({ names }) => names))].sort()).toEqual(declaredIn(txoShape));
  });

  it('an account are sent as declared', () => {
    const file = new JsonObject([
      ['ledger', regtest.id],
      ['seed', 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent'],
      ['address_type', 'p2wpkh'],
    ]);
    const one = new Account(file, { clock: systemClock, random: systemRandom });
    const whole = reported(account, accountToJson(one, true));
    expect(whole.problems).toEqual([]);
    expect([...whole.names].sort()).toEqual(declaredIn(account));
    const nothing = { total: 0n, available: 0n, reserved: 0n, claims: 0n, supports: 0n, tips: 0n };
    const listed = reported(
      listedAccount,
      listedAccountToJson(one, nothing, { showsSeed: true, isDefault: true }),
    );
    expect(listed.problems).toEqual([]);
    expect([...listed.names].sort()).toEqual(declaredIn(listedAccount));
  });
});
