/** Starts lbrycrd with wallets on a given folder, on regtest and the loopback interface. */
import { freePort } from './node.js';
import { runReference, type RunningReference } from './reference.js';

export interface WalletReference extends RunningReference {
  readonly p2pPort: number;
}

export async function startWalletReference(
  binary: string,
  folder: string,
  args: readonly string[] = [],
): Promise<WalletReference> {
  const [p2pPort, rpcPort] = [await freePort(), await freePort()];
  const all = [
    '-regtest',
    '-server',
    `-datadir=${folder}`,
    `-bind=127.0.0.1:${p2pPort}`,
    `-rpcport=${rpcPort}`,
    '-rpcuser=u',
    '-rpcpassword=p',
    '-dnsseed=0',
    '-listenonion=0',
    '-fallbackfee=0.0002',
    ...args,
  ];
  return { p2pPort, ...(await runReference(binary, all, folder, rpcPort, 'getwalletinfo')) };
}
