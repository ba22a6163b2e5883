/** Answers in which every text is hostile, and the pages that show them. */
import { Lru } from '../../src/util/lru.js';
import { AskError } from '../../src/explorer/explorerRpcClient.js';
import { KeptRows } from '../../src/explorer/keptRows.js';
import type { PageContext } from '../../src/explorer/pageContext.js';

export const HASH = 'ab'.repeat(32);
export const ID = 'cd'.repeat(20);
const INTO_TEXT = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '</title><script>',
  '</bdi></a><h1>',
  '<!--',
  '-->',
  ']]>',
  '<![CDATA[',
  '<iframe srcdoc="<script>">',
  '<style>*{display:none}</style>',
  '<base href=//evil.example>',
  '<meta http-equiv=refresh content=0>',
  '<form action=//evil.example>',
  '<a href=javascript:1>',
  '&lt;script&gt;',
  '&#60;script&#62;',
  '&',
  '\u0000',
  '\ud800',
  '<\u0000script>',
];
const INTO_ATTRIBUTES = [
  '"',
  "'",
  '`',
  '" onmouseover="alert(1)',
  "' onfocus='alert(1)",
  '"><script>alert(1)</script>',
  '" style="x',
  '"\n onclick=1 "',
  '" autofocus onfocus=alert(1) x="',
  '\\" onload=1',
  '"/><input value="',
  '" href="javascript:1',
];
const SCHEMES = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>',
  'vbscript:1',
  '//evil.example',
  'http://evil.example',
  'file:///etc/passwd',
  'blob:x',
  '\\\\evil.example',
  'https:evil.example" onclick="1',
  '../../console',
  '%2e%2e/',
  '%00',
  '?block=1#x',
];
/** Payloads that are as long as a name may be, or that have an effect only as a whole text. */
const ALONE = ['a'.repeat(255), 'A\u0300'.repeat(60), '𝒳'.repeat(60), '__proto__', 'constructor'];
const SIGNS = [
  '\u202Egpj.exe',
  '\u2066x\u2069',
  '\u200b\u200d\ufeff',
  '\u{E0041}\u{E0042}',
  'раураl',
  '\r\nSet-Cookie: a=1',
  '\u061c',
  '{{7*7}}',
  '${7*7}',
];
const PARTS = [...INTO_TEXT, ...INTO_ATTRIBUTES, ...SIGNS];
export const PAYLOADS = [...PARTS, ...SCHEMES, ...ALONE];

/** Number of texts with several payloads. */
const JOINED = 5;

/** The payloads with several in one text, for tests in which each page takes long. No text is longer than a name may be. */
export const JOINED_PAYLOADS = Array.from({ length: JOINED }, (_, group) =>
  [...SCHEMES, ...PARTS].filter((_, index) => index % JOINED === group).join(' '),
);

/** Parts of answers. `text` and `long` are in every field that may contain data of the chain, of a peer or of a file. */
function answerParts(text: string, long: string) {
  const name = { name: text, normalized_name: text };
  const event = {
    ...name,
    event: 'takeover',
    index: 0,
    height: 10,
    claimId: ID,
    formerClaimId: ID,
    txid: HASH,
    n: 0,
    amount: 1,
    metadata: { value: { title: long } },
  };
  return { text, name, event, ...claimParts(text, long), ...bidParts(text) };
}

function claimParts(text: string, long: string) {
  const value = {
    title: long,
    description: long,
    author: long,
    license: long,
    license_url: text,
    website_url: text,
    email: text,
    public_key: text,
    tags: [text],
    languages: [text],
    fee: { currency: text, amount: text },
    thumbnail: { url: text },
    release_time: '1',
    locations: [{ country: text }],
    source: { name: text, media_type: text, sd_hash: text, hash: text, size: '5' },
    video: { width: 1, height: 2, duration: 3 },
  };
  const channel = {
    claim_id: ID,
    name: text,
    normalized_name: text,
    txid: HASH,
    nout: 0,
    height: 1,
    timestamp: 1,
    amount: 1,
    creation_height: 1,
    creation_timestamp: 1,
    activation_height: 1,
    expiration_height: 9,
    takeover_height: 1,
    is_controlling: true,
    effective_amount: 1,
    support_amount: 0,
    reposted: 0,
    claims_in_channel: 1,
    short_url: text,
    canonical_url: text,
    permanent_url: text,
    value_type: text,
    value,
  };
  const claim = {
    ...channel,
    channel_id: ID,
    is_channel_signature_valid: true,
    signing_channel: channel,
    reposted_claim: channel,
    reposted_claim_id: ID,
  };
  return { claim };
}

