/** `/rest/tx/…`: a transaction of the mempool or of a block. Source: lbrycrd rest.cpp `rest_tx`. */
import { formatTransaction } from '../../primitives/transaction.js';
import { findTransaction } from '../../rpc/lookup/blockLookup.js';
import { rawTransactionAnswer, shownTransaction, transactionAnswer } from '../../rpc/format/transaction.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { asBuffer, hashToHex } from '../../util/bytes.js';
import type { HttpReply } from '../replyStream.js';
import { answerAs, binaryReply, hexReply, jsonReply } from './reply.js';
import { badRequest, notFound, parseHash, splitFormat } from './request.js';
import { scriptContext, type RestCall } from './resource.js';

export async function transactionHandler(call: RestCall): Promise<HttpReply> {
  const { services, path } = call;
  const { param, format } = splitFormat(path);
  const txid = parseHash(param);
  if (txid === null) throw badRequest(`Invalid hash: ${param}`);
  const found = await findTransaction(services, txid, true);
  if (found === null) throw notFound(missing(services, param));
  const { tx, block } = found;
  const bytes = (): Buffer => asBuffer(formatTransaction(tx, services.options.serializeWitness));
  return answerAs(format, {
    bin: () => binaryReply(bytes()),
    hex: () => hexReply(bytes()),
    json: () =>
      jsonReply({
        ...transactionAnswer(shownTransaction(tx), scriptContext(call)),
        blockhash: block === NO_HEADER ? undefined : hashToHex(services.chain.headers.hash(block)),
        // The hex always includes the witness, even with -rpcserialversion=0.
        hex: rawTransactionAnswer(tx, true),
      }),
  });
}

function missing({ chain }: RestCall['services'], param: string): string {
  const behind = chain.transactionsBehindSnapshot;
  return behind === null ? `${param} not found` : `${param} not found. ${behind}`;
}
