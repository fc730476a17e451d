import {expect, test} from 'vitest';
import {NODE} from '../support/answers.ts';
import type {Reader} from '../support/browser.ts';
import {eventually, harness} from '../support/harness.ts';
import {done, excerpt} from '../support/scripted-server.ts';

const {server, reader: visit, base} = harness();

/** The text that is marked in the page. */
function marked(reader: Reader): Promise<string> {
  return reader.page.evaluate(() =>
    [...(CSS.highlights.get('lutrin-passage') ?? [])].map((range) => range.toString()).join('|'),
  );
}

async function answered(path?: string, options?: Parameters<typeof visit>[1]): Promise<Reader> {
  const reader = await visit(path, options);
  await reader.open();
  await reader.ask('What is a node?');
  return reader;
}

test('hovering a citation shows the quoted sentence, leaving hides it', async () => {
  const reader = await answered();
  await reader.widget.locator('.cite').first().hover();
  await reader.preview.waitFor();
  expect(await reader.preview.locator('blockquote').innerText()).toBe('A node is a process that does one job.');
  expect(await reader.preview.locator('.label').innerText()).toBe('Chapter 1: Nodes › What a node is');
  await reader.preview.hover(); // it can be read with the pointer in it
  await reader.page.waitForTimeout(300);
  expect(await reader.preview.isVisible()).toBe(true);
  await reader.panel.locator('h2').hover();
  await reader.preview.waitFor({state: 'hidden'});
});

test('a source in another book than the open one names its book, in the card and in the preview', async () => {
  const reader = await visit();
  const other = {...NODE, book: 'other', book_title: 'The Other Book'};
  server.script = () => [done('A node does one job. [1]', {explanation: 'A node does one job. [1]', sources: [other], excerpts: [excerpt(other)]})];
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.widget.locator('.place').innerText()).toBe('The Other Book › Chapter 1: Nodes › What a node is');
  await reader.widget.locator('.cite').first().hover();
  await reader.preview.waitFor();
  expect(await reader.preview.locator('.label').innerText()).toBe('The Other Book › Chapter 1: Nodes › What a node is');
  await reader.page.evaluate(() => Object.assign(document.querySelector('lutrin-chat')!, {book: 'other'}));
  await reader.widget.locator('.place').getByText('Chapter 1: Nodes › What a node is', {exact: true}).waitFor();
});

test('focus shows it as well, Escape hides it without closing the panel, and it describes the link', async () => {
  const reader = await answered();
  await reader.widget.locator('.cite').nth(1).focus();
  await reader.preview.waitFor();
  expect(await reader.preview.locator('blockquote').innerText()).toContain('Reliable delivery');
  expect(await reader.widget.locator('.cite').nth(1).getAttribute('aria-describedby')).toBe(await reader.preview.getAttribute('id'));
  await reader.page.keyboard.press('Escape');
  await reader.preview.waitFor({state: 'hidden'});
  expect(await reader.panel.isVisible()).toBe(true);
});

test.each([
  ['points', '- Sense the world\n- Decide\n- Act', 'li', ['Sense the world', 'Decide', 'Act']],
  ['steps', '1. Sense the world\n2. Decide\n3. Act', 'li', ['Sense the world', 'Decide', 'Act']],
  ['steps from the middle', '3. Sense the world\n4. Decide', 'li', ['Sense the world', 'Decide']],
  ['points behind their sentence', 'It does:\n- Sense the world\n- Decide', 'li', ['Sense the world', 'Decide']],
  ['points without the first sign', 'Sense the world\n- Decide\n- Act', 'p, li', ['Sense the world', 'Decide', 'Act']],
])('the preview shows a quoted list whole: %s', async (_, quote, parts, wanted) => {
  const reader = await visit();
  server.script = () => [done('Three things. [1]', {sources: [{...NODE, quote}]})];
  await reader.open();
  await reader.ask('What does it do?');
  await reader.widget.locator('.cite').first().hover();
  await reader.preview.waitFor();
  const shown = reader.preview.locator('blockquote').locator(parts);
  expect((await shown.allInnerTexts()).filter((text) => text !== 'It does:')).toEqual(wanted);
  const [frame, first] = [await reader.preview.boundingBox(), await shown.first().boundingBox()];
  expect(first && frame && first.y >= frame.y && first.x >= frame.x + 10).toBe(true);
});

test('the preview stays inside the window', async () => {
  const reader = await answered(undefined, {viewport: {width: 320, height: 568}});
  await reader.widget.locator('.cite').last().hover();
  await reader.preview.waitFor();
  await eventually(async () => {
    const box = await reader.preview.boundingBox();
    return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= 320 && box.y + box.height <= 568;
  }, true);
});

test('following one on the same page lands on its heading with the passage marked', async () => {
  const reader = await answered();
  await reader.widget.locator('.cite').first().click();
  await eventually(() => marked(reader), 'A node is a process that does one job.');
  expect(new URL(reader.page.url()).hash).toBe('#what-a-node-is');
  await eventually(() => reader.page.locator('#what-a-node-is').evaluate((heading) => Math.abs(heading.getBoundingClientRect().top) < 40), true);
  await eventually(() => reader.page.locator('#definition').evaluate((text) => text.getBoundingClientRect().bottom < innerHeight), true);
  expect(await reader.panel.isVisible()).toBe(true);
});

test('following one to another page marks the passage there, and the conversation is still open', async () => {
  const reader = await answered();
  await reader.widget.locator('.place').nth(1).click();
  await reader.page.waitForURL('**/02-topics#quality-of-service');
  await eventually(() => marked(reader), 'Reliable delivery repeats what was lost; best effort does not.');
  await reader.questions.waitFor();
  await reader.page.reload();
  await reader.questions.waitFor();
  expect(await marked(reader)).toBe('');
});

