/** Debian's Chromium, and pages in it that hold the widget and keep a record of what must never happen. */

import {chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page} from 'playwright-core';

/**
 * What Playwright turns off, which a second list replaces, and two pages that Chromium draws for the address bar of each
 * window, where nobody sees them.
 */
const OFF = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'AimEnabled',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/** An explanation of a model may follow for ten seconds (`LUTRIN_EXPLAIN_S`), and the machine may be busy. */
const PATIENCE_MS = 20_000;

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', `--disable-features=${OFF.join(',')}`],
  });
}

/** A page, the parts of the widget in it, and what it did that it must not. */
export class Reader {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the content security policy, and uncaught errors. */
  readonly violations: string[] = [];
  readonly consoleErrors: string[] = [];
  /** Requests that left the origin. */
  readonly foreign: string[] = [];

  private constructor(context: BrowserContext, page: Page, origins: readonly string[]) {
    this.context = context;
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.violations.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'error') return;
      this.consoleErrors.push(message.text());
      if (/Content Security Policy|TrustedHTML/i.test(message.text())) this.violations.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.violations.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const {origin, protocol} = new URL(request.url());
      if (!origins.includes(origin) && !/^(data|blob):/.test(protocol)) this.foreign.push(request.url());
    });
  }

  /** @param api Origin of the server, where it is not the page's own. */
  static async at(browser: Browser, base: string, path: string, options: BrowserContextOptions = {}, api = base): Promise<Reader> {
    const context = await browser.newContext({viewport: {width: 1280, height: 800}, locale: 'en-GB', ...options});
    const reader = new Reader(context, await context.newPage(), [base, api]);
    await reader.page.goto(base + path);
    return reader;
  }

  get widget(): Locator {
    return this.page.locator('lutrin-chat');
  }

  get bubble(): Locator {
    return this.widget.locator('.bubble');
  }

  get panel(): Locator {
    return this.widget.locator('.panel');
  }

  get input(): Locator {
    return this.widget.locator('textarea');
  }

  get answers(): Locator {
    return this.widget.locator('.message.book');
  }

  /** Answers that are no longer being written. */
  get finished(): Locator {
    return this.widget.locator('.message.book[aria-busy="false"]');
  }

  get questions(): Locator {
    return this.widget.locator('.message.user');
  }

  get toolbar(): Locator {
    return this.widget.locator('.toolbar');
  }

  get preview(): Locator {
    return this.widget.locator('.preview');
  }

  button(name: string): Locator {
    return this.widget.getByRole('button', {name, exact: true});
  }

  async open(): Promise<void> {
    await this.bubble.click();
    await this.panel.evaluate((panel) => Promise.all(panel.getAnimations().map(({finished}) => finished)));
  }

  /** Type a question, send it, and wait until its answer is no longer being written. */
  async ask(question: string): Promise<void> {
    await this.send(question);
    await this.finished.nth((await this.questions.count()) - 1).waitFor();
  }

  async send(question: string): Promise<void> {
    await this.input.fill(question);
    await this.input.press('Enter');
    await this.questions.filter({hasText: question}).last().waitFor();
  }

  /**
   * How many parts `beside` there are when a part of the panel first appears. Call it before that can happen: a look from
   * outside may come when it is gone.
   */
  appearing(selector: string, words: string, beside = ':not(*)'): Promise<number> {
    return this.widget.evaluate(
      ({shadowRoot: root}, [part, said, other]) =>
        new Promise<number>((resolve) => {
          const look = (): void => {
            if (!root || ![...root.querySelectorAll(part)].some(({textContent}) => textContent.includes(said))) return;
            observer.disconnect();
            resolve(root.querySelectorAll(other).length);
          };
          const observer = new MutationObserver(look);
          if (root) observer.observe(root, {childList: true, subtree: true, characterData: true});
        }),
      [selector, words, beside] as const,
    );
  }

  /** Top and bottom of the marked passage in the window, and the window's height, once the page scrolls no more. */
  passageAtRest(): Promise<{top: number; bottom: number; height: number}> {
    return this.page.evaluate(async () => {
      // Frames, not time: on a busy machine both they and the scroll are slow.
      for (let still = 0, last_px = scrollY; still < 30; last_px = scrollY) {
        await new Promise(requestAnimationFrame);
        still = scrollY === last_px ? still + 1 : 0;
      }
      const [range] = CSS.highlights.get('lutrin-passage') ?? [];
      const {top, bottom} = (range as Range).getBoundingClientRect();
      return {top, bottom, height: innerHeight};
    });
  }

  /** Select the text of an element with the mouse. */
  async select(selector: string): Promise<void> {
    await this.page.locator(selector).scrollIntoViewIfNeeded();
    const box = await this.page.locator(selector).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const rects = [...range.getClientRects()];
      const [first, last] = [rects[0], rects[rects.length - 1]];
      return {x: first?.left ?? 0, y: (first?.top ?? 0) + 8, toX: last?.right ?? 0, toY: (last?.bottom ?? 0) - 6};
    });
    await this.page.mouse.move(box.x + 1, box.y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.toX - 1, box.toY, {steps: 4});
    await this.page.mouse.up();
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
