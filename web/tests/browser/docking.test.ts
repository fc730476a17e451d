import {expect, test} from 'vitest';
import {eventually, harness} from '../support/harness.ts';

const {reader: visit} = harness();
const WIDE = {viewport: {width: 1280, height: 800}};

test('docked, the panel takes the full height beside the text, and the page is told how wide it is', async () => {
  const reader = await visit('/docked', WIDE);
  await reader.open();
  const width = reader.page.viewportSize()?.width ?? 0;
  const [panel, text] = await Promise.all([reader.panel.boundingBox(), reader.page.locator('main').boundingBox()]);
  if (!panel || !text) throw new Error('not drawn');
  expect([panel.y, panel.height]).toEqual([0, 800]);
  expect(panel.x + panel.width).toBeGreaterThan(width - 20);
  expect(text.x + text.width).toBeLessThanOrEqual(panel.x);
  const told = (): Promise<unknown[]> =>
    reader.page.evaluate(() => {
      const {documentElement: root} = document;
      return [root.hasAttribute('data-lutrin-docked'), root.style.getPropertyValue('--lutrin-docked-width')];
    });
  expect(await told()).toEqual([true, '424px']);
  await reader.button('Close').click();
  await reader.bubble.waitFor();
  expect(await told()).toEqual([false, '']);
});

test('what is being read stays where it is when the panel opens and closes', async () => {
  const reader = await visit('/docked', {viewport: {width: 1000, height: 700}});
  await reader.page.evaluate(() => {
    const first = document.querySelector('#first');
    if (first) first.textContent = 'A long paragraph above what is read, whose lines break anew. '.repeat(40);
    document.querySelector('#definition')?.scrollIntoView({block: 'center', behavior: 'instant'});
  });
  const top = (): Promise<number> => reader.page.locator('#definition').evaluate((element) => element.getBoundingClientRect().top);
  const [before, height] = [await top(), await reader.page.evaluate(() => document.querySelector('#first')?.clientHeight)];
  await reader.open();
  expect(await reader.page.evaluate(() => document.querySelector('#first')?.clientHeight)).not.toBe(height);
  expect(Math.abs((await top()) - before)).toBeLessThan(3);
  await reader.button('Close').click();
  await reader.bubble.waitFor();
  expect(Math.abs((await top()) - before)).toBeLessThan(3);
});

test('its edge is dragged or moved by the arrow keys, within limits, and is where it was on the next page', async () => {
  const reader = await visit('/docked', WIDE);
  await reader.open();
  const edge = reader.widget.getByRole('separator');
  const width = async (): Promise<number> => (await reader.panel.boundingBox())?.width ?? 0;
  const box = await edge.boundingBox();
  if (!box) throw new Error('not drawn');
  await reader.page.mouse.move(box.x + box.width / 2, 400);
  await reader.page.mouse.down();
  await reader.page.mouse.move(box.x + box.width / 2 - 100, 400, {steps: 4});
  await reader.page.mouse.up();
  expect(Math.abs((await width()) - 524)).toBeLessThan(4);
  const dragged = await width();
  await reader.page.keyboard.press('ArrowLeft');
  await eventually(width, dragged + 24);
  await reader.page.keyboard.press('End');
  await eventually(width, 760);
  expect(await edge.getAttribute('aria-valuenow')).toBe('760');
  await reader.page.keyboard.press('Home');
  await eventually(width, 320);
  await reader.page.reload();
  await reader.panel.waitFor();
  expect(await width()).toBe(320);
  await reader.widget.getByRole('separator').dblclick();
  await eventually(width, 424);
});

test('on a page that is written from right to left it stands on the left, and so does the button', async () => {
  const reader = await visit('/docked-rtl', WIDE);
  expect((await reader.bubble.boundingBox())?.x).toBe(24);
  await reader.open();
  expect((await reader.panel.boundingBox())?.x).toBe(0);
  const edge = await reader.widget.getByRole('separator').boundingBox();
  expect(edge && Math.abs(edge.x + edge.width / 2 - 424)).toBeLessThan(2);
  const text = await reader.page.locator('main').boundingBox();
  expect(text?.x).toBeGreaterThanOrEqual(424);
  await reader.widget.getByRole('separator').focus();
  await reader.page.keyboard.press('ArrowRight');
  await eventually(async () => (await reader.panel.boundingBox())?.width, 448);
});

test('a tablet has it beside the text, as narrow as is useful', async () => {
  const tablet = await visit('/docked', {viewport: {width: 768, height: 1024}});
  await tablet.open();
  const [panel, text] = await Promise.all([tablet.panel.boundingBox(), tablet.page.locator('main').boundingBox()]);
  expect(panel).toMatchObject({y: 0, width: 320, height: 1024});
  expect(panel && text && text.x + text.width <= panel.x && text.width > 380).toBe(true);
});

test('a narrower page has it over its edge, a phone as a sheet that is drawn down or pressed away', async () => {
  const narrow = await visit('/docked', {viewport: {width: 700, height: 700}});
  await narrow.open();
  expect(await narrow.panel.boundingBox()).toMatchObject({y: 0, width: 424, height: 700});
  expect(await narrow.page.evaluate(() => document.documentElement.hasAttribute('data-lutrin-docked'))).toBe(false);
  const phone = await visit('/docked', {viewport: {width: 390, height: 760}});
  await phone.open();
  await eventually(() => phone.panel.boundingBox(), {x: 0, y: 32, width: 390, height: 728}); // once it has risen
  await phone.page.mouse.click(195, 10);
  await phone.panel.waitFor({state: 'hidden'});
  await phone.open();
  await phone.page.mouse.move(195, 60);
  await phone.page.mouse.down();
  await phone.page.mouse.move(195, 90, {steps: 3});
  await phone.page.mouse.up();
  await phone.panel.waitFor();
  await phone.page.mouse.move(195, 60);
  await phone.page.mouse.down();
  await phone.page.mouse.move(195, 300, {steps: 3});
  await phone.page.mouse.up();
  await phone.panel.waitFor({state: 'hidden'});
});

test('on a foreign page it floats', async () => {
  const reader = await visit('/', WIDE);
  await reader.open();
  await reader.panel.evaluate((panel) => Promise.all(panel.getAnimations().map(({finished}) => finished)));
  expect(await reader.panel.boundingBox()).toEqual({x: 856, y: 136, width: 400, height: 640});
  expect(await reader.widget.getByRole('separator').count()).toBe(0);
});
