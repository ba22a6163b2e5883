/**
 * Results of URLs and searches in the sequences of claim operations ("lives") of the reference's tests of resolving. Each life
 * runs on its own, with one block for each row. In names, `~` stands for the number of the life. In URLs and constraints, `{A}`
 * stands for the id of the claim with label A, and `{A:2}` for its first two digits. Source: lbryio/hub
 * tests/test_resolve_command.py.
 */
import { abandon, claim, support, update, type Step } from './claimLives.js';

export type Look =
  /** The URL resolves to this claim. `by` is the channel with a valid signature, or null if there is none. */
  | { readonly do: 'leads'; readonly url: string; readonly to: string; readonly by?: string | null }
  /** The URL does not resolve; `what` is not found. */
  | { readonly do: 'lost'; readonly url: string; readonly what: 'claim' | 'channel' }
  /** The search finds these, in any order. */
  | { readonly do: 'finds'; readonly constraints: object; readonly claims: readonly string[] }
  /** Fields of a claim in the answer. */
  | { readonly do: 'shows'; readonly as: string; readonly values: object }
  /** Disconnects the blocks from this row on. The next row mines their transactions again, except these. */
  | { readonly do: 'reorganise'; readonly from: number; readonly without: readonly string[] }
  /** Mines the transactions that were left out. */
  | { readonly do: 'admit'; readonly claims: readonly string[] };

export interface ResolvingLife {
  readonly title: string;
  readonly rows: readonly (readonly (Step | Look)[])[];
}

const channel = (as: string, name: string, bid = 10, rest: object = {}): Step =>
  claim(as, bid, { name, isChannel: true, ...rest });
const leads = (url: string, to: string, rest: object = {}): Look => ({ do: 'leads', url, to, ...rest });
const lost = (url: string, what: 'claim' | 'channel' = 'claim'): Look => ({ do: 'lost', url, what });
const finds = (constraints: object, ...claims: string[]): Look => ({ do: 'finds', constraints, claims });
const shows = (as: string, values: object): Look => ({ do: 'shows', as, values });
const reorganise = (from: number, ...without: string[]): Look => ({ do: 'reorganise', from, without });
const admit = (...claims: string[]): Look => ({ do: 'admit', claims });

