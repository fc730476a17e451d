/** The element: a button in the corner, and behind it a panel that asks the book. */

import type {PropertyValues} from 'lit';
import {addressOf, Api} from './api.ts';
import {copyText} from './clipboard.ts';
import {Conversation, type Question, type Turn} from './conversation.ts';
import {Dock} from './dock.ts';
import {Identity, storeOf} from './identity.ts';
import {Invitation} from './invitation.ts';
import {KeyController} from './keys.ts';
import {citationUrl, Landing, quoteOf, samePage} from './landing.ts';
import {ModelState} from './model.ts';
import {PageController, type AskDetail} from './page.ts';
import {PreviewController} from './preview.ts';
import {ChatProperties} from './properties.ts';
import {Scheme} from './scheme.ts';
import {Scrolling} from './scrolling.ts';
import {SelectionController} from './selection.ts';
import {SessionList} from './sessions.ts';
import {Tabs} from './tabs.ts';
import {TEXTS, type Texts} from './texts.ts';
import type {SelectionAction} from './views/floating.ts';
import {chatView} from './views/chat.ts';
import type {Citation, Mode, StoredSession, Verdict} from './wire.ts';
import {blocksOf, wordsOf} from './words.ts';

const DRAFT = 'lutrin:draft';
const OPEN = 'lutrin:open';
/** On the page's root, where the page keeps highlights and notes: it hears `lutrin:note`. */
const NOTES = 'data-lutrin-notes';
const SPOKEN_CHARS = 800;
/** In the state of a page of the browser's history. */
const LEFT_OPEN = 'lutrinLeftOpen';

export type CitationLink = HTMLAnchorElement & {citation?: Citation};

export class LutrinChat extends ChatProperties {
  readonly conversation = new Conversation(() => this.requestUpdate());
  readonly list = new SessionList(() => this.requestUpdate());
  readonly scrolling = new Scrolling();
  readonly preview = new PreviewController(this, () => this.renderRoot.querySelector('.preview:not([hidden])'));
  readonly selecting = new SelectionController(this, () => this.renderRoot.querySelector('.toolbar'), () => !this.narrowOpen);
  readonly identity: Identity;
  readonly invitation: Invitation;
  readonly docking: Dock;
  readonly model = new ModelState(this);
  /** Turns whose passages the reader sees whole. */
  readonly unfolded = new WeakSet<Turn>();
  server: Api | undefined;
  touched = false;
  readonly #tab = storeOf(() => sessionStorage);
  readonly #landing: Landing;
  readonly #tabs = new Tabs(this, (session) => this.#changedElsewhere(session));
  #restoring: Promise<void> = Promise.resolve();
  /** The conversation that is shown; another tab may have begun a new one since. */
  #shown = '';
  /** Another tab changed it while an answer was written here. */
  #behind = false;
  /** Where the focus was when the panel was opened. */
  #before: Element | null = null;
  #tick: ReturnType<typeof setInterval> | undefined;
  #listening: AbortController | undefined;

