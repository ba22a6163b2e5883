/**
 * Rejects invalid fee options and warns about fees that are probably a mistake. Source: lbrycrd wallet/init.cpp
 * `WalletInit::ParameterInteraction`, wallet/wallet.cpp `CreateWalletFromFile`.
 */
import { OptionError, type OptionArgs } from './optionArgs.js';
import type { Options } from './optionsTable.js';

/**
 * Fee rate per 1,000 bytes and total fee, in satoshis, above which a warning is shown. Source: `HIGH_TX_FEE_PER_KB`,
 * `HIGH_MAX_TX_FEE`.
 */
const HIGH_FEE_RATE_PER_KB = 1_000_000n;
const HIGH_TOTAL_FEE = 100n * HIGH_FEE_RATE_PER_KB;

/** Fee rate options of wallets in the reference's order, with the text of the warning for a high rate. */
const WALLET_RATES = [
  ['mintxfee', 'This is the minimum transaction fee you pay on every transaction.'],
  ['fallbackfee', 'This is the transaction fee you may pay when fee estimates are not available.'],
  ['discardfee', 'This is the transaction fee you may discard if change is smaller than dust at this level'],
  ['paytxfee', 'This is the transaction fee you will pay if you send a transaction.'],
] as const;

/** Checks all fee options. Throws `OptionError` for an invalid fee. `-maxtxfee` also limits `sendrawtransaction`. */
export function checkFees(args: OptionArgs, options: Options, warnings: string[]): void {
  const { maxtxfee, minrelaytxfee } = options;
  const warn = (name: string, text: string): void => void warnings.push(`-${name} is set very high! ${text}`);
  if (minrelaytxfee > HIGH_FEE_RATE_PER_KB)
    warn('minrelaytxfee', 'The wallet will avoid paying less than the minimum relay fee.');
  if (args.isSet('maxtxfee')) {
    if (maxtxfee > HIGH_TOTAL_FEE) warn('maxtxfee', 'Fees this large could be paid on a single transaction.');
    if (maxtxfee < minrelaytxfee) {
      const why = `(must be at least the minrelay fee of ${formatFeeRate(minrelaytxfee)} to prevent stuck transactions)`;
      throw refused(args, 'maxtxfee', ` ${why}`);
    }
  }
  if (options.disablewallet) return;
  for (const [name, text] of WALLET_RATES) {
    if (!args.isSet(name)) continue;
    const ratePerKb = options[name];
    if (name === 'mintxfee' && ratePerKb === 0n) throw refused(args, name, '');
    if (ratePerKb > HIGH_FEE_RATE_PER_KB) warn(name, text);
    if (name === 'paytxfee' && ratePerKb < minrelaytxfee)
      throw refused(args, name, ` (must be at least ${formatFeeRate(minrelaytxfee)})`);
  }
}

function refused(args: OptionArgs, name: 'maxtxfee' | 'mintxfee' | 'paytxfee', why: string): OptionError {
  return new OptionError(`Invalid amount for -${name}=<amount>: '${args.value(name) ?? '0'}'${why}`, name);
}

/** Formats a fee rate in satoshis per 1,000 bytes like the reference. Source: `CFeeRate::ToString`. */
function formatFeeRate(ratePerKb: bigint): string {
  const fraction = (ratePerKb % 100_000_000n).toString().padStart(8, '0');
  return `${ratePerKb / 100_000_000n}.${fraction} LBC/kB`;
}