export const RESOLVING: readonly ResolvingLife[] = [
  {
    title: 'the oldest claim has the digits that ids share',
    rows: [
      [channel('A', '@abc~', 10, { digits: 'a1' })],
      [channel('B', '@abc~', 10, { digits: 'b' })],
      [channel('C', '@abc~', 10, { digits: 'a1c' })],
      [
        claim('S', 1, { name: 'foo1~', by: 'A' }),
        claim('T', 1, { name: 'foo2~', by: 'A' }),
        leads('@abc~#a', 'A'),
        leads('@abc~#a1', 'A'),
        leads('@abc~#a1c', 'C'),
        leads('@abc~:b', 'B'),
        leads('@abc~#{A:7}', 'A'),
        leads('@abc~#{A:17}', 'A'),
        leads('@abc~#{A}', 'A'),
        leads('@abc~#{C:7}', 'C'),
        leads('@abc~#{C:17}', 'C'),
        leads('@abc~#{C}', 'C'),
        leads('@abc~#a1/foo1~', 'S', { by: 'A' }),
        leads('@abc~#a1/foo2~', 'T', { by: 'A' }),
        shows('A', { short_url: 'lbry://@abc~#a' }),
        shows('C', { short_url: 'lbry://@abc~#a1c' }),
        shows('S', { canonical_url: 'lbry://@abc~#a/foo1~#{S:1}' }),
      ],
      [abandon('A'), leads('@abc~#a', 'C'), shows('C', { short_url: 'lbry://@abc~#a' })],
    ],
  },
  {
    title: 'a channel and its claims go in one transaction, one of them before it was confirmed',
    rows: [
      [channel('C', '@abc~')],
      [claim('foo', 10, { name: 'foo~', by: 'C' }), claim('foo2', 10, { name: 'foo2~', by: 'C' })],
      [update('C', 1), leads('@abc~/foo~', 'foo', { by: 'C' })],
      [
        update('foo2', 1, { by: 'C' }),
        claim('foo3', 10, { name: 'foo3~', by: 'C' }),
        abandon('C', 'foo', 'foo2', 'foo3'),
        lost('@abc~', 'channel'),
        lost('foo~'),
        lost('foo2~'),
        lost('foo3~'),
        lost('@abc~/foo~', 'channel'),
        finds({ channel_ids: ['{C}'] }),
      ],
    ],
  },
  {
    title: 'a claim is the same in its channel, alone and by its id, and is counted',
    rows: [
      [channel('C', '@abc~'), leads('lbry://@abc~', 'C'), shows('C', { claims_in_channel: 0 })],
      [claim('foo', 10, { name: 'foo~', by: 'C' })],
      [
        claim('foo2', 10, { name: 'foo2~', by: 'C' }),
        shows('C', { claims_in_channel: 2 }),
        leads('lbry://@abc~/foo~', 'foo', { by: 'C' }),
        leads('lbry://foo~', 'foo', { by: 'C' }),
        leads('lbry://foo~#{foo}', 'foo', { by: 'C' }),
        leads('lbry://foo2~', 'foo2', { by: 'C' }),
        lost('lbry://@abc~/foo3~'),
        lost('lbry://@abd~/foo~', 'channel'),
      ],
    ],
  },
  {
    title: 'supports move a name from channel to channel',
    rows: [
      [channel('A', '@foo~'), leads('@foo~', 'A')],
      [channel('B', '@foo~'), leads('@foo~', 'A')],
      [channel('C', '@foo~'), leads('@foo~', 'A')],
      [support('c', 'C', 9), leads('@foo~', 'C')],
      [support('b', 'B', 19), leads('@foo~', 'B')],
      [support('a', 'A', 29), leads('@foo~', 'A'), shows('A', { support_amount: 0.0029 })],
      [abandon('a'), leads('@foo~', 'B'), shows('A', { support_amount: 0 })],
    ],
  },
  {
    title: 'two claims of one name in a channel are told apart by their ids',
    rows: [
      [channel('C', '@foo~')],
      [claim('A', 10, { name: 'double~', by: 'C' })],
      [claim('B', 10, { name: 'double~', by: 'C' })],
      [
        leads('@foo~:{C}/double~:{A}', 'A', { by: 'C' }),
        leads('@foo~:{C}/double~:{B}', 'B', { by: 'C' }),
        leads('@foo~:{C}/double~', 'A', { by: 'C' }),
      ],
      // Of the two, the one with the older latest output.
      [update('A', 10, { by: 'C' }), leads('@foo~/double~', 'B', { by: 'C' })],
    ],
  },
  {
    title: 'a name is followed by the order of amounts',
    rows: [
      [claim('A', 70, { name: 'foo~' }), leads('foo~$1', 'A')],
      [claim('B', 80, { name: 'foo~' }), leads('foo~$1', 'B'), leads('foo~$2', 'A')],
      [
        claim('C', 90, { name: 'foo~' }),
        leads('foo~', 'C'),
        leads('foo~$1', 'C'),
        leads('foo~$2', 'B'),
        leads('foo~$3', 'A'),
        lost('foo~$4'),
        finds({ name: 'foo~', amount_order: 2 }, 'B'),
      ],
    ],
  },
  {
    title: 'claims of an abandoned channel stand alone, and do not join another of its name',
    rows: [
      [channel('C', '@abc~')],
      [
        claim('orphan', 10, { name: 'in-channel~', by: 'C' }),
        leads('@abc~/in-channel~', 'orphan', { by: 'C' }),
      ],
      [abandon('C'), lost('@abc~/in-channel~', 'channel')],
      [
        channel('D', '@abc~'),
        lost('lbry://@abc~/in-channel~'),
        leads('lbry://in-channel~', 'orphan', { by: null }),
        leads('lbry://in-channel~#{orphan}', 'orphan', { by: null }),
        shows('orphan', { channel_id: '{C}', is_channel_signature_valid: false }),
        finds({ channel_ids: ['{C}'] }, 'orphan'),
        finds({ channel_ids: ['{C}'], has_channel_signature: true, signature_valid: 1 }),
      ],
      [abandon('orphan')],
      [claim('valid', 2, { name: 'in-channel~', by: 'D' }), leads('@abc~/in-channel~', 'valid', { by: 'D' })],
      [
        claim('double', 1, { name: 'in-channel~', by: 'D' }),
        leads('@abc~/in-channel~', 'valid', { by: 'D' }),
        leads('in-channel~', 'valid', { by: 'D' }),
        leads('in-channel~$2', 'double', { by: 'D' }),
      ],
    ],
  },
  {
    title: 'spellings that normalize alike are one name, each claim shown in its own',
    rows: [
      [claim('A', 10, { name: 'ΣίσυφοςﬁÆ~' })],
      [
        claim('B', 20, { name: 'ΣΊΣΥΦΟσFIæ~' }),
        leads('lbry://ΣίσυφοςﬁÆ~', 'B'),
        leads('lbry://ΣΊΣΥΦΟσFIæ~', 'B'),
        leads('lbry://ΣίσυφοςﬁÆ~:{B:5}', 'B'),
        leads('lbry://ΣΊΣΥΦΟσFIæ~:{B:5}', 'B'),
        leads('lbry://ΣίσυφοςﬁÆ~:{A:5}', 'A'),
        leads('lbry://ΣΊΣΥΦΟσFIæ~:{A:5}', 'A'),
        shows('A', { name: 'ΣίσυφοςﬁÆ~' }),
        shows('B', { name: 'ΣΊΣΥΦΟσFIæ~' }),
      ],
    ],
  },
  {
    title: 'a claim of 2017 is in the channel that signed it',
    rows: [
      [channel('C', '@olds~')],
      [
        claim('right', 10, { name: 'example~', by: 'C', of2017: 'signed' }),
        claim('wrong', 10, { name: 'forged~', by: 'C', of2017: 'forged' }),
        leads('@olds~/example~', 'right', { by: 'C' }),
        shows('right', { is_channel_signature_valid: true, value: { title: 'A stream' } }),
        leads('forged~', 'wrong', { by: null }),
        shows('wrong', { is_channel_signature_valid: false }),
        lost('@olds~/forged~'),
      ],
    ],
  },
  {
    title: 'a channel that is abandoned, and claims that join, change and leave channels in that block',
    rows: [
      [channel('C', '@test~'), channel('D', '@other~')],
      [
        claim('joins', 10, { name: 'joins~' }),
        claim('changed', 10, { name: 'changed~' }),
        claim('leaves', 1, { name: 'leaves~', by: 'C' }),
        claim('moves', 1, { name: 'moves~', by: 'C' }),
        lost('@test~/joins~'),
        leads('joins~', 'joins', { by: null }),
        leads('@test~/leaves~', 'leaves', { by: 'C' }),
        shows('C', { claims_in_channel: 2 }),
      ],
      [
        update('joins', 9, { by: 'C' }),
        update('changed', 9),
        update('changed', 9, { by: 'C' }),
        update('leaves', 9),
        update('moves', 9, { by: 'D' }),
        abandon('C'),
      ],
      [
        claim('third', 1, { name: 'third~', by: 'C' }),
        claim('fourth', 1, { name: 'fourth~', by: 'D' }),
        lost('@test~', 'channel'),
        lost('@test~/joins~', 'channel'),
        lost('@test~/changed~', 'channel'),
        leads('joins~', 'joins', { by: null }),
        leads('changed~', 'changed', { by: null }),
        leads('leaves~', 'leaves', { by: null }),
        leads('third~', 'third', { by: null }),
        leads('@other~/moves~', 'moves', { by: 'D' }),
        leads('@other~/fourth~', 'fourth', { by: 'D' }),
        finds({ channel_ids: ['{D}'] }, 'moves', 'fourth'),
      ],
      [
        update('D', 10),
        claim('fifth', 1, { name: 'fifth~', by: 'D' }),
        finds({ channel_ids: ['{D}'] }, 'moves', 'fourth', 'fifth'),
      ],
    ],
  },
  {
    title: 'claims of a channel are found by what they cost',
    rows: [
      [channel('C', '@abc~')],
      [claim('free', 1, { name: 'free~', by: 'C' }), claim('fee', 1, { name: 'fee~', by: 'C', feeLbc: 1 })],
      [
        finds({ channel_id: '{C}', fee_amount: '>=0' }, 'free', 'fee'),
        finds({ channel_id: '{C}', fee_amount: '>0' }, 'fee'),
        finds({ channel_id: '{C}', fee_amount: '<=0' }, 'free'),
      ],
    ],
  },
  {
    title: 'reorganisations over a channel, its claim, a support, and their ends',
    rows: [
      [channel('C', '@abc~'), leads('@abc~', 'C')],
      [reorganise(1), leads('@abc~', 'C')],
      [claim('foo', 10, { name: 'foo~', by: 'C' }), leads('@abc~/foo~', 'foo', { by: 'C' })],
      [reorganise(1), leads('foo~', 'foo'), finds({ name: 'foo~' }, 'foo')],
      [support('s', 'foo', 10), shows('foo', { support_amount: 0.001, effective_amount: 0.002 })],
      [reorganise(1), shows('foo', { support_amount: 0.001, effective_amount: 0.002, is_controlling: true })],
      [abandon('foo'), lost('foo~'), lost('@abc~/foo~'), leads('@abc~', 'C')],
      [reorganise(1), lost('foo~'), leads('@abc~', 'C'), finds({ name: 'foo~' })],
      [abandon('C'), lost('@abc~', 'channel')],
      [reorganise(1), lost('@abc~', 'channel'), lost('foo~')],
    ],
  },
  {
    title: 'a claim that a reorganisation drops is gone, and comes back at another height',
    rows: [
      [claim('still', 10, { name: 'still~' }), lost('craft~')],
      [claim('craft', 10, { name: 'craft~' }), leads('craft~', 'craft')],
      [
        reorganise(2, 'craft'),
        lost('craft~'),
        finds({ name: 'craft~' }),
        leads('still~', 'still'),
        shows('still', { height: '{row:1}' }),
      ],
      [
        admit('craft'),
        leads('craft~', 'craft'),
        shows('craft', { height: '{row:4}', creation_height: '{row:4}' }),
        shows('still', { height: '{row:1}' }),
      ],
    ],
  },
];
