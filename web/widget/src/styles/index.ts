import {controls} from './controls.ts';
import {messages} from './messages.ts';
import {panel} from './panel.ts';
import {tokens} from './tokens.ts';

export const styles = [tokens, panel, messages, controls];
