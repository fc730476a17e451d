import {expect, test} from 'vitest';
import {eventually, harness} from '../support/harness.ts';

const {server, reader: visit} = harness();
const FIRST = 'ROS 2 is a set of libraries for building robots out of small programs.';

test('text selected with the mouse can be asked about, with the book behind it; the panel shows it, and it can be removed', async () => {
  const reader = await visit();
  await reader.select('#first');
  await eventually(() => reader.toolbar.getByRole('button').allInnerTexts(), ['Ask', 'Explain', 'Simplify']);
  await reader.button('Ask').click();
  expect(await reader.widget.locator('.selection blockquote').innerText()).toBe(FIRST);
  await reader.ask('What is it made for?');
  expect(server.asked).toMatchObject([{message: 'What is it made for?', selected_text: FIRST, mode: 'selection_boosted'}]);
  expect(await reader.questions.locator('.selected').innerText()).toBe(FIRST);
  await reader.ask('And without it?');
  expect(server.asked[1]).not.toHaveProperty('selected_text');
  await reader.select('#first');
  await reader.button('Ask').click();
  await reader.button('Remove the selection').click();
  await reader.ask('And removed?');
  expect(server.asked[2]).not.toHaveProperty('selected_text');
});

test('only this passage holds for one question', async () => {
  const reader = await visit();
  const only = reader.widget.getByLabel('Only this passage, for one question');
  await reader.select('#first');
  await reader.button('Ask').click();
  expect(await only.isChecked()).toBe(false);
  await only.check();
  await reader.ask('What is it made for?');
  expect(server.asked[0]).toMatchObject({selected_text: FIRST, mode: 'selection'});
  await reader.select('#first');
  await reader.button('Ask').click();
  expect(await only.isChecked()).toBe(false);
});

test('nothing in the panel is offered: neither an answer nor the name of a conversation', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.answers.locator('blockquote').first().dblclick();
  await reader.page.waitForTimeout(400);
  expect(await reader.toolbar.count()).toBe(0);
  await reader.button('Conversations').click();
  await reader.button('Rename').click();
  await reader.widget.locator('input[name=title]').selectText();
  await reader.page.waitForTimeout(400);
  expect(await reader.toolbar.count()).toBe(0);
});

test('renaming a conversation brings back no toolbar over a passage that is still selected in the page', async () => {
  const reader = await visit();
  await reader.select('#first');
  await reader.button('Ask').click();
  await reader.ask('What is this?');
  for (const end of ['Enter', 'Escape']) {
    await reader.button('Conversations').click();
    await reader.button('Rename').click();
    await reader.page.keyboard.press('Control+a');
    await reader.page.keyboard.type('By hand');
    await reader.page.keyboard.press(end);
    await reader.page.waitForTimeout(500);
    expect(await reader.toolbar.count(), end).toBe(0);
    if (end === 'Enter') await reader.button('Back to the conversation').click();
  }
});

test('where the page keeps notes, a selection can be highlighted or noted: the page gets its words and its place', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => {
    document.documentElement.setAttribute('data-lutrin-notes', '');
    addEventListener('lutrin:note', (event) => {
      const {selectedText, range, write} = (event as CustomEvent<{selectedText: string; range: Range; write: boolean}>).detail;
      document.title = `${selectedText === range.toString()} ${range.startContainer.parentElement?.id} ${write}`;
    });
  });
  await reader.select('#first');
  await reader.button('Note').click();
  await eventually(() => reader.page.title(), 'true first true');
  await reader.select('#definition');
  await reader.button('Highlight').click();
  await eventually(() => reader.page.title(), 'true definition false');
  expect(await reader.panel.count()).toBe(0);
});

