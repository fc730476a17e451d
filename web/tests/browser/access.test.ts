import type {BrowserContextOptions} from 'playwright-core';
import {describe, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import type {Reader} from '../support/browser.ts';
import {eventually, harness, NODES} from '../support/harness.ts';

const {reader: visit} = harness();

describe('axe finds nothing', () => {
  const open = (reader: Reader): Promise<void> => reader.open();
  const answered = async (reader: Reader): Promise<void> => {
    await reader.open();
    await reader.ask('What is a node?');
    await reader.answers.getByRole('button', {name: 'Not helpful'}).click();
    await reader.widget.locator('.cite').first().focus();
  };
  const states: [string, (reader: Reader) => Promise<void>, BrowserContextOptions?, string?][] = [
    ['closed', async () => undefined],
    ['open', open],
    ['streaming', async (reader) => {
      await reader.open();
      await reader.send('A slow one');
      await reader.widget.locator('.from-book').waitFor();
    }],
    ['error', async (reader) => {
      await reader.open();
      await reader.ask('Something broken');
    }],
    ['docked beside the text', answered, {}, '/docked'],
    ['limit', async (reader) => {
      await reader.open();
      await reader.input.fill('How often may I ask?');
      await reader.input.press('Enter');
      await reader.widget.locator('.wait').waitFor();
    }],
    ['forced colours', answered, {forcedColors: 'active'}],
    ['320 pixels', answered, {viewport: {width: 320, height: 568}}],
    ['right-to-left', answered, {}, '/rtl'],
    ['answered', answered],
    ['unfolded', async (reader) => {
      await reader.open();
      await reader.ask('What is a node?');
      await reader.button('not word for word in the book').click();
      await reader.answers.locator('mark').first().waitFor();
      await reader.button('Go to the newest text').click(); // as it goes, all moves down
      await eventually(() => reader.button('Go to the newest text').count(), 0);
    }],
    ['selection', async (reader) => {
      await reader.select('#first');
      await reader.button('Ask').click();
      await reader.select('#definition');
      await reader.toolbar.waitFor();
    }],
    ['refusal', async (reader) => {
      await reader.open();
      await reader.ask('What is the weather like?');
    }],
    ['conversations', async (reader) => {
      await reader.open();
      await reader.ask('What is a node?');
      await reader.button('Conversations').click();
      await reader.button('Rename').click();
    }],
  ];
  test.each(states)('in the state: %s', async (_, act, options = {}, path = NODES) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const reader = await visit(path, {colorScheme, ...options});
      await act(reader);
      expect(await axeFindings(reader, 'lutrin-chat'), colorScheme).toEqual([]);
      await reader.context.clearCookies();
      await reader.page.evaluate(() => localStorage.clear());
    }
  });
});

test('a contrast that axe cannot decide is measured: faint words on a gradient are found, dark ones are not', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => {
    for (const [id, ink] of [['faint', '#aaa'], ['plain', '#222']] as const) {
      const words = Object.assign(document.createElement('p'), {id, textContent: 'Words on a gradient'});
      words.style.setProperty('background', 'linear-gradient(#fff, #eee)');
      words.style.setProperty('color', ink);
      document.querySelector('article')?.append(words);
    }
  });
  expect(await axeFindings(reader, '#faint')).toEqual([expect.stringMatching(/^contrast: .*less than 4\.5 to 1/)]);
  expect(await axeFindings(reader, '#plain')).toEqual([]);
});

test('the whole journey by keyboard alone', async () => {
  const reader = await visit('/');
  const {keyboard} = reader.page;
  const focused = (): Promise<string | null | undefined> =>
    reader.widget.evaluate((host) => {
      const element = host.shadowRoot?.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent?.replace(/\s+/g, ' ').trim();
    });
  const tabTo = async (name: string, key = 'Tab'): Promise<void> => {
    for (let presses = 0; presses < 30 && (await focused()) !== name; presses += 1) await keyboard.press(key);
    expect(await focused()).toBe(name);
  };
  await tabTo('Ask the book');
  await keyboard.press('Enter');
  await eventually(focused, 'Your question');
  await keyboard.type('A slow one');
  await keyboard.press('Enter');
  await eventually(focused, 'Stop');
  await keyboard.press('Enter');
  await eventually(focused, 'Your question');
  await keyboard.type('What is a node?');
  await keyboard.press('Enter');
  await reader.finished.nth(1).waitFor();
  await eventually(focused, 'The book'); // the answer itself, to be read on from
  await tabTo('Helpful');
  await keyboard.press('Space');
  await eventually(() => reader.button('Helpful').getAttribute('aria-pressed'), 'true');
  await tabTo('Source 2: Quality of service', 'Shift+Tab');
  await reader.preview.waitFor();
  await tabTo('Conversations', 'Shift+Tab');
  await keyboard.press('Enter');
  await tabTo('Rename');
  await keyboard.press('Enter');
  await keyboard.press('Control+a');
  await keyboard.type('By hand');
  await keyboard.press('Enter');
  await reader.widget.getByText('By hand').waitFor();
  await tabTo('Delete');
  await keyboard.press('Enter');
  await eventually(focused, 'Delete');
  await keyboard.press('Escape');
  await keyboard.press('Escape');
  await eventually(focused, 'Your question');
  await tabTo('Chapter 1: Nodes › Quality of service', 'Shift+Tab');
  await keyboard.press('Enter');
  await reader.page.waitForURL('**/02-topics#quality-of-service');
  await reader.panel.waitFor();
  await reader.panel.focus();
  await keyboard.press('Escape');
  await eventually(focused, 'Ask the book');
});

