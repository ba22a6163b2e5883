/** `THIRD-PARTY-NOTICES.md`: the licences of the third-party software in lbcnode's package and bundles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIBRARIES, libraryFolder } from './native/sources.mjs';

/**
 * @param {readonly { name: string, version: string, license: string }[]} packages
 * @param {string[]} [more] further paragraphs
 */
export function noticesText(packages, more = []) {
  const compiledIn = LIBRARIES.map(({ name, title, license }) => {
    const text = readFileSync(join(libraryFolder(name), license), 'utf8').trim();
    return `### ${title}\n\nSource in \`vendor/${name}\` of the npm package.\n\n\`\`\`\n${text}\n\`\`\`\n`;
  });
  return [
    '# Third-party notices\n',
    'lbcnode itself is under the MIT licence (`LICENSE`). It comes with the following.\n',
    ...more,
    '## Compiled into the native addon\n',
    ...compiledIn,
    'The prebuilt addons also hold parts of libc++ and compiler-rt (Apache-2.0 with LLVM exceptions), or of libstdc++ and',
    'libgcc (GPL-3.0 with the GCC runtime library exception).\n',
    '## Packages in `dist/node_modules`\n',
    'The folder of each package contains its licence. Files that are not needed to run the packages are left out.\n',
    packages.map(({ name, version, license }) => `- ${name} ${version}: ${license}\n`).join(''),
  ].join('\n');
}
