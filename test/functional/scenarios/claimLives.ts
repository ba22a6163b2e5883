/**
 * Sequences of claim operations ("lives") with the results that the reference's tests of resolving expect: the claim that
 * controls a name, pending claims, and the results of URLs and searches. Source: lbryio/hub tests/test_resolve_command.py, and
 * lbry-sdk's tests of takeovers.
 *
 * Blocks are counted from the start of a life. The lives of takeovers run at the same time on one chain, each with a name of
 * its own. A delay is one block for every 32 blocks since the last takeover: a claim of block 322 is delayed by ten blocks.
 */

/**
 * The operation of a transaction, or an expectation after a block. Claims have labels. Bids are in units of 10,000 satoshis.
 */
export type Step =
  | {
      readonly do: 'claim';
      readonly as: string;
      readonly bid: number;
      readonly name?: string;
      /** The label of the signing channel. */
      readonly by?: string;
      /** Label of the key: of a channel, its own key; of other claims, the signing key. Default: the label of the channel. */
      readonly key?: string;
      /** Whether it is a channel. */
      readonly isChannel?: boolean;
      /** First digits of its id. */
      readonly digits?: string;
      /** The fee of a paid stream, in LBC. */
      readonly feeLbc?: number;
      readonly reposts?: string;
      /** Whether it has the format of 2017. */
      readonly of2017?: 'signed' | 'forged';
    }
  | {
      readonly do: 'update';
      readonly as: string;
      readonly bid: number;
      readonly by?: string;
      readonly key?: string;
      /** Whether it is a channel from now on; default: unchanged. */
      readonly isChannel?: boolean;
    }
  | { readonly do: 'support'; readonly as: string; readonly of: string; readonly bid: number }
  /** Spends all these in one transaction. */
  | { readonly do: 'abandon'; readonly of: readonly string[] }
  | { readonly do: 'wins'; readonly as: string; readonly since: number }
  | { readonly do: 'waits'; readonly as: string; readonly until: number }
  | { readonly do: 'active'; readonly as: string; readonly since: number }
  | { readonly do: 'noWinner' };

/** Steps by block, in ascending order. The steps of one block run in their order. */
export type Life = readonly (readonly [block: number, ...steps: Step[]])[];

export interface TakeoverLife {
  readonly title: string;
  readonly life: Life;
}

export const claim = (as: string, bid: number, rest: object = {}): Step => ({
  do: 'claim',
  as,
  bid,
  ...rest,
});
export const update = (as: string, bid: number, rest: object = {}): Step => ({
  do: 'update',
  as,
  bid,
  ...rest,
});
export const support = (as: string, of: string, bid: number): Step => ({ do: 'support', as, of, bid });
export const abandon = (...of: string[]): Step => ({ do: 'abandon', of });
export const wins = (as: string, since: number): Step => ({ do: 'wins', as, since });
export const waits = (as: string, until: number): Step => ({ do: 'waits', as, until });
export const active = (as: string, since: number): Step => ({ do: 'active', as, since });
export const noWinner: Step = { do: 'noWinner' };

/** A first claim, and a much later one with a higher bid that becomes active ten blocks after it. */
const LATE_RIVAL: Life = [
  [1, claim('old', 10), wins('old', 1)],
  [321, wins('old', 1)],
  [322, claim('new', 20), wins('old', 1), waits('new', 332)],
];

/** A claim and two later ones with lower bids. The last one is raised above the first in block 334. */
const RAISED: Life = [
  [1, claim('old', 20), wins('old', 1)],
  [322, claim('second', 10)],
  [323, claim('third', 10)],
  [331, wins('old', 1), waits('second', 332), waits('third', 333)],
  [332, wins('old', 1), active('second', 332), waits('third', 333)],
  [333, wins('old', 1), active('second', 332), active('third', 333)],
  [334, update('third', 21), wins('old', 1), active('second', 332), waits('third', 344)],
];

