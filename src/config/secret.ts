import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { ConfigDocument, Place } from './document.ts'

/** A value that only `reveal` returns. JSON, strings and logs show `[secret]`. */
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

/** Where secrets are read from, and the document that collects faults. */
export interface SecretSources {
  readonly document: ConfigDocument
  readonly environment: Environment
}

/** One setting of a secret. */
interface SecretSetting {
  /** The setting that names the file. */
  readonly place: Place
  readonly file: string | undefined
  /** The environment variable that is read if no file is named. */
  readonly variable: string
  /** What to set if there is neither file nor variable. */
  readonly missing: string
  /** Whether the value has the right form. If not, `wrong` completes the sentence. The value itself is never shown. */
  readonly isValid: (value: string) => boolean
  readonly wrong: string
}

/** Reads the secret of a setting. Adds a fault to the document and returns an empty secret if it cannot be read. */
export function requiredSecret(setting: SecretSetting, { document, environment }: SecretSources): Secret {
  const { place, file, variable, missing, isValid, wrong } = setting
  const secret = file === undefined ? new Secret(environment[variable] ?? '') : readSecretFile(file, place, document)
  if (!secret) return new Secret('')
  if (secret.reveal() === '')
    document.refuse(place, `is missing. Set it to ${missing}, or set ${variable} in the environment.`)
  else if (!isValid(secret.reveal())) document.refuse(place, `or ${variable} contains ${wrong}.`)
  return secret
}

/** Reads a secret from a file that only its owner may read. Adds a fault and returns undefined if it cannot be read. */
export function readSecretFile(path: string, place: Place, document: ConfigDocument): Secret | undefined {
  try {
    const text = readPrivateText(path)
    if (text !== undefined) return new Secret(text.trim())
    document.refuse(place, `names ${path}, which other users than its owner may read. Run: chmod 0600 ${path}`)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    document.refuse(place, `names ${path}, which cannot be read (${code ?? 'unknown reason'}).`)
  }
  return undefined
}

const MOST_BYTES = 1_048_576

/** The credentials of a unit, which only its user may reach. systemd may give that right by an access list, whose mask stands in the group's bits. */
const CREDENTIALS = '/run/credentials/'

export const isPrivate = (path: string, mode: number): boolean =>
  (mode & (path.startsWith(CREDENTIALS) ? 0o037 : 0o077)) === 0

/** Undefined if others may read the file. Does not wait for a pipe. Throws with a code for what is not a file of a secret's size. */
function readPrivateText(path: string): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!isPrivate(path, stats.mode)) return undefined
    if (!stats.isFile()) throw Object.assign(new Error(path), { code: 'not a regular file' })
    if (stats.size > MOST_BYTES) throw Object.assign(new Error(path), { code: 'too large' })
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
