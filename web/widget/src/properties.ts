/** What a page can set on the element, and what the element is drawn from. */

import {LitElement} from 'lit';
import type {AidsOf} from './aids.ts';
import type {Turn} from './conversation.ts';
import {styles} from './styles/index.ts';
import type {Texts} from './texts.ts';
import type {Citation} from './wire.ts';

export class ChatProperties extends LitElement {
  static override styles = styles;
  static override properties = {
    api: {},
    book: {},
    page: {},
    theme: {},
    dock: {type: Boolean},
    newTab: {type: Boolean, attribute: 'new-tab'},
    shortcut: {},
    starters: {type: Array},
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
  /** The page makes room for the panel beside its text, as `data-lutrin-docked` on its root asks. */
  declare dock: boolean;
  /** Citations open in a new tab. */
  declare newTab: boolean;
  /** With Ctrl, or with the Command key, it opens the panel; empty: no key does. */
  declare shortcut: string;
  /** Questions that are offered before the first one; as an attribute, a list in JSON. */
  declare starters: readonly string[] | null;
  declare open: boolean;
  declare texts: Partial<Texts>;
  /** Set once; no attribute, and what it gives is asked for whenever an answer is drawn. */
  declare aids: AidsOf | undefined;
  /** Gives the page of this site that holds a citation; undefined: the server's own reader. */
  declare resolveLink: ((citation: Citation) => string | undefined) | undefined;
  /** Goes to a page of this site without loading it anew. */
  declare navigate: ((url: URL) => void) | undefined;

  declare view: 'chat' | 'list';
  declare draft: string;
  /** Text that the next question is about. */
  declare selection: string;
  /** The next answer is to come from the selection alone. */
  declare selectionOnly: boolean;
  declare commenting: Turn | undefined;
  /** What a screen reader is told. */
  declare status: string;

  constructor() {
    super();
    this.api = this.book = this.page = this.theme = this.starters = null;
    this.dock = this.newTab = this.open = this.selectionOnly = false;
    this.shortcut = 'i';
    this.texts = {};
    this.view = 'chat';
    this.draft = this.selection = this.status = '';
  }
}