function bidParts(text: string) {
  const name = { name: text, normalized_name: text };
  const output = {
    op: 'claim',
    ...name,
    claimId: ID,
    kind: text,
    title: text,
    channelId: ID,
    state: text,
    validAtHeight: 1,
    expirationHeight: 2,
  };
  const bid = {
    bid: 1,
    sequence: 1,
    claimId: ID,
    ...name,
    name: `${text}x`,
    txid: HASH,
    n: 0,
    height: 1,
    active: true,
    validAtHeight: 1,
    expirationHeight: 9,
    amount: 1,
    effectiveAmount: 1,
    supports: 1,
    supportAmount: 1,
    address: text,
    kind: text,
    title: text,
    channelId: ID,
  };
  return { output, bid };
}

const HEADER = {
  hash: HASH,
  confirmations: 1,
  height: 10,
  version: 1,
  versionHex: '1',
  merkleroot: 'ef'.repeat(32),
  nameclaimroot: HASH,
  time: 1,
  mediantime: 1,
  nonce: 1,
  bits: 'ff',
  difficulty: 1,
  chainwork: HASH,
  nTx: 1,
  previousblockhash: undefined,
  nextblockhash: HASH,
  size: 1,
  strippedsize: 1,
  weight: 1,
  tx: [HASH],
};

type Parts = ReturnType<typeof answerParts>;

/** The answer of each method. The text is in every field that may contain data of the chain, of a peer or of a file. */
export function answers(text: string, long = text): Readonly<Record<string, unknown>> {
  const parts = answerParts(text, long);
  return {
    ...summaryAnswers(parts),
    ...blockAnswers(parts),
    ...transactionAnswers(parts),
    ...nameAnswers(parts),
    ...claimAnswers(parts),
    ...nodeAnswers(parts),
  };
}

/** Answers about the chain and its newest claims. */
function summaryAnswers({ text, name, event, claim }: Parts) {
  return {
    getblockchaininfo: {
      chain: 'main',
      blocks: 10,
      headers: 10,
      bestblockhash: HASH,
      difficulty: 1,
      mediantime: 1,
      verificationprogress: 1,
      initialblockdownload: false,
      chainwork: HASH,
      size_on_disk: 1,
      pruned: false,
      warnings: text,
    },
    getnetworkhashps: 1,
    getmempoolinfo: { size: 1, bytes: 1 },
    gettotalclaimednames: 1,
    gettotalclaims: 1,
    gettotalvalueofclaims: 1,
    listupcoming: {
      height: 10,
      blockhash: HASH,
      from: 11,
      to: 20,
      events: [event, { ...event, event: text }],
    },
    searchclaims: { claims: [claim], total: 1, next: text },
    getclaimstates: [{ claimId: ID, state: 'active', name: text, normalized_name: text }],
    listchannelclaims: { claims: [claim], total: 2000, next: text },
    listnewclaims: {
      height: 10,
      blockhash: HASH,
      claims: [
        {
          ...name,
          claimId: ID,
          txid: HASH,
          n: 0,
          amount: 1,
          kind: text,
          title: text,
          channelId: ID,
          createdHeight: 9,
          time: 1,
        },
        { ...name, claimId: ID, txid: HASH, n: 0, amount: 1, time: 1 },
      ],
    },
  };
}

/** Answers about blocks. */
function blockAnswers({ text, event }: Parts) {
  return {
    getblock: HEADER,
    getblockheader: HEADER,
    getblockhash: HASH,
    getblockevents: {
      height: 10,
      blockhash: HASH,
      total: 1,
      counts: { claim: 1 },
      events: [event, { ...event, event: text }],
    },
  };
}

/** Answers about a transaction. */
function transactionAnswers({ text, output }: Parts) {
  return {
    gettxinfo: {
      txid: HASH,
      hash: HASH,
      version: 1,
      size: 1,
      vsize: 1,
      weight: 4,
      locktime: 0,
      state: 'chain',
      height: 10,
      blockhash: HASH,
      position: 0,
      confirmations: 1,
      time: 1,
      coinbase: false,
      fee: 1,
      feerate: 1,
      amountin: 2,
      amountout: 1,
      inputcount: 2,
      outputcount: 1,
      from: 0,
      spendindex: true,
      inputs: [
        { n: 0, coinbase: Buffer.from(text.toWellFormed()).toString('hex'), sequence: 0 },
        {
          n: 1,
          txid: HASH,
          vout: 0,
          sequence: 0,
          amount: 1,
          type: text,
          address: text,
          script: 'ab',
          claim: output,
        },
      ],
      outputs: [
        {
          n: 0,
          amount: 1,
          type: text,
          address: text,
          script: 'ab',
          claim: output,
          spent: true,
          spentBy: { txid: HASH, n: 0, height: 11 },
        },
      ],
    },
  };
}

