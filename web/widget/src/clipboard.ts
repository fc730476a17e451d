/** Copy a text; `navigator.clipboard` is missing on pages served over plain HTTP from another machine. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.readOnly = true;
    area.style.position = 'fixed';
    area.style.opacity = '0';
    document.body.append(area);
    area.select();
    // The one way left there; it is deprecated, and no browser has dropped it.
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}
