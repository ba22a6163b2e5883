/**
 * Interactions of wallet options with each other and with options of the node: some combinations are rejected, some options
 * set others, and some options have no effect in this node. Source: lbrycrd wallet/init.cpp
 * `WalletInit::ParameterInteraction`, `WalletInit::Verify`.
 */
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { interpretBool, OptionError, type OptionArgs } from './optionArgs.js';
import type { Options } from './optionsTable.js';
import { WALLET_DEBUG_OPTIONS, WALLET_OPTIONS } from './optionsTableWallet.js';

/** Whether an option is on. A number is read as a switch. */
function isOn(
  args: OptionArgs,
  name: 'blocksonly' | 'disablewallet' | 'salvagewallet' | 'zapwallettxes',
): boolean {
  const given = args.value(name);
  return given !== undefined && interpretBool(given);
}

/** Sets options that wallet options imply, unless the operator set them. Returns a log line for each change. */
export function applyWalletInteractions(args: OptionArgs): string[] {
  // With `-disablewallet`, `checkWalletOptions` reports the ignored wallet options.
  if (isOn(args, 'disablewallet')) return [];
  const notes: string[] = [];
  const set = (
    cause: string,
    name: 'persistmempool' | 'rescan' | 'walletbroadcast',
    value: '0' | '1',
  ): void => {
    if (args.set(name, value, true))
      notes.push(`parameter interaction: ${cause} -> setting -${name}=${value}`);
  };
  if (isOn(args, 'blocksonly')) set('-blocksonly=1', 'walletbroadcast', '0');
  if (isOn(args, 'salvagewallet')) set('-salvagewallet=1', 'rescan', '1');
  if (isOn(args, 'zapwallettxes')) {
    set('-zapwallettxes enabled', 'persistmempool', '0');
    set('-zapwallettxes enabled', 'rescan', '1');
  }
  return notes;
}

/** Rejects incompatible wallet options. Warnings about options without effect are appended to `warnings`. */
export function checkWalletOptions(args: OptionArgs, options: Options, warnings: string[]): void {
  if (options.disablewallet) {
    warnOfIgnored(args, warnings);
    return;
  }
  const usesHd = args.value('usehd');
  if (usesHd !== undefined && !interpretBool(usesHd))
    throw new OptionError("You can't create non-HD wallets with this version.", 'usehd');
  for (const name of ['walletrpcport', 'walletrpclisten'] as const) {
    if (args.isSet(name) && !options.server)
      warnings.push(`-${name} has no effect without -server${args.placeOf(name)}.`);
  }
  const single = [
    ['salvagewallet', options.salvagewallet],
    ['zapwallettxes', options.zapwallettxes !== 0],
    ['upgradewallet', options.upgradewallet !== 0],
  ] as const;
  for (const [name, isSet] of single) {
    if (isSet && options.wallet.length > 1)
      throw new OptionError(`-${name} is only allowed with a single wallet file`, name);
  }
  if (options.sysperms) {
    throw new OptionError(
      '-sysperms is not allowed in combination with enabled wallet functionality',
      'sysperms',
    );
  }
  if (options.prune !== 0 && options.rescan) {
    throw new OptionError(
      'Rescans are not possible in pruned mode. You will need to use -reindex which will download the whole blockchain again.',
      'rescan',
    );
  }
  if (options.walletdir !== undefined) checkWalletDir(options.walletdir);
  for (const name of ['dblogsize', 'flushwallet', 'privdb'] as const) {
    if (args.isSet(name))
      warnings.push(
        `-${name} has no effect: wallets do not use Berkeley DB, and changes are on disk before a call returns.`,
      );
  }
}

/** Warns about wallet options that have no effect because of `-disablewallet`. */
function warnOfIgnored(args: OptionArgs, warnings: string[]): void {
  for (const { name } of [...WALLET_OPTIONS, ...WALLET_DEBUG_OPTIONS])
    if (name !== 'disablewallet' && args.isSet(name))
      warnings.push(`-${name} has no effect with -disablewallet${args.placeOf(name)}.`);
}

function checkWalletDir(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  const refuse = (why: string): never => {
    throw new OptionError(`Specified -walletdir "${path}" ${why}`, 'walletdir');
  };
  if (stats === undefined) refuse('does not exist');
  else if (!stats.isDirectory()) refuse('is not a directory');
  else if (!isAbsolute(path)) refuse('is a relative path');
}
