/**
 * The proportions of the main network that `make-chain` follows, by height, each with its source. Three kinds of sources:
 *
 * - recorded: blocks 0 to 434 and block 1,000,000 of the main network, counted transaction by transaction;
 * - public: figures in issues of the network's own repositories, each named with the number of the issue;
 * - estimate: no figure was found; the text says how the value was chosen.
 *
 * docs/testing.md has the same list for readers. A test compares the rates with the public totals.
 */

/**
 * Height of the main network that the last block of a generated chain represents. Estimate: the newest public fact is height
 * 1,242,999 (the table of header hashes in lbry-sdk's checkpoints); with 150 seconds per block the network passed height
 * 2,000,000 in 2025.
 */
export const MAIN_BLOCKS = 2_000_000;
/** Seconds between two blocks of the main network. Source: lbrycrd chainparams.cpp, `nPowTargetSpacing`. */
export const MAIN_SPACING_SEC = 150;

/** Transaction rate at a height of the main network. Between two heights the rate is interpolated linearly. */
export interface Rate {
  readonly height: number;
  /** Average number of transactions per block, without the coinbase. */
  readonly transactions: number;
}

/**
 * Transactions per block, without the coinbase, with their sources. - 0 to 434: five of 435 blocks have one transaction
 * besides the coinbase (recorded).
 * - 4,096: 4,146 transactions in all on 30 June 2016, about height 4,096 (lbrycrd chainparams.cpp, `chainTxData`).
 * - 200,000 to 560,000: estimate, a curve whose total is that of height 570,138.
 * - 570,138: 4,053,388 transactions in all (lbryio/lbrycrd#277).
 * - 592,738: 4,931,278 transactions in all, so 39 a block since then (lbryio/lbry-sdk#2277).
 * - 771,810: 218 ms a block over 1,506 blocks where a block of 398 takes 1,823 ms, so about 48 (lbryio/lbrycrd#389).
 * - 1,000,000: 75 in this block (recorded).
 * - 1,163,040: 19,627 in 133 blocks, so 148 (lbryio/lbcd#51).
 * - 1,172,332: 33 in a block of 16,191 bytes (lbryio/lbcd#52); the block before it has 27,464 bytes (lbryio/lbcd#73).
 *   Single blocks vary too much to be points of the curve.
 * - 1,400,000 on: estimate. The number falls because the largest services publish elsewhere.
 */
export const TRANSACTION_RATES: readonly Rate[] = [
  { height: 0, transactions: 0.0115 },
  { height: 4_096, transactions: 0.02 },
  { height: 100_000, transactions: 2 },
  { height: 200_000, transactions: 4.5 },
  { height: 400_000, transactions: 7.2 },
  { height: 500_000, transactions: 10 },
  { height: 560_000, transactions: 14 },
  { height: 570_138, transactions: 38 },
  { height: 592_738, transactions: 38 },
  { height: 771_810, transactions: 48 },
  { height: 1_000_000, transactions: 75 },
  { height: 1_163_040, transactions: 148 },
  { height: 1_400_000, transactions: 60 },
  { height: 2_000_000, transactions: 20 },
];

/** Public totals with which the rates must agree: number of transactions up to a height, including coinbases. */
export const PUBLIC_TOTALS: readonly { readonly height: number; readonly transactions: number }[] = [
  { height: 570_138, transactions: 4_053_388 },
  { height: 592_738, transactions: 4_931_278 },
];

/**
 * Distribution of the number of transactions per block: blocks come at exponential intervals and transactions at a constant
 * rate, so the number is geometric, which includes empty blocks. In addition, one block in `HEAVY_EVERY` has `HEAVY_FACTOR`
 * times as many: the block of 398 transactions (lbryio/lbrycrd#389) has eight times the mean around it. The frequency
 * `HEAVY_EVERY` is an estimate.
 */
export const HEAVY_EVERY = 400;
export const HEAVY_FACTOR = 8;

/**
 * Transaction types. `channel`: claim of a channel. `claim`: any other claim. `payout`: payment to many outputs. `purchase`:
 * payment with a receipt.
 */
export const TRANSACTION_KINDS = [
  'payment',
  'payout',
  'purchase',
  'claim',
  'channel',
  'update',
  'support',
  'abandon',
] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

export interface Mix {
  /** First height to which these shares apply. */
  readonly from: number;
  /** Number of transactions of each type per 1,000 transactions, in the order of `TRANSACTION_KINDS`. */
  readonly shares: readonly number[];
}

/**
 * Shares of the transaction types. Block 1,000,000 (recorded) has 75 transactions: 57 payments, 4 purchases, 11 claims, 1
 * update, 1 support and one that gathers coins. A hub's sync to 592,738 spends 0.50 minutes on new claims and 0.04 on
 * updates (lbryio/lbry-sdk#2277), which means 12 claims per update, the same ratio as in block 1,000,000. Blocks 0 to 434
 * have 2 claims in 5 transactions (recorded). Estimates: the shares at other heights, channels (one claim in twelve),
 * abandons (as many as updates), payouts of mining pools, and the increase of supports from 2020 on, when tips of viewers
 * became supports.
 */