test('one key opens the panel from anywhere and goes back to where the reader was; so does Escape', async () => {
  const reader = await visit();
  const {keyboard} = reader.page;
  const link = reader.page.getByRole('link', {name: 'Topics'});
  const inInput = (): Promise<boolean> => reader.widget.evaluate((host) => host.shadowRoot?.activeElement?.localName === 'textarea');
  for (const back of ['Control+i', 'Escape']) {
    await link.focus();
    await keyboard.press('Control+i');
    await eventually(inInput, true);
    await keyboard.press(back);
    await reader.panel.waitFor({state: 'hidden'});
    await eventually(() => link.evaluate((element) => document.activeElement === element), true);
  }
  await keyboard.press('Control+i');
  await reader.panel.waitFor();
  await link.focus();
  await keyboard.press('Escape'); // from the text, too, and the focus stays there
  await reader.panel.waitFor({state: 'hidden'});
  expect(await link.evaluate((element) => document.activeElement === element)).toBe(true);
  await reader.select('#first');
  await reader.toolbar.waitFor();
  await keyboard.press('Control+i');
  await reader.widget.locator('.selection').waitFor();
});

test('the focus goes to the answer when it is there, and what is typed there goes on in the input', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await eventually(() => reader.widget.evaluate((host) => host.shadowRoot?.activeElement?.className), 'message book');
  await reader.page.keyboard.type('And a topic?');
  expect(await reader.input.inputValue()).toBe('And a topic?');
});

test('whatever can be pressed in the panel is 24 pixels wide and high at least', async () => {
  const reader = await visit('/docked');
  await reader.open();
  await reader.ask('What is a node?');
  await reader.answers.getByRole('button', {name: 'Not helpful'}).click();
  const small = await reader.widget.evaluate((host) =>
    [...(host.shadowRoot?.querySelectorAll<HTMLElement>('button, a[href], label, input:not([type=checkbox]), [role=separator]') ?? [])]
      .map((element) => ({name: element.className || element.localName, box: element.getBoundingClientRect()}))
      .filter(({box}) => box.width < 24 || box.height < 24)
      .map(({name, box}) => `${name} ${box.width} x ${box.height}`),
  );
  expect(small).toEqual([]);
});

test('a screen reader is told that an answer is looked up, and then the answer', async () => {
  const reader = await visit();
  await reader.open();
  const said = (): Promise<string> => reader.widget.getByRole('status').innerText();
  await reader.send('Is there a queue?');
  await eventually(said, 'Looking it up');
  await reader.button('Stop').click();
  await reader.ask('What is a node?');
  await eventually(async () => (await said()).startsWith('A node does one thing only.'), true);
});

test('who asked for less motion gets none', async () => {
  const reader = await visit(NODES, {reducedMotion: 'reduce'});
  await reader.open();
  await reader.send('A slow one');
  const moving = await reader.widget.evaluate((host) => host.shadowRoot?.getAnimations().length);
  expect(moving).toBe(0);
});

test('on 320 pixels nothing is cut off or scrolls sideways, and the focus stays in the panel', async () => {
  const reader = await visit(NODES, {viewport: {width: 320, height: 568}});
  await reader.open();
  await reader.ask('What is a node?');
  const overflow = await reader.widget.evaluate((host) =>
    [...(host.shadowRoot?.querySelectorAll<HTMLElement>('.panel, .panel *:not(pre, pre *, bdi, svg *)') ?? [])]
      .filter((element) => {
        const {left, right} = element.getBoundingClientRect();
        return left < -0.5 || right > 320.5;
      })
      .map((element) => element.className),
  );
  expect(overflow).toEqual([]);
  expect(await reader.panel.boundingBox()).toEqual({x: 0, y: 32, width: 320, height: 536});
  for (let presses = 0; presses < 25; presses += 1) {
    await reader.page.keyboard.press('Tab');
    expect(await reader.page.evaluate(() => document.activeElement?.localName)).toBe('lutrin-chat');
  }
});

test('at twice the letters everything can still be reached', async () => {
  const reader = await visit(NODES, {viewport: {width: 640, height: 400}});
  await reader.open();
  await reader.panel.evaluate((panel) => Promise.all(panel.getAnimations().map(({finished}) => finished)));
  const box = await reader.panel.boundingBox();
  expect(box && box.y >= 0 && box.y + box.height <= 400).toBe(true);
  await reader.ask('What is a node?');
  await reader.button('Helpful').scrollIntoViewIfNeeded();
  expect(await reader.button('Helpful').isVisible()).toBe(true);
});

test('a page chooses its theme, and its printed form has no widget', async () => {
  const reader = await visit();
  await reader.open();
  const paper = (): Promise<string> => reader.panel.evaluate((panel) => getComputedStyle(panel).backgroundColor);
  expect(await paper()).toBe('rgb(251, 246, 236)');
  await reader.page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
  await eventually(paper, 'rgb(33, 24, 18)');
  await reader.widget.evaluate((chat) => chat.setAttribute('theme', 'light'));
  await eventually(paper, 'rgb(251, 246, 236)');
  await reader.page.evaluate(() => document.documentElement.attributeStyleMap.set('--lutrin-paper', 'rgb(1, 2, 3)'));
  await eventually(paper, 'rgb(1, 2, 3)');
  await reader.page.emulateMedia({media: 'print'});
  expect(await reader.widget.isVisible()).toBe(false);
});
