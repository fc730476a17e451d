/** Everything that axe finds in a part of the page. */

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import type {Reader} from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What fades in is measured when it has arrived. */
const SETTLED_MS = 300;

/**
 * The script enters by the debugger, past the page's policy.
 *
 * @param selector The part that is looked at.
 */
export async function axeFindings(reader: Reader, selector: string): Promise<string[]> {
  await reader.page.waitForTimeout(SETTLED_MS);
  await reader.page.evaluate(AXE);
  return reader.page.evaluate(async (part) => {
    const {axe} = window as unknown as {axe: {run: (context: object) => Promise<{violations: {id: string; nodes: {html: string; failureSummary: string}[]}[]}>}};
    const {violations} = await axe.run({include: [[part]]});
    return violations.flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html} ${failureSummary}`));
  }, selector);
}
