/** Declarations of the methods of the group preference. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { walletId } from './params.js';

// They need open wallets, and no hub: `needs` names no component. Source: lbry-sdk daemon.py `jsonrpc_preference_get`.

export const preferenceGet = declareMethod({
  name: 'preference_get',
  group: 'preference',
  summary: 'Read preferences.',
  usage: ['[<key>] [--wallet_id=<wallet_id>]'],
  params: [{ name: 'key', type: 'str', description: 'the one to read; otherwise all' }, walletId],
  result: t.union([
    { when: 'when there is such a one', schema: t.map('key', t.any('its value'), 'preferences') },
    { when: 'else', schema: t.none() },
  ]),
  needs: [],
});

export const preferenceSet = declareMethod({
  name: 'preference_set',
  group: 'preference',
  summary: 'Write a preference.',
  usage: ['(<key>) (<value>) [--wallet_id=<wallet_id>]'],
  params: [
    { name: 'key', type: 'str', description: 'which one', required: true },
    {
      name: 'value',
      type: 'any',
      description: 'its value; text that begins like a list or an object is read as JSON',
      required: true,
    },
    walletId,
  ],
  result: t.map('key', t.any('its value'), 'the preference'),
  needs: [],
});
