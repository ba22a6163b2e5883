/** Wallet methods whose errors differ from those of lbrycrd, with the reasons. */
import type { WalletCall } from './malformedWalletCalls.js';

export interface ComparedCall {
  /** State of the wallet that was called. */
  readonly state: string;
  readonly call: WalletCall;
  /** `<code> <message>`, or `answered`. */
  readonly ours: string;
  readonly theirs: string;
}

interface Difference {
  readonly why: string;
  fits(compared: ComparedCall): boolean;
}

const isOf = (call: WalletCall, ...methods: readonly string[]): boolean => methods.includes(call.method);

const DIFFERENCES: readonly Difference[] = [
  {
    why: 'null for an optional argument counts as an omitted argument, as in all other methods: calls with named arguments send null for arguments without a value.',
    fits: ({ call }) => isOf(call, 'listnameclaims', 'supportclaim') && call.params.includes(null),
  },
  {
    why: 'A folder is not a dump file. lbrycrd opens it and reads nothing.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'importwallet') && ours === '-8 Cannot open wallet dump file' && theirs === 'answered',
  },
  {
    why: 'A text that is not an address is refused. lbrycrd sends the coins to a script that no key can spend.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'abandonclaim', 'abandonsupport') && ours === '-5 Invalid address' && theirs === 'answered',
  },
  {
    why: 'A wallet without private keys refuses private keys, as in Bitcoin Core 0.18.',
    fits: ({ state, call, ours, theirs }) =>
      state === 'keyless' &&
      isOf(call, 'importprivkey') &&
      ours === '-4 Error: Private keys are disabled for this wallet' &&
      theirs === 'answered',
  },
  {
    why: 'A backup does not overwrite another wallet with keys. lbrycrd overwrites it.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'backupwallet') &&
      /^-4 .* there is already (a|another) wallet( of lbrycrd)?$/.test(ours) &&
      theirs === 'answered',
  },
  {
    why: 'claimname refuses an empty name and has a fourth argument (force), which lbrycrd does not have.',
    fits: ({ call, ours }) =>
      isOf(call, 'claimname') &&
      (ours.startsWith('-8 The name is empty') ||
        (call.params.length > 3 && ours === '-1 JSON value is not a boolean as expected')),
  },
  {
    why: 'supportclaim has a sixth argument (hex). lbrycrd answers with its help text.',
    fits: ({ call, theirs }) =>
      isOf(call, 'supportclaim') && call.params.length === 6 && theirs === '-1 <help>',
  },
  {
    why: 'lbrycrd created the claims of the row above, so its wallet has fewer coins left for later claims.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'claimname') && ours === 'answered' && theirs === '-4 Insufficient funds',
  },
  {
    why: 'For the same reason, only one of the programs has some names.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'supportclaim') &&
      [ours, theirs].every((text) => /^-8 Unable to find a claim(?: named|id that starts with)/.test(text)),
  },
];

/** The reason why the answers to a call may differ; null if they may not. */
export function walletErrorDifference(compared: ComparedCall): string | null {
  return DIFFERENCES.find(({ fits }) => fits(compared))?.why ?? null;
}
