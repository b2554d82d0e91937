/** Breaks a text at spaces so that no line is longer than `width`; what has no space is left whole: it may be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** `head` and, beside it, the text: further lines stand below the first. */
export function hanging(head: string, headWidth: number, text: string, columns: number): string[] {
  const indent = ' '.repeat(headWidth)
  return wrap(text, columns - headWidth).map((line, index) => (index === 0 ? head : indent) + line)
}
