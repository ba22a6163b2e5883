/** The tests of `-esplora` on a node that keeps no answers. */
process.env['LBCNODE_ESPLORA_ARGS'] = '-rpccache=0';
await import('./esplora.test.js');
