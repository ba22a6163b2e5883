/** `importprunedfunds`: imports a transaction with a proof that it is in a block. Source: lbrycrd wallet/rpcdump.cpp. */
import { provedTransactions } from '../../../../consensus/partialMerkleTree.js';
import { headerHash } from '../../../../primitives/header.js';
import { txid } from '../../../../primitives/transaction.js';
import { equalBytes } from '../../../../util/bytes.js';
import { isMine } from '../../../../wallet/keys/isMine.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { parseProof } from '../../blockchain/verifyTxOutProof.js';
import { requireTransaction } from '../../rawtransactions/sendRawTransaction.js';
import { parseHexParam } from '../../../declare/paramTypes.js';
import { walletOf } from '../wallets/walletOf.js';

export const importPrunedFunds = defineMethod({
  name: 'importprunedfunds',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Imports funds without rescan. Corresponding address or script must previously be included in ' +
    'wallet. Aimed towards pruned wallets.\n' +
    'Transactions that spend the imported funds must be imported too, or found by a rescan.',
  params: [
    {
      name: 'rawtransaction',
      type: 'string',
      required: true,
      description: 'A raw transaction in hex funding an already-existing address in wallet',
    },
    {
      name: 'txoutproof',
      type: 'string',
      required: true,
      late: true,
      description: 'The hex output from gettxoutproof that contains the transaction',
    },
  ],
  result: t.none(),
  examples: [['"rawtransaction"', '"txoutproof"']],
  async run(ctx, { rawtransaction, txoutproof }) {
    const wallet = walletOf(ctx);
    const fail = (message: string): never => {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
    };
    const tx = await requireTransaction(rawtransaction);
    const id = txid(tx);
    const proof = parseHexParam(txoutproof(), 'proof');
    const { header, tree } = parseProof(proof);
    const proved = provedTransactions(tree);
    if (proved === null || !equalBytes(proved.root, header.merkleRoot))
      return fail('Something wrong with merkleblock');
    const { chain } = wallet.node;
    const blockHash = headerHash(proof);
    const height = chain.heightOf(blockHash);
    if (height < 0) fail('Block not found in chain');
    const at = proved.txids.findIndex((other) => equalBytes(other, id));
    if (at < 0) fail("Transaction given doesn't exist in proof");
    if (!tx.outputs.some(({ script }) => isMine(wallet.keyring, script) !== 0))
      fail('No addresses in wallet correspond to included transaction');
    const place = { blockHash, height, timeSec: header.timeSec, index: proved.indexes[at]! };
    await wallet.change((batch) => {
      const isNew = wallet.ledger.find(id) === undefined;
      const entry = wallet.ledger.add(batch, tx, place);
      if (entry !== null) wallet.announce(entry, isNew);
    });
    return null;
  },
});
