import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import type { ConfigDocument, Place } from './document.ts'

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

type Environment = Readonly<Record<string, string | undefined>>

/** Where secrets are read from, and where faults about them go. */
export interface SecretSources {
  readonly document: ConfigDocument
  readonly environment: Environment
}

/** What one setting says about its secret. */
interface SecretSetting {
  /** The setting that names the file. */
  readonly place: Place
  readonly file: string | undefined
  /** Read where no file is named. */
  readonly variable: string
  /** What is missing where there is neither. */
  readonly missing: string
  /** Whether the value has the right form; `wrong` completes the sentence where it has not. The value itself is never shown. */
  readonly isValid: (value: string) => boolean
  readonly wrong: string
}

/** The secret of a setting. A fault goes to the document, and an empty secret stands in for it. */
export function requiredSecret(setting: SecretSetting, { document, environment }: SecretSources): Secret {
  const { place, file, variable, missing, isValid, wrong } = setting
  const secret = file === undefined ? new Secret(environment[variable] ?? '') : readSecretFile(file, place, document)
  if (!secret) return new Secret('')
  if (secret.reveal() === '') document.refuse(place, `is missing: ${missing}; or set ${variable} in the environment`)
  else if (!isValid(secret.reveal())) document.refuse(place, `or ${variable} holds ${wrong}`)
  return secret
}

/** The bare value in a file that only its owner may read; undefined, with a fault, where it cannot be had. */
export function readSecretFile(path: string, place: Place, document: ConfigDocument): Secret | undefined {
  try {
    const { mode } = statSync(path)
    if (!(mode & 0o077)) return new Secret(readFileSync(path, 'utf8').trim())
    document.refuse(place, `names ${path}, which others than its owner may read; chmod it to 0600`)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    document.refuse(place, `names ${path}, which cannot be read (${code ?? 'unknown reason'})`)
  }
  return undefined
}
