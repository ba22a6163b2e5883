/** Declarations of the methods of the group preference. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { walletId } from './params.js';

// The methods of preferences need open wallets but no hub, so `needs` names no component. Source: lbry-sdk daemon.py
// `jsonrpc_preference_get`.

export const preferenceGet = declareMethod({
  name: 'preference_get',
  group: 'preference',
  summary: 'Read preferences.',
  usage: ['[<key>] [--wallet_id=<wallet_id>]'],
  params: [
    { name: 'key', type: 'str', description: 'key of the preference; default: all preferences' },
    walletId,
  ],
  result: t.union([
    { when: 'if the key exists', schema: t.map('key', t.any('value'), 'preferences') },
    { when: 'otherwise', schema: t.none() },
  ]),
  needs: [],
});

export const preferenceSet = declareMethod({
  name: 'preference_set',
  group: 'preference',
  summary: 'Write a preference.',
  usage: ['(<key>) (<value>) [--wallet_id=<wallet_id>]'],
  params: [
    { name: 'key', type: 'str', description: 'key of the preference', required: true },
    {
      name: 'value',
      type: 'any',
      description: 'value of the preference; text that begins with [ or { is parsed as JSON',
      required: true,
    },
    walletId,
  ],
  result: t.map('key', t.any('value'), 'the preference'),
  needs: [],
});
