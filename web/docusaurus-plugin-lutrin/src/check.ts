/** After the build: does every citation of the index lead to a heading that is there? */

import {readFile} from 'node:fs/promises';
import path from 'node:path';
import type {Pages} from './pages';

/** One citation of the index; other fields are passed over. */
export interface CitedPlace {
  filename: string;
  /** Its fragment names the heading; without one it is the page itself. */
  url: string;
}

/**
 * Read the list of citations.
 *
 * @param from Address, or file relative to the site's folder.
 * @throws Error where it cannot be read or is no such list.
 */
export async function readCitations(from: string, siteDir: string): Promise<CitedPlace[]> {
  const text = /^https?:/.test(from)
    ? await (await answered(from)).text()
    : await readFile(path.resolve(siteDir, from), 'utf8');
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list) || !list.every(isCitedPlace)) {
    throw new Error(`docusaurus-plugin-lutrin: ${from} is not a JSON list of objects with \`filename\` and \`url\`.`);
  }
  return list;
}

/**
 * The citations that lead nowhere, each as a sentence for the author.
 *
 * @param outDir The built site.
 * @param baseUrl What permalinks begin with.
 */
export async function brokenCitations(citations: readonly CitedPlace[], pages: Pages, outDir: string, baseUrl: string): Promise<string[]> {
  const built = new Map<string, Promise<Set<string> | undefined>>();
  const broken = new Set<string>();
  for (const {filename, url} of citations) {
    const permalink = pages[filename];
    if (!permalink) {
      broken.add(`${filename}: no page of the site shows this file`);
      continue;
    }
    if (!built.has(permalink)) built.set(permalink, anchorsOf(permalink, outDir, baseUrl));
    const anchors = await built.get(permalink);
    const anchor = decodeURIComponent(url.split('#')[1] ?? '');
    if (!anchors) broken.add(`${filename}: ${permalink} was not built`);
    else if (anchor && !anchors.has(anchor)) broken.add(`${filename}: ${permalink} has no heading #${anchor}`);
  }
  return [...broken];
}

async function anchorsOf(permalink: string, outDir: string, baseUrl: string): Promise<Set<string> | undefined> {
  const inside = decodeURIComponent(permalink.slice(baseUrl.length)).replace(/\/$/, '');
  for (const candidate of [`${inside}.html`, path.join(inside, 'index.html')]) {
    try {
      const html = await readFile(path.join(outDir, candidate), 'utf8');
      // The minifier leaves out quotation marks where it can.
      const ids = html.matchAll(/\sid=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/g);
      return new Set([...ids].map(([, double, single, bare]) => double ?? single ?? bare ?? ''));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

async function answered(address: string): Promise<Response> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`docusaurus-plugin-lutrin: ${address} answered ${response.status}.`);
  return response;
}

function isCitedPlace(value: unknown): value is CitedPlace {
  const {filename, url} = (value ?? {}) as Record<string, unknown>;
  return typeof filename === 'string' && typeof url === 'string';
}