/** Answers about names. */
function nameAnswers({ text, name, event, claim, bid }: Parts) {
  return {
    listclaims: {
      ...name,
      height: 10,
      blockhash: HASH,
      claims: 1,
      active: 1,
      pending: 1,
      supportsWithoutClaim: 1,
      holder: bid,
      lastTakeoverHeight: 1,
      newBid: { mustExceed: 1, delay: 1, height: 11, validAtHeight: 12 },
      coming: [event],
      bids: [bid],
      next: text,
    },
    getnamehistory: { ...name, blocks: [{ height: 10, blockhash: HASH, events: [event] }] },
    listnames: {
      names: [{ ...name, claimId: ID, amount: 1, effectiveAmount: 1, claims: 1, lastTakeoverHeight: 1 }],
      height: 10,
      blockhash: HASH,
      next: text,
    },
    getclaim: claim,
    resolve: { [text]: claim },
    getclaimbyid: { ...name, claimId: ID, claim_id: ID },
  };
}

/** Answers about one claim. */
function claimAnswers({ text, name }: Parts) {
  return {
    getclaimstatus: {
      claimId: ID,
      state: 'active',
      ...name,
      height: 10,
      blockhash: HASH,
      txid: HASH,
      n: 0,
      amount: 1,
      outputHeight: 1,
      validAtHeight: 1,
      expirationHeight: 9,
      address: text,
      kind: text,
      title: text,
      channelId: ID,
      value: 'ab',
    },
    listsupports: {
      claimId: ID,
      ...name,
      total: 1,
      active: 1,
      amount: 1,
      supports: [
        {
          txid: HASH,
          n: 0,
          amount: 1,
          height: 1,
          active: true,
          validAtHeight: 1,
          expirationHeight: 9,
          address: text,
          channelId: ID,
        },
      ],
      next: text,
    },
  };
}

/** Answers about the mempool, addresses and the node. */
function nodeAnswers({ text, name, output }: Parts) {
  return {
    getmempoolsummary: {
      size: 1,
      bytes: 1,
      totalFee: 1,
      minFeeRate: 1,
      operations: {},
      histogram: [{ feerate: 1, count: 1, bytes: 1, fees: 1 }],
      newest: [{ txid: HASH, time: 1, vsize: 1, fee: 1, feerate: 1 }],
    },
    listmempoolclaims: {
      total: 1,
      claims: [
        { ...name, event: text, claimId: ID, txid: HASH, n: 0, amount: 1, transaction: HASH, time: 1 },
      ],
    },
    estimatesmartfee: { feerate: 1 },
    validateaddress: { isvalid: true },
    getaddressbalance: { balance: 1, received: 1 },
    getaddresstxids: {
      txids: [
        { txid: HASH, received: 1, spent: 2 },
        { txid: HASH, height: 1, received: 1, spent: 2 },
      ],
      next: text,
    },
    getaddressutxos: {
      utxos: [{ txid: HASH, outputIndex: 0, satoshis: 1, height: 1, claim: output }],
    },
    getchaintips: [{ height: 10, hash: HASH, branchlen: 1, status: text }],
    getblockstats: { totalfee: 1, total_out: 1 },
    getnetworkinfo: { subversion: text, protocolversion: 1, connections: 1, warnings: text, networks: [] },
    getpeerinfo: [
      {
        id: 1,
        addr: text,
        inbound: true,
        subver: text,
        version: 1,
        pingtime: 1,
        synced_blocks: 1,
        conntime: 1,
        bytessent: 1,
        bytesrecv: 1,
      },
    ],
    getnettotals: { totalbytesrecv: 1, totalbytessent: 1 },
    getindexinfo: { txindex: { synced: true, best_block_height: 1 } },
    uptime: 1,
    getclaimindexinfo: { search: { synced: false, height: 1, documents: 1, failure: text, backend: text } },
    gethubinfo: { listening: false, failure: text, height: 1, sessions: 1, max_sessions: 2 },
    checknormalization: text,
    getnameproof: { pairs: [{ odd: true, hash: HASH }], txhash: HASH, nOut: 0, 'last takeover height': 1 },
    getchainseries: {
      metric: 'names',
      unit: text,
      from: 0,
      to: 10,
      height: 10,
      blockhash: HASH,
      points: [
        { height: 0, time: 1, value: 1 },
        { height: 10, time: 2, value: 3 },
      ],
    },
    echo: { text },
  };
}

export const ECHO = {
  name: 'echo',
  category: 'util',
  help: 'Says it again.',
  params: [{ name: 'text', description: 'a text', isRequired: true, cli: 'string' as const }],
};

/** An answer of a method, or the error that the method returns. */
type Instead = (text: string) => Readonly<Record<string, unknown>>;

