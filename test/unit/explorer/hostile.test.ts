/** Pages rendered from answers whose every text is hostile: the same elements come out as from harmless texts, and nothing else. */
import { describe, expect, it } from 'vitest';
import { documentText } from '../../../src/page/document.js';
import { AskError } from '../../../src/explorer/explorerRpcStub.js';
import { PageError, type PageContext } from '../../../src/explorer/pageContext.js';
import { PAGES } from '../../../src/explorer/pages/pageTable.js';

const HASH = 'ab'.repeat(32);
const ID = 'cd'.repeat(20);
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
const SIGNS = [
  '\u202Egpj.exe',
  '\u2066x\u2069',
  '\u200b\u200d\ufeff',
  '\u{E0041}\u{E0042}',
  'раураl',
  'a'.repeat(255),
  '\r\nSet-Cookie: a=1',
  'A\u0300'.repeat(60),
  '𝒳'.repeat(60),
  '\u061c',
  '__proto__',
  'constructor',
  '{{7*7}}',
  '${7*7}',
];
const PAYLOADS = [...INTO_TEXT, ...INTO_ATTRIBUTES, ...SCHEMES, ...SIGNS];

/** The answer of each method, with the text in every place where the chain, a peer or a file may have put one. */
function answers(text: string, long = text): Readonly<Record<string, unknown>> {
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
  const output = {
    op: 'claim',
    ...name,
    claimId: ID,
    kind: text,
    title: text,
    channelId: ID,
    state: 'active',
    validAtHeight: 1,
    expirationHeight: 2,
  };
  const header = {
    hash: HASH,
    confirmations: 1,
    height: 10,
    version: 1,
    versionHex: '1',
    merkleroot: HASH,
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
    getblock: header,
    getblockheader: header,
    getblockhash: HASH,
    getblockevents: {
      height: 10,
      blockhash: HASH,
      total: 1,
      counts: { claim: 1 },
      events: [event, { ...event, event: text }],
    },
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
    listclaims: {
      ...name,
      height: 10,
      blockhash: HASH,
      claims: 1,
      active: 1,
      pending: 1,
      supportsWithoutClaim: 1,
      holder: { claimId: ID, txid: HASH, n: 0, amount: 1, effectiveAmount: 1 },
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
    getaddresstxids: { txids: [{ txid: HASH, height: 1 }], next: text },
    getaddressutxos: [{ txid: HASH, outputIndex: 0, satoshis: 1, height: 1 }],
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

const ECHO = {
  name: 'echo',
  category: 'util',
  help: 'Says it again.',
  params: [{ name: 'text', description: 'a text', isRequired: true, cli: 'string' as const }],
};

function contextOf(
  text: string,
  parts: readonly string[],
  query: Record<string, string>,
  long: string,
): PageContext {
  const known = answers(text, long);
  return {
    ask: (async (method: string) => {
      if (!Object.hasOwn(known, method)) throw new AskError(-5, `${method}: ${text}`);
      return known[method];
    }) as PageContext['ask'],
    parts,
    query: new URLSearchParams(query),
    tip: { height: 10, hash: HASH, timeSec: 1 },
    nowSec: 100,
    network: 'main',
    spacingSec: 150,
    isLocal: true,
    wantsImages: true,
    showsImages: true,
    showsPeers: true,
    lacking: [],
    methods: [ECHO],
  } as PageContext;
}

/** The pages, each with the text in its address where it takes one. */
const ADDRESSES: readonly (readonly [
  page: string,
  parts: (text: string) => string[],
  query?: (text: string) => Record<string, string>,
])[] = [
  ['', () => []],
  ['name', (text) => [text]],
  ['names', () => [], (text) => ({ prefix: text })],
  ['claim', () => [ID]],
  ['claims', () => [], (text) => ({ text, tag: text })],
  ['upcoming', () => [], (text) => ({ kind: text })],
  ['blocks', () => []],
  ['block', () => [HASH]],
  ['tx', () => [HASH]],
  ['address', (text) => [text]],
  ['mempool', () => []],
  ['charts', () => ['names']],
  ['proof', (text) => [text], (text) => ({ root: text })],
  ['node', () => []],
  ['console', () => [], (text) => ({ method: 'echo', p0: text, run: '1' })],
  ['find', () => [], (text) => ({ q: text })],
];

async function pageText(page: string, text: string, long = text): Promise<string> {
  const [, parts, query] = ADDRESSES.find(([one]) => one === page)!;
  const frame = { network: 'main', tip: null, nowSec: 100, isIndexable: false, path: `/${page}` };
  const assets = { style: '/s.css', script: '/s.js' };
  try {
    const result = await PAGES.get(page)!(contextOf(text, parts(text), query?.(text) ?? {}, long));
    if ('redirect' in result) return `<p>${result.redirect}</p>`;
    const { title, description, topics, searched, body } = result;
    return documentText(
      { ...frame, title, description, topics, query: searched },
      { scheme: null },
      assets,
      body,
    );
  } catch (error) {
    if (error instanceof PageError || error instanceof AskError)
      return documentText(
        { ...frame, title: error.message, description: '', topics: [] },
        { scheme: null },
        assets,
        error.message,
      );
    throw error;
  }
}

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** The tags as a browser reads them: an attribute ends at its own quote, a comment or a declaration counts as a tag. */
function tagsOf(html: string): Tag[] {
  const tags: Tag[] = [];
  for (const [whole, closing, name, rest] of html.matchAll(
    /<(\/?)([a-zA-Z!?][^\s>/]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g,
  )) {
    const attributes = new Map<string, string>();
    for (const [, key, quoted, bare] of (rest ?? '').matchAll(/([^\s=/"'>]+)(?:="([^"]*)"|=([^\s"'>]+))?/g))
      attributes.set(key!.toLowerCase(), quoted ?? bare ?? '');
    if (whole !== '' && closing === '') tags.push({ name: name!.toLowerCase(), attributes });
  }
  return tags;
}

const NEVER = new Set([
  'iframe',
  'object',
  'embed',
  'base',
  'style',
  'math',
  'template',
  'noscript',
  'applet',
  'frame',
]);
const URLS = new Set(['href', 'src', 'action', 'formaction', 'poster', 'xlink:href']);
const INNER = /^(\/(?!\/)|#|$)/;

function faultsOf(html: string): string[] {
  const faults: string[] = [];
  let scripts = 0;
  for (const { name, attributes } of tagsOf(html)) {
    if (NEVER.has(name) || (name.startsWith('!') && name !== '!doctype') || name.startsWith('?'))
      faults.push(`<${name}>`);
    if (name === 'script' && (++scripts > 1 || attributes.get('src') !== '/s.js')) faults.push('a script');
    if (name === 'meta' && /refresh/i.test(attributes.get('http-equiv') ?? '')) faults.push('a refresh');
    for (const [key, value] of attributes) {
      if (/^(on|style$|srcdoc$|autofocus$|formaction$)/.test(key)) faults.push(`${name} ${key}`);
      if (!URLS.has(key)) continue;
      const isInner = INNER.test(value) && !value.includes('\\');
      const isOuter =
        name === 'a' &&
        value.startsWith('https://') &&
        /noopener noreferrer nofollow ugc/.test(attributes.get('rel') ?? '');
      const isPicture = name === 'img' && value.startsWith('https://');
      if (!isInner && !isOuter && !isPicture) faults.push(`${name} ${key}=${value}`);
    }
  }
  // Nothing that hides or turns text around is left.
  if (
    /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0000]|[\u{e0000}-\u{e0fff}]/u.test(
      html.replaceAll(/(?:href|value)="[^"]*"/g, ''),
    )
  )
    faults.push('a hidden character');
  return faults;
}

it('finds faults where there are some', () => {
  expect(
    faultsOf('<a href="javascript:1">x</a><p onclick="1"><script src="/x.js"></script><base href="/">'),
  ).toHaveLength(4);
  expect(faultsOf('<a href="//evil.example">\u202e</a><!-- -->')).toHaveLength(3);
});

describe('pages over hostile texts', () => {
  it('are all here', () => {
    const aliases = ['lbry', 'name-hex', 'proof-hex'];
    expect([...PAGES.keys()].filter((page) => !aliases.includes(page)).sort()).toEqual(
      ADDRESSES.map(([page]) => page).sort(),
    );
  });

  it.each(ADDRESSES.map(([page]) => page))('/%s', async (page) => {
    expect(faultsOf(await pageText(page, 'harmless'))).toEqual([]);
    for (const text of PAYLOADS) {
      const html = await pageText(page, text);
      expect([text, faultsOf(html)]).toEqual([text, []]);
      expect(html.length).toBeLessThan(400_000);
    }
  });

  it.each(['', 'name', 'claim', 'tx', 'block'])('/%s cuts a title of 1 MB', async (page) => {
    const html = await pageText(page, 'short', '<b>'.repeat(350_000));
    expect(html.length).toBeLessThan(250_000);
    expect(faultsOf(html)).toEqual([]);
  });
});
