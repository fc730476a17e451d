/** The element: a button in the corner, and behind it a panel that asks the book. */

import {LitElement, type PropertyValues} from 'lit';
import {addressOf, Api} from './api.ts';
import {copyText} from './clipboard.ts';
import {Conversation, type Question, type Turn} from './conversation.ts';
import {Identity, storeOf} from './identity.ts';
import {Invitation} from './invitation.ts';
import {citationUrl, Landing, samePage} from './landing.ts';
import {plainText} from './markdown/index.ts';
import {PageController, type AskDetail} from './page.ts';
import {PreviewController} from './preview.ts';
import {Scrolling} from './scrolling.ts';
import {SelectionController} from './selection.ts';
import {SessionList} from './sessions.ts';
import {styles} from './styles/index.ts';
import {TEXTS, type Texts} from './texts.ts';
import type {SelectionAction} from './views/floating.ts';
import {chatView} from './views/chat.ts';
import type {Citation, Mode, StoredSession, Verdict} from './wire.ts';

const DRAFT = 'lutrin:draft';
const OPEN = 'lutrin:open';
/** As the style sheet has it: below this the panel covers the screen. */
const NARROW = '(max-width: 480px)';
const SPOKEN_CHARS = 800;

/** A citation's link in the panel. */
export type CitationLink = HTMLAnchorElement & {citation?: Citation};

export class LutrinChat extends LitElement {
  static override styles = styles;
  static override properties = {
    api: {},
    book: {},
    page: {},
    theme: {},
    open: {type: Boolean, reflect: true},
    texts: {attribute: false},
    resolveLink: {attribute: false},
    navigate: {attribute: false},
    view: {state: true},
    draft: {state: true},
    selection: {state: true},
    selectionOnly: {state: true},
    commenting: {state: true},
    status: {state: true},
  };

  /** Address of the server; `/` is the page's own. Never guessed. */
  declare api: string | null;
  /** Slug of the book that is asked, where the server has several. */
  declare book: string | null;
  /** The page of the book that is shown: its file name, or the path of its address. */
  declare page: string | null;
  /** `light` or `dark`; else as `data-theme` of the page's root says, else as the system has it. */
  declare theme: string | null;
  declare open: boolean;
  declare texts: Partial<Texts>;
  /** Gives the page of this site that holds a citation; undefined: the server's own reader. */
  declare resolveLink: ((citation: Citation) => string | undefined) | undefined;
  /** Goes to a page of this site without loading it anew. */
  declare navigate: ((url: URL) => void) | undefined;

  declare view: 'chat' | 'list';
  declare draft: string;
  /** Text that questions are about until the reader removes it. */
  declare selection: string;
  /** The answer is to come from the selection alone. */
  declare selectionOnly: boolean;
  declare commenting: Turn | undefined;
  /** What a screen reader is told. */
  declare status: string;
  readonly conversation = new Conversation(() => this.requestUpdate());
  readonly list = new SessionList(() => this.requestUpdate());
  readonly scrolling = new Scrolling();
  readonly preview = new PreviewController(this, () => this.renderRoot.querySelector('.preview:not([hidden])'));
  readonly selecting = new SelectionController(this, () => this.renderRoot.querySelector('.toolbar'), () => !this.narrowOpen);
  readonly identity: Identity;
  readonly invitation: Invitation;
  server: Api | undefined;
  touched = false;
  readonly #tab = storeOf(() => sessionStorage);
  readonly #landing: Landing;
  #restoring: Promise<void> = Promise.resolve();
  #tick: ReturnType<typeof setInterval> | undefined;
  #listening: AbortController | undefined;
  #themes: MutationObserver | undefined;

  constructor() {
    super();
    const store = storeOf(() => localStorage);
    this.identity = new Identity(store);
    this.#landing = new Landing(store);
    this.invitation = new Invitation(this, store);
    this.api = this.book = this.page = this.theme = null;
    this.view = 'chat';
    this.selection = this.status = '';
    this.selectionOnly = true;
    this.open = this.#tab.getItem(OPEN) === 'yes';
    this.draft = this.#tab.getItem(DRAFT) ?? '';
    this.texts = {};
    new PageController(this, {
      ask: (detail) => void this.#askedByPage(detail),
      offer: (text, element) => this.selecting.offer(text, element),
      lead: (event, url, quote) => this.#goTo(event, url, quote),
    });
  }

  get words(): Texts {
    return {...TEXTS, ...this.texts};
  }

