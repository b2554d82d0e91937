/** Places where two marks follow each other, as where a sentence was put into another one. Paths, code and ellipses are none. */
export const doubledIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => [
      ...line.replaceAll(/`[^`]*`/g, '`').matchAll(/.{0,40}[\p{L}\d)"'`](?:\.[.:;,]|[:;,]\.)(?=\s|$)/gu),
    ])
    .map(([found]) => found)