test.each([100, 2000])('the toolbar comes with all its buttons: none moves, also where the server takes %d ms to tell what it offers', async (pause_ms) => {
  const reader = await visit();
  server.explainsPause_ms = pause_ms;
  await reader.page.evaluate(() => document.documentElement.setAttribute('data-lutrin-notes', ''));
  const first = reader.widget.evaluate(
    ({shadowRoot: root}) =>
      new Promise<string[]>((resolve) => {
        const look = (): void => {
          const buttons = [...(root?.querySelectorAll('.toolbar button') ?? [])];
          if (buttons.length) resolve(buttons.map(({textContent}) => textContent));
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  await reader.select('#first');
  expect(await first).toEqual(['Ask', 'Explain', 'Simplify', 'Highlight', 'Note']);
});

test.each([
  ['Explain', 'Explain this passage.', 'selection_boosted'],
  ['Simplify', 'Explain this passage in simpler words.', 'selection_boosted'],
])('%s asks at once', async (name, question, mode) => {
  const reader = await visit();
  await reader.select('#first');
  await reader.button(name).click();
  await reader.answers.locator('.text').waitFor();
  expect(server.asked).toMatchObject([{message: question, selected_text: FIRST, mode}]);
  expect(await reader.widget.locator('.selection').count()).toBe(0);
});

test('text selected with the keyboard: Tab goes to the toolbar, arrows along it, Escape back', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => {
    const text = document.querySelector('#first')?.firstChild;
    if (text) getSelection()?.setBaseAndExtent(text, 0, text, 5);
  });
  for (let n = 0; n < 5; n += 1) await reader.page.keyboard.press('Shift+ArrowRight');
  await reader.toolbar.waitFor();
  await reader.page.keyboard.press('Tab');
  const focused = (): Promise<string | undefined> => reader.widget.evaluate((host) => host.shadowRoot?.activeElement?.textContent?.trim());
  expect(await focused()).toBe('Ask');
  await reader.page.keyboard.press('ArrowRight');
  await reader.page.keyboard.press('ArrowRight');
  expect(await focused()).toBe('Simplify');
  await reader.page.keyboard.press('Enter');
  await reader.answers.locator('.text').waitFor();
  expect(server.asked[0]?.selected_text).toBe('ROS 2 is a');
});

test('text selected by touch gets the toolbar below it, where the system’s own menu is not', async () => {
  const reader = await visit('/read/lab/part-1/01-nodes', {hasTouch: true, isMobile: true, viewport: {width: 390, height: 800}});
  await reader.page.locator('h1').tap();
  await reader.page.evaluate(() => {
    const element = document.querySelector('#first');
    if (element) getSelection()?.selectAllChildren(element);
  });
  await reader.toolbar.waitFor();
  await eventually(async () => {
    const [bar, text] = await Promise.all([reader.toolbar.boundingBox(), reader.page.locator('#first').boundingBox()]);
    return Boolean(bar && text && bar.y >= text.y + text.height);
  }, true);
  await reader.button('Ask').tap();
  expect(await reader.widget.locator('.selection blockquote').innerText()).toBe(FIRST);
});

test('Escape dismisses the toolbar, and so does a press elsewhere; typing in a field never brings it', async () => {
  const reader = await visit();
  await reader.select('#first');
  await reader.toolbar.waitFor();
  await reader.page.keyboard.press('Escape');
  await reader.toolbar.waitFor({state: 'detached'});
  await reader.select('#first');
  await reader.toolbar.waitFor();
  await reader.page.locator('h1').click();
  await reader.toolbar.waitFor({state: 'detached'});
  await reader.page.locator('#notes').focus();
  await reader.page.keyboard.press('Control+a');
  await reader.page.waitForTimeout(400);
  expect(await reader.toolbar.count()).toBe(0);
});

test('the toolbar stays beside the text when the page scrolls', async () => {
  const reader = await visit();
  await reader.select('#first');
  await reader.toolbar.waitFor();
  await reader.page.mouse.wheel(0, 30);
  await eventually(async () => {
    const [bar, text] = await Promise.all([reader.toolbar.boundingBox(), reader.page.locator('#first').boundingBox()]);
    return bar && text ? Math.abs(bar.y + bar.height - text.y) < 14 : false;
  }, true);
});

test('not in the selection: one press asks the whole book', async () => {
  const reader = await visit();
  await reader.select('#first');
  await reader.button('Ask').click();
  await reader.widget.getByLabel('Only this passage').check();
  await reader.ask('How does this relate to motion control?');
  expect(await reader.answers.locator('.text').innerText()).toBe('The selected text does not contain the answer.');
  await reader.button('Search the whole book').click();
  await reader.finished.nth(1).waitFor();
  expect(server.asked[1]).toMatchObject({message: 'How does this relate to motion control?', mode: 'book'});
  expect(server.asked[1]).not.toHaveProperty('selected_text');
});

test('a page can ask by an event: a question at once, a selection alone in the panel', async () => {
  const reader = await visit();
  const ask = (detail: object): Promise<void> =>
    reader.page.evaluate((value) => void dispatchEvent(new CustomEvent('lutrin:ask', {detail: value})), detail);
  await ask({question: 'What is a node?', selectedText: 'Nodes talk over topics.'});
  await reader.finished.waitFor();
  expect(server.asked).toMatchObject([{message: 'What is a node?', selected_text: 'Nodes talk over topics.'}]);
  await ask({selectedText: 'Only this.'});
  expect(await reader.widget.locator('.selection blockquote').innerText()).toBe('Only this.');
  await ask({question: 42, selectedText: {toString: 'x'}});
  await ask({});
  expect(server.asked).toHaveLength(1);
});

test('a question by event during an answer waits in the input', async () => {
  const reader = await visit();
  await reader.open();
  await reader.send('A slow one');
  await reader.page.evaluate(() => void dispatchEvent(new CustomEvent('lutrin:ask', {detail: {question: 'And a node?'}})));
  await eventually(() => reader.input.inputValue(), 'And a node?');
  await reader.button('Stop').click();
  await eventually(() => reader.button('Send').isEnabled(), true);
  expect(server.asked).toHaveLength(1);
});

test('a button with data-lutrin-context asks; any other element with it gets the toolbar', async () => {
  const reader = await visit();
  await reader.page.getByRole('button', {name: 'Ask about this'}).click();
  await reader.finished.waitFor();
  expect(server.asked).toMatchObject([{message: 'How do nodes talk?', selected_text: 'Nodes talk over topics.'}]);
  await reader.button('Close').click();
  await reader.panel.waitFor({state: 'hidden'});
  await reader.page.locator('#marked').click();
  await reader.toolbar.waitFor();
  await reader.page.waitForTimeout(600); // longer than a selection has to rest: that there is none takes nothing away
  await reader.button('Ask').click();
  expect(await reader.widget.locator('.selection blockquote').innerText()).toBe('Give every node a name that says what it does.');
});
