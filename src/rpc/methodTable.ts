/** Every RPC method of the node, by category. A method exists when it is listed here. */
import type { RpcMethod } from './method.js';
import { getAddressBalance } from './methods/addressindex/getAddressBalance.js';
import { getAddressMempool } from './methods/addressindex/getAddressMempool.js';
import { getAddressTxids } from './methods/addressindex/getAddressTxids.js';
import { getAddressUtxos } from './methods/addressindex/getAddressUtxos.js';
import { getBestBlockHash } from './methods/blockchain/getBestBlockHash.js';
import { getBlock } from './methods/blockchain/getBlock.js';
import { getBlockchainInfo } from './methods/blockchain/getBlockchainInfo.js';
import { getBlockCount } from './methods/blockchain/getBlockCount.js';
import { getBlockHash } from './methods/blockchain/getBlockHash.js';
import { getBlockHeader } from './methods/blockchain/getBlockHeader.js';
import { getBlockStats } from './methods/blockchain/getBlockStats.js';
import { getChainTips } from './methods/blockchain/getChainTips.js';
import { getChainTxStats } from './methods/blockchain/getChainTxStats.js';
import { getDifficulty } from './methods/blockchain/getDifficulty.js';
import { getMempoolAncestors } from './methods/blockchain/getMempoolAncestors.js';
import { getMempoolDescendants } from './methods/blockchain/getMempoolDescendants.js';
import { getMempoolEntry } from './methods/blockchain/getMempoolEntry.js';
import { getMempoolInfo } from './methods/blockchain/getMempoolInfo.js';
import { getRawMempool } from './methods/blockchain/getRawMempool.js';
import { getTxOut } from './methods/blockchain/getTxOut.js';
import { getTxOutProof } from './methods/blockchain/getTxOutProof.js';
import { getTxOutSetInfo } from './methods/blockchain/getTxOutSetInfo.js';
import { preciousBlock } from './methods/blockchain/preciousBlock.js';
import { pruneBlockchain } from './methods/blockchain/pruneBlockchain.js';
import { saveMempool } from './methods/blockchain/saveMempool.js';
import { scanTxOutSet } from './methods/blockchain/scanTxOutSet.js';
import { verifyChain } from './methods/blockchain/verifyChain.js';
import { verifyTxOutProof } from './methods/blockchain/verifyTxOutProof.js';
import { checkNormalization } from './methods/claimtrie/checkNormalization.js';
import { getChangesInBlock } from './methods/claimtrie/getChangesInBlock.js';
import { getClaimByBid } from './methods/claimtrie/getClaimByBid.js';
import { getClaimById } from './methods/claimtrie/getClaimById.js';
import { getClaimBySeq } from './methods/claimtrie/getClaimBySeq.js';
import { getClaimProofByBid } from './methods/claimtrie/getClaimProofByBid.js';
import { getClaimProofBySeq } from './methods/claimtrie/getClaimProofBySeq.js';
import { getClaimsForName } from './methods/claimtrie/getClaimsForName.js';
import { getClaimsForNameByBid } from './methods/claimtrie/getClaimsForNameByBid.js';
import { getClaimsForNameById } from './methods/claimtrie/getClaimsForNameById.js';
import { getClaimsForNameBySeq } from './methods/claimtrie/getClaimsForNameBySeq.js';
import { getClaimsForTx } from './methods/claimtrie/getClaimsForTx.js';
import { getClaimsInTrie } from './methods/claimtrie/getClaimsInTrie.js';
import { getClaimTrie } from './methods/claimtrie/getClaimTrie.js';
import { getNameProof } from './methods/claimtrie/getNameProof.js';
import { getNamesInTrie } from './methods/claimtrie/getNamesInTrie.js';
import { getTotalClaimedNames } from './methods/claimtrie/getTotalClaimedNames.js';
import { getTotalClaims } from './methods/claimtrie/getTotalClaims.js';
import { getTotalValueOfClaims } from './methods/claimtrie/getTotalValueOfClaims.js';
import { getValueForName } from './methods/claimtrie/getValueForName.js';
import { lbcdGetChangesInBlock } from './methods/claimtrie/lbcdGetChangesInBlock.js';
import { lbcdGetClaimsForName } from './methods/claimtrie/lbcdGetClaimsForName.js';
import { normalize } from './methods/claimtrie/normalize.js';
import { discover } from './methods/control/discover.js';
import { getMemoryInfo } from './methods/control/getMemoryInfo.js';
import { help } from './methods/control/help.js';
import { logging } from './methods/control/logging.js';
import { stop } from './methods/control/stop.js';
import { uptime } from './methods/control/uptime.js';
import { generateToAddress } from './methods/generating/generateToAddress.js';
import { echo, echoJson } from './methods/hidden/echo.js';
import { getInfo } from './methods/hidden/getInfo.js';
import { invalidateBlock } from './methods/hidden/invalidateBlock.js';
import { reconsiderBlock } from './methods/hidden/reconsiderBlock.js';
import { setMockTime } from './methods/hidden/setMockTime.js';
import { syncWithValidationInterfaceQueue } from './methods/hidden/syncWithValidationInterfaceQueue.js';
import { waitForBlock } from './methods/hidden/waitForBlock.js';
import { waitForBlockHeight } from './methods/hidden/waitForBlockHeight.js';
import { waitForNewBlock } from './methods/hidden/waitForNewBlock.js';
import { getBlockTemplate } from './methods/mining/getBlockTemplate.js';
import { getMiningInfo } from './methods/mining/getMiningInfo.js';
import { getNetworkHashPs } from './methods/mining/getNetworkHashPs.js';
import { prioritiseTransaction } from './methods/mining/prioritiseTransaction.js';
import { submitBlock } from './methods/mining/submitBlock.js';
import { addNode } from './methods/network/addNode.js';
import { clearBanned } from './methods/network/clearBanned.js';
import { disconnectNode } from './methods/network/disconnectNode.js';
import { getAddedNodeInfo } from './methods/network/getAddedNodeInfo.js';
import { getConnectionCount } from './methods/network/getConnectionCount.js';
import { getNetTotals } from './methods/network/getNetTotals.js';
import { getNodeAddresses } from './methods/network/getNodeAddresses.js';
import { getPeerInfo } from './methods/network/getPeerInfo.js';
import { listBanned } from './methods/network/listBanned.js';
import { ping } from './methods/network/ping.js';
import { setBan } from './methods/network/setBan.js';
import { setNetworkActive } from './methods/network/setNetworkActive.js';
import { getNetworkInfo } from './methods/network/getNetworkInfo.js';
import { combinePsbt } from './methods/rawtransactions/combinePsbt.js';
import { combineRawTransaction } from './methods/rawtransactions/combineRawTransaction.js';
import { convertToPsbt } from './methods/rawtransactions/convertToPsbt.js';
import { createPsbt } from './methods/rawtransactions/createPsbt.js';
import { createRawTransaction } from './methods/rawtransactions/createRawTransaction.js';
import { decodePsbt } from './methods/rawtransactions/decodePsbt.js';
import { decodeRawTransaction } from './methods/rawtransactions/decodeRawTransaction.js';
import { decodeScript } from './methods/rawtransactions/decodeScript.js';
import { finalizePsbt } from './methods/rawtransactions/finalizePsbt.js';
import { getRawTransaction } from './methods/rawtransactions/getRawTransaction.js';
import { sendRawTransaction } from './methods/rawtransactions/sendRawTransaction.js';
import { signRawTransaction } from './methods/rawtransactions/signRawTransaction.js';
import { signRawTransactionWithKey } from './methods/rawtransactions/signRawTransactionWithKey.js';
import { testMempoolAccept } from './methods/rawtransactions/testMempoolAccept.js';
import { createMultisig } from './methods/util/createMultisig.js';
import { estimateFee } from './methods/util/estimateFee.js';
import { estimateRawFee } from './methods/util/estimateRawFee.js';
import { estimateSmartFee } from './methods/util/estimateSmartFee.js';
import { getIndexInfo } from './methods/util/getIndexInfo.js';
import { signMessageWithPrivKey } from './methods/util/signMessageWithPrivKey.js';
import { validateAddress } from './methods/util/validateAddress.js';
import { getZmqNotifications } from './methods/zmq/getZmqNotifications.js';
import { verifyMessage } from './methods/util/verifyMessage.js';

