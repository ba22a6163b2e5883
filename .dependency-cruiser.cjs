/** Checks the imports of `src`, `test` and `scripts` for cycles, imports of types included. `npm run lint` runs it. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Move what both files need to a third file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/(page/browser|metadata/messages)/' },
    progress: { type: 'none' },
  },
};
