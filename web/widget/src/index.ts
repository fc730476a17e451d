/** `<lutrin-chat api="https://...">`: one script tag on any page. */

import {LutrinChat} from './chat.ts';

declare global {
  interface HTMLElementTagNameMap {
    'lutrin-chat': LutrinChat;
  }
}

// A page may hold the script twice, its author's and a plugin's.
if (!customElements.get('lutrin-chat')) customElements.define('lutrin-chat', LutrinChat);
