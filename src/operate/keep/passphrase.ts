import type { Clock } from '../../primitives/clock.ts'
import { UsageError } from '../../terminal/declare.ts'
import { privateLine } from '../private-line.ts'

const SHORTEST = 12

/** The first line of the file. Undefined without a file. Nothing of it is part of an error. */
export async function passphraseIn(file: string | undefined, clock: Clock): Promise<string | undefined> {
  if (file === undefined) return undefined
  const passphrase = await privateLine(file, 'passphrase file', clock)
  if (passphrase.length < SHORTEST)
    throw new UsageError(`The first line of ${file} is shorter than ${SHORTEST} characters. Use a longer passphrase.`)
  return passphrase
}
