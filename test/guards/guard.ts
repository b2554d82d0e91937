/** One check of the product, and the test that turns red without it. */
export interface Guard {
  readonly name: string
  /** The source file. */
  readonly file: string
  /** The text with the guard, exactly once in the file. */
  readonly from: string
  /** The same text without the guard. It must compile. */
  readonly to: string
  /** The promise that does not hold without it. */
  readonly breaks: string
  /** The one test file that turns red. */
  readonly test: string
  /** A part of the name of the test that turns red, where the file is long. */
  readonly filter?: string
}

/** How often a text occurs in another one. */
export const occurrences = (text: string, part: string): number => text.split(part).length - 1
