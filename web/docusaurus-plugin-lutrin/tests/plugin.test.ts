import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {brokenCitations, readCitations} from '../src/check';
import {checkOptions, clientSettings} from '../src/options';
import {pagesOf} from '../src/pages';

let site = '';
beforeAll(async () => {
  site = await mkdtemp(path.join(tmpdir(), 'lutrin-site-'));
  await mkdir(path.join(site, 'docs', 'part'), {recursive: true});
  await writeFile(path.join(site, 'docs', 'nodes.html'), '<h1>Nodes</h1><h2 class=x id=what-a-node-is>..</h2><h2 id="qos &amp; more">');
  await writeFile(path.join(site, 'docs', 'part', 'index.html'), '<h2 id="topics">');
});
afterAll(() => rm(site, {recursive: true}));

test('the address is the option, else the variable of the build, else none: never a guess', () => {
  expect(clientSettings({api: 'https://a.example'}, {REACT_APP_API_URL: 'https://b.example'}).api).toBe('https://a.example');
  expect(clientSettings({}, {REACT_APP_API_URL: ' https://b.example '}).api).toBe('https://b.example');
  expect(clientSettings({}, {})).toEqual({api: '', book: ''});
});

test('an option that is not known, is no text, or asks for a second instance is refused by name', () => {
  expect(() => checkOptions({apiUrl: 'x'})).toThrow('`apiUrl` is not known');
  expect(() => checkOptions({api: 7860})).toThrow('`api` must be a text');
  expect(() => checkOptions({id: 'second'})).toThrow('one instance');
  expect(checkOptions({api: 'x', citations: undefined})).toEqual({api: 'x', citations: undefined});
});

test('files are named as ingestion names them, from the docs folder wherever it is, newest version only', () => {
  const version = (isLast: boolean, contentPath: string, permalink: string): object => ({
    isLast,
    contentPath,
    docs: [{source: `@site/${path.relative('/repo/web/site', contentPath)}/01-part/02-nodes.mdx`, permalink}],
  });
  const content = {
    default: {loadedVersions: [version(false, '/repo/web/site/old', '/docs/next/nodes'), version(true, '/repo/corpus/book', '/docs/nodes')]},
  };
  expect(pagesOf({'docusaurus-plugin-content-docs': content}, '/repo/web/site')).toEqual({'01-part/02-nodes.mdx': '/docs/nodes'});
  expect(pagesOf({}, '/repo/web/site')).toEqual({});
});

test('every citation is looked up in what was built, and those that lead nowhere are named', async () => {
  const pages = {'01-nodes.md': '/base/docs/nodes', '02-topics.md': '/base/docs/part/', 'gone.md': '/base/docs/gone'};
  const broken = await brokenCitations(
    [
      {filename: '01-nodes.md', url: '/read/lab/01-nodes#what-a-node-is'},
      {filename: '01-nodes.md', url: '/read/lab/01-nodes'},
      {filename: '02-topics.md', url: '/read/lab/02-topics#topics'},
      {filename: '01-nodes.md', url: '/read/lab/01-nodes#renamed'},
      {filename: 'gone.md', url: '/read/lab/gone#x'},
      {filename: 'other.pdf', url: '/read/lab/other.pdf#x'},
    ],
    pages,
    site,
    '/base/',
  );
  expect(broken).toEqual([
    '01-nodes.md: /base/docs/nodes has no heading #renamed',
    'gone.md: /base/docs/gone was not built',
    'other.pdf: no page of the site shows this file',
  ]);
});

test('a list that is none is refused', async () => {
  await writeFile(path.join(site, 'citations.json'), '[{"filename": "a.md", "url": "/read/b/a#c", "quote": "..."}]');
  await expect(readCitations('citations.json', site)).resolves.toHaveLength(1);
  await writeFile(path.join(site, 'citations.json'), '[{"file": "a.md"}]');
  await expect(readCitations('citations.json', site)).rejects.toThrow('not a JSON list');
});
