/** A node without chain or mempool, for tests of wallet keys. */
import { regtestParams } from '../../../../src/params/regtest.js';
import type { NodePort } from '../../../../src/wallet/port.js';
import type { WalletOptions } from '../../../../src/wallet/walletOptions.js';
import { WALLET_OPTIONS } from '../support/openWallet.js';

export const NOW_SEC = 1_600_000_000;

export const OPTIONS: WalletOptions = { ...WALLET_OPTIONS, addressType: 'p2sh-segwit' };

/** Lines of the log are collected in `lines`. */
export function keysOnlyPort(lines: string[] = []): NodePort {
  const say = (line: string): void => void lines.push(line);
  const port = {
    params: regtestParams,
    chain: { height: -1, heightOf: () => -1, reorganised: () => null },
    mempool: { all: () => [], has: () => false },
    log: { info: say, warn: say, error: say, debug: () => undefined },
    nowSec: () => NOW_SEC,
    listen: () => () => undefined,
    onFatal: (error: unknown) => say(`fatal: ${String(error)}`),
    warn: say,
    showStart: () => undefined,
  };
  return port as unknown as NodePort;
}
