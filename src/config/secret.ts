import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'

/** A value that shows itself only when asked: not in JSON, not in a string, not in a log. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toJSON(): string {
    return '[secret]'
  }

  toString(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** The bare value in a file that only its owner may read, or a sentence that says why not. */
export function readSecretFile(path: string): Secret | string {
  try {
    const { mode } = statSync(path)
    if (mode & 0o077) return `names ${path}, which others than its owner may read; chmod it to 0600`
    return new Secret(readFileSync(path, 'utf8').trim())
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return `names ${path}, which cannot be read (${code ?? 'unknown reason'})`
  }
}
