/** Declarations of the methods of the group settings. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';

export const settingsClear = declareMethod({
  name: 'settings_clear',
  group: 'settings',
  summary: 'Reset a setting to its default.',
  usage: ['(<key>)'],
  params: [
    { name: 'key', type: 'str', description: 'name of the setting; default, over HTTP only: all settings' },
  ],
  result: t.map('name', t.any('default value'), 'settings that were reset'),
  needs: [],
});

export const settingsGet = declareMethod({
  name: 'settings_get',
  group: 'settings',
  summary: 'Show the settings.',
  usage: [],
  params: [],
  result: t.map('name', t.any('value'), 'all settings'),
  needs: [],
});

export const settingsSet = declareMethod({
  name: 'settings_set',
  group: 'settings',
  summary: 'Change a setting.',
  usage: ['(<key>) (<value>)'],
  params: [
    { name: 'key', type: 'str', description: 'name of the setting', required: true },
    {
      name: 'value',
      type: 'any',
      description: 'value of the setting; text that begins with [ or { is parsed as JSON',
      required: true,
    },
  ],
  result: t.map('name', t.any('value'), 'the setting with its parsed value'),
  needs: [],
});