  /** The panel covers the whole screen. */
  get narrowOpen(): boolean {
    return this.open && matchMedia(NARROW).matches;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const {signal} = (this.#listening = new AbortController());
    for (const name of ['hashchange', 'popstate'] as const) addEventListener(name, () => this.arrived(), {signal});
    // The keyboard of a phone covers the input otherwise.
    const viewport = window.visualViewport;
    viewport?.addEventListener('resize', () => this.style.setProperty('--_screen', `${viewport.height}px`), {signal});
    this.#themes = new MutationObserver(() => this.#applyTheme());
    this.#themes.observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
    this.#applyTheme();
    this.arrived();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.conversation.stop();
    this.#listening?.abort();
    this.#themes?.disconnect();
    document.documentElement.removeAttribute('data-lutrin-open');
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('api')) this.#connect();
    if (changed.has('theme')) this.#applyTheme();
    if (changed.has('open')) this.#tab.setItem(OPEN, this.open ? 'yes' : '');
    this.#tab.setItem(DRAFT, this.draft);
    const waiting = this.conversation.wait_s > 0;
    if (waiting) this.#tick ??= setInterval(() => this.requestUpdate(), 250);
    else this.#tick = void clearInterval(this.#tick);
  }

  override render(): unknown {
    return chatView(this);
  }

  override updated(changed: PropertyValues<this>): void {
    // A page may make room for the panel while this is set.
    if (changed.has('open')) document.documentElement.toggleAttribute('data-lutrin-open', this.open);
    this.scrolling.drawn(this.messages);
  }

  get messages(): HTMLElement | null {
    return this.renderRoot.querySelector('.messages[role="region"]');
  }

  /** Open the panel. */
  async show(): Promise<void> {
    const wasOpen = this.open;
    this.open = true;
    this.invitation.accept();
    this.scrolling.follow();
    await this.updateComplete;
    if (!wasOpen) this.dispatchEvent(new CustomEvent('lutrin:open', {bubbles: true, composed: true}));
    this.focusInput();
  }

  /** Close the panel; the focus goes back to the button. */
  async close(): Promise<void> {
    this.open = false;
    this.view = 'chat';
    this.preview.hide();
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.bubble')?.focus({preventScroll: true});
  }

  /** To be called when the page has changed without being loaded anew. */
  arrived(): void {
    void this.#landing.arrived();
  }

  focusInput(): void {
    const input = this.renderRoot.querySelector('textarea');
    // On a touch screen the keyboard comes when the reader asks for it.
    const target = input && !input.disabled && !matchMedia('(pointer: coarse)').matches ? input : this.panel;
    target?.focus({preventScroll: true});
  }

  get panel(): HTMLElement | null {
    return this.renderRoot.querySelector('.panel');
  }

  hrefOf(citation: Citation): string {
    return this.resolveLink?.(citation) ?? citationUrl(citation, this.server?.base ?? new URL(location.href), location.href).href;
  }

  // Asking

  submit(): void {
    const selected = this.selection
      ? {selectedText: this.selection, mode: this.selectionOnly ? ('selection' as const) : ('selection_boosted' as const)}
      : {};
    void this.ask({text: this.draft, ...selected});
  }

  async ask(question: Question): Promise<void> {
    if (!question.text.trim() || !this.conversation.ready) return;
    const hadFocus = this.renderRoot.querySelector(':focus') !== null;
    this.view = 'chat';
    this.draft = '';
    this.scrolling.follow();
    if (!this.server) this.#complain();
    const asking = this.conversation.ask(this.server, this.identity.session, {
      ...question,
      ...(this.book && {book: this.book}),
      ...(this.page && {page: this.page}),
    });
    this.status = this.words.searching;
    await this.updateComplete;
    if (hadFocus) this.renderRoot.querySelector<HTMLElement>('.stop')?.focus({preventScroll: true});
    const turn = await asking;
    if (!turn) return;
    if (turn.state === 'failed' && !this.draft) this.draft = turn.question;
    if (turn.state === 'done') {
      this.status = plainText(turn.text).slice(0, SPOKEN_CHARS);
      const {question, text, excerpts, sources, kind, refusal} = turn;
      const detail = {question, answer: text, excerpts, sources, kind, refusal};
      this.dispatchEvent(new CustomEvent('lutrin:answer', {bubbles: true, composed: true, detail}));
    }
    await this.updateComplete;
    const lost = this.shadowRoot?.activeElement === null || this.shadowRoot?.activeElement === this.panel;
    if (hadFocus && lost && (document.activeElement === this || document.activeElement === document.body)) this.focusInput();
  }

  retry(turn: Turn): void {
    this.conversation.turns = this.conversation.turns.filter((other) => other !== turn || turn.state === 'done');
    if (this.draft === turn.question) this.draft = '';
    void this.ask({text: turn.question, selectedText: turn.selectedText, ...(turn.mode && {mode: turn.mode})});
  }

  searchBook(turn: Turn): void {
    this.selection = '';
    void this.ask({text: turn.question, mode: 'book'});
  }

