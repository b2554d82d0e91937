/** Breaks a text at spaces so that no line is longer than `width`; what has no space is left whole: it may be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of visible(text).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** `head` and, beside it, the text: further lines stand below the first. `headWidth` is what one sees of the head. */
export function hanging(head: string, headWidth: number, text: string, columns: number): string[] {
  const indent = ' '.repeat(headWidth)
  return wrap(text, columns - headWidth).map((line, index) => (index === 0 ? head : indent) + line)
}

/** At most `width` characters, with an ellipsis where something is missing. */
export const clip = (text: string, width: number): string =>
  text.length <= width ? visible(text) : `${visible(text).slice(0, Math.max(0, width - 1))}…`

/** What others wrote can hold what a terminal would obey. It is shown, not obeyed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const visible = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '�')

/** `[name, text]` pairs below each other, the texts in one column. */
export function pairs(rows: readonly (readonly [name: string, text: string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.flatMap(([name, text]) => hanging(name.padEnd(width), width, text, columns))
}
