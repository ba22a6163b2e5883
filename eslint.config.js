import tseslint from 'typescript-eslint';
import prettier from 'eslint-config-prettier';
import { functionLengthRule } from './scripts/lint/functionLengthRule.mjs';

/**
 * The dialect of a family of modules (CONTRIBUTING.md). `no-restricted-syntax` of a later block replaces that of an earlier one, so the
 * rules of pages contain those of their family.
 */
const PRIVATE = {
  selector: 'PrivateIdentifier',
  message: 'Members are `private` here; `#` is the dialect of src/daemon.',
};
const RECURSIVE_MKDIR = {
  selector: "CallExpression[callee.name=/^mkdir(Sync)?$/] Property[key.name='recursive']",
  message: 'Use `makeFolder`: the recursive mkdir of Node.js never ends in /proc and below a broken link.',
};
const NODE_DIALECT = [
  PRIVATE,
  RECURSIVE_MKDIR,
  {
    selector: 'Identifier[name=/dewies/i]',
    message: 'Amounts are named `…Sat` here; `…Dewies` is the dialect of src/daemon.',
  },
];
const DAEMON_DIALECT = [
  RECURSIVE_MKDIR,
  {
    selector:
      ":matches(PropertyDefinition, MethodDefinition[kind!='constructor'], TSParameterProperty)[accessibility='private']",
    message: 'Members are `#private` in src/daemon; `private` is the dialect of the other modules.',
  },
  {
    selector: 'Identifier[name=/(^sats?|Sats?)($|[A-Z_])/]',
    message: 'Amounts are named `…Dewies` in src/daemon; `…Sat` is the dialect of the other modules.',
  },
];

export default tseslint.config(
  {
    ignores: ['dist/', 'dist.*/', 'build/', 'coverage/', 'node_modules/', 'data/', 'src/metadata/messages/'],
  },
  ...tseslint.configs.recommended,
  prettier,
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always'],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    // The parser accepts duplicate names, and no compiler checks these files.
    files: ['**/*.mjs'],
    rules: { 'no-redeclare': 'error', 'no-const-assign': 'error', 'no-dupe-keys': 'error' },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'scripts/**/*.mjs'],
    rules: { 'max-lines-per-function': ['error', { max: 80 }] },
  },
  {
    files: ['test/**/*.{ts,mjs}'],
    // The random history shares some thirty variables between its operations.
    ignores: ['test/unit/wallet/longBlocksLife.test.ts'],
    plugins: { tests: { rules: { 'function-length': functionLengthRule } } },
    rules: { 'tests/function-length': ['error', { max: 80 }] },
  },
  {
    // Rules that need types. The scripts of pages have a project of their own.
    files: ['src/**/*.{ts,tsx}', 'test/**/*.ts'],
    ignores: ['src/page/browser/**'],
    languageOptions: {
      parserOptions: { project: 'tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ['src/page/browser/**'],
    languageOptions: {
      parserOptions: { project: 'tsconfig.browser.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: { '@typescript-eslint/no-floating-promises': 'error' },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/daemon/**'],
    rules: { 'no-restricted-syntax': ['error', ...NODE_DIALECT] },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/scheduler/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'setImmediate', message: 'Use `nextSlice`, `yieldIfDue` or `nextRound` of src/scheduler.' },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['node:timers/promises', 'timers/promises', 'node:timers', 'timers'].map((name) => ({
            name,
            importNames: ['setImmediate', 'scheduler'],
            message: 'Use `nextSlice`, `yieldIfDue` or `nextRound` of src/scheduler.',
          })),
        },
      ],
    },
  },
  {
    // Names of amounts in tests are those of what they test.
    files: ['test/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', PRIVATE] },
  },
  {
    files: ['src/daemon/**'],
    rules: { 'no-restricted-syntax': ['error', ...DAEMON_DIALECT] },
  },
  {
    // The policy of pages forbids inline scripts and styles, and texts of the chain must never become markup.
    files: ['src/page/**', 'src/explorer/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...NODE_DIALECT,
        {
          selector: 'JSXAttribute[name.name=/^(dangerouslySetInnerHTML|style|srcdoc|on[A-Za-z]+)$/]',
          message: 'Markup from texts, and inline styles and scripts, are not allowed in pages.',
        },
        {
          selector:
            "JSXElement[openingElement.name.name='style'], JSXElement[openingElement.name.name='script'][children.length>0]",
          message: 'Inline styles and scripts are not allowed in pages.',
        },
        {
          selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)$/]',
          message: 'Markup from texts is not allowed in pages.',
        },
      ],
    },
  },
);