/** The claim has ended: `getclaim` does not know it, and `getclaimstatus` describes its last output. */
const ended =
  (state: string, more: object): Instead =>
  (text) => ({
    getclaim: new AskError(-5, text),
    getclaimstatus: { ...(answers(text)['getclaimstatus'] as object), state, endedHeight: 9, ...more },
  });

/** The claim is a collection with this text as a value of the list. */
const collection =
  (claims: (text: string) => unknown): Instead =>
  (text) => {
    const { value, ...claim } = answers(text)['getclaim'] as { value: object };
    return { getclaim: { ...claim, value_type: 'collection', value: { ...value, claims: claims(text) } } };
  };

/** Further states of the claim of the page `claim`, each with the answers that replace those of `answers`. */
export const CLAIM_STATES: readonly (readonly [state: string, instead: Instead])[] = [
  ['was abandoned', ended('spent', { spentBy: HASH })],
  ['expired', ended('expired', {})],
  ['ended in a state with an unknown name', (text) => ended(text, { spentBy: text })(text)],
  ['is a collection', collection((text) => [text, ID, text])],
  ['is a collection whose list is a text', collection((text) => text)],
];

/**
 * Answers that replace those of `answers` on a page. The answers for a search contain no object with exactly this text, so the page
 * shows results instead of a redirect.
 */
export const insteadOn = (page: string, text: string): Readonly<Record<string, unknown>> =>
  page === 'find'
    ? { listclaims: { ...(answers(text)['listclaims'] as object), claims: 0 }, resolve: {} }
    : {};

/** `long` is the text of fields that have no maximum length. `instead` has answers that replace those of `answers`. */
export function contextOf(
  text: string,
  parts: readonly string[],
  query: Record<string, string>,
  long = text,
  instead: Readonly<Record<string, unknown>> = {},
): PageContext {
  const known = { ...answers(text, long), ...instead };
  const ask = (async (method: string) => {
    if (!Object.hasOwn(known, method)) throw new AskError(-5, `${method}: ${text}`);
    if (known[method] instanceof AskError) throw known[method];
    return known[method];
  }) as PageContext['ask'];
  return {
    ask,
    askExactly: ask,
    parts,
    query: new URLSearchParams(query),
    tip: { height: 10, hash: HASH, timeSec: 1 },
    isSyncing: false,
    headers: 10,
    fixed: new Lru(10),
    rows: new KeptRows(),
    taken: [
      {
        height: 10,
        hash: HASH,
        events: [{ event: text, nameHex: Buffer.from(text).toString('hex'), claimId: ID }],
      },
    ],
    nowSec: 100,
    network: 'main',
    spacingSec: 150,
    isLocal: true,
    wantsImages: true,
    showsImages: true,
    showsPeers: true,
    lacking: [],
    command: 'lbcnode-cli',
    methods: [ECHO],
    closedMethods: ['stop'],
  } as PageContext;
}

/** A page, with the segments of its path and the parameters of its query for a text. */
export type Address = readonly [
  page: string,
  parts: (text: string) => string[],
  query?: (text: string) => Record<string, string>,
];

/** The pages. The text is in each address that contains one. */
export const ADDRESSES: readonly Address[] = [
  ['', () => []],
  ['name', (text) => [text]],
  ['names', () => [], (text) => ({ prefix: text })],
  ['claim', () => [ID]],
  ['claims', () => [], (text) => ({ text, tag: text })],
  ['upcoming', () => []],
  ['blocks', () => []],
  ['block', () => [HASH]],
  ['tx', () => [HASH]],
  ['address', (text) => [text]],
  ['mempool', () => []],
  ['charts', () => ['names']],
  ['proof', (text) => [text]],
  ['node', () => []],
  ['console', () => [], (text) => ({ method: 'echo', p0: text, run: '1' })],
  ['find', () => [], (text) => ({ q: text })],
];

/** Addresses that most texts make malformed or unknown, or that redirect. Their pages are mostly error pages. */
export const REFUSED: readonly Address[] = [
  ...['lbry', 'name-hex', 'proof-hex', 'tx', 'block', 'claim', 'charts', 'nothing'].map((page): Address => [
    page,
    (text) => [text],
  ]),
  ['name', (text) => [text, text]],
  ['', () => [], (text) => ({ [text]: text })],
  ['charts', () => ['names'], (text) => ({ from: text })],
  ['upcoming', () => [], (text) => ({ kind: text })],
  ['claims', () => [], (text) => ({ channel: text, after: text })],
  ['names', () => [], (text) => ({ block: text })],
  ['block', () => [HASH], (text) => ({ tx: text })],
  ['name', (text) => [text], (text) => ({ order: text, before: text })],
  ['proof', (text) => [text], (text) => ({ root: text })],
  ['console', () => [], (text) => ({ method: text })],
  ['console', () => [], (text) => ({ method: 'echo', p9: text, run: text })],
];