  act(action: SelectionAction): void {
    const selectedText = this.selecting.text;
    this.selecting.hide();
    if (action === 'ask') return void this.#askedByPage({selectedText});
    // What a passage takes for granted stands elsewhere in the book.
    const question = action === 'explain' ? this.words.explainQuestion : this.words.simplifyQuestion;
    void this.#askedByPage({selectedText, question}, 'selection_boosted');
  }

  /** Ask at once if there is a question, else show the selection in the panel. */
  async #askedByPage({question = '', selectedText = ''}: AskDetail, mode: Mode = 'selection'): Promise<void> {
    this.view = 'chat';
    if (selectedText && !question) {
      this.selection = selectedText;
      this.selectionOnly = true;
    }
    await this.show();
    await this.#restoring;
    if (!question) return;
    if (this.conversation.ready) {
      void this.ask({text: question, ...(selectedText && {selectedText, mode})});
    } else {
      // Another answer is being written: the reader sends this one later, or not.
      this.draft = question;
      if (selectedText) this.selection = selectedText;
    }
  }

  // What the reader does with answers

  copy(text: string, event: Event): void {
    const button = event.currentTarget as HTMLElement;
    void copyText(text).then((copied) => {
      if (!copied) return;
      this.status = this.words.copied;
      button.classList.add('copied');
      setTimeout(() => button.classList.remove('copied'), 1500);
    });
  }

  judge(turn: Turn, verdict: Verdict): void {
    if (!this.server) return;
    this.commenting = verdict === 'down' ? turn : undefined;
    void this.conversation.judge(this.server, turn, verdict);
  }

  comment(turn: Turn, event: SubmitEvent): void {
    event.preventDefault();
    const words = String(new FormData(event.target as HTMLFormElement).get('comment') ?? '').trim();
    this.commenting = undefined;
    this.status = this.words.thanks;
    if (words && this.server) void this.conversation.judge(this.server, turn, 'down', words);
  }

  /** A citation was pressed. */
  follow(event: MouseEvent, link: CitationLink, citation: Citation): void {
    if (this.touched && !link.closest('.preview, .place') && this.preview.tap(citation, link)) return event.preventDefault();
    this.preview.hide();
    this.#goTo(event, new URL(link.href), citation.quote);
  }

  /** A link to a passage was pressed: remember what to mark there, and go there without loading a page in vain. */
  #goTo(event: MouseEvent, url: URL, quote: string): void {
    if (url.origin !== location.origin) return;
    this.#landing.expect(url, quote);
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (this.narrowOpen) this.open = false;
    const here = samePage(url, location);
    if (here && (url.hash || !location.hash)) {
      if (!url.hash) event.preventDefault(); // the browser would load the page again
    } else if (this.navigate) {
      event.preventDefault();
      this.navigate(url);
    } else if (here) {
      event.preventDefault();
      history.pushState(null, '', url);
    }
    if (here) setTimeout(() => this.arrived());
  }

  // Conversations

  showList(): void {
    this.view = 'list';
    void this.list.load(this.server);
  }

  showChat(): void {
    this.view = 'chat';
    this.scrolling.follow();
    void this.updateComplete.then(() => this.focusInput());
  }

  startNew(): void {
    this.identity.startNew();
    this.conversation.clear();
    this.selection = '';
    this.showChat();
  }

  openSession(session: StoredSession): void {
    this.identity.session = session.id;
    this.selection = '';
    this.#restore();
    this.showChat();
  }

  async removeSession(session: StoredSession): Promise<void> {
    if (!this.server || !(await this.list.remove(this.server, session))) return;
    if (session.id === this.identity.session) {
      this.identity.startNew();
      this.conversation.clear();
    }
    this.renderRoot.querySelector<HTMLElement>('.conversations .open, .panel')?.focus();
  }

  restoreAgain(): void {
    this.#restore();
  }

  #connect(): void {
    const base = addressOf(this.api, document.baseURI);
    this.server = base && new Api(base, this.identity.secret);
    if (!this.server) this.#complain();
    else if (this.identity.known) this.#restore();
  }

  #restore(): void {
    if (!this.server) return;
    this.scrolling.follow();
    this.#restoring = this.conversation.restore(this.server, this.identity.session);
  }

  #complain(): void {
    console.error(
      'lutrin-chat: no server is named. Set the attribute `api`, the option of the Docusaurus plugin, or REACT_APP_API_URL.',
    );
  }

  #applyTheme(): void {
    const theme = this.theme ?? document.documentElement.dataset['theme'] ?? '';
    if (theme === 'dark' || theme === 'light') this.setAttribute('scheme', theme);
    else this.removeAttribute('scheme');
  }
}

