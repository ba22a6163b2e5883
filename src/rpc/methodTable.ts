/** Every RPC method of the node, by category. A method exists when it is listed here. */
import { createWallet } from './methods/wallet/createWallet.js';
import { loadWallet } from './methods/wallet/loadWallet.js';
import { unloadWallet } from './methods/wallet/unloadWallet.js';
import { listWallets } from './methods/wallet/listWallets.js';
import { listWalletDir } from './methods/wallet/listWalletDir.js';
import { abandonClaim, abandonSupport } from './methods/wallet/abandonStakes.js';
import { claimName } from './methods/wallet/claimName.js';
import { listNameClaims } from './methods/wallet/listNameClaims.js';
import { supportClaim } from './methods/wallet/supportClaim.js';
import { updateClaim } from './methods/wallet/updateClaim.js';
import { backupWallet } from './methods/wallet/backupWallet.js';
import { getNewAddress } from './methods/wallet/getNewAddress.js';
import { getRawChangeAddress } from './methods/wallet/getRawChangeAddress.js';
import { keypoolRefill } from './methods/wallet/keypoolRefill.js';
import { getWalletInfo } from './methods/wallet/getWalletInfo.js';
import { abortRescan } from './methods/wallet/abortRescan.js';
import { addMultisigAddress } from './methods/wallet/addMultisigAddress.js';
import { addTimelockedAddress } from './methods/wallet/addTimelockedAddress.js';
import { addWitnessAddress } from './methods/wallet/addWitnessAddress.js';
import { dumpPrivKey } from './methods/wallet/dumpPrivKey.js';
import { dumpWallet } from './methods/wallet/dumpWallet.js';
import { getAddressInfo } from './methods/wallet/getAddressInfo.js';
import { importAddress } from './methods/wallet/importAddress.js';
import { importMulti } from './methods/wallet/importMulti.js';
import { importPrivKey } from './methods/wallet/importPrivKey.js';
import { importPrunedFunds } from './methods/wallet/importPrunedFunds.js';
import { importPubKey } from './methods/wallet/importPubKey.js';
import { importWallet } from './methods/wallet/importWallet.js';
import { removePrunedFunds } from './methods/wallet/removePrunedFunds.js';
import { rescanBlockchain } from './methods/wallet/rescanBlockchain.js';
import { setHdSeed } from './methods/wallet/setHdSeed.js';
import { signMessage } from './methods/wallet/signMessage.js';
import { encryptWallet } from './methods/wallet/encryptWallet.js';
import { walletPassphrase } from './methods/wallet/walletPassphrase.js';
import { walletPassphraseChange } from './methods/wallet/walletPassphraseChange.js';
import { migrateWallet } from './methods/wallet/migrateWallet.js';
import { walletLock } from './methods/wallet/walletLock.js';
import {
  getAccount,
  getAccountAddress,
  getAddressesByAccount,
  listAccounts,
  moveMethod,
} from './methods/wallet/accounts.js';
import { getBalance } from './methods/wallet/getBalance.js';
import { getReceivedByAddress } from './methods/wallet/getReceivedByAddress.js';
import { getReceivedByAccount, getReceivedByLabel } from './methods/wallet/getReceivedByLabel.js';
import { getTransaction } from './methods/wallet/getTransaction.js';
import { getUnconfirmedBalance } from './methods/wallet/getUnconfirmedBalance.js';
import { getAddressesByLabel, listLabels } from './methods/wallet/labels.js';
import { listAddressGroupings } from './methods/wallet/listAddressGroupings.js';
import { listReceivedByAddress } from './methods/wallet/listReceivedByAddress.js';
import { listReceivedByAccount, listReceivedByLabel } from './methods/wallet/listReceivedByLabel.js';
import { listSinceBlock } from './methods/wallet/listSinceBlock.js';
import { listTransactions } from './methods/wallet/listTransactions.js';
import { setAccount, setLabel } from './methods/wallet/setLabel.js';
import { abandonTransaction } from './methods/wallet/abandonTransaction.js';
import { bumpFee } from './methods/wallet/bumpFee.js';
import { fundRawTransaction } from './methods/wallet/fundRawTransaction.js';
import { listLockUnspent } from './methods/wallet/listLockUnspent.js';
import { listUnspent } from './methods/wallet/listUnspent.js';
import { lockUnspent } from './methods/wallet/lockUnspent.js';
import { resendWalletTransactions } from './methods/wallet/resendWalletTransactions.js';
import { sendFrom } from './methods/wallet/sendFrom.js';
import { sendMany } from './methods/wallet/sendMany.js';
import { sendToAddress } from './methods/wallet/sendToAddress.js';
import { setTxFee } from './methods/wallet/setTxFee.js';
import { signRawTransactionWithWallet } from './methods/wallet/signRawTransactionWithWallet.js';
import { walletCreateFundedPsbt } from './methods/wallet/walletCreateFundedPsbt.js';
import { walletProcessPsbt } from './methods/wallet/walletProcessPsbt.js';
import { generate } from './methods/generating/generate.js';
import type { RpcMethod } from './method.js';
import { getClaim } from './methods/claimindex/getClaim.js';
import { getClaimIndexInfo } from './methods/claimindex/getClaimIndexInfo.js';
import { resolve } from './methods/claimindex/resolve.js';
import { searchClaims } from './methods/claimindex/searchClaims.js';
import { addHub } from './methods/hub/addHub.js';
import { getHubInfo } from './methods/hub/getHubInfo.js';
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
import { verifySnapshot } from './methods/blockchain/verifySnapshot.js';
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
import { getNameHistory } from './methods/claimtrie/getNameHistory.js';
import { getNameProof } from './methods/claimtrie/getNameProof.js';
import { getNamesInTrie } from './methods/claimtrie/getNamesInTrie.js';
import { getTotalClaimedNames } from './methods/claimtrie/getTotalClaimedNames.js';
import { getTotalClaims } from './methods/claimtrie/getTotalClaims.js';
import { getTotalValueOfClaims } from './methods/claimtrie/getTotalValueOfClaims.js';
import { getValueForName } from './methods/claimtrie/getValueForName.js';
import { lbcdGetChangesInBlock } from './methods/claimtrie/lbcdGetChangesInBlock.js';
import { lbcdGetClaimsForName } from './methods/claimtrie/lbcdGetClaimsForName.js';
import { listNames } from './methods/claimtrie/listNames.js';
import { listUpcoming } from './methods/claimtrie/listUpcoming.js';
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
import { dumpSnapshot } from './methods/blockchain/dumpSnapshot.js';
import { getBestBlock } from './methods/blockchain/getBestBlock.js';
import { getHeaders } from './methods/blockchain/getHeaders.js';
import { getCurrentNet } from './methods/network/getCurrentNet.js';
import { version } from './methods/control/version.js';
import { debugLevel } from './methods/control/debugLevel.js';
import { getGenerate } from './methods/mining/getGenerate.js';
import { setGenerate } from './methods/mining/setGenerate.js';
import { getHashesPerSec } from './methods/mining/getHashesPerSec.js';
import { lbcdEstimateFee } from './methods/util/lbcdEstimateFee.js';
import { node } from './methods/network/node.js';
import { lbcdGetAddedNodeInfo } from './methods/network/lbcdGetAddedNodeInfo.js';
import { getCFilter } from './methods/blockchain/getCFilter.js';
import { getCFilterHeader } from './methods/blockchain/getCFilterHeader.js';
import { getBlockFilter } from './methods/blockchain/getBlockFilter.js';
import { getBlockEvents } from './methods/claimtrie/getBlockEvents.js';
import { listClaims } from './methods/claimtrie/listClaims.js';
import { listSupports } from './methods/claimtrie/listSupports.js';
import { getMempoolSummary } from './methods/blockchain/getMempoolSummary.js';
import { listMempoolClaims } from './methods/claimtrie/listMempoolClaims.js';
import { getChainSeries } from './methods/blockchain/getChainSeries.js';
import { getClaimStatus } from './methods/claimindex/getClaimStatus.js';
import { getTxInfo } from './methods/rawtransactions/getTxInfo.js';
import { searchRawTransactions } from './methods/addressindex/searchRawTransactions.js';