export const METHODS: readonly RpcMethod[] = [
  // addressindex
  getAddressBalance,
  getAddressMempool,
  getAddressTxids,
  getAddressUtxos,
  // blockchain
  getBestBlockHash,
  getBlock,
  getBlockchainInfo,
  getBlockCount,
  getBlockHash,
  getBlockHeader,
  getBlockStats,
  getChainTips,
  getChainTxStats,
  getDifficulty,
  getMempoolAncestors,
  getMempoolDescendants,
  getMempoolEntry,
  getMempoolInfo,
  getRawMempool,
  getTxOut,
  getTxOutProof,
  getTxOutSetInfo,
  preciousBlock,
  pruneBlockchain,
  saveMempool,
  scanTxOutSet,
  verifyChain,
  verifyTxOutProof,
  // claimtrie
  checkNormalization,
  getChangesInBlock,
  getClaimByBid,
  getClaimById,
  getClaimBySeq,
  getClaimProofByBid,
  getClaimProofBySeq,
  getClaimsForName,
  getClaimsForNameByBid,
  getClaimsForNameById,
  getClaimsForNameBySeq,
  getClaimsForTx,
  getClaimsInTrie,
  getNameProof,
  getNamesInTrie,
  getTotalClaimedNames,
  getTotalClaims,
  getTotalValueOfClaims,
  getValueForName,
  lbcdGetChangesInBlock,
  lbcdGetClaimsForName,
  normalize,
  // control
  discover,
  getMemoryInfo,
  help,
  logging,
  stop,
  uptime,
  // generating
  generateToAddress,
  // hidden
  echo,
  echoJson,
  getClaimTrie,
  getInfo,
  invalidateBlock,
  reconsiderBlock,
  setMockTime,
  syncWithValidationInterfaceQueue,
  waitForBlock,
  waitForBlockHeight,
  waitForNewBlock,
  // mining
  getBlockTemplate,
  getMiningInfo,
  getNetworkHashPs,
  prioritiseTransaction,
  submitBlock,
  // network
  getNetworkInfo,
  addNode,
  clearBanned,
  disconnectNode,
  getAddedNodeInfo,
  getConnectionCount,
  getNetTotals,
  getNodeAddresses,
  getPeerInfo,
  listBanned,
  ping,
  setBan,
  setNetworkActive,
  // rawtransactions
  combinePsbt,
  combineRawTransaction,
  convertToPsbt,
  createPsbt,
  createRawTransaction,
  decodePsbt,
  decodeRawTransaction,
  decodeScript,
  finalizePsbt,
  getRawTransaction,
  sendRawTransaction,
  signRawTransaction,
  signRawTransactionWithKey,
  testMempoolAccept,
  // util
  createMultisig,
  estimateFee,
  estimateRawFee,
  estimateSmartFee,
  getIndexInfo,
  signMessageWithPrivKey,
  validateAddress,
  verifyMessage,
  // zmq
  getZmqNotifications,
];
