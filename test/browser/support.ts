/**
 * Shared parts of the browser tests: Chromium at the path in CHROMIUM or at `/usr/bin/chromium`, and pages whose errors are
 * recorded.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
export const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.log(`skipped: there is no Chromium at ${CHROMIUM}`);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });

/** A page that records requests to other hosts, console errors, and scripts that a text of the chain started. */
export async function watched(
  context: BrowserContext,
  base: string,
): Promise<{ page: Page; faults: string[] }> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith(base.replace('http', 'ws')))
      faults.push(`asks ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, faults };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[] }[];
}

/** Script that returns how far the page is wider than the window, with the first elements that reach beyond the window. */
const WIDER_THAN_WINDOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth === clientWidth) return [];
  const beyond = [...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .slice(0, 5)
    .map((element) => element.tagName + '.' + element.getAttribute('class'));
  return [scrollWidth - clientWidth + ' pixels too wide: ' + beyond.join(', ')];
})()`;

/**
 * Violations of WCAG 2.2 AA that axe-core finds on the open page, and whether it is wider than the window. The context must
 * bypass the policy of the pages, which forbids foreign scripts, axe among them.
 */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then((found) => found.violations)`,
  );
  const overflow = await page.evaluate<string[]>(WIDER_THAN_WINDOW);
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
    ...overflow,
  ];
}
