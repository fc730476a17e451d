import {expect, test} from 'vitest';
import {citation, done, excerpt} from '../support/scripted-server.ts';
import {harness} from '../support/harness.ts';
import {payloads} from '../support/payloads.ts';

const {server, reader: visit} = harness();
const PER_PAGE = 50;

test('three hundred hostile texts as answer, quote, excerpt, title, selection, warning: no script, no foreign request', async () => {
  const all = payloads();
  expect(all.length).toBeGreaterThanOrEqual(300);
  const reader = await visit();
  await reader.open();
  // The harness counts dialogs, violations and foreign requests; a payload that runs without them sets this.
  await reader.page.evaluate(() => Object.assign(window, {pwned: 0}));
  for (let at = 0; at < all.length; at += PER_PAGE) {
    const batch = all.slice(at, at + PER_PAGE);
    server.script = () => {
      const sources = batch.map((text, index) =>
        citation(index + 1, {quote: text, section_title: text, chapter: text, filename: text, url: text.slice(0, 200)}),
      );
      const grades = ['stated', 'likely', 'own'] as const;
      const sentences = batch.map((text, index) => ({text, citations: [index + 1], support: grades[index % 3] ?? 'own'}));
      const answer = batch.map((text, index) => `${text} [${index + 1}]`).join('\n\n');
      const excerpts = sources.map((source) => excerpt(source, source.quote.slice(1), {cut_before: true, heading_path: [source.quote]}));
      return [
        ...excerpts.slice(0, 3).map((words) => ({send: {type: 'excerpt' as const, ...words}})),
        {send: {type: 'sentence' as const, text: answer, citations: [1], support: 'stated' as const}},
        done(answer, {sources, explanation: answer, sentences, meant: batch[2] ?? '', excerpts, warnings: batch.slice(0, 5), suggestions: batch.slice(0, 5), refusal: 'not_in_book'}),
      ];
    };
    await reader.ask(`Batch ${at}: ${batch[1]}`);
    await reader.answers.last().locator('.from-book').waitFor();
    await reader.answers.last().locator('.fold').click();
    await reader.answers.last().locator('.cite').first().hover();
    await reader.preview.waitFor();
    const found = await reader.widget.evaluate((host) => {
      const nodes = [...(host.shadowRoot?.querySelectorAll('*') ?? [])];
      const allowed = /^(?:https?:\/\/|mailto:)/;
      return {
        elements: nodes.filter((node) => /^(script|iframe|object|embed|img|video|audio|link|style|base|meta|source|template|form:not)$/.test(node.localName)).map((node) => node.outerHTML),
        // What floats is placed by its own style; nothing else has one.
        attributes: nodes
          .filter((node) => !node.matches('.preview, .toolbar'))
          .flatMap((node) => node.getAttributeNames().filter((name) => /^(on.*|style|srcdoc)$/.test(name)).map((name) => `${node.localName} ${name}`)),
        links: nodes.filter((node): node is HTMLAnchorElement => node instanceof HTMLAnchorElement).map(({href}) => href).filter((href) => !allowed.test(href)),
      };
    });
    expect(found).toEqual({elements: [], attributes: [], links: []});
  }
  expect(await reader.page.evaluate(() => (window as unknown as {pwned: number}).pwned)).toBe(0);
});

test('hostile texts stay texts after a reload, and as the name of a conversation', async () => {
  const reader = await visit();
  await reader.open();
  const hostile = payloads().slice(0, 40).join('\n\n');
  server.script = () => [done(hostile, {sources: [citation(1, {quote: hostile})]})];
  await reader.ask('<img src=x onerror="window.pwned=1">');
  await reader.page.reload();
  await reader.questions.waitFor();
  expect(await reader.questions.innerText()).toContain('<img src=x onerror="window.pwned=1">');
  await reader.button('Conversations').click();
  await reader.widget.locator('.conversations .title').waitFor();
  expect(await reader.page.evaluate(() => 'pwned' in window)).toBe(false);
});

test('a hostile detail of an event of the page is no markup', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => {
    dispatchEvent(new CustomEvent('lutrin:ask', {detail: {selectedText: '<svg onload=alert(1)>', question: ''}}));
  });
  expect(await reader.widget.locator('.selection blockquote').innerText()).toBe('<svg onload=alert(1)>');
});
