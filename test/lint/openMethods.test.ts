import { describe, expect, it } from 'vitest';
import { isOpenTo } from '../../src/rpc/declare/explorerMethods.js';
import { LBCWALLET_METHODS } from '../../src/rpc/declare/lbcwalletTable.js';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import type { Category, RpcMethod } from '../../src/rpc/declare/method.js';

const ALL: readonly RpcMethod[] = [...METHODS, ...LBCWALLET_METHODS];

/**
 * Methods that only the explorer's pages may call, because the answers contain peers or folders, or because the calls take long.
 */
const FOR_PAGES =
  'getpeerinfo getnettotals getnetworkinfo getindexinfo getclaimindexinfo gethubinfo uptime searchclaims';

/** Visitors too. */
const FOR_VISITORS =
  'checknormalization decoderawtransaction decodescript estimatesmartfee getaddressbalance getaddressmempool ' +
  'getaddresstxids getaddressutxos getbestblockhash getblock getblockchaininfo getblockcount getblockevents getblockfilter getblockhash ' +
  'getblockheader getblockstats getchaintips getchaintxstats getchangesinblock getclaim getclaimbybid getclaimbyid ' +
  'getclaimbyseq getclaimproofbybid getclaimproofbyseq getclaimsforname getclaimsfortx getdifficulty getmempoolancestors ' +
  'getmempooldescendants getmempoolentry getmempoolinfo getmininginfo getnamehistory getnameproof getnetworkhashps ' +
  'getrawtransaction gettotalclaimednames gettotalclaims gettotalvalueofclaims gettxinfo gettxout gettxoutproof getvalueforname ' +
  'getchainseries getclaimstates getclaimstatus getmempoolsummary listchannelclaims listclaims listmempoolclaims listnames listnewclaims listsupports listupcoming resolve validateaddress verifymessage verifytxoutproof';

/** Groups whose methods change something or return data only for the operator. */
const CLOSED: readonly Category[] = ['wallet', 'control', 'generating', 'hidden', 'zmq'];
/** The method of these groups that only returns a number of seconds. */
const EXCEPTED = ['uptime'];
/** Methods of any group that write, send, or change the peers of the node. */
const WRITES =
  /^(add|abandon|backup|clear|create|debug|disconnect|dump|encrypt|generate|import|invalidate|keypool|load|lock|logging|migrate|move|ping|precious|prioritise|prune|reconsider|remove|rescan|resend|save|send|set|sign|stop|submit|unload|wallet)/;

const namesOf = (caller: 'page' | 'console'): string[] =>
  [...new Set(ALL.filter((method) => isOpenTo(caller, method)).map(({ name }) => name))].sort();

describe('methods that the explorer may ask', () => {
  it('are exactly these', () => {
    expect(namesOf('console')).toEqual(FOR_VISITORS.split(' ').sort());
    expect(namesOf('page')).toEqual([...FOR_VISITORS.split(' '), ...FOR_PAGES.split(' ')].sort());
  });

  it('are not in the groups wallet, control, generating and similar ones', () => {
    const open = ALL.filter((method) => isOpenTo('page', method));
    const wrong = open.filter(({ category, name }) => CLOSED.includes(category) && !EXCEPTED.includes(name));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('change nothing and need no wallet', () => {
    const open = ALL.filter((method) => isOpenTo('page', method));
    const wrong = open.filter(({ name, needsWallet }) => WRITES.test(name) || needsWallet !== undefined);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});