export const METHODS: readonly RpcMethod[] = [
  // addressindex
  searchRawTransactions,
  getAddressBalance,
  getAddressMempool,
  getAddressTxids,
  getAddressUtxos,
  // blockchain
  getBlockFilter,
  getCFilterHeader,
  getCFilter,
  getHeaders,
  dumpSnapshot,
  getBestBlock,
  getBestBlockHash,
  getBlock,
  getBlockchainInfo,
  getBlockCount,
  getBlockHash,
  getBlockHeader,
  getBlockStats,
  getChainSeries,
  getChainTips,
  getChainTxStats,
  getDifficulty,
  getMempoolAncestors,
  getMempoolDescendants,
  getMempoolEntry,
  getMempoolInfo,
  getMempoolSummary,
  getRawMempool,
  getTxOut,
  getTxOutProof,
  getTxOutSetInfo,
  preciousBlock,
  pruneBlockchain,
  saveMempool,
  scanTxOutSet,
  verifyChain,
  verifySnapshot,
  verifyTxOutProof,
  // claimindex
  getClaim,
  getClaimIndexInfo,
  getClaimStatus,
  resolve,
  searchClaims,
  // claimtrie
  checkNormalization,
  getBlockEvents,
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
  getNameHistory,
  getNameProof,
  getNamesInTrie,
  getTotalClaimedNames,
  getTotalClaims,
  getTotalValueOfClaims,
  getValueForName,
  lbcdGetChangesInBlock,
  lbcdGetClaimsForName,
  listClaims,
  listMempoolClaims,
  listNames,
  listSupports,
  listUpcoming,
  normalize,
  // control
  debugLevel,
  version,
  discover,
  getMemoryInfo,
  help,
  logging,
  stop,
  uptime,
  // generating
  generate,
  generateToAddress,
  // hidden
  resendWalletTransactions,
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
  // hub
  addHub,
  getHubInfo,
  // mining
  getHashesPerSec,
  getGenerate,
  setGenerate,
  getBlockTemplate,
  getMiningInfo,
  getNetworkHashPs,
  prioritiseTransaction,
  submitBlock,
  // network
  lbcdGetAddedNodeInfo,
  node,
  getCurrentNet,
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
  fundRawTransaction,
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
  getTxInfo,
  sendRawTransaction,
  signRawTransaction,
  signRawTransactionWithKey,
  testMempoolAccept,
  // util
  lbcdEstimateFee,
  createMultisig,
  estimateFee,
  estimateRawFee,
  estimateSmartFee,
  getIndexInfo,
  signMessageWithPrivKey,
  validateAddress,
  verifyMessage,
  // wallet
  createWallet,
  loadWallet,
  unloadWallet,
  listWallets,
  listWalletDir,
  abandonClaim,
  abandonSupport,
  claimName,
  listNameClaims,
  supportClaim,
  updateClaim,
  backupWallet,
  getNewAddress,
  getRawChangeAddress,
  keypoolRefill,
  getWalletInfo,
  abortRescan,
  addMultisigAddress,
  addTimelockedAddress,
  addWitnessAddress,
  dumpPrivKey,
  dumpWallet,
  getAddressInfo,
  importAddress,
  importMulti,
  importPrivKey,
  importPrunedFunds,
  importPubKey,
  importWallet,
  removePrunedFunds,
  rescanBlockchain,
  setHdSeed,
  signMessage,
  encryptWallet,
  walletPassphrase,
  walletPassphraseChange,
  walletLock,
  getAccount,
  getAccountAddress,
  getAddressesByAccount,
  getAddressesByLabel,
  getBalance,
  getReceivedByAccount,
  getReceivedByAddress,
  getReceivedByLabel,
  getTransaction,
  getUnconfirmedBalance,
  listAccounts,
  listAddressGroupings,
  listLabels,
  listReceivedByAccount,
  listReceivedByAddress,
  listReceivedByLabel,
  listSinceBlock,
  listTransactions,
  moveMethod,
  setAccount,
  setLabel,
  abandonTransaction,
  bumpFee,
  listLockUnspent,
  listUnspent,
  lockUnspent,
  sendFrom,
  sendMany,
  sendToAddress,
  setTxFee,
  signRawTransactionWithWallet,
  walletCreateFundedPsbt,
  walletProcessPsbt,
  migrateWallet,
  // zmq
  getZmqNotifications,
];
