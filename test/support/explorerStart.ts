/** Settings of the explorer for tests that start its site without a node. */
import type { ExplorerStart } from '../../src/explorer/messages.js';
import { ECHO } from './hostileAnswers.js';

export const EXPLORER_START: ExplorerStart = {
  host: '127.0.0.1',
  port: 0,
  network: 'main',
  spacingSec: 150,
  hostNames: [],
  proxies: [],
  showsImages: true,
  isIndexable: false,
  showsPeers: true,
  lacking: [],
  command: 'lbcnode-cli',
  methods: [ECHO],
  closedMethods: ['stop'],
};
