/** Elements without markup in strings: whatever a book says stays text. */

export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export function button(words: string, act: () => void, className = 'chip'): HTMLButtonElement {
  const made = el('button', {type: 'button', className}, words);
  made.addEventListener('click', act);
  return made;
}
