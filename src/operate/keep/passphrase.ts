import { readFileSync, statSync } from 'node:fs'
import { errorCode } from '../../primitives/durable-file.ts'
import { UsageError } from '../../terminal/declare.ts'

const SHORTEST = 12

/** The first line of the file. Undefined without a file. Nothing of it is part of an error. */
export function passphraseIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = read(file)
  const [passphrase = ''] = text.split(/\r?\n/)
  if (passphrase.length < SHORTEST)
    throw new UsageError(`The first line of ${file} is shorter than ${SHORTEST} characters. Use a longer passphrase.`)
  return passphrase
}

function read(file: string): string {
  try {
    if (statSync(file).mode & 0o077)
      throw new UsageError(`The passphrase file ${file} is open to other users than its owner. Run: chmod 0600 ${file}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`The passphrase file ${file} cannot be read (${errorCode(error) ?? 'unknown reason'}).`)
  }
}
