/**
 * `lbcnode/client`: calls to a node with typed parameters and results (`rpcClient.ts`); and claims, transactions and keys
 * offline, without a node (`claimOutputs.ts`, `transactions.ts`, `keys.ts`).
 */
export * from './rpcClient.js';
export type { LocalNetwork } from './localNode.js';
export type * from './types/index.js';
export {
  addressOfScript,
  claimIdOf,
  claimOperationOf,
  claimOutput,
  coinsOf,
  paymentOutput,
  satoshisOf,
  scriptForAddress,
  supportOutput,
  updateOutput,
  type ClaimKind,
  type ClaimOperation,
  type ClaimRequest,
  type NetworkName,
  type OutputDraft,
  type PaymentRequest,
  type SupportRequest,
  type UpdateRequest,
} from './claimOutputs.js';
export {
  abandonTransaction,
  buildTransaction,
  signTransaction,
  transactionId,
  virtualSizeOf,
  type AbandonRequest,
  type InputDraft,
  type OutputRef,
  type SignAnswer,
  type SignRequest,
  type SpentOutput,
  type TransactionRequest,
} from './transactions.js';
export {
  addressOfKey,
  deriveExtendedKey,
  extendedKeyOfSeed,
  extendedKeyOfWalletSeed,
  keyOfExtended,
  keyOfSecret,
  makeKey,
  publicExtendedKey,
  publicKeyOf,
  secretOf,
  type KeyPair,
  type OutputType,
} from './keys.js';
