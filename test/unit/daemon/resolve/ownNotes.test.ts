import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { addOwnNotes, type OwnNotesPort } from '../../../../src/daemon/resolve/ownNotes.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import { claimOutput } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { formatTransaction, txid } from '../../../../src/primitives/transaction.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import {
  foreignOutPoint,
  payTo,
  purchaseOutput,
  testKey,
  transactionOf,
} from '../../../support/ledgerTransactions.js';

const seller = testKey('seller');

function streamWithPrice(): Txo {
  const claim = create(ClaimSchema, {
    title: 'film',
    type: { case: 'stream', value: { fee: { amount: 1n } } },
  });
  const value = encodeClaim({ channelId: null, signature: null, claim });
  const { script, amountDewies } = claimOutput(1n, 'film', value, seller.hash);
  const firstOutPoint = Buffer.alloc(36, 1);
  return new Txo({ txid: Buffer.alloc(32, 2), nout: 0, height: 3, amountDewies, script, firstOutPoint });
}

it('shows the first purchase of a claim that was bought twice, as lbrynet does', async () => {
  const film = streamWithPrice();
  const purchasedClaimId = hashToHex(film.claimId!);
  const purchase = (height: number) => {
    const outputs = [payTo(seller, BigInt(height)), purchaseOutput(film.claimId!)];
    const tx = transactionOf([foreignOutPoint(`coin ${height}`)], outputs);
    return { raw: formatTransaction(tx), txid: txid(tx), height, purchasedClaimId };
  };
  const database = {
    // The newest first, as the database returns them.
    transactions: () => Promise.resolve([purchase(9), purchase(7)]),
  } as unknown as OwnNotesPort;
  await addOwnNotes([film], ['account'], { purchaseReceipt: true }, database);
  expect(film.notes.purchaseReceipt?.height).toBe(7);
});
