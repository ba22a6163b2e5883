/** Declarations of the methods of the group settings. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';

export const settingsClear = declareMethod({
  name: 'settings_clear',
  group: 'settings',
  summary: 'Bring a setting back to its default.',
  usage: ['(<key>)'],
  params: [{ name: 'key', type: 'str', description: 'name of the setting; over HTTP all without it' }],
  result: t.map('name', t.any('its value'), 'the defaults'),
  needs: [],
});

export const settingsGet = declareMethod({
  name: 'settings_get',
  group: 'settings',
  summary: 'Show the settings.',
  usage: [],
  params: [],
  result: t.map('name', t.any('its value'), 'all settings'),
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
      description: 'its value; text that begins like a list or an object is read as JSON',
      required: true,
    },
  ],
  result: t.map('name', t.any('its value'), 'the setting as it was understood'),
  needs: [],
});
