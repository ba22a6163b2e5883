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
    why: 'A null in the place of an argument that may be left out counts as left out, as in all other methods: calls with named arguments send it for what is not named.',
    fits: ({ call }) => isOf(call, 'listnameclaims', 'supportclaim') && call.params.includes(null),
  },
  {
    why: 'A folder is no dump: lbrycrd opens it and reads nothing.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'importwallet') && ours === '-8 Cannot open wallet dump file' && theirs === 'answered',
  },
  {
    why: 'What is no address gets nothing: lbrycrd sends the coins to nobody.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'abandonclaim', 'abandonsupport') && ours === '-5 Invalid address' && theirs === 'answered',
  },
  {
    why: 'A wallet without private keys takes none in, as in Bitcoin Core 0.18.',
    fits: ({ state, call, ours, theirs }) =>
      state === 'keyless' &&
      isOf(call, 'importprivkey') &&
      ours === '-4 Error: Private keys are disabled for this wallet' &&
      theirs === 'answered',
  },
  {
    why: 'A backup is not written over a wallet with keys of its own: lbrycrd destroys it.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'backupwallet') &&
      /^-4 .* there is already (a|another) wallet( of lbrycrd)?$/.test(ours) &&
      theirs === 'answered',
  },
  {
    why: 'claimname refuses an empty name and has a fourth argument (force), which lbrycrd has not.',
    fits: ({ call, ours }) =>
      isOf(call, 'claimname') &&
      (ours.startsWith('-8 The name is empty') ||
        (call.params.length > 3 && ours === '-1 JSON value is not a boolean as expected')),
  },
  {
    why: 'supportclaim has a sixth argument (hex), which lbrycrd refuses with its help.',
    fits: ({ call, theirs }) =>
      isOf(call, 'supportclaim') && call.params.length === 6 && theirs === '-1 <help>',
  },
  {
    why: 'lbrycrd made the claims that the row above is about: its wallet has less left for the claims that follow.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'claimname') && ours === 'answered' && theirs === '-4 Insufficient funds',
  },
  {
    why: 'So one side has names that the other has not.',
    fits: ({ call, ours, theirs }) =>
      isOf(call, 'supportclaim') &&
      [ours, theirs].every((text) => /^-8 Unable to find a claim(?: named|id that starts with)/.test(text)),
  },
];

/** The reason why the answers to a call may differ; null if they may not. */
export function walletErrorDifference(compared: ComparedCall): string | null {
  return DIFFERENCES.find(({ fits }) => fits(compared))?.why ?? null;
}
