/** All RPC methods of the node, by category. A method exists only if this list contains it. */
import { createWallet } from '../methods/wallet/wallets/createWallet.js';
import { loadWallet } from '../methods/wallet/wallets/loadWallet.js';
import { unloadWallet } from '../methods/wallet/wallets/unloadWallet.js';
import { listWallets } from '../methods/wallet/wallets/listWallets.js';
import { listWalletDir } from '../methods/wallet/wallets/listWalletDir.js';
import { abandonClaim, abandonSupport } from '../methods/wallet/claims/abandonStakes.js';
import { claimName } from '../methods/wallet/claims/claimName.js';
import { listNameClaims } from '../methods/wallet/claims/listNameClaims.js';
import { supportClaim } from '../methods/wallet/claims/supportClaim.js';
import { updateClaim } from '../methods/wallet/claims/updateClaim.js';
import { backupWallet } from '../methods/wallet/wallets/backupWallet.js';
import { getNewAddress } from '../methods/wallet/addresses/getNewAddress.js';
import { getRawChangeAddress } from '../methods/wallet/addresses/getRawChangeAddress.js';
import { keypoolRefill } from '../methods/wallet/keys/keypoolRefill.js';
import { getWalletInfo } from '../methods/wallet/wallets/getWalletInfo.js';
import { abortRescan } from '../methods/wallet/keys/abortRescan.js';
import { addMultisigAddress } from '../methods/wallet/keys/addMultisigAddress.js';
import { addTimelockedAddress } from '../methods/wallet/keys/addTimelockedAddress.js';
import { addWitnessAddress } from '../methods/wallet/keys/addWitnessAddress.js';
import { dumpPrivKey } from '../methods/wallet/keys/dumpPrivKey.js';
import { dumpWallet } from '../methods/wallet/keys/dumpWallet.js';
import { getAddressInfo } from '../methods/wallet/addresses/getAddressInfo.js';
import { validateAddressInWallet } from '../methods/wallet/addresses/validateAddressInWallet.js';
import { importAddress } from '../methods/wallet/keys/importAddress.js';
import { importMulti } from '../methods/wallet/keys/importMulti.js';
import { importPrivKey } from '../methods/wallet/keys/importPrivKey.js';
import { importPrunedFunds } from '../methods/wallet/keys/importPrunedFunds.js';
import { importPubKey } from '../methods/wallet/keys/importPubKey.js';
import { importWallet } from '../methods/wallet/keys/importWallet.js';
import { removePrunedFunds } from '../methods/wallet/keys/removePrunedFunds.js';
import { rescanBlockchain } from '../methods/wallet/keys/rescanBlockchain.js';
import { setHdSeed } from '../methods/wallet/keys/setHdSeed.js';
import { signMessage } from '../methods/wallet/addresses/signMessage.js';
import { encryptWallet } from '../methods/wallet/wallets/encryptWallet.js';
import { walletPassphrase } from '../methods/wallet/wallets/walletPassphrase.js';
import { walletPassphraseChange } from '../methods/wallet/wallets/walletPassphraseChange.js';
import { migrateWallet } from '../methods/wallet/wallets/migrateWallet.js';
import { walletLock } from '../methods/wallet/wallets/walletLock.js';
import {
  getAccount,
  getAccountAddress,
  getAddressesByAccount,
  listAccounts,
  moveMethod,
} from '../methods/wallet/addresses/accounts.js';
import { getBalance } from '../methods/wallet/history/getBalance.js';
import { getReceivedByAddress } from '../methods/wallet/history/getReceivedByAddress.js';
import { getReceivedByAccount, getReceivedByLabel } from '../methods/wallet/history/getReceivedByLabel.js';
import { getTransaction } from '../methods/wallet/history/getTransaction.js';
import { getUnconfirmedBalance } from '../methods/wallet/history/getUnconfirmedBalance.js';
import { getAddressesByLabel, listLabels } from '../methods/wallet/addresses/labels.js';
import { listAddressGroupings } from '../methods/wallet/addresses/listAddressGroupings.js';
import { listReceivedByAddress } from '../methods/wallet/history/listReceivedByAddress.js';
import { listReceivedByAccount, listReceivedByLabel } from '../methods/wallet/history/listReceivedByLabel.js';
import { listSinceBlock } from '../methods/wallet/history/listSinceBlock.js';
import { listTransactions } from '../methods/wallet/history/listTransactions.js';
import { setAccount, setLabel } from '../methods/wallet/addresses/setLabel.js';
import { abandonTransaction } from '../methods/wallet/sending/abandonTransaction.js';
import { bumpFee } from '../methods/wallet/sending/bumpFee.js';
import { fundRawTransaction } from '../methods/wallet/sending/fundRawTransaction.js';
import { listLockUnspent } from '../methods/wallet/sending/listLockUnspent.js';
import { listUnspent } from '../methods/wallet/history/listUnspent.js';
import { lockUnspent } from '../methods/wallet/sending/lockUnspent.js';
import { resendWalletTransactions } from '../methods/wallet/sending/resendWalletTransactions.js';
import { sendFrom } from '../methods/wallet/sending/sendFrom.js';
import { sendMany } from '../methods/wallet/sending/sendMany.js';
import { sendToAddress } from '../methods/wallet/sending/sendToAddress.js';
import { setTxFee } from '../methods/wallet/sending/setTxFee.js';
import { signRawTransactionWithWallet } from '../methods/wallet/sending/signRawTransactionWithWallet.js';
import { walletCreateFundedPsbt } from '../methods/wallet/sending/walletCreateFundedPsbt.js';
import { walletProcessPsbt } from '../methods/wallet/sending/walletProcessPsbt.js';
import { generate } from '../methods/generating/generate.js';
import type { RpcMethod } from './method.js';
import { getClaim } from '../methods/claimindex/getClaim.js';
import { getClaimIndexInfo } from '../methods/claimindex/getClaimIndexInfo.js';
import { getClaimStates } from '../methods/claimindex/getClaimStates.js';
import { listChannelClaims } from '../methods/claimindex/listChannelClaims.js';
import { resolve } from '../methods/claimindex/resolve.js';
import { searchClaims } from '../methods/claimindex/searchClaims.js';
import { addHub } from '../methods/hub/addHub.js';
import { getHubInfo } from '../methods/hub/getHubInfo.js';
import { getAddressBalance } from '../methods/addressindex/getAddressBalance.js';
import { getAddressMempool } from '../methods/addressindex/getAddressMempool.js';
import { getAddressTxids } from '../methods/addressindex/getAddressTxids.js';
import { getAddressUtxos } from '../methods/addressindex/getAddressUtxos.js';
import { getBestBlockHash } from '../methods/blockchain/getBestBlockHash.js';
import { getBlock } from '../methods/blockchain/getBlock.js';
import { getBlockchainInfo } from '../methods/blockchain/getBlockchainInfo.js';
import { getBlockCount } from '../methods/blockchain/getBlockCount.js';
import { getBlockHash } from '../methods/blockchain/getBlockHash.js';
import { getBlockHeader } from '../methods/blockchain/getBlockHeader.js';
import { getBlockStats } from '../methods/blockchain/getBlockStats.js';
import { getChainTips } from '../methods/blockchain/getChainTips.js';
import { getChainTxStats } from '../methods/blockchain/getChainTxStats.js';
import { getDifficulty } from '../methods/blockchain/getDifficulty.js';
import { getMempoolAncestors } from '../methods/blockchain/mempool/getMempoolAncestors.js';
import { getMempoolDescendants } from '../methods/blockchain/mempool/getMempoolDescendants.js';
import { getMempoolEntry } from '../methods/blockchain/mempool/getMempoolEntry.js';
import { getMempoolInfo } from '../methods/blockchain/mempool/getMempoolInfo.js';
import { getRawMempool } from '../methods/blockchain/mempool/getRawMempool.js';
import { getTxOut } from '../methods/blockchain/getTxOut.js';
import { getTxOutProof } from '../methods/blockchain/getTxOutProof.js';
import { getTxOutSetInfo } from '../methods/blockchain/getTxOutSetInfo.js';
import { preciousBlock } from '../methods/blockchain/preciousBlock.js';
import { pruneBlockchain } from '../methods/blockchain/pruneBlockchain.js';
import { saveMempool } from '../methods/blockchain/mempool/saveMempool.js';
import { scanTxOutSet } from '../methods/blockchain/scanTxOutSet.js';
import { verifyChain } from '../methods/blockchain/verifyChain.js';
import { verifySnapshot } from '../methods/blockchain/verifySnapshot.js';
import { verifyTxOutProof } from '../methods/blockchain/verifyTxOutProof.js';
import { checkNormalization } from '../methods/claimtrie/checkNormalization.js';
import { getChangesInBlock } from '../methods/claimtrie/getChangesInBlock.js';
import { getClaimByBid } from '../methods/claimtrie/proofs/getClaimByBid.js';
import { getClaimById } from '../methods/claimtrie/getClaimById.js';
import { getClaimBySeq } from '../methods/claimtrie/proofs/getClaimBySeq.js';
import { getClaimProofByBid } from '../methods/claimtrie/proofs/getClaimProofByBid.js';
import { getClaimProofBySeq } from '../methods/claimtrie/proofs/getClaimProofBySeq.js';
import { getClaimsForName } from '../methods/claimtrie/getClaimsForName.js';
import { getClaimsForNameByBid } from '../methods/claimtrie/lbcd/getClaimsForNameByBid.js';
import { getClaimsForNameById } from '../methods/claimtrie/lbcd/getClaimsForNameById.js';
import { getClaimsForNameBySeq } from '../methods/claimtrie/lbcd/getClaimsForNameBySeq.js';
import { getClaimsForTx } from '../methods/claimtrie/getClaimsForTx.js';
import { getClaimsInTrie } from '../methods/claimtrie/getClaimsInTrie.js';
import { getClaimTrie } from '../methods/claimtrie/getClaimTrie.js';
import { getNameHistory } from '../methods/claimtrie/getNameHistory.js';
import { getNameProof } from '../methods/claimtrie/proofs/getNameProof.js';
import { getNamesInTrie } from '../methods/claimtrie/getNamesInTrie.js';
import { getTotalClaimedNames } from '../methods/claimtrie/getTotalClaimedNames.js';
import { getTotalClaims } from '../methods/claimtrie/getTotalClaims.js';
import { getTotalValueOfClaims } from '../methods/claimtrie/getTotalValueOfClaims.js';
import { getValueForName } from '../methods/claimtrie/getValueForName.js';
import { lbcdGetChangesInBlock } from '../methods/claimtrie/lbcd/lbcdGetChangesInBlock.js';
import { lbcdGetClaimsForName } from '../methods/claimtrie/lbcd/lbcdGetClaimsForName.js';
import { listNames } from '../methods/claimtrie/lists/listNames.js';
import { listNewClaims } from '../methods/claimtrie/lists/listNewClaims.js';
import { listUpcoming } from '../methods/claimtrie/lists/listUpcoming.js';
import { normalize } from '../methods/claimtrie/lbcd/normalize.js';
import { discover } from '../methods/control/discover.js';
import { getMemoryInfo } from '../methods/control/getMemoryInfo.js';
import { help } from '../methods/control/help.js';
import { logging } from '../methods/control/logging.js';
import { stop } from '../methods/control/stop.js';
import { uptime } from '../methods/control/uptime.js';
import { generateToAddress } from '../methods/generating/generateToAddress.js';
import { lbcdGenerate } from '../methods/generating/lbcdGenerate.js';
import { echo, echoJson } from '../methods/hidden/echo.js';
import { getInfo } from '../methods/hidden/getInfo.js';
import { invalidateBlock } from '../methods/hidden/invalidateBlock.js';
import { reconsiderBlock } from '../methods/hidden/reconsiderBlock.js';
import { setMockTime } from '../methods/hidden/setMockTime.js';
import { syncWithValidationInterfaceQueue } from '../methods/hidden/syncWithValidationInterfaceQueue.js';
import { waitForBlock } from '../methods/hidden/waitForBlock.js';
import { waitForBlockHeight } from '../methods/hidden/waitForBlockHeight.js';
import { waitForNewBlock } from '../methods/hidden/waitForNewBlock.js';
import { getBlockTemplate } from '../methods/mining/getBlockTemplate.js';
import { getMiningInfo } from '../methods/mining/getMiningInfo.js';
import { getNetworkHashPs } from '../methods/mining/getNetworkHashPs.js';
import { prioritiseTransaction } from '../methods/mining/prioritiseTransaction.js';
import { submitBlock } from '../methods/mining/submitBlock.js';
import { addNode } from '../methods/network/addNode.js';
import { clearBanned } from '../methods/network/clearBanned.js';
import { disconnectNode } from '../methods/network/disconnectNode.js';
import { getAddedNodeInfo } from '../methods/network/getAddedNodeInfo.js';
import { getConnectionCount } from '../methods/network/getConnectionCount.js';
import { getNetTotals } from '../methods/network/getNetTotals.js';
import { getNodeAddresses } from '../methods/network/getNodeAddresses.js';
import { getPeerInfo } from '../methods/network/getPeerInfo.js';
import { listBanned } from '../methods/network/listBanned.js';
import { ping } from '../methods/network/ping.js';
import { setBan } from '../methods/network/setBan.js';
import { setNetworkActive } from '../methods/network/setNetworkActive.js';
import { getNetworkInfo } from '../methods/network/getNetworkInfo.js';
import { combinePsbt } from '../methods/rawtransactions/combinePsbt.js';
import { combineRawTransaction } from '../methods/rawtransactions/combineRawTransaction.js';
import { convertToPsbt } from '../methods/rawtransactions/convertToPsbt.js';
import { createPsbt } from '../methods/rawtransactions/createPsbt.js';
import { createRawTransaction } from '../methods/rawtransactions/createRawTransaction.js';
import { decodePsbt } from '../methods/rawtransactions/decodePsbt.js';
import { decodeRawTransaction } from '../methods/rawtransactions/decodeRawTransaction.js';
import { decodeScript } from '../methods/rawtransactions/decodeScript.js';
import { finalizePsbt } from '../methods/rawtransactions/finalizePsbt.js';
import { getRawTransaction } from '../methods/rawtransactions/getRawTransaction.js';
import { sendRawTransaction } from '../methods/rawtransactions/sendRawTransaction.js';
import { signRawTransaction } from '../methods/rawtransactions/signRawTransaction.js';
import { signRawTransactionWithKey } from '../methods/rawtransactions/signRawTransactionWithKey.js';
import { testMempoolAccept } from '../methods/rawtransactions/testMempoolAccept.js';
import { createMultisig } from '../methods/util/createMultisig.js';
import { estimateFee } from '../methods/util/estimateFee.js';
import { estimateRawFee } from '../methods/util/estimateRawFee.js';
import { estimateSmartFee } from '../methods/util/estimateSmartFee.js';
import { getIndexInfo } from '../methods/util/getIndexInfo.js';
import { signMessageWithPrivKey } from '../methods/util/signMessageWithPrivKey.js';
import { validateAddress } from '../methods/util/validateAddress.js';
import { getZmqNotifications } from '../methods/zmq/getZmqNotifications.js';
import { verifyMessage } from '../methods/util/verifyMessage.js';
import { dumpSnapshot } from '../methods/blockchain/dumpSnapshot.js';
import { getBestBlock } from '../methods/blockchain/getBestBlock.js';
import { getHeaders } from '../methods/blockchain/getHeaders.js';
import { getCurrentNet } from '../methods/network/getCurrentNet.js';
import { version } from '../methods/control/version.js';
import { debugLevel } from '../methods/control/debugLevel.js';
import { getGenerate } from '../methods/mining/getGenerate.js';
import { setGenerate } from '../methods/mining/setGenerate.js';
import { getHashesPerSec } from '../methods/mining/getHashesPerSec.js';
import { lbcdEstimateFee } from '../methods/util/lbcdEstimateFee.js';
import { node } from '../methods/network/node.js';
import { lbcdGetAddedNodeInfo } from '../methods/network/lbcdGetAddedNodeInfo.js';
import { getCFilter } from '../methods/blockchain/filters/getCFilter.js';
import { getCFilterHeader } from '../methods/blockchain/filters/getCFilterHeader.js';
import { getBlockFilter } from '../methods/blockchain/filters/getBlockFilter.js';
import { getBlockEvents } from '../methods/claimtrie/getBlockEvents.js';
import { listClaims } from '../methods/claimtrie/lists/listClaims.js';
import { listSupports } from '../methods/claimtrie/lists/listSupports.js';
import { getMempoolSummary } from '../methods/blockchain/mempool/getMempoolSummary.js';
import { listMempoolClaims } from '../methods/claimtrie/lists/listMempoolClaims.js';
import { getChainSeries } from '../methods/blockchain/getChainSeries.js';
import { getClaimStatus } from '../methods/claimindex/getClaimStatus.js';
import { getTxInfo } from '../methods/rawtransactions/getTxInfo.js';
import { searchRawTransactions } from '../methods/addressindex/searchRawTransactions.js';

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
  getClaimStates,
  listChannelClaims,
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
  listNewClaims,
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
  lbcdGenerate,
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
  validateAddressInWallet,
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
