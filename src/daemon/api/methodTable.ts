/** All implemented methods of the daemon by name. */
import type { MethodImplementation } from './implement.js';
import { accountMethods } from './methods/account.js';
import { addressMethods } from './methods/address.js';
import { blobMethods } from './methods/blob.js';
import { fileMethods } from './methods/file.js';
import { claimListMethods } from './methods/claimLists.js';
import { claimBuildingMethods } from './methods/claimBuilding.js';
import { exchangeMethods } from './methods/exchange.js';
import { mainMethods } from './methods/main.js';
import { paymentMethods } from './methods/payments.js';
import { peerMethods } from './methods/peer.js';
import { preferenceMethods } from './methods/preference.js';
import { resolvingMethods } from './methods/resolving.js';
import { settingsMethods } from './methods/settings.js';
import { supportBuildingMethods } from './methods/supportBuilding.js';
import { syncMethods } from './methods/sync.js';
import { tracemallocMethods } from './methods/tracemalloc.js';
import { transactionMethods } from './methods/transaction.js';
import { txoMethods } from './methods/txo.js';
import { walletMethods } from './methods/wallet.js';

/** Implementations by group, in the order of the file names in `methods`. */
const IMPLEMENTED: readonly (readonly MethodImplementation[])[] = [
  accountMethods,
  addressMethods,
  blobMethods,
  fileMethods,
  claimListMethods,
  claimBuildingMethods,
  exchangeMethods,
  mainMethods,
  paymentMethods,
  peerMethods,
  preferenceMethods,
  resolvingMethods,
  settingsMethods,
  supportBuildingMethods,
  syncMethods,
  tracemallocMethods,
  transactionMethods,
  txoMethods,
  walletMethods,
];

/** Returns the implementations of all methods by name. Throws if two methods have one name. */
export function implementationsByName(): ReadonlyMap<string, MethodImplementation> {
  const byName = new Map<string, MethodImplementation>();
  for (const method of IMPLEMENTED.flat()) {
    const { name } = method.declaration;
    if (byName.has(name)) throw new Error(`two methods are named ${name}`);
    byName.set(name, method);
  }
  return byName;
}