/** On a page that scrolls smoothly, as the reader's do: links with these fragments and quotes, and a way to press them. */
async function leading(...links: [string, string][]): Promise<Reader> {
  const reader = await visit();
  await reader.page.evaluate((links) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('html {scroll-behavior: smooth; scroll-padding-top: 3rem} a[data-lutrin-quote] {position: fixed; inset: 0 0 auto auto}');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    for (const [fragment, quote] of links) {
      const link = Object.assign(document.createElement('a'), {href: location.pathname + fragment, textContent: quote});
      link.dataset['lutrinQuote'] = quote;
      document.body.append(link);
    }
  }, links);
  return reader;
}

test.each([0, 2])('following one while the page still scrolls to the last one, %d pixels on its way, ends with its passage in view', async (way_px) => {
  const first = 'ROS 2 is a set of libraries for building robots out of small programs.';
  const reader = await leading(['#what-a-node-is', 'A node is a process that does one job.'], ['', first]);
  await reader.page.evaluate(async (way_px) => {
    const [far, near] = document.querySelectorAll<HTMLElement>('a[data-lutrin-quote]');
    far?.click();
    // Followed, but the passage at the top of the page is still in view.
    while (!CSS.highlights.has('lutrin-passage')) await new Promise((resolve) => setTimeout(resolve));
    while (scrollY < way_px) await new Promise(requestAnimationFrame);
    near?.click();
  }, way_px);
  await eventually(() => marked(reader), first);
  expect(new URL(reader.page.url()).hash).toBe('');
  const {top, bottom, height} = await reader.passageAtRest();
  expect(top).toBeGreaterThanOrEqual(0);
  expect(bottom).toBeLessThanOrEqual(height);
});

test('a heading that is itself the passage rests where its fragment puts it', async () => {
  const reader = await leading(['#what-a-node-is', 'What a node is']);
  await reader.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('h2 {line-height: 1}'); // less than its letters need
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    document.querySelector<HTMLElement>('a[data-lutrin-quote]')?.click();
  });
  await eventually(() => marked(reader), 'What a node is');
  await reader.passageAtRest();
  const top = await reader.page.locator('#what-a-node-is').evaluate((heading) => heading.getBoundingClientRect().top);
  expect(Math.abs(top - 48)).toBeLessThan(2); // 3rem, as the page's style has it
});

test('a passage in view that the way to its heading would take out of view stays in view', async () => {
  const quote = 'Nodes talk over topics.';
  const reader = await leading(['#nodes', quote]);
  await reader.page.locator('#definition').evaluate((text) => text.scrollIntoView({behavior: 'instant', block: 'center'}));
  await reader.page.evaluate(() => document.querySelector<HTMLElement>('a[data-lutrin-quote]')?.click());
  await eventually(() => marked(reader), quote);
  const {top, bottom, height} = await reader.passageAtRest();
  expect(top).toBeGreaterThanOrEqual(0);
  expect(bottom).toBeLessThanOrEqual(height);
});

test('a citation opened in a new tab is marked there', async () => {
  const reader = await answered();
  const [tab] = await Promise.all([reader.context.waitForEvent('page'), reader.widget.locator('.place').nth(1).click({modifiers: ['Control']})]);
  await tab.waitForURL('**/02-topics#quality-of-service');
  await expect.poll(() => tab.evaluate(() => CSS.highlights.size), {timeout: 4000}).toBe(1);
});

test('on a touch screen the first tap shows the quote, the second follows it and makes room', async () => {
  const reader = await answered('/read/lab/part-1/01-nodes', {hasTouch: true, isMobile: true, viewport: {width: 390, height: 800}});
  await reader.widget.locator('.cite').first().tap();
  await reader.preview.waitFor();
  expect(new URL(reader.page.url()).hash).toBe('');
  await reader.preview.getByRole('link', {name: 'Open in the book'}).tap();
  await eventually(() => marked(reader), 'A node is a process that does one job.');
  expect(await reader.panel.count()).toBe(0);
});

test.each([0, 1])('on a phone, Back from a citation returns with the panel open: source %i', async (source) => {
  const reader = await answered('/read/lab/part-1/01-nodes', {hasTouch: true, isMobile: true, viewport: {width: 390, height: 800}});
  await reader.widget.locator('.place').nth(source).tap();
  await reader.page.waitForURL(/#/);
  await reader.panel.waitFor({state: 'detached'});
  await reader.page.goBack();
  await reader.panel.waitFor();
  await reader.answers.locator('.from-book').waitFor();
  await reader.button('Close').tap();
  await reader.page.reload();
  await reader.bubble.waitFor();
  expect(await reader.panel.count()).toBe(0);
});

test('the place above an excerpt needs no preview: one tap follows it', async () => {
  const reader = await answered('/read/lab/part-1/01-nodes', {hasTouch: true, isMobile: true, viewport: {width: 390, height: 800}});
  await reader.widget.locator('.place').first().tap();
  await eventually(() => marked(reader), 'A node is a process that does one job.');
});

test('a site can lead citations to its own pages', async () => {
  const reader = await visit('/');
  await reader.widget.evaluate((chat) => {
    Object.assign(chat, {resolveLink: (citation: {filename: string}) => `/docs/${citation.filename.replace('.md', '')}`});
  });
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.widget.locator('.place').first().getAttribute('href')).toBe('/docs/part-1/01-nodes');
  expect(base()).toContain('127.0.0.1');
});
