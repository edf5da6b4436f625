/** The index just past the string that starts at `quote`. */
function endOfString(text: string, quote: number): number {
  let index = quote + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

/** The index of the comma or bracket that ends the value at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (depth === 0 && (character === ',' || character === '}')) return index;
    else if (character === '}' || character === ']') depth--;
  }
  return text.length;
}

/**
 * The text of one member's value as it stands in a JSON object. JSON that is passed through must keep its large integers and its `1.0`,
 * which parsing and printing would change. Of a repeated name the last counts, as for JSON.parse.
 * @param text valid JSON of an object
 */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let index = text.indexOf('{') + 1;
  for (;;) {
    const nameStart = text.indexOf('"', index);
    if (nameStart < 0) return found;
    const nameEnd = endOfString(text, nameStart);
    const valueStart = text.indexOf(':', nameEnd) + 1;
    const valueEnd = endOfValue(text, valueStart);
    if (JSON.parse(text.slice(nameStart, nameEnd)) === name) found = text.slice(valueStart, valueEnd).trim();
    index = valueEnd + 1;
  }
}