  constructor() {
    super();
    const store = storeOf(() => localStorage);
    this.identity = new Identity(store);
    this.#landing = new Landing(store);
    this.invitation = new Invitation(this, store);
    this.docking = new Dock(this, store);
    this.open = this.#tab.getItem(OPEN) === 'yes';
    this.draft = this.#tab.getItem(DRAFT) ?? '';
    new PageController(this, {
      ask: (detail) => void this.#askedByPage(detail),
      offer: (text, element) => this.selecting.offer(text, element),
      lead: (event, url, quote) => this.#goTo(event, url, quote),
    });
    new Scheme(this);
    new KeyController(this, {shortcut: () => this.#pressed(), escape: () => this.escape()});
  }

  get words(): Texts {
    return {...TEXTS, ...this.texts};
  }

  /** The panel covers the whole screen. */
  get narrowOpen(): boolean {
    return this.open && this.docking.stance === 'sheet';
  }

  /** What can be done with selected text here. */
  get actions(): SelectionAction[] {
    const notes = document.documentElement.hasAttribute(NOTES) && this.selecting.range;
    return ['ask', ...(this.selecting.explained ? (['explain', 'simplify'] as const) : []), ...(notes ? (['highlight', 'note'] as const) : [])];
  }

  /** Whether the server has more to say on a text than the book's words; one that does not tell may. */
  async explains(selected_text: string): Promise<boolean> {
    const reply = await this.server?.explains({query: this.words.explainQuestion, selected_text, ...this.where}).catch(() => undefined);
    return reply?.explains ?? true;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const {signal} = (this.#listening = new AbortController());
    for (const name of ['hashchange', 'popstate'] as const) addEventListener(name, () => this.arrived(), {signal});
    for (const name of ['pageshow', 'popstate'] as const) addEventListener(name, () => this.#cameBack(), {signal});
    // The keyboard of a phone covers the input otherwise.
    const viewport = window.visualViewport;
    viewport?.addEventListener('resize', () => this.style.setProperty('--_screen', `${viewport.height}px`), {signal});
    this.arrived();
    this.#cameBack();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.conversation.leave();
    this.#listening?.abort();
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('api')) this.#connect();
    if (changed.has('open')) this.#tab.setItem(OPEN, this.open ? 'yes' : '');
    this.#tab.setItem(DRAFT, this.draft);
    const waiting = this.conversation.wait_s > 0;
    if (waiting) this.#tick ??= setInterval(() => this.requestUpdate(), 250);
    else this.#tick = void clearInterval(this.#tick);
  }

  override render(): unknown {
    return chatView(this);
  }

  override updated(): void {
    this.scrolling.drawn(this.messages);
  }

  get messages(): HTMLElement | null {
    return this.renderRoot.querySelector('.messages[role="region"]');
  }

  /** Open the panel. */
  async show(): Promise<void> {
    const wasOpen = this.open;
    if (!wasOpen) this.#before = document.activeElement;
    this.open = true;
    this.invitation.accept();
    this.scrolling.follow();
    await this.updateComplete;
    if (!wasOpen) this.dispatchEvent(new CustomEvent('lutrin:open', {bubbles: true, composed: true}));
    this.focusInput();
  }

  /** Close the panel; the focus goes back to where it was before, else to the button. */
  async close(): Promise<void> {
    const hadFocus = this.shadowRoot?.activeElement != null || document.activeElement === document.body;
    const before = this.#before;
    this.open = false;
    this.view = 'chat';
    this.preview.hide();
    await this.updateComplete;
    if (!hadFocus) return;
    const there = before instanceof HTMLElement && before !== this && before !== document.body && before.isConnected;
    const target = there ? before : this.renderRoot.querySelector<HTMLElement>('.bubble');
    target?.focus({preventScroll: true});
  }

  /** Leave what was opened last. */
  escape(): void {
    if (this.preview.citation) this.preview.hide();
    else if (this.commenting) this.commenting = undefined;
    else if (this.view === 'list') this.showChat();
    else void this.close();
  }

  #pressed(): void {
    if (this.selecting.text) this.act('ask');
    else if (this.open && this.shadowRoot?.activeElement) void this.close();
    else void this.show();
  }

  /** To be called when the page has changed without being loaded anew. */
  arrived = (): void => void this.#landing.arrived();

  /** The panel made way for a citation on this page, from which the reader has come back. */
  #cameBack(): void {
    const {[LEFT_OPEN]: leftOpen, ...state} = (history.state ?? {}) as Record<string, unknown>;
    if (!leftOpen) return;
    history.replaceState(state, '');
    void this.show();
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

  /** A page of another site than the server's stays where it is: its citations open beside it. */
  tabOf(citation: Citation): string | undefined {
    return this.newTab || new URL(this.hrefOf(citation), document.baseURI).origin !== location.origin ? '_blank' : undefined;
  }

  // Asking

  submit(): void {
    const selected = this.selection
      ? {selectedText: this.selection, mode: this.selectionOnly ? ('selection' as const) : ('selection_boosted' as const)}
      : {};
    void this.ask({text: this.draft, ...selected});
  }

  get where(): Pick<Question, 'book' | 'page'> {
    return {...(this.book && {book: this.book}), ...(this.page && {page: this.page})};
  }

  async ask(question: Question): Promise<void> {
    if (!question.text.trim() || !this.conversation.ready) return;
    const hadFocus = this.renderRoot.querySelector(':focus') !== null;
    this.view = 'chat';
    this.draft = this.selection = '';
    this.selectionOnly = false;
    this.scrolling.follow();
    if (!this.server) this.#complain();
    const explained = (): void => this.#explained();
    const asking = this.conversation.ask(this.server, this.identity.session, {...question, ...this.where}, explained);
    this.status = this.words.searching;
    await this.updateComplete;
    if (hadFocus) this.renderRoot.querySelector<HTMLElement>('.stop')?.focus({preventScroll: true});
    const turn = await asking;
    if (!turn) return;
    if (turn.state === 'failed' && !this.draft) this.#putBack(turn);
    await this.#answered(turn, hadFocus);
  }

  /** Have the model explain what it has not explained yet. */
  async explain(turn: Turn): Promise<void> {
    if (!this.server || !this.conversation.ready) return;
    const asking = this.conversation.again(this.server, this.identity.session, turn, this.where, () => this.#tabs.tell(this.#shown));
    this.status = this.words.modelReads;
    await asking;
    this.#explained();
  }

  /** The model has ended: say what it added, also to the other tabs. */
  #explained(): void {
    const words = wordsOf(this.conversation.turns.at(-1)?.plainWords.flatMap((sentence) => blocksOf(sentence.blocks, sentence.text)) ?? []);
    if (words) this.status = words.slice(0, SPOKEN_CHARS);
    this.#tabs.tell(this.#shown);
    if (this.#behind) this.#changedElsewhere(this.#shown);
  }

  /** Say so: to the page, to the other tabs, to who listens, and by the focus. */
  async #answered(turn: Turn, hadFocus: boolean): Promise<void> {
    const {wait_s, limit} = this.conversation;
    if (wait_s) this.status = `${limit} ${this.words.wait(wait_s)}`;
    if (turn.state === 'done') {
      const {question, text, blocks, excerpts, sources, kind, refusal} = turn;
      this.status = wordsOf(blocks).slice(0, SPOKEN_CHARS);
      const detail = {question, answer: text, excerpts, sources, kind, refusal};
      this.dispatchEvent(new CustomEvent('lutrin:answer', {bubbles: true, composed: true, detail}));
    }
    this.#shown = this.identity.session;
    this.#tabs.tell(this.#shown);
    if (this.#behind) this.#changedElsewhere(this.#shown);
    await this.updateComplete;
    const {activeElement} = this.shadowRoot ?? {};
    const lost = activeElement === null || activeElement === this.panel;
    if (!hadFocus || !lost || (document.activeElement !== this && document.activeElement !== document.body)) return;
    const answers = this.renderRoot.querySelectorAll<HTMLElement>('.message.book');
    if (turn.state === 'done') answers[answers.length - 1]?.focus({preventScroll: true});
    else this.focusInput();
  }

  #putBack({question, selectedText, mode}: Turn): void {
    this.draft = question;
    this.selection = selectedText;
    this.selectionOnly = mode === 'selection';
  }

  /** Put a question into the input once more, with what it was about. */
  edit(turn: Turn): void {
    this.#putBack(turn);
    void this.updateComplete.then(() => {
      const input = this.renderRoot.querySelector('textarea');
      input?.focus({preventScroll: true});
      input?.setSelectionRange(input.value.length, input.value.length);
    });
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
    if (action === 'note' || action === 'highlight') {
      const detail = {selectedText, range: this.selecting.range, write: action === 'note'};
      return void this.dispatchEvent(new CustomEvent('lutrin:note', {bubbles: true, composed: true, detail}));
    }
    // What a passage takes for granted stands elsewhere in the book.
    const question = action === 'explain' ? this.words.explainQuestion : this.words.simplifyQuestion;
    void this.#askedByPage({selectedText, question}, 'selection_boosted');
  }

  /** Ask at once if there is a question, else show the selection in the panel. */
  async #askedByPage({question = '', selectedText = ''}: AskDetail, mode: Mode = 'selection_boosted'): Promise<void> {
    this.view = 'chat';
    if (selectedText && !question) {
      this.selection = selectedText;
      this.selectionOnly = false;
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

  /** Show the passages of an answer whole, or folded to the words that answer. */
  fold(turn: Turn): void {
    if (!this.unfolded.delete(turn)) this.unfolded.add(turn);
    this.requestUpdate();
  }

  /** Show what a sentence is to be compared with: in the card below it, or, what stands not there, beside it. */
  async compare(turn: Turn, citations: readonly number[], event: Event): Promise<void> {
    const button = event.currentTarget as HTMLElement;
    const excerpt = turn.excerpts.find(({n}) => citations.includes(n));
    const citation = turn.sources.find(({n}) => citations.includes(n));
    if (!excerpt) return void (citation && this.preview.tap(citation, button));
    this.unfolded.add(turn);
    this.requestUpdate();
    await this.updateComplete;
    const figure = button.closest('.message')?.querySelector<HTMLElement>(`figure[data-n="${excerpt.n}"]`);
    figure?.scrollIntoView({block: 'nearest'});
    figure?.querySelector<HTMLElement>('.place')?.focus({preventScroll: true});
  }

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
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('input[name=comment]')?.focus());
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
    this.#goTo(event, new URL(link.href), quoteOf(citation));
  }

  /** A link to a passage was pressed: remember what to mark there, and go there without loading a page in vain. */
  #goTo(event: MouseEvent, url: URL, quote: string): void {
    if (url.origin !== location.origin) return;
    this.#landing.expect(url, quote);
    if (this.newTab || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (this.narrowOpen) {
      // It covers what the citation leads to; who goes back finds it open.
      history.replaceState({...(history.state as object | null), [LEFT_OPEN]: true}, '');
      this.open = false;
    }
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
    this.#shown = this.identity.session;
    this.#tabs.tell(this.#shown);
    this.showChat();
  }

  openSession(session: StoredSession): void {
    this.identity.session = session.id;
    this.selection = '';
    this.#restore();
    this.#tabs.tell(session.id);
    this.showChat();
  }

  async removeSession(session: StoredSession): Promise<void> {
    if (!this.server || !(await this.list.remove(this.server, session))) return;
    if (session.id === this.identity.session) {
      this.identity.startNew();
      this.conversation.clear();
    }
    this.#tabs.tell(session.id);
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
    this.#shown = this.identity.session;
    this.#restoring = this.conversation.restore(this.server, this.identity.session);
  }

  /** Show older messages above, and leave what is read where it is. */
  async showOlder(): Promise<void> {
    if (!this.server) return;
    const list = this.messages;
    const height_px = list?.scrollHeight ?? 0;
    await this.conversation.whole(this.server, this.identity.session);
    await this.updateComplete;
    if (list) list.scrollTop += list.scrollHeight - height_px;
  }

  #changedElsewhere(session: string): void {
    const current = this.identity.session;
    this.#behind = this.conversation.phase === 'asking' || this.conversation.explaining;
    if (!this.server || this.#behind || (session !== this.#shown && current === this.#shown)) return;
    this.#shown = current;
    void this.conversation.refresh(this.server, current);
  }

  #complain(): void {
    console.error('lutrin-chat: no server is named: set `api` or REACT_APP_API_URL');
  }
}
