/** Made from the server’s OpenAPI document by scripts/wire-types.mjs; not written by hand. */

export interface Answer {
  refusal?: 'out_of_scope' | 'not_in_book' | 'not_in_selection' | 'vague' | 'not_english' | 'empty' | null;
  explanation: string;
  sentences: Sentence[];
  excerpts: Excerpt[];
  closest: boolean;
  meant: string;
  suggestions: string[];
  warnings: string[];
  prepared_by: string;
  plain_words: Sentence[];
  confirmed: boolean;
  explainable: boolean;
  eta_s?: number | null;
  unfinished: boolean;
  blocks?: Block[];
  explanation_blocks?: Block[];
  answer: string;
  sources: Citation[];
  mode: 'book' | 'selection' | 'selection_boosted';
  kind: 'generated' | 'extractive' | 'refusal';
  model_used: string;
  latency_ms: number;
  generation: string;
  is_cut: boolean;
}

export interface ChatBody {
  selected_text?: string | null;
  page?: string | null;
  book?: string | null;
  wait_s?: number | null;
  explain: boolean;
  session_id: string;
  message: string;
  mode?: 'book' | 'selection' | 'selection_boosted' | null;
}

export interface ChatMessage {
  refusal?: 'out_of_scope' | 'not_in_book' | 'not_in_selection' | 'vague' | 'not_english' | 'empty' | null;
  explanation: string;
  sentences: Sentence[];
  excerpts: Excerpt[];
  closest: boolean;
  meant: string;
  suggestions: string[];
  warnings: string[];
  prepared_by: string;
  plain_words: Sentence[];
  confirmed: boolean;
  explainable: boolean;
  eta_s?: number | null;
  unfinished: boolean;
  blocks?: Block[];
  explanation_blocks?: Block[];
  id: string;
  session_id: string;
  role: 'user' | 'assistant';
  text: string;
  created: string;
  mode?: 'book' | 'selection' | 'selection_boosted' | null;
  kind?: 'generated' | 'extractive' | 'refusal' | null;
  selected_text: string;
  chunk_ids: string[];
  citations: Citation[];
}

export interface ChatReply {
  refusal?: 'out_of_scope' | 'not_in_book' | 'not_in_selection' | 'vague' | 'not_english' | 'empty' | null;
  explanation: string;
  sentences: Sentence[];
  excerpts: Excerpt[];
  closest: boolean;
  meant: string;
  suggestions: string[];
  warnings: string[];
  prepared_by: string;
  plain_words: Sentence[];
  confirmed: boolean;
  explainable: boolean;
  eta_s?: number | null;
  unfinished: boolean;
  blocks?: Block[];
  explanation_blocks?: Block[];
  answer: string;
  session_id: string;
  sources: string[];
  citations: Citation[];
  kind: 'generated' | 'extractive' | 'refusal';
  model_used: string;
}

export interface ChatSession {
  id: string;
  title: string;
  created: string;
  updated: string;
  book: string;
  generation: string;
  message_count: number;
}

export interface Citation {
  n: number;
  chunk_id: string;
  book: string;
  book_title: string;
  chapter: string;
  section: string;
  section_title: string;
  filename: string;
  page: number | null;
  page_label: string;
  url: string;
  quote: string;
  relevance_score: number;
  blocks?: Block[];
}

export interface Excerpt {
  n: number;
  text: string;
  marks: [number, number][];
  cut_before: boolean;
  cut_after: boolean;
  heading_path: string[];
  url: string;
  chunk_id: string;
  header: string[];
  blocks?: Block[];
}

export interface Feedback {
  value: 'up' | 'down';
  comment: string;
}

export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail: string;
  retry_after_s?: number | null;
  id?: string | null;
}

export interface Sentence {
  text: string;
  citations: number[];
  support: 'stated' | 'likely' | 'own';
  blocks?: Block[];
}

export interface Paragraph {
  children: Inline[];
  type: 'paragraph';
}

export interface Heading {
  children: Inline[];
  type: 'heading';
}

export interface CodeBlock {
  children: Inline[];
  language: string;
  type: 'code';
}

export interface Quotation {
  blocks: Block[];
  type: 'quote';
}

export interface Listing {
  items: ListItem[];
  type: 'list';
}

export interface ListItem {
  number?: number | null;
  checked?: boolean | null;
  blocks: Block[];
}

export interface Table {
  header: Inline[][];
  rows: Inline[][][];
  type: 'table';
}

export interface Rule {
  type: 'rule';
}

export interface InlineCode {
  text: string;
  type: 'code';
}

export interface Formula {
  tex: string;
  display: boolean;
  type: 'math';
}

export interface Picture {
  alt: string;
  type: 'image';
}

export interface Marker {
  n: number;
  type: 'cite';
}

export interface LineBreak {
  type: 'break';
}

export interface Strong {
  children: Inline[];
  type: 'strong';
}

export interface Emphasis {
  children: Inline[];
  type: 'em';
}

export interface Deletion {
  children: Inline[];
  type: 'del';
}

export interface Mark {
  children: Inline[];
  type: 'mark';
}

export interface Link {
  href: string;
  children: Inline[];
  type: 'link';
}

export type Block = Paragraph | Heading | CodeBlock | Quotation | Listing | Table | Rule;

export type Inline = string | InlineCode | Formula | Picture | Marker | LineBreak | Strong | Emphasis | Deletion | Mark | Link;