/** A claim of block 1, and one of block 98 with a higher bid that becomes active in block 101. */
const RIVALS: Life = [
  [1, claim('old', 10), wins('old', 1)],
  [98, claim('second', 20), wins('old', 1), waits('second', 101)],
];

export const TAKEOVERS: readonly TakeoverLife[] = [
  {
    title: 'a higher bid waits for its delay, and then wins',
    life: [...LATE_RIVAL, [331, wins('old', 1)], [332, wins('new', 332), active('old', 1)]],
  },
  {
    title: 'an abandoned name starts over, with delays counted from its new owner',
    life: [
      ...LATE_RIVAL,
      [332, wins('new', 332)],
      [333, abandon('old'), abandon('new'), noWinner],
      [334, claim('again', 10), wins('again', 334)],
      [655, claim('late', 20), wins('again', 334), waits('late', 665)],
      [664, wins('again', 334)],
      [665, wins('late', 665)],
    ],
  },
  {
    title: 'an update above the owner waits again, and wins',
    life: [
      ...RAISED,
      [343, wins('old', 1), waits('third', 344)],
      [344, wins('third', 344), active('old', 1), active('second', 332)],
    ],
  },
  {
    title: 'an update back to less before its time wins nothing',
    life: [
      ...RAISED,
      [343, update('third', 9), wins('old', 1), waits('third', 353)],
      [353, wins('old', 1), active('third', 353)],
    ],
  },
  {
    title: 'an update back to less in the block of its time wins nothing',
    life: [
      ...RAISED,
      [343, wins('old', 1), waits('third', 344)],
      [344, update('third', 9), wins('old', 1), waits('third', 354)],
      [354, wins('old', 1), active('third', 354)],
    ],
  },
  {
    title: 'an owner who updates to less loses at once',
    life: [
      ...RAISED,
      [344, wins('third', 344)],
      [345, update('third', 9), wins('old', 345), active('second', 332), active('third', 345)],
    ],
  },
  {
    // With the specification's bids: https://spec.lbry.com/#claim-activation-example
    title: 'the example of the specification',
    life: [
      [1, claim('A', 10), wins('A', 1)],
      [321, claim('B', 20), wins('A', 1), waits('B', 331)],
      [322, support('X', 'A', 14), wins('A', 1)],
      [323, claim('C', 50), wins('A', 1), waits('C', 333)],
      [330, wins('A', 1)],
      [331, wins('A', 1), active('B', 331)],
      [332, claim('D', 300), wins('A', 1), waits('D', 342)],
      [333, wins('D', 333), active('A', 1), active('B', 331), active('C', 333)],
    ],
  },
  {
    title: 'a takeover lets in what waits, and the best of all wins',
    life: [
      ...RIVALS,
      [99, claim('third', 30), wins('old', 1), waits('third', 102)],
      [100, wins('old', 1)],
      [101, wins('third', 101), active('second', 101)],
      [102, wins('third', 101)],
    ],
  },
  {
    title: 'a claim made in the block of a takeover wins at once',
    life: [
      ...RIVALS,
      [100, wins('old', 1)],
      [101, claim('third', 30), wins('third', 101), active('second', 101)],
      [102, wins('third', 101)],
    ],
  },
  {
    title: 'a support made in the block of a takeover counts at once',
    life: [
      ...RIVALS,
      [100, claim('third', 19), wins('old', 1), waits('third', 103)],
      [101, support('boost', 'third', 10), wins('third', 101), active('second', 101)],
      [102, wins('third', 101)],
    ],
  },
  {
    title: 'a claim and its support made in the block of a takeover win at once',
    life: [
      ...RIVALS,
      [101, claim('third', 19), support('boost', 'third', 10), wins('third', 101), active('second', 101)],
      [102, wins('third', 101)],
    ],
  },
  {
    title: "a takeover after the owner's support was withdrawn lets in what waits",
    life: [
      [1, claim('old', 10), support('help', 'old', 20), wins('old', 1)],
      [98, claim('second', 20), wins('old', 1), waits('second', 101)],
      [99, claim('third', 30), wins('old', 1), waits('third', 102)],
      [100, wins('old', 1)],
      [101, abandon('help'), wins('third', 101), active('second', 101)],
      [102, wins('third', 101)],
    ],
  },
  {
    title: 'a support one block before its time prevents a takeover',
    life: [
      ...LATE_RIVAL,
      [330, wins('old', 1)],
      [331, support('help', 'old', 100), wins('old', 1)],
      [332, wins('old', 1), active('new', 332)],
    ],
  },
  {
    title: 'a support in the block of its time prevents a takeover',
    life: [...LATE_RIVAL, [331, wins('old', 1)], [332, support('help', 'old', 100), wins('old', 1)]],
  },
  {
    title: 'a support made and withdrawn in the block of its time prevents nothing',
    life: [
      ...LATE_RIVAL,
      [331, wins('old', 1)],
      [332, support('help', 'old', 100), abandon('help'), wins('new', 332)],
    ],
  },
  {
    title: 'a support withdrawn in the block of its time prevents nothing',
    life: [
      ...LATE_RIVAL,
      [331, support('help', 'old', 100), wins('old', 1)],
      [332, abandon('help'), wins('new', 332)],
    ],
  },
  {
    title: 'an owner who goes leaves the name to what waits',
    life: [
      ...LATE_RIVAL,
      [330, wins('old', 1)],
      [331, abandon('old'), wins('new', 331)],
      [332, wins('new', 331)],
    ],
  },
  {
    title: 'an owner goes in the block in which its rival is updated',
    life: [
      ...LATE_RIVAL,
      [330, wins('old', 1)],
      [331, abandon('old'), update('new', 10), wins('new', 331)],
      [332, wins('new', 331)],
    ],
  },
  {
    title: "a support of the owner's that goes before a rival is due changes nothing until then",
    life: [
      [1, claim('old', 10), support('help', 'old', 90), wins('old', 1)],
      [323, claim('new', 90), wins('old', 1), waits('new', 333)],
      [332, abandon('help'), wins('old', 1), waits('new', 333)],
      [333, wins('new', 333), active('old', 1)],
    ],
  },
  {
    title: 'supports wait as claims do, and a takeover by them ends with them',
    life: [
      [1, claim('old', 20), support('help', 'old', 90), wins('old', 1)],
      [322, claim('new', 10), wins('old', 1), waits('new', 332)],
      [323, support('boost', 'new', 150), wins('old', 1), waits('new', 332)],
      [332, wins('old', 1), active('new', 332)],
      [333, wins('new', 333), active('old', 1)],
      [334, abandon('boost'), wins('old', 334), active('new', 332)],
    ],
  },
  {
    title: 'a claim made in the block in which the owner goes wins without delay',
    life: [
      [1, claim('old', 10), wins('old', 1)],
      [65, wins('old', 1)],
      [66, abandon('old'), claim('new', 10), wins('new', 66)],
    ],
  },
  {
    title: 'a claim that does not win is found beside the owner as soon as it is there',
    life: [
      [1, claim('old', 10), wins('old', 1)],
      [34, claim('new', 1), wins('old', 1), waits('new', 35)],
      [35, wins('old', 1), active('new', 35)],
    ],
  },
];

/** The terms of claims in blocks, before and after the fork in block `forkBlock`. */
export const EXPIRATION = { original: 50, extended: 60, forkBlock: 80 } as const;

export const EXPIRING: readonly TakeoverLife[] = [
  {
    title: 'a claim from before the extension expires under it, and the next one wins',
    life: [
      [65, claim('old', 30), wins('old', 65)],
      [82, claim('new', 20), wins('old', 65), active('new', 82)],
      [124, wins('old', 65)],
      [125, wins('new', 125)],
      [141, wins('new', 125)],
      [142, noWinner],
    ],
  },
  {
    title: 'what expired before the extension is gone',
    life: [
      [10, claim('vanishing', 10), wins('vanishing', 10)],
      [59, wins('vanishing', 10)],
      [60, noWinner],
    ],
  },
];
