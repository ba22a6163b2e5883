import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { claimScriptTarget } from './targets/claimScript.js';
import { nameTarget } from './targets/name.js';
import { scriptTarget } from './targets/script.js';
import { addressTarget, scriptTextTarget } from './targets/scriptText.js';

it('ends every script with a verdict, within the limits, and additional flags only restrict it', async () => {
  expect((await fuzz(scriptTarget, 300_000)).outcomes.get('OK')).toBeGreaterThan(0);
});

it('formats any script as text and finds its destinations', async () => {
  expect((await fuzz(scriptTextTarget, 200_000)).outcomes.get('pubkeyhash')).toBeGreaterThan(0);
});

it('reads any text as an address or a key, or refuses it', async () => {
  expect((await fuzz(addressTarget, 200_000)).outcomes.get('key')).toBeGreaterThan(0);
});

it('recognizes the same claim prefixes in all implementations', async () => {
  expect((await fuzz(claimScriptTarget, 300_000)).outcomes.get('claim')).toBeGreaterThan(0);
});

it('normalizes any name', async () => {
  expect((await fuzz(nameTarget, 300_000)).outcomes.get('changed')).toBeGreaterThan(0);
});