export const MIXES: readonly Mix[] = [
  { from: 0, shares: [800, 10, 0, 150, 0, 10, 10, 20] },
  { from: 180_000, shares: [700, 5, 5, 210, 20, 20, 20, 20] },
  { from: 560_000, shares: [560, 3, 27, 330, 20, 25, 15, 20] },
  { from: 900_000, shares: [765, 2, 53, 135, 12, 13, 13, 7] },
  { from: 1_050_000, shares: [600, 2, 40, 200, 15, 28, 95, 20] },
  { from: 1_400_000, shares: [640, 2, 20, 170, 10, 28, 100, 30] },
];

/**
 * Number of inputs of a transaction that spends plain coins, with the frequency per 1,000 transactions. Sources: 623 inputs
 * for 398 transactions, 1.57 on average (lbryio/lbrycrd#389); in block 1,000,000 one of 75 transactions has four inputs, one
 * has three and one has two. The frequencies are an estimate with that average. [inputs, of 1,000]
 */
export const INPUT_COUNTS: readonly (readonly [number, number])[] = [
  [1, 797],
  [2, 110],
  [3, 40],
  [4, 25],
  [8, 15],
  [16, 13],
];
/** Minimum and maximum number of outputs of a payout. Estimate. */
export const PAYOUT_OUTPUTS = { least: 20, most: 120 } as const;

/**
 * After the segwit fork one new plain output in `WITNESS_ONE_IN` is P2WPKH, because wallets of lbcd create such outputs
 * (estimate). All others are P2PKH: block 1,000,000 has 83 inputs, all P2PKH with one signature. So every input of a
 * generated chain has one signature.
 */
export const WITNESS_ONE_IN = 20;
/**
 * One input in `CHAINED_ONE_IN` spends the most recently created output, like the payments of one sender in block 1,000,000.
 * Estimate.
 */
export const CHAINED_ONE_IN = 3;

/**
 * Patterns of names. Of the 13 names in block 1,000,000 (recorded) four consist of 16 hex digits, one is the name of a
 * channel, and two have capitals.
 */
export const NAME_SHAPES = {
  /** One name in `hexOneIn` consists of 16 hex digits. */
  hexOneIn: 3,
  /** One title in `capitalsOneIn` has capitals. */
  capitalsOneIn: 4,
  /** One title in thirty has letters with accents, composed or decomposed. Estimate. */
  accentsOneIn: 30,
  /** One claim in 25 uses a name that another user has already claimed. Estimate. */
  takenOneIn: 25,
  /**
   * `words`: possible numbers of words in a title. `longest`: maximum number of characters. The recorded lengths are 12 to
   * 60 characters.
   */
  words: [1, 2, 3, 4, 5, 6, 7, 8],
  longest: 60,
} as const;

/** Sizes in bytes of the values of streams, as in block 1,000,000 (recorded). */
export const STREAM_VALUE_SIZES: readonly number[] = [285, 285, 286, 286, 337, 488, 672, 818, 2168, 2685];
/** One claim in `REPOST_ONE_IN` is a repost, as in block 1,000,000 (recorded). */
export const REPOST_ONE_IN = 11;
/**
 * One claim in ten has no channel signature. Estimate: none of eleven claims in block 1,000,000 (recorded), but all claims
 * before channels existed (height 180,000).
 */
export const UNSIGNED_ONE_IN = 10;

/** Amounts in satoshis of claims, channels and updates, as in block 1,000,000 (recorded). */
export const CLAIM_AMOUNTS: readonly number[] = [
  100_000, 100_000, 100_000, 100_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000,
  10_000_000,
];
/** Amounts in satoshis of supports. Estimate. The only support in block 1,000,000 has 420,000,000,000. */
export const SUPPORT_AMOUNTS: readonly number[] = [
  1_000_000, 1_000_000, 10_000_000, 10_000_000, 50_000_000, 100_000_000, 500_000_000, 10_000_000_000,
];
/** Amounts in satoshis of payments: every third amount of block 1,000,000 (recorded). */
export const PAYMENT_AMOUNTS: readonly number[] = [
  20_000_000, 20_000_000, 20_000_000, 25_000_000, 25_000_000, 30_000_000, 40_000_000, 50_000_000, 50_000_000,
  70_000_000, 80_000_000, 100_000_000, 150_000_000, 300_000_000,
];
/** Fee in satoshis for each input. The lowest fee in block 1,000,000 (recorded) is 10,915 for 225 bytes. */
export const FEE_AN_INPUT_SAT = 11_000;
